"""Launch: starts the daemon of a home as a process of its own, unless one lives. Standard library only."""

from __future__ import annotations

import os
import sys
import time

from acemem.retrieval.daemon import lock

FAILED = "daemon.failed"  # the mark of a start that came to nothing
PAUSE = 60.0  # seconds until the next try after such a one: a hook must not pay for it at every prompt
# Read by the libraries when they load. A prompt is one short text: more threads only wait for each other, and freed
# memory goes back to the system at once (*measured*: peak 390 MB without these, 337 with them, at 10,000 bullets).
SURROUNDINGS = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "LANCE_CPU_THREADS": "1",
    "LANCE_IO_THREADS": "2",
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": "131072",
    "MALLOC_TRIM_THRESHOLD_": "131072",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "TOKIO_WORKER_THREADS": "1",
}


def launch(home: str, agent: str, folder: str) -> int | None:
    """Starts a daemon and gives the id of the process that will have done so when it ends; None where none is needed.

    `agent` and `folder` tell whose bullets to have ready first. Does nothing while a daemon lives or starts, within a
    minute after one could not start, and where the home is not there or cannot be written.
    """
    try:
        if abs(time.time() - os.stat(os.path.join(home, FAILED)).st_mtime) < PAUSE:  # the clock may have been set back
            return None
    except OSError:
        pass
    try:
        held = lock.take(home)
    except OSError:
        return None
    if held is None:
        return None
    try:
        return _start(home, agent, folder, held)
    finally:
        os.close(held)  # the daemon has it open, too


def _start(home: str, agent: str, folder: str, held: int) -> int:
    program = os.path.join(os.path.dirname(__file__), "__main__.py")
    command = [sys.executable, "-I", "-X", "utf8", program, os.path.abspath(home), agent, folder]
    surroundings = {**os.environ, **SURROUNDINGS}
    if sys.platform == "win32":
        import subprocess

        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
        return subprocess.Popen(command, env=surroundings, creationflags=flags, close_fds=True).pid
    os.set_inheritable(held, True)
    nothing = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    return os.posix_spawn(sys.executable, [*command, str(held)], surroundings, file_actions=nothing)
