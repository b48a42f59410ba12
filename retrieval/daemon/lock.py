"""The life lock: whoever holds it is the daemon of a home, or is starting it. Standard library only.

It is the operating system's own lock on an open file, so it ends with the process however that ends. A starter hands
the open file to the daemon: between the two there is no moment at which another could begin.
"""

from __future__ import annotations

import os

NAME = "daemon.lock"
HOLDER = "daemon.pid"


def take(home: str) -> int | None:
    """The lock as an open file; None while another process has it. Raises OSError where it cannot be made."""
    path = os.path.join(home, NAME)
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        if not _locked(file):
            os.close(file)
            return None
        if is_current(home, file):
            _forget(home)
            return file
        os.close(file)  # somebody removed the file meanwhile: a lock on it keeps nobody out


def sign(home: str) -> None:
    """Writes down that this process holds the lock, for whoever wants to end it."""
    with open(os.path.join(home, HOLDER), "w", encoding="ascii") as file:
        file.write(f"{os.getpid()}\n")


def holder(home: str) -> int | None:
    """The process that holds the lock; None where nobody does, or has not signed yet."""
    if not is_held(home):
        return None
    try:
        with open(os.path.join(home, HOLDER), encoding="ascii", errors="replace") as file:
            return int(file.read())
    except (OSError, ValueError):
        return None


def is_current(home: str, file: int) -> bool:
    """Whether this open lock is still the one that others find in the home."""
    try:
        return os.path.samestat(os.fstat(file), os.stat(os.path.join(home, NAME)))
    except OSError:
        return False


def is_held(home: str) -> bool:
    """Whether a daemon lives in this home, or is being started."""
    try:
        file = os.open(os.path.join(home, NAME), os.O_RDWR)
    except OSError:
        return False
    try:
        return not _locked(file)
    finally:
        os.close(file)


def _forget(home: str) -> None:
    """Takes away the name of the last holder: its number may be another process by now."""
    try:
        os.unlink(os.path.join(home, HOLDER))
    except OSError:
        pass


def _locked(file: int) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
