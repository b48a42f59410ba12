"""Forks, copies and snapshots of sessions that lie in folders count as those of other logs do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem.memory.sessions import catalog
from tests.memory.sessions.folder_logs import sdk_call, sdk_message, sdk_result, sdk_state, storage_files
from tests.memory.sessions.logs import document
from tests.test_forks import (
    EPISODES,
    RULES,
    File,
    OpenStore,
    Said,
    episode,
    evidence,
    families,
    open_store,  # noqa: F401 -- a fixture
    slow,
)


def openhands(file: File, folder: Path) -> Path:
    """A fork copies the events with their names; the folder and its state are new."""
    events = folder / file.session / "events"
    events.mkdir(parents=True)
    state = sdk_state(id=file.session, workspace={"working_dir": "/work/shop"})
    (folder / file.session / "base_state.json").write_bytes(document(state))
    for place, said in enumerate(file.records):
        if said.role in ("user", "assistant"):
            event = sdk_message(said.number, "user" if said.role == "user" else "agent", said.text)
        elif said.role == "call":
            event = sdk_call(said.number, "terminal", {"command": said.text})
        else:
            event = sdk_result(said.number, "terminal", said.text, exit_code=int(said.failed))
        event["timestamp"] = f"2025-03-01T{10 + said.number // 60:02}:{said.number % 60:02}:00.000000"
        (events / f"event-{place:05}-{event['id']}.json").write_bytes(document(event))
    return folder / file.session


def opencode(file: File, folder: Path) -> Path:
    """A fork gives every message and part a new name, and leaves times and the names of calls."""
    messages: list[dict[str, Any]] = []
    for place, said in enumerate(file.records):
        if said.role == "result":
            continue  # it stands in the part of its call
        names = {"id": f"msg_{file.session}_{said.number:05}"}, {"id": f"prt_{file.session}_{said.number:05}"}
        role = "user" if said.role == "user" else "assistant"
        created = 1_740_000_000_000 + 1_000 * said.number
        time = {"created": created} if role == "user" else {"created": created, "completed": created + 500}
        part: dict[str, Any] = {"type": "text", "text": said.text}
        if said.role == "call":
            state: dict[str, Any] = {"status": "running", "input": {"command": said.text}}
            if place + 1 < len(file.records):
                result = file.records[place + 1]
                state |= {"status": "completed", "output": result.text, "metadata": {"exit": int(result.failed)}}
            part = {"type": "tool", "tool": "bash", "callID": f"call_{said.number}", "state": state}
        messages.append({"info": {**names[0], "role": role, "time": time}, "parts": [{**names[1], **part}]})
    for name, content in storage_files(file.session, messages, directory="/work/shop").items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder / "storage" / "message" / file.session


Writer = Callable[[File, Path], Path]
WRITERS: dict[str, Writer] = {"openhands": openhands, "opencode": opencode}


def write(folder: Path, agent: str, files: Sequence[File]) -> list[Path]:
    return [WRITERS[agent](file, folder / str(number)) for number, file in enumerate(files)]


@pytest.mark.parametrize("agent", WRITERS)
def test_every_kind_of_episode_teaches_something(agent: str, open_store: OpenStore, tmp_path: Path) -> None:  # noqa: F811
    """Otherwise the properties below would hold of nothing."""
    records = tuple(Said(n, *said) for n, said in enumerate((r for w in range(EPISODES) for r in episode(w)), 1))
    found = evidence(open_store(), write(tmp_path, agent, [File(0, "s", records)]))
    assert len(found) >= len(RULES)
    assert any("uv run pytest" in text for _, text in found)


@pytest.mark.parametrize("agent", WRITERS)
@slow
@given(files=families(), data=st.data())
def test_evidence_is_the_same_in_whatever_order_folders_are_ingested(
    agent: str,
    files: list[File],
    data: st.DataObject,
    open_store: OpenStore,  # noqa: F811
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """The same statements, each with the same records, whichever copy of a record came first."""
    paths = write(tmp_path_factory.mktemp("logs"), agent, files)
    expected = evidence(open_store(), paths)
    assert evidence(open_store(), data.draw(st.permutations(paths))) == expected


@pytest.mark.parametrize("agent", WRITERS)
@slow
@given(files=families())
def test_folders_that_hold_nothing_of_their_own_add_no_evidence(
    agent: str,
    files: list[File],
    open_store: OpenStore,  # noqa: F811
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Snapshots, copies and forks without own words leave the statements of the longer sessions as they are."""
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
    agent: str,
    files: list[File],
    open_store: OpenStore,  # noqa: F811
    tmp_path_factory: pytest.TempPathFactory,
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
