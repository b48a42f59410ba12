"""Cleaning: which bullets are duplicates, which have stopped helping."""
