"""Session notes: what a running session is about, kept so that nothing is lost when the agent sums its talk up."""

from acemem.memory.session_notes.kept import standing

__all__ = ["standing"]
