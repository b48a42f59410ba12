"""Logs packed with Zstandard, read through what this Python offers for it."""

from __future__ import annotations

import importlib
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import Any

MAGIC = b"\x28\xb5\x2f\xfd"
_PIECE = 1 << 16


class Missing(Exception):
    """Nothing installed here unpacks Zstandard."""


class Damaged(Exception):
    """The packed data ends or breaks in the middle; everything before was read."""


def is_packed(path: Path) -> bool:
    """Whether a file begins as packed ones do."""
    with path.open("rb") as handle:
        return handle.read(len(MAGIC)) == MAGIC


def open_unpacked(path: Path) -> BufferedReader:
    """A packed file for reading as if it were not. Raises `Missing`; reading on raises `Damaged`."""
    stream, failure = _stream(path)
    return BufferedReader(_Unpacked(stream, failure), 1 << 20)


class _Unpacked(RawIOBase):
    def __init__(self, stream: Any, failure: type[Exception]) -> None:
        self._stream, self._failure = stream, failure

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            # In small pieces: where the data breaks, the piece that is asked for is lost.
            data = self._stream.read(min(len(buffer), _PIECE))
        except (self._failure, EOFError) as error:
            raise Damaged(f"packed data cannot be unpacked further: {error}") from error
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


def _stream(path: Path) -> tuple[Any, type[Exception]]:
    try:
        module: Any = importlib.import_module("compression.zstd")  # Python 3.14
        return module.ZstdFile(path), module.ZstdError
    except ImportError:
        pass
    try:
        module = importlib.import_module("zstandard")
    except ImportError:
        raise Missing("packed with Zstandard; `pip install 'acemem[zstd]'` to read it (or use Python 3.14)") from None
    reader = module.ZstdDecompressor().stream_reader(path.open("rb"), read_across_frames=True)
    return reader, module.ZstdError
