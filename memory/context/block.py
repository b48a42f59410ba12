"""The managed block: the part of a context file between our two markers, and nothing else of it."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from acemem.memory.errors import BadInput, StoreError
from acemem.memory.process import is_alive

BEGIN = b"<!-- mem:begin managed by acemem: edits between these markers are overwritten -->"
END = b"<!-- mem:end -->"
UNFINISHED = ".mem-new"
ABANDONED = 600.0  # seconds; a write takes a few milliseconds
_BEGIN = re.compile(rb"<!-- mem:begin\b[^\r\n]*?-->")
_ANY = re.compile(rb"<!-- mem:(begin|end)\b")
_FENCE = re.compile(rb"[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)*+[ \t>]*+(`{3,}|~{3,})(.*)", re.DOTALL)  # in lists too
_ID = re.compile(rb"(?:\[mem:([0-9a-z]+)\]|<!-- mem:([0-9a-z]+) -->)[ \t]*\r?$", re.MULTILINE)


def put(document: bytes, body: str, path: Path) -> bytes:
    """The document with `body` as its managed block; every byte outside the markers stays as it is.

    Where there is no block yet it is appended, unless `body` is empty. A block keeps its line ends, a new one takes
    those of the document. Raises BadInput for a document that is not UTF-8 text, or whose markers do not form one
    block.
    """
    before, inside, after = split(document, path)
    newline = _newline(document if inside is None else inside, document)
    inner = newline.join(line.encode() for line in body.splitlines())
    block = newline.join([BEGIN, *([inner] if inner else []), END])
    if inside is not None:
        return before + block + after
    if not inner:
        return document
    gap = b"" if not document else newline if document.endswith(b"\n") else newline * 2
    return document + gap + block + newline


def split(document: bytes, path: Path) -> tuple[bytes, bytes | None, bytes]:
    """What stands before the block, within its markers (None where there is no block), and after it.

    An example of a block in a code fence is a person's text, and so are markers that a sentence names `in code`; raises
    BadInput as `put` does.
    """
    try:
        document.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{path} is not UTF-8 text (byte {error.start}), so nothing was written; convert it, or render "
            "to another file with --target"
        ) from error
    every = [found for found in _ANY.finditer(document) if not _is_named(document, found.start())]
    fences = _fences(document) if every else []
    markers = [m for m in every if not any(a <= m.start() < b for a, b in fences)]
    if not markers and every and document.startswith(BEGIN, every[0].start()):
        markers = every  # we wrote it, and somebody has put a fence around it since
    found = [match[1] for match in markers]
    if not found:
        return document, None, b""
    begin = _BEGIN.match(document, markers[0].start())
    end = markers[-1].start()
    if found != [b"begin", b"end"] or begin is None or end < begin.end() or not document.startswith(END, end):
        raise BadInput(
            f"the markers `<!-- mem:begin ... -->` and `{END.decode()}` in {path} do not form one block, so nothing "
            "was written; restore the missing one, or delete them all to get a new block at the end"
        )
    return document[: begin.start()], document[begin.end() : end], document[end + len(END) :]


def ids(inside: bytes | None) -> list[str]:
    """The bullets that a block names at the ends of its lines, in its order."""
    return [(found[1] or found[2]).decode() for found in _ID.finditer(inside or b"")]


def _is_named(document: bytes, at: int) -> bool:
    """Whether a marker stands between backticks of its line, as we never write one."""
    first = max(document.rfind(b"\n", 0, at), document.rfind(b"\r", 0, at)) + 1
    return document.count(b"`", first, at) % 2 == 1 and re.compile(rb"[^\r\n`]*`").match(document, at) is not None


def _clear_away(target: Path, fresh: Path) -> None:
    """Removes what writes that were killed have left beside a file; one that may be under way stays."""
    for name in os.listdir(target.parent):
        if name.startswith(f".{target.name}.") and name.endswith(UNFINISHED):
            rest = target.parent / name
            with suppress(OSError):
                old = fresh.stat().st_mtime - rest.stat().st_mtime > ABANDONED
                writer = name.removeprefix(f".{target.name}.").split("-")[0]
                if old or (writer.isascii() and writer.isdigit() and not is_alive(int(writer))):
                    rest.unlink()


def _newline(text: bytes, otherwise: bytes) -> bytes:
    for part in (text, otherwise):
        if lines := part.count(b"\n"):
            return b"\r\n" if part.count(b"\r\n") * 2 > lines else b"\n"
    return b"\n"


def _fences(document: bytes) -> list[tuple[int, int]]:
    """Where the code fences stand that are closed; one that is open to the end is a slip of the pen."""
    found: list[tuple[int, int]] = []
    opened: tuple[bytes, int] | None = None
    at = 0
    for line in document.splitlines(keepends=True):
        if fence := _FENCE.match(line):
            if opened is None:
                if not (fence[1].startswith(b"`") and b"`" in fence[2]):  # that is code within the line
                    opened = fence[1], at
            elif fence[1].startswith(opened[0]) and not fence[2].strip():
                found.append((opened[1], at + len(line)))
                opened = None
        at += len(line)
    return found


def read(path: Path) -> bytes:
    """The file's bytes, empty when it does not exist. Raises BadInput when it is no file, or cannot be read."""
    try:
        if path.exists() and not path.is_file():
            raise BadInput(f"{path} is not a regular file, so nothing is written there; name one with --target")
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from error


def replace_file(path: Path, before: bytes, after: bytes) -> None:
    """Writes a file so that a crash leaves either the old or the new one; links, owner and permissions stay.

    Raises StoreError when it changed since `before` was read, or cannot be written.
    """
    target = Path(os.path.realpath(path))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.{os.getpid()}-", suffix=UNFINISHED, dir=target.parent)
        fresh = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(after)
                file.flush()
                os.fsync(file.fileno())
            exists = target.exists()
            if exists:
                _keep_owner(fresh, target)
            os.chmod(fresh, stat.S_IMODE(target.stat().st_mode) if exists else 0o644)
            if (target.read_bytes() if exists else b"") != before:
                raise StoreError(f"{path} was changed by someone else just now, so nothing was written; try again")
            _clear_away(target, fresh)
            os.replace(fresh, target)
        finally:
            fresh.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from error


def _keep_owner(fresh: Path, target: Path) -> None:
    """What root writes for a person stays that person's."""
    owner = target.stat()
    if hasattr(os, "chown") and (owner.st_uid, owner.st_gid) != (fresh.stat().st_uid, fresh.stat().st_gid):
        os.chown(fresh, owner.st_uid, owner.st_gid)
