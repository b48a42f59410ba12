"""A thread of its own: for what only one thread may use, and asynchronous code wants to ask."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, Protocol, TypeVar


class Closing(Protocol):
    """Something that holds files until it is closed."""

    def close(self) -> None:
        """Lets go of them."""


T = TypeVar("T", bound=Closing)
R = TypeVar("R")


class OwnThread(Generic[T]):
    """One thread with one thing in it, which is opened when the first work comes, and again once it `is_stale`."""

    def __init__(self, open: Callable[[], T], is_stale: Callable[[T], bool] = lambda thing: False) -> None:
        self._open = open
        self._is_stale = is_stale
        self._pool = ThreadPoolExecutor(1, "own")
        self._thing: T | None = None

    def submit(self, work: Callable[[T], R]) -> Future[R]:
        """Has the thread do this work after what it was given before; its errors are the future's."""
        return self._pool.submit(self._do, work)

    def close(self) -> None:
        """Ends the thread, once all it was given is done."""
        self._pool.submit(self._leave)
        self._pool.shutdown(wait=True)

    def _do(self, work: Callable[[T], R]) -> R:
        if self._thing is not None and self._is_stale(self._thing):
            self._leave()
        if self._thing is None:
            self._thing = self._open()
        return work(self._thing)

    def _leave(self) -> None:
        if self._thing is not None:
            self._thing.close()
            self._thing = None
