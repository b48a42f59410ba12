"""What may go wrong around a hook, for `hook_latency`: each makes it so, and gives the home that hooks are called with.

All take the benchmark and a copy of its home of their own. What needs a mount raises PermissionError where that is not
allowed.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def stopped(bench: Any, home: Path) -> Iterator[Path]:
    """The daemon lives, and does not answer."""
    from acemem.retrieval.daemon import lock

    bench.start(home)
    pid = lock.holder(str(home))
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    yield home


@contextmanager
def socket_gone(bench: Any, home: Path) -> Iterator[Path]:
    """The daemon lives where nobody finds it."""
    bench.start(home)
    (home / "daemon" / "socket").unlink()
    yield home


@contextmanager
def killed(bench: Any, home: Path) -> Iterator[Path]:
    """It has left its socket and its address, and no other may be started."""
    from acemem.retrieval.daemon.launch import FAILED

    bench.start(home)
    bench.kill(home)
    (home / FAILED).touch()
    yield home


@contextmanager
def missing(bench: Any, home: Path) -> Iterator[Path]:
    """Nothing was ever remembered."""
    yield home.with_name("nowhere")


@contextmanager
def read_only(bench: Any, home: Path) -> Iterator[Path]:
    """No lock, no receipt and no log can be written."""
    with mounted(home, "--bind", str(home)):
        subprocess.run(["mount", "-o", "remount,bind,ro", str(home)], check=True)
        yield home


@contextmanager
def full(bench: Any, home: Path) -> Iterator[Path]:
    """No byte more can be written, and no daemon lives."""
    yield from _on_a_full_disk(bench, home, alive=False)


@contextmanager
def full_alive(bench: Any, home: Path) -> Iterator[Path]:
    """No byte more can be written, under a daemon that lives."""
    yield from _on_a_full_disk(bench, home, alive=True)


@contextmanager
def table_garbage(bench: Any, home: Path) -> Iterator[Path]:
    """The daemon lives, and answers by words."""
    for path in (home / "lance").rglob("*.*"):
        if path.is_file():
            path.write_bytes(b"\0garbage")
    bench.start(home)
    yield home


@contextmanager
def all_garbage(bench: Any, home: Path) -> Iterator[Path]:
    """No daemon can start, and there is nothing to answer from."""
    for path in home.iterdir():
        if path.is_file():
            path.write_bytes(b"\0garbage")
    yield home


FAULTS = {
    "daemon stopped (SIGSTOP)": stopped,
    "daemon killed": killed,
    "socket gone": socket_gone,
    "home missing": missing,
    "home read-only": read_only,
    "disk full, no daemon": full,
    "disk full, daemon alive": full_alive,
    "table garbage": table_garbage,
    "whole store garbage": all_garbage,
}


@contextmanager
def mounted(place: Path, *options: str) -> Iterator[None]:
    """Something mounted at a folder, as root may. Raises PermissionError."""
    if subprocess.run(["mount", *options, str(place)], capture_output=True, check=False).returncode != 0:
        raise PermissionError("this user may not mount anything")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def _on_a_full_disk(bench: Any, home: Path, alive: bool) -> Iterator[Path]:
    disk = home.with_name("disk")
    disk.mkdir(exist_ok=True)
    with mounted(disk, "-t", "tmpfs", "-o", "size=256m", "none"):
        place = disk / "home"
        shutil.copytree(home, place)
        if alive:
            bench.start(place)
        with (disk / "filling").open("wb", buffering=0) as file:
            try:
                while file.write(b"x" * 4096):
                    pass
            except OSError:
                pass
        try:
            yield place
        finally:
            bench.kill(place)
