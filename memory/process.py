"""Processes: whether one that left its number somewhere still lives."""

from __future__ import annotations

import os


def is_alive(pid: int) -> bool:
    """Whether a process of this host lives, as far as can be told: where it cannot, it is taken to."""
    if os.name == "nt":  # where signal 0 would end the process
        return True
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return pid > 0
