"""The daemon's process: `python -I __main__.py HOME [AGENT FOLDER [LOCK]]`, as `launch` starts it.

`LOCK` is the number of the open file that holds the life lock; without it the process takes the lock itself, and stays
in the foreground.
"""

from __future__ import annotations

import importlib.util
import os
import sys

COMPOSITION = "acemem.cli.serve"
MOST_FILES = 65_536  # that an agent may have left open; the system's own limit may be a number without end


def main(arguments: list[str]) -> None:
    """Detaches, serves, and leaves a line in the log when it cannot."""
    home, agent, folder, held = (*arguments, "", "", "")[:4]
    if held:
        _detach(int(held))
    os.umask(0o077)
    os.chdir("/")
    _find_package()
    from acemem.retrieval.daemon import lock
    from acemem.retrieval.daemon.log import note

    try:
        if held:
            lock.sign(home)
        # What lives in this process is put together further up than this package may look.
        importlib.import_module(COMPOSITION).run(home, agent, folder, int(held) if held else None)
    except BaseException as error:
        from acemem.retrieval.daemon.launch import FAILED

        note(home, f"daemon: {type(error).__name__}: {error}")
        open(os.path.join(home, FAILED), "w").close()
        raise


def _detach(held: int) -> None:
    """Leaves the session, the group and the open files of whoever started this process, and lets that one go on."""
    if os.fork():
        os._exit(0)
    os.setsid()
    os.set_inheritable(held, False)
    os.closerange(3, held)
    os.closerange(held + 1, MOST_FILES)


def _find_package() -> None:
    """Makes the package importable, where no interpreter's own folder has it (`pip install --user`)."""
    if importlib.util.find_spec("acemem") is None:
        sys.path.append(os.path.abspath(__file__).replace("\\", "/").rsplit("/", 4)[0])


if __name__ == "__main__":
    main(sys.argv[1:])
