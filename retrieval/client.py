"""The hook's client as agents start it: `python -I -S client.py AGENT EVENT [HOME]`.

It only leads to `call`, which lies beside it: a file that is run is compiled anew each time, and one that is imported
is not (*measured* 3 of 12 ms). It ends with 0 and without a word on standard error whatever happens.
"""

import sys

try:
    from posix import _exit
except ImportError:  # Windows
    from nt import _exit  # type: ignore[attr-defined,no-redef]

try:
    sys.path.insert(0, __file__.replace("\\", "/").rpartition("/")[0] or ".")
    from call import main  # type: ignore[import-not-found]

    del sys.path[0]
    main(sys.argv[1:])
except BaseException:  # noqa: BLE001 - a hook may never break a prompt; half an installation has no log to write to
    pass
_exit(0)  # past the interpreter's own tidying up, which has nothing to tidy
