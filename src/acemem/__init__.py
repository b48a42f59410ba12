"""acemem: a scored memory for coding agents."""
