"""Evolution: living files, skills and documents, that are changed by what sessions teach, on trial."""
