"""Installing: what makes an agent call us, written into its own files and taken out again without a trace."""
