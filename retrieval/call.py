"""A call: hands an agent's bytes to the warm daemon, and prints what comes back.

It runs before every prompt of every session, so it costs what starting Python costs: it imports what is built into the
interpreter, reads no JSON, and asks one question over one socket. It ends when its time is up, whatever it waits for.
Where no daemon answers, `acemem.retrieval.cold` starts one and answers what it can.
"""

import sys
import time

try:
    import posix as system
except ImportError:  # Windows
    import nt as system  # type: ignore[no-redef]

ADDRESS = b"daemon.address"  # the file in the home: the deadline in seconds, then where the daemon listens
DEADLINE = 0.4  # seconds, where no daemon has said otherwise
LOG = b"hook.log"
LOG_BYTES = 200_000  # then it becomes hook.log.1, and that of before goes
LOG_LINE = 1_000
MOST = 64 * 1024 * 1024  # bytes of a payload, and of an answer
PIECE = 1 << 16
LARGE = 2 * 1024 * 1024  # bytes of a payload that take too long to be parsed
END = 1 << 18  # bytes at its beginning and at its end that are sent of a larger one


def run() -> None:
    """`mem-hook AGENT EVENT [HOME]`: the same as a command, where a file's path is not at hand."""
    try:
        main(sys.argv[1:])
    finally:
        system._exit(0)


def main(arguments: list[str]) -> None:
    """Answers one hook call within the deadline; what goes wrong is one line in the log."""
    began = time.perf_counter()
    agent, event, place = (*arguments, "", "", "")[:3]
    home = place.encode(sys.getfilesystemencoding(), "surrogateescape") or default_home(sys.platform)
    try:
        address, deadline = find(home)
        limit(deadline, home, f"{agent} {event}: no answer within {deadline:g} s")
        payload = ends(read(0))
        answer = None
        if address:
            left = began + deadline - time.perf_counter()
            answer = ask(address, request(agent, event, home, payload, left), left)
        if answer is None:
            without_daemon(agent, event, home, payload)
        else:
            put(answer)
    except BaseException as error:  # noqa: BLE001 - a hook may never break a prompt
        note(home, f"{agent} {event}: {type(error).__name__}: {error}")


def default_home(platform: str) -> bytes:
    """Where the store is when nobody says: $MEM_HOME, else the place that platformdirs names for user data."""
    given = variable("MEM_HOME")
    if given[:2] == b"~/":
        return variable("HOME") + given[1:]
    if given:
        return given
    if platform == "win32":
        return variable("LOCALAPPDATA") + b"\\acemem"
    if platform == "darwin":
        return variable("HOME") + b"/Library/Application Support/acemem"
    return (variable("XDG_DATA_HOME").strip() or variable("HOME") + b"/.local/share") + b"/acemem"


def variable(name: str) -> bytes:
    """A variable of the environment, empty when it is not set."""
    if sys.platform == "win32":
        return str(system.environ.get(name, "")).encode()  # type: ignore[call-overload]
    return system.environ.get(name.encode(), b"")


def find(home: bytes) -> tuple[list[bytes], float]:
    """Where the daemon of a home listens, empty when it does not; and how many seconds a hook may take."""
    try:
        file = system.open(home + b"/" + ADDRESS, system.O_RDONLY)
    except (OSError, ValueError):
        return [], DEADLINE
    try:
        deadline, *address = system.read(file, PIECE).split(b"\n")
        return address, float(deadline)
    except (OSError, ValueError):
        return [], DEADLINE
    finally:
        system.close(file)


def limit(seconds: float, home: bytes, late: str) -> None:
    """Ends the process in silence when its time is up, also while it waits for an agent's input; `late` is noted."""

    def end(number: int = 0, frame: object = None) -> None:
        note(home, late)
        system._exit(0)

    try:
        from _signal import ITIMER_REAL, SIGALRM, setitimer, signal  # type: ignore[import-not-found]
    except ImportError:  # Windows has no alarm; a second thread looks at the clock, as long as the first only waits
        from _thread import start_new_thread

        def watch() -> None:
            time.sleep(max(0.001, seconds))
            end()

        start_new_thread(watch, ())
        return
    signal(SIGALRM, end)
    setitimer(ITIMER_REAL, max(0.001, seconds))


def read(file: int) -> bytes:
    """All that the agent sends; nothing where there is no input."""
    pieces: list[bytes] = []
    left = MOST
    try:
        while left > 0 and (piece := system.read(file, min(left, PIECE))):
            pieces.append(piece)
            left -= len(piece)
    except OSError:
        return b""
    return b"".join(pieces)


def ends(payload: bytes) -> bytes:
    """A payload that can be answered in time: of a large one the beginning and the end, for the middle is pasted text.

    It is cut at spaces, which are part of no character or escape, so that the two ends of one text are one text; where
    they are of two, it may be no JSON any more, and gets no answer, as it would for being late.
    """
    if len(payload) <= LARGE:
        return payload
    head, tail = payload[:END].rfind(b" "), payload.find(b" ", len(payload) - END)
    return payload[:head] + payload[tail:] if head >= 0 and tail >= 0 else payload


def put(answer: bytes) -> None:
    """Gives an answer to the agent."""
    while answer:
        answer = answer[system.write(1, answer) :]


def request(agent: str, event: str, home: bytes, payload: bytes, left: float) -> bytes:
    """The question as HTTP/1.1, with the folder in which the agent runs, who else may be calling in its name, which
    home is meant, and how many seconds are left: what comes later is not waited for.
    """
    folder = system.getcwdb().replace(b"\r", b"").replace(b"\n", b"")
    caller = "cursor" if variable("CURSOR_VERSION") else ""
    lines = (
        f"POST /hook/{plain(agent)}/{plain(event)} HTTP/1.1".encode(),
        b"Host: mem",
        b"Connection: close",
        b"X-Mem-Folder: " + folder,
        f"X-Mem-Caller: {caller}".encode(),
        f"X-Mem-Home: {identity(home)}".encode(),
        f"X-Mem-Left: {left:.3f}".encode(),
        f"Content-Length: {len(payload)}".encode(),
    )
    return b"\r\n".join(lines) + b"\r\n\r\n" + payload


def identity(home: bytes) -> str:
    """What tells one home from another, by whatever path it is reached: a copied one has the address of the first."""
    found = system.stat(home)
    return f"{found.st_dev}:{found.st_ino}"


def plain(name: str) -> str:
    """A name as it may stand in a path."""
    return "".join(letter for letter in name[:64] if letter.isascii() and (letter.isalnum() or letter in "-_")) or "-"


def ask(address: list[bytes], question: bytes, left: float) -> bytes | None:
    """The daemon's answer, empty when it has nothing to say; None when there is no daemon or it has failed.

    `address` is `[b"unix", PATH]` or `[b"tcp", HOST, PORT, TOKEN]`; `left` is how many seconds it may take.
    """
    # The module `socket` around these costs as much as starting the interpreter.
    from _socket import AF_INET, SOCK_STREAM, socket

    until = time.perf_counter() + left
    line = None
    try:
        if address[0] == b"unix":
            from _socket import AF_UNIX

            line = socket(AF_UNIX, SOCK_STREAM)
            line.settimeout(max(0.001, left))
            line.connect(address[1])
        else:
            question = question.replace(b"\r\n", b"\r\nAuthorization: Bearer " + address[3] + b"\r\n", 1)
            line = socket(AF_INET, SOCK_STREAM)
            line.settimeout(max(0.001, left / 4))
            try:
                line.connect((address[1].decode(), int(address[2])))
            except TimeoutError:
                return None  # Windows knocks for two seconds where nobody listens; who lives is reached at once
        line.settimeout(max(0.001, until - time.perf_counter()))
        line.sendall(question)
        pieces: list[bytes] = []
        while piece := line.recv(PIECE):
            pieces.append(piece)
            line.settimeout(max(0.001, until - time.perf_counter()))
    except TimeoutError:
        raise  # it lives and is busy: to start another one would not help
    except (OSError, ValueError, LookupError):
        return None
    finally:
        if line is not None:
            line.close()
    head, _, body = b"".join(pieces).partition(b"\r\n\r\n")
    status = head.split(b" ", 2)[1:2]
    return body if status == [b"200"] else b"" if status == [b"204"] else None


def without_daemon(agent: str, event: str, home: bytes, payload: bytes) -> None:
    """Starts a daemon, and answers from the words of the bullets alone."""
    here = __file__.replace("\\", "/").rsplit("/", 3)  # .../acemem/retrieval/call.py
    if len(here) == 4 and here[0] not in sys.path:
        sys.path.insert(0, here[0] or "/")
    from acemem.retrieval.cold import respond

    respond(agent, event, home, payload, put)


def note(home: bytes, text: str) -> None:
    """One line in the hook's log, where there is a home to have one."""
    path = home + b"/" + LOG
    words = "".join(letter if letter.isprintable() else " " for letter in text)[:LOG_LINE]
    line = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {words}\n".encode("utf-8", "replace")
    try:
        file = system.open(path, system.O_WRONLY | system.O_APPEND | system.O_CREAT, 0o600)
        try:
            system.write(file, line)
            full = system.fstat(file).st_size > LOG_BYTES
        finally:
            system.close(file)
        if full:
            system.replace(path, path + b".1")
    except (OSError, ValueError):
        return  # a home that cannot be written has no place for a log either
