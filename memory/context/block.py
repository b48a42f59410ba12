"""The managed block: the part of a context file between our two markers, and nothing else of it."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from pathlib import Path

from acemem.memory.errors import BadInput, StoreError

BEGIN = b"<!-- mem:begin managed by acemem: edits between these markers are overwritten -->"
END = b"<!-- mem:end -->"
_BEGIN = re.compile(rb"<!-- mem:begin\b[^\r\n]*?-->")
_FENCED = re.compile(rb"^[ \t]{0,3}(`{3,}|~{3,}).*?(?:^[ \t]{0,3}\1[`~]*[ \t]*\r?$|\Z)", re.MULTILINE | re.DOTALL)
_ANY = re.compile(rb"<!-- mem:(begin|end)\b")


def put(document: bytes, body: str, path: Path) -> bytes:
    """The document with `body` as its managed block; every byte outside the markers stays as it is.

    Where there is no block yet it is appended, unless `body` is empty. Line ends follow the document.
    Raises BadInput for a document that is not UTF-8 text, or whose markers do not form one block.
    """
    try:
        document.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{path} is not UTF-8 text (byte {error.start}), so nothing was written; convert it, or render "
            "to another file with --target"
        ) from error
    # A lone \r at the end would become \r\n with what we append, and the next render would see other line ends.
    newline = b"\r\n" if b"\r\n" in document or document.endswith(b"\r") else b"\n"
    inner = newline.join(line.encode() for line in body.splitlines())
    block = newline.join([BEGIN, *([inner] if inner else []), END])
    fenced = [match.span() for match in _FENCED.finditer(document)]  # an example of a block is not the block
    markers = [m for m in _ANY.finditer(document) if not any(a <= m.start() < b for a, b in fenced)]
    found = [match[1] for match in markers]
    if not found:
        if not inner:
            return document
        gap = b"" if not document else newline if document.endswith(b"\n") else newline * 2
        return document + gap + block + newline
    begin = _BEGIN.match(document, markers[0].start())
    end = document.find(END, begin.end() if begin else 0)
    if found != [b"begin", b"end"] or begin is None or end < 0:
        raise BadInput(
            f"the markers `<!-- mem:begin ... -->` and `{END.decode()}` in {path} do not form one block, so nothing "
            "was written; restore the missing one, or delete them all to get a new block at the end"
        )
    return document[: begin.start()] + block + document[end + len(END) :]


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
    """Writes a file so that a crash leaves either the old or the new one; links and permissions stay.

    Raises StoreError when it changed since `before` was read, or cannot be written.
    """
    target = Path(os.path.realpath(path))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        fresh = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(after)
                file.flush()
                os.fsync(file.fileno())
            exists = target.exists()
            os.chmod(fresh, stat.S_IMODE(target.stat().st_mode) if exists else 0o644)
            if (target.read_bytes() if exists else b"") != before:
                raise StoreError(f"{path} was changed by someone else just now, so nothing was written; try again")
            os.replace(fresh, target)
        finally:
            fresh.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from error
