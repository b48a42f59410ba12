"""Forks, resumed copies and snapshots of a session hold the same records, and records count once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from acemem import Memory
from acemem.memory.sessions import catalog
from tests.conftest import Clock

RULES = (
    "No, don't use npm here, always use pnpm in this repository.",
    "Never push to the release branch, open a pull request instead.",
    "Always write the changelog entry in the same commit as the change.",
    "From now on run make lint before you commit anything.",
    "Please remember that the staging database listens on port 6543.",
)
BROKEN = (
    ("pytest tests", "bash: pytest: command not found", "uv run pytest tests"),
    ("npm run e2e", 'npm ERR! Missing script: "e2e"', "npm run test:e2e"),
)


# -- what is said -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Said:
    """One record of a talk, before any agent writes it down. `number` tells it from every other record."""

    number: int
    role: str  # "user", "assistant", "call" or "result"
    text: str
    failed: bool = False


@dataclass(frozen=True)
class File:
    """A log: the records of a talk up to some point, under the name of a session."""

    family: int
    session: str
    records: tuple[Said, ...]

    def holds(self, other: File) -> bool:
        """Whether every record of the other file is in this one."""
        return set(other.records) <= set(self.records)


def episode(what: int) -> list[tuple[str, str, bool]]:
    """A few records that belong together: a rule, a command that fails and the one that works, or small talk."""
    if what < len(RULES):
        return [("user", RULES[what], False), ("assistant", "Understood, I do that.", False)]
    if what < len(RULES) + len(BROKEN):
        wrong, error, right = BROKEN[what - len(RULES)]
        return [
            ("user", "Please run the checks.", False),
            ("call", wrong, False),
            ("result", error, True),
            ("call", right, False),
            ("result", "12 passed in 3.2s", False),
            ("assistant", f"The checks run with `{right}`.", False),
            ("user", "Yes, exactly. Thanks.", False),
        ]
    return [("user", "What does the module for orders do?", False), ("assistant", "It keeps the orders.", False)]


EPISODES = len(RULES) + len(BROKEN) + 1


@st.composite
def families(draw: st.DrawFn) -> list[File]:
    """The files of up to three talks: what was said, forks that go their own way, copies, snapshots; in any order."""
    files: list[File] = []
    numbers = iter(range(1, 10_000))

    def said(whats: list[int]) -> tuple[Said, ...]:
        return tuple(Said(next(numbers), *record) for what in whats for record in episode(what))

    whats = st.lists(st.integers(0, EPISODES - 1), min_size=1, max_size=4)
    for family in range(draw(st.integers(1, 3))):
        branches = [File(family, f"s{family}", said([EPISODES - 1, *draw(whats)]))]
        for fork in range(draw(st.integers(0, 2))):
            trunk = draw(st.sampled_from(branches))
            kept = draw(st.integers(1, len(trunk.records)))
            own = said(draw(whats)) if draw(st.booleans()) else ()  # without own words it is a resumed copy or a cut
            branches.append(File(family, f"s{family}-fork{fork}", trunk.records[:kept] + own))
        for trunk in draw(st.lists(st.sampled_from(branches), max_size=2)):
            files.append(replace(trunk, records=trunk.records[: draw(st.integers(1, len(trunk.records)))]))
        files += branches
    return draw(st.permutations(files))


# -- how the agents write it down -------------------------------------------------------------------


def at(number: int) -> str:
    return f"2025-03-01T{10 + number // 3_600:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"


def claude_code(file: File) -> bytes:
    """Claude Code gives a copied record a new session and leaves its uuid; a fork may begin with a title of its own."""
    rows: list[dict[str, Any]] = []
    if "fork" in file.session:
        rows.append({"type": "summary", "summary": f"Checks, {file.session}", "leafUuid": file.session})
    for said in file.records:
        role, block = said.role, dict[str, Any](type="text", text=said.text)
        if role == "call":
            block = {"type": "tool_use", "id": f"t{said.number}", "name": "Bash", "input": {"command": said.text}}
            role = "assistant"
        elif role == "result":
            text = f"Exit code 1\n{said.text}" if said.failed else said.text
            block = {
                "type": "tool_result",
                "tool_use_id": f"t{said.number - 1}",
                "content": text,
                "is_error": said.failed,
            }
            role = "user"
        marks = {
            "uuid": f"u{said.number}",
            "sessionId": file.session,
            "timestamp": at(said.number),
            "cwd": "/work/shop",
        }
        rows.append({"type": role, "message": {"role": role, "content": [block]}, **marks})
    return _lines(rows)


def codex(file: File) -> bytes:
    """Codex writes the whole history again after a head line and instructions of its own."""
    text = f"<environment_context>{file.session}</environment_context>"
    told = {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": text}]}
    rows: list[dict[str, Any]] = [
        {"timestamp": at(0), "type": "session_meta", "payload": {"id": file.session, "cwd": "/work/shop"}},
        {"timestamp": at(0), "type": "response_item", "payload": told},
    ]
    for said in file.records:
        kind, payload = "response_item", dict[str, Any]()
        if said.role == "user":
            kind, payload = "event_msg", {"type": "user_message", "message": said.text}
        elif said.role == "assistant":
            payload = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said.text}]}
        elif said.role == "call":
            given = json.dumps({"command": said.text})
            payload = {"type": "function_call", "name": "shell", "arguments": given, "call_id": f"c{said.number}"}
        else:
            output = f"Process exited with code {int(said.failed)}\n{said.text}"
            payload = {"type": "function_call_output", "call_id": f"c{said.number - 1}", "output": output}
        rows.append({"timestamp": at(said.number), "type": kind, "payload": payload})
    return _lines(rows)


def pydantic_ai(file: File) -> bytes:
    """pydantic-ai passes a history on to the next run, which writes it again as it was."""
    messages = []
    for said in file.records:
        request = said.role in ("user", "result")
        part: dict[str, Any] = {"part_kind": "user-prompt" if request else "text", "content": said.text}
        if said.role == "call":
            part = {"part_kind": "tool-call", "tool_name": "bash", "args": {"command": said.text}}
        elif said.role == "result":
            part = {"part_kind": "tool-return", "tool_name": "bash", "content": said.text}
            part["outcome"] = "failed" if said.failed else "success"
        if said.role in ("call", "result"):
            part["tool_call_id"] = f"c{said.number - (said.role == 'result')}"
        kind = "request" if request else "response"
        messages.append({"kind": kind, "timestamp": at(said.number), "conversation_id": file.session, "parts": [part]})
    return json.dumps(messages).encode()


def _lines(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


WRITERS = {"claude-code": claude_code, "codex": codex, "pydantic-ai": pydantic_ai}

# -- what the store makes of it ---------------------------------------------------------------------

Stored = dict[tuple[str, str], frozenset[str]]
OpenStore = Callable[[], Memory]


@pytest.fixture
def open_store(tmp_path_factory: pytest.TempPathFactory, project: Path, clock: Clock) -> Iterator[OpenStore]:
    """Opens a store without bullets, another one each time, with the hashing embedder."""
    opened: list[Memory] = []

    def open_it() -> Memory:
        home = tmp_path_factory.mktemp("store")
        (home / "config.toml").write_text('embedder = "hashing"\n', "utf-8")
        while opened:
            opened.pop().close()
        opened.append(Memory.open(home, project, clock))
        return opened[-1]

    yield open_it
    for memory in opened:
        memory.close()


def write(folder: Path, agent: str, files: Sequence[File]) -> list[Path]:
    paths = []
    for number, file in enumerate(files):
        path = folder / f"{number}.{'json' if agent == 'pydantic-ai' else 'jsonl'}"
        path.write_bytes(WRITERS[agent](file))
        paths.append(path)
    return paths


def evidence(memory: Memory, paths: Sequence[Path]) -> Stored:
    """What is known of each statement once these logs were ingested, in this order, one by one."""
    for path in paths:
        report = memory.ingest([path])
        assert report.errors == []
    bullets = memory.bullets(archived=True)
    stored = {(bullet.scope, bullet.text): frozenset(source.key for source in bullet.sources) for bullet in bullets}
    assert len(stored) == len(bullets)
    return stored


def test_every_kind_of_episode_teaches_something(open_store: OpenStore, tmp_path: Path) -> None:
    """Otherwise the properties below would hold of nothing."""
    for agent in WRITERS:
        records = tuple(Said(n, *said) for n, said in enumerate((r for w in range(EPISODES) for r in episode(w)), 1))
        [path] = write(tmp_path, agent, [File(0, "s", records)])
        found = evidence(open_store(), [path])
        assert len(found) >= len(RULES), (agent, found)
        assert any("uv run pytest" in text for _, text in found), (agent, found)


slow = settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
)


@pytest.mark.parametrize("agent", WRITERS)
@slow
@given(files=families(), data=st.data())
def test_evidence_is_the_same_in_whatever_order_files_are_ingested(
    agent: str,
    files: list[File],
    data: st.DataObject,
    open_store: OpenStore,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """The same statements, each with the same records, whichever copy of a record came first."""
    paths = write(tmp_path_factory.mktemp("logs"), agent, files)
    expected = evidence(open_store(), paths)
    assert evidence(open_store(), data.draw(st.permutations(paths))) == expected


@pytest.mark.parametrize("agent", WRITERS)
@slow
@given(files=families())
def test_files_that_hold_nothing_of_their_own_add_no_evidence(
    agent: str, files: list[File], open_store: OpenStore, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Snapshots, resumed copies and forks without own words leave the statements of the longer files as they are.

    A snapshot that ends before a failure was resolved may say more, that it fails, but from no other records.
    """
    paths = write(tmp_path_factory.mktemp("logs"), agent, files)
    needed = [
        place
        for place, file in enumerate(files)
        if not any(
            other.holds(file) and (not file.holds(other) or earlier < place)
            for earlier, other in enumerate(files)
            if earlier != place
        )
    ]
    some, every = evidence(open_store(), [paths[place] for place in needed]), evidence(open_store(), paths)
    assert some.items() <= every.items()
    assert frozenset().union(*some.values()) == frozenset().union(*every.values())


@pytest.mark.parametrize("agent", WRITERS)
@slow
@given(files=families())
def test_a_fork_is_no_second_session(
    agent: str, files: list[File], open_store: OpenStore, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A statement was seen in as many sessions as there are talks that hold its records, however often each forked."""
    paths = write(tmp_path_factory.mktemp("logs"), agent, files)
    talk_of = {
        event.key: file.family
        for file, path in zip(files, paths, strict=True)
        for event in catalog.read(path)[0].events
    }
    memory = open_store()
    evidence(memory, paths)
    for bullet in memory.bullets(archived=True):
        talks = {talk_of[source.key] for source in bullet.sources}
        assert bullet.sessions == len(talks), (bullet.text, [(s.key, s.session) for s in bullet.sources])
