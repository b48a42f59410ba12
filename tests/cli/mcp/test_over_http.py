"""The tools over HTTP: the daemon's own process, its port, and who may ask there."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import httpx2
import pytest
from click.testing import CliRunner
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

from acemem.cli.main import cli
from acemem.retrieval.daemon import address
from tests.bullets import store
from tests.cli.mcp.conftest import told
from tests.retrieval.daemon.conftest import PROMPT, TEXT, Hooked, end, make_hooked


def free_port() -> int:
    """A port that nobody has just now."""
    with socket.create_server(("127.0.0.1", 0)) as line:
        return int(line.getsockname()[1])


def with_port(hooked: Hooked, port: int) -> None:
    config = hooked.home / "config.toml"
    config.write_text(config.read_text("utf-8") + f"port = {port}\n", "utf-8")  # its last table is [daemon]


class Served:
    """A home whose daemon listens at a port."""

    def __init__(self, hooked: Hooked) -> None:
        self.hooked = hooked
        self.port = free_port()
        with_port(hooked, self.port)
        hooked.start()
        self.token = (hooked.home / "daemon.token").read_text("ascii").strip()

    @asynccontextmanager
    async def client(self, project: Path | None, mode: str = "auto", token: str = "") -> AsyncIterator[Client]:
        """A client that works in a project, and knows the token unless it is given another one."""
        headers = {"Authorization": f"Bearer {token or self.token}"}
        if project is not None:
            headers["X-Mem-Project"] = quote(str(project))
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            transport = streamable_http_client(f"http://127.0.0.1:{self.port}/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                yield client

    def ask(self, method: str, path: str, body: bytes = b"", **changes: str) -> tuple[int, bytes]:
        """One plain request, with the headers of somebody who may ask unless they are changed."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", **changes}
        line = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            line.request(
                method, path, body, {name.replace("_", "-"): value for name, value in headers.items() if value}
            )
            answer = line.getresponse()
            return answer.status, answer.read()
        finally:
            line.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A daemon for the tests of this module."""
    hooked = make_hooked(tmp_path_factory.mktemp("served"))
    yield Served(hooked)
    end(hooked)


def mem(home: Path, *words: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["--home", str(home), *words])
    return result.exit_code, result.stdout


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_every_tool_can_be_called(served: Served, mode: str) -> None:
    """By clients of today's protocol and of that before it; what one call keeps, the next finds."""
    project = served.hooked.project
    text = f"The {mode} release is signed by the deploy key."

    async def use() -> list[CallToolResult]:
        async with served.client(project, mode) as client:
            assert len((await client.list_tools()).tools) == 6
            added = await client.call_tool("mem_add", {"text": text})
            id = told(added)["id"]
            calls: list[tuple[str, dict[str, Any]]] = [
                ("mem_search", {"query": text}),
                ("mem_feedback", {"id": id, "helpful": True}),
                ("mem_show", {"id": id}),
                ("mem_conflicts", {}),
                ("mem_forget", {"id": id}),
                ("mem_show", {"id": "nonsense"}),
            ]
            return [added, *[await client.call_tool(name, arguments) for name, arguments in calls]]

    *done, refused = anyio.run(use)
    assert refused.is_error
    added, found, marked, shown, _, forgotten = map(told, done)
    assert found["hits"][0]["id"] == shown["id"] == forgotten["id"] == added["id"]
    assert marked["score"] == 0.06
    with served.hooked.open() as memory:
        assert memory.bullet(added["id"]).status == "archived"
        assert memory.bullet(added["id"]).scope == memory.project.scope
        assert memory.receipt(found["receipt"]).session is None


def test_a_project_is_named_by_each_request(served: Served, tmp_path: Path) -> None:
    """Many at once are not mixed up; and who names none sees what is global alone."""
    folders = [tmp_path / "ä b", tmp_path / "c"]
    with served.hooked.open() as memory:
        for folder in folders:
            memory.project = type(memory.project).of(folder)
            store(memory, f"The signing key of this project lies in {folder.name}.")
        memory.home.sync()
    found: dict[Path | None, list[list[str]]] = {}

    async def ask(folder: Path | None) -> None:
        async with served.client(folder) as client:
            for _ in range(3):
                answer = told(await client.call_tool("mem_search", {"query": "where does the signing key lie"}))
                found.setdefault(folder, []).append([hit["text"] for hit in answer["hits"]])

    async def use() -> None:
        async with anyio.create_task_group() as group:
            for folder in (*folders, None):
                group.start_soon(ask, folder)

    anyio.run(use)
    own = {folder: [f"The signing key of this project lies in {folder.name}."] for folder in folders}
    assert found == {**{folder: [texts] * 3 for folder, texts in own.items()}, None: [[]] * 3}


def test_who_does_not_know_the_token_gets_nothing(served: Served) -> None:
    """Nor a page that came by another name or from another site, whatever it knows."""
    for path in ("/mcp", "/hook/claude-code/user-prompt-submit", "/stop"):
        for wrong in ("", "Bearer x", f"Bearer {served.token}x", served.token):
            assert served.ask("POST", path, Authorization=wrong)[0] == 401
    for host in ("evil.example", f"evil.example:{served.port}", f"127.0.0.1.evil.example:{served.port}", "127.0.0.1:1"):
        assert served.ask("POST", "/mcp", Host=host)[0] == 421
    for origin in ("https://evil.example", "null", f"http://127.0.0.1.evil.example:{served.port}"):
        assert served.ask("POST", "/mcp", Origin=origin)[0] == 403
    assert served.ask("GET", "/health", Host=f"localhost:{served.port}", Origin="http://localhost:1")[0] == 200
    assert served.ask("GET", "/mcp")[0] == 405
    assert (served.hooked.home / "daemon.token").stat().st_mode & 0o077 == 0

    async def use() -> None:
        async with served.client(None, token="wrong") as client:
            await client.list_tools()

    with pytest.raises(BaseExceptionGroup):
        anyio.run(use)


def test_a_hook_can_be_asked_without_a_process(served: Served) -> None:
    """As agents with hooks of the type http do; the answer is the one that a process prints."""
    payload = json.dumps({"session_id": "http", "prompt": PROMPT, "cwd": str(served.hooked.project)}).encode()
    status, body = served.ask("POST", "/hook/claude-code/user-prompt-submit", payload)
    assert status == 200
    assert TEXT in json.loads(body)["hookSpecificOutput"]["additionalContext"]


def test_the_status_says_where_it_listens(served: Served) -> None:
    """And where the token is, which it does not print."""
    home = served.hooked.home
    code, printed = mem(home, "daemon", "status", "--json")
    url = f"http://127.0.0.1:{served.port}"
    assert json.loads(printed)["http"] == {"url": url, "problem": "", "token_file": str(home / "daemon.token")}
    code, printed = mem(home, "daemon", "status")
    assert code == 0
    assert f"{url}/mcp" in printed
    assert served.token not in printed


def test_a_port_that_another_has_is_no_reason_to_die(tmp_path: Path) -> None:
    """Hooks are answered as ever, and the status says what is wrong."""
    hooked = make_hooked(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        with_port(hooked, taken.getsockname()[1])
        try:
            hooked.start()
            assert TEXT in hooked.context()
            http = json.loads(mem(hooked.home, "daemon", "status", "--json")[1])["http"]
            assert (http["url"], http["problem"]) == ("", "Address already in use")
            assert "mem config daemon.port PORT" in mem(hooked.home, "daemon", "status")[1]
            assert any("nothing listens at 127.0.0.1:" in line for line in hooked.log())
        finally:
            end(hooked)


def test_without_a_port_nothing_listens(tmp_path: Path) -> None:
    """Which is how it comes."""
    hooked = make_hooked(tmp_path)
    try:
        hooked.start()
        assert json.loads(mem(hooked.home, "daemon", "status", "--json")[1])["http"] is None
        assert not (hooked.home / "daemon.token").exists()
    finally:
        end(hooked)


def test_the_token_is_made_once(tmp_path: Path) -> None:
    """Half a file is made anew, and one that others could read is closed to them."""
    token = address.token_of(tmp_path)
    assert len(token) > 30
    (tmp_path / "daemon.token").chmod(0o644)
    assert address.token_of(tmp_path) == token
    assert (tmp_path / "daemon.token").stat().st_mode & 0o077 == 0
    (tmp_path / "daemon.token").write_text("half", "ascii")
    assert address.token_of(tmp_path) not in (token, "half")
