"""Context files: rules rendered into the files that agents read."""
