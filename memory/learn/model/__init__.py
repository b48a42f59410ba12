"""Extraction by a model: what it is shown, what it may answer, and what that may cost."""
