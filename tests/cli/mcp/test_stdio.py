"""`mem mcp` as an agent starts it: a process of its own, standard input and output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.types import CallToolResult

from acemem import Memory
from tests.bullets import store
from tests.cli.mcp.conftest import MEM, stdio, told

QUESTION = {"query": "how does the parser read the config file"}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_every_tool_can_be_called(memory: Memory, project: Path, mode: str) -> None:
    """By clients of today's protocol and of that before it."""
    bullet = store(memory, "The parser reads the “config” file first → 日本語 🚀.")

    async def use() -> list[CallToolResult]:
        async with stdio(memory.home.path, project, mode=mode) as client:
            assert len((await client.list_tools()).tools) == 6
            calls: list[tuple[str, dict[str, Any]]] = [
                ("mem_search", QUESTION),
                ("mem_add", {"text": "Deploy with make ship.", "kind": "decision"}),
                ("mem_feedback", {"id": bullet.id, "helpful": False}),
                ("mem_show", {"id": bullet.id}),
                ("mem_conflicts", {}),
                ("mem_forget", {"id": bullet.id}),
                ("mem_show", {"id": "nonsense"}),
            ]
            return [await client.call_tool(name, arguments) for name, arguments in calls]

    *done, refused = anyio.run(use)
    assert refused.is_error
    found, added, marked, shown, conflicts, forgotten = map(told, done)
    assert found["hits"][0]["text"] == shown["text"] == bullet.text
    assert memory.bullet(added["id"]).scope == memory.project.scope
    assert marked["score"] == shown["score"] == -0.1
    assert conflicts["pairs"] == []
    assert memory.bullet(forgotten["id"]).status == "archived"


def test_calls_at_once_get_their_own_answers(memory: Memory, project: Path) -> None:
    """One store, one thread, in order."""
    words = ["alpha", "beta", "gamma", "delta"]
    bullets = {word: store(memory, f"The {word} parser reads the {word} config.").id for word in words}

    async def use() -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        async with stdio(memory.home.path, project) as client, anyio.create_task_group() as group:

            async def ask(number: int) -> None:
                word = words[number % 4]
                answer = told(await client.call_tool("mem_search", {"query": f"{word} parser {word} config", "k": 1}))
                found.setdefault(word, []).append(answer["hits"][0]["id"])
                await client.call_tool("mem_add", {"text": f"Statement number {number} of {word}."})

            for number in range(12):
                group.start_soon(ask, number)
        return found

    assert anyio.run(use) == {word: [bullets[word]] * 3 for word in words}
    assert len(memory.bullets()) == 16


def lines_of(*messages: dict[str, Any]) -> bytes:
    return b"".join(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in messages)


HELLO = (
    {
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "claude-code", "version": "1"},
        },
    },
    {"method": "notifications/initialized"},
)
NOISY = (
    "import sys, logging, warnings; from acemem.retrieval import search; real = search.search\n"
    "def loud(*a, **k):\n"
    "    print('print'); warnings.warn('warn'); logging.getLogger('x').warning('log'); return real(*a, **k)\n"
    "search.search = loud\n"
    "from acemem.cli.main import cli; cli(['mcp'], prog_name='mem')"
)


def test_standard_output_carries_the_protocol_alone(memory: Memory, project: Path) -> None:
    """Whatever a tool prints, warns and logs goes to standard error; and so does what a broken message causes."""
    bullet = store(memory, "Only Claude reads the config file of the parser.", scope="agent:claude-code")
    call = {"id": 2, "method": "tools/call", "params": {"name": "mem_search", "arguments": QUESTION}}
    given = lines_of(*HELLO) + b"no json\n" + lines_of(call)
    environ = {**os.environ, "MEM_HOME": str(memory.home.path), "CLAUDE_PROJECT_DIR": str(project)}
    process = subprocess.Popen(
        [sys.executable, "-c", NOISY],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environ,
        cwd="/",
    )
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    process.stdin.write(given)
    process.stdin.flush()
    answers: list[dict[str, Any]] = []
    while not any(answer.get("id") == 2 for answer in answers):
        answers.append(json.loads(process.stdout.readline()))
    process.stdin.close()
    rest = process.stdout.read()
    stderr = process.stderr.read()
    assert process.wait(30) == 0
    assert rest == b""
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    assert [hit["id"] for hit in answers[-1]["result"]["structuredContent"]["hits"]] == [bullet.id]
    assert {b"print", b"mem mcp: log"} <= set(stderr.split(b"\n"))
    process.stdout.close()
    process.stderr.close()


def test_it_ends_when_its_input_does(memory: Memory, project: Path) -> None:
    """At once, before anything was asked, and without a store to close; it makes none either."""
    home = memory.home.path.parent / "none"
    environ = {**os.environ, "MEM_HOME": str(home)}
    done = subprocess.run(
        [*MEM, "mcp"], input=b"", capture_output=True, env=environ, cwd=project, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, b"")
    assert not home.exists()


def test_a_damaged_store_is_said_to_the_agent(memory: Memory, project: Path) -> None:
    """The process lives on."""
    for name in ("ledger.db", "ledger.db-wal", "ledger.db-shm"):
        (memory.home.path / name).unlink(missing_ok=True)
    (memory.home.path / "ledger.db").write_bytes(b"\0garbage" * 1000)

    async def use() -> list[CallToolResult]:
        async with stdio(memory.home.path, project) as client:
            return [await client.call_tool("mem_search", QUESTION) for _ in range(2)]

    for result in anyio.run(use):
        assert result.is_error
        assert "ledger.db" in result.content[0].text  # type: ignore[union-attr]
