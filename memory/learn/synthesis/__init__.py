"""Synthesis: what many sessions together say, as proposed changes to context files."""
