"""The lifetime of a daemon: what makes it end by itself."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from acemem.retrieval.daemon import lock
from acemem.retrieval.daemon.address import Address

PACKAGE = Path(os.path.abspath(__file__)).parents[2]
LOOK_EVERY = 5.0  # seconds between two looks at the package's files


def package_version() -> str:
    """The version of acemem that is installed; "0" for one that runs from a bare folder."""
    try:
        return version("acemem")
    except PackageNotFoundError:
        return "0"


def package_state() -> int:
    """A number that changes when the package's files do. Raises OSError where no more files can be opened to look."""
    return hash(tuple(_stamps(PACKAGE)))


class Lifetime:
    """How long one daemon may live."""

    def __init__(self, home: Path, held: int, address: Address) -> None:
        self._home = home
        self._held = held
        self._address = address
        self._version = package_version()
        self._package = package_state()
        self._looked = time.monotonic()

    def over(self, idle: float, asked_at: float) -> str | None:
        """Why the daemon has to end; None while it has not.

        `idle` is for how many seconds it may go unasked, `asked_at` when it was last asked, by `time.monotonic`.
        """
        if not lock.is_current(str(self._home), self._held):
            return "its home is gone"
        if self._address.path and not os.path.exists(self._address.path):
            return "its socket is gone"
        if time.monotonic() - asked_at > idle:
            return f"nobody asked for {idle:g} s"
        if time.monotonic() - self._looked > LOOK_EVERY:
            self._looked = time.monotonic()
            if package_state() != self._package or package_version() != self._version:
                return "the package changed"
        return None


def _stamps(folder: Path) -> Iterator[tuple[str, int, int]]:
    for place, folders, names in os.walk(folder, onerror=_out_of_files, followlinks=True):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in names:
            if name.endswith((".py", ".onnx")):
                try:
                    found = os.stat(os.path.join(place, name))
                except OSError:
                    continue
                yield name, found.st_mtime_ns, found.st_size


def _out_of_files(error: OSError) -> None:
    if error.errno in (errno.EMFILE, errno.ENFILE):
        raise error  # a folder that cannot be looked at now is not one that is gone
