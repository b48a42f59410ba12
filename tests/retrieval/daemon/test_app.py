"""The daemon's face, asked without a socket."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from acemem.memory.errors import StoreError
from acemem.memory.models import Draft
from acemem.retrieval.daemon.app import make_app
from acemem.retrieval.daemon.service import Question, Reply
from acemem.retrieval.daemon.warm_home import WarmHome


@pytest.mark.parametrize(
    ("stays", "there", "status", "receipts"),
    [(True, True, 200, 1), (False, True, 204, 0), (True, False, 421, 0)],
    ids=["waits", "has hung up", "its home is gone"],
)
def test_only_who_waits_for_an_answer_has_seen_it(
    tmp_path: Path, stays: bool, there: bool, status: int, receipts: int
) -> None:
    """A hook's time is up while the daemon is busy: what it cannot show must not count as shown."""
    taken: list[Reply] = []

    def respond(question: Question) -> Reply:
        return Reply(b"{}", Draft("receipt"))

    async def ask() -> list[dict[str, Any]]:
        said: list[dict[str, Any]] = []
        told = iter([{"type": "http.request", "body": b"{}", "more_body": False}])

        async def receive() -> dict[str, Any]:
            if (message := next(told, None)) is not None:
                return message
            if stays:
                await asyncio.Event().wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            said.append(dict(message))

        path = "/hook/claude-code/user-prompt-submit"
        scope = {"type": "http", "method": "POST", "path": path, "headers": [], "query_string": b"", "root_path": ""}
        home = tmp_path if there else tmp_path / "gone"
        with ThreadPoolExecutor(1) as pool:
            service: Any = SimpleNamespace(path=home, pool=pool, respond=respond, taken=taken.append)
            await make_app(service, lambda: None)(scope, receive, send)
        return said

    said = asyncio.run(ask())
    assert said[0]["status"] == status
    assert len(taken) == receipts


def test_a_home_that_is_gone_is_not_made_anew(tmp_path: Path) -> None:
    """Somebody moved it, or has had enough; an empty one in its place would get a daemon of its own."""
    home = WarmHome(tmp_path / "gone", lambda: 0.0, threading.Event())
    with pytest.raises(StoreError, match="is gone"):
        home.ledger.events()
    assert not home.path.exists()
