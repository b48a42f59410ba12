"""Ingest: each log once, what is new of a grown one, and no log that spoils it for the others."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from acemem import Memory
from acemem.memory.scope import Project
from tests.logs import RULES, conversation, write_log

LATER = ("Always add a regression test for every bug that you fix.",)


def state(memory: Memory) -> object:
    return memory.home.ledger.head(), memory.bullets(archived=True)


def test_a_log_is_read_and_what_it_shows_is_remembered(memory: Memory, tmp_path: Path) -> None:
    """Bullets name the session, the record, the file and the agent that show them."""
    path = write_log(tmp_path / "log.jsonl", conversation())
    report = memory.ingest([path])
    assert (report.sessions, report.errors, report.skipped) == (1, [], 0)
    assert report.added == report.insights == len(memory.bullets()) >= 3
    for bullet in memory.bullets():
        [source] = bullet.sources
        assert (source.session, source.path, source.agent) == ("s1", str(path), "claude-code")
        assert source.key.startswith("talk-")
    [pnpm] = [bullet for bullet in memory.bullets() if "pnpm" in bullet.text]
    assert memory.search(pnpm.text, scope=pnpm.scope)[0].id == pnpm.id


def test_a_log_that_was_read_is_not_read_again(memory: Memory, tmp_path: Path) -> None:
    """It counts as unchanged, and the ledger stays as it is."""
    path = write_log(tmp_path / "log.jsonl", conversation())
    memory.ingest([path])
    before = state(memory)
    report = memory.ingest([path, path])
    assert (report.unchanged, report.sessions, report.admitted) == (2, 0, [])
    assert state(memory) == before


def test_a_log_that_was_touched_or_copied_adds_nothing(memory: Memory, tmp_path: Path) -> None:
    """It is read again, since it might have changed, and every record in it is known."""
    path = write_log(tmp_path / "log.jsonl", conversation())
    memory.ingest([path])
    bullets = memory.bullets(archived=True)
    os.utime(path, (0, 0))
    copy = write_log(tmp_path / "backup" / "log.jsonl", conversation())
    report = memory.ingest([path, copy])
    assert (report.sessions, report.added, report.merged) == (2, 0, 0)
    assert memory.bullets(archived=True) == bullets


def test_a_fork_is_no_second_sighting(memory: Memory, tmp_path: Path) -> None:
    """The same records under another session's name leave confidence and sessions as they were."""
    memory.ingest([write_log(tmp_path / "a.jsonl", conversation(session="s1"))])
    bullets = memory.bullets()
    report = memory.ingest([write_log(tmp_path / "b.jsonl", conversation(session="fork"))])
    assert (report.added, report.merged, report.skipped) == (0, 0, len(bullets))
    assert memory.bullets() == bullets


def test_another_session_that_says_the_same_is_a_second_sighting(memory: Memory, tmp_path: Path) -> None:
    """Each bullet has two sessions then, and more confidence, and there are no more bullets."""
    memory.ingest([write_log(tmp_path / "a.jsonl", conversation(session="s1", key="one"))])
    before = {bullet.id: bullet.confidence for bullet in memory.bullets()}
    report = memory.ingest([write_log(tmp_path / "b.jsonl", conversation(session="s2", key="two"))])
    assert (report.added, report.merged) == (0, len(before))
    for bullet in memory.bullets():
        assert bullet.sessions == 2
        assert bullet.confidence > before[bullet.id]


def test_of_a_grown_log_only_what_is_new_is_added(memory: Memory, tmp_path: Path) -> None:
    """The rest is skipped, record by record."""
    path = write_log(tmp_path / "log.jsonl", conversation(RULES))
    first = memory.ingest([path])
    before = {bullet.id: bullet for bullet in memory.bullets()}
    write_log(path, conversation((*RULES, *LATER)))
    second = memory.ingest([path])
    assert (second.added, second.merged, second.skipped) == (1, 0, first.insights)
    after = {bullet.id: bullet for bullet in memory.bullets()}
    assert {id: after[id] for id in before} == before
    assert memory.ingest([path]).unchanged == 1


def test_a_line_that_is_still_being_written_is_taken_when_it_is_whole(memory: Memory, tmp_path: Path) -> None:
    """Half a record is no damage; the next ingest reads the other half."""
    path = write_log(tmp_path / "log.jsonl", conversation((*RULES, *LATER)))
    whole = path.read_bytes()
    start_of_last_words = whole.rindex(b'"Always add a regression') + 9
    path.write_bytes(whole[:start_of_last_words])
    first = memory.ingest([path])
    assert first.errors == []
    path.write_bytes(whole)
    assert memory.ingest([path]).added == 1
    assert "regression test" in " ".join(bullet.text for bullet in memory.bullets())


def test_damage_in_a_log_is_reported_by_line_and_the_rest_is_kept(memory: Memory, tmp_path: Path) -> None:
    """Path, line and reason; the records around the damage count."""
    path = write_log(tmp_path / "log.jsonl", conversation())
    lines = path.read_bytes().splitlines(keepends=True)
    lines.insert(2, b'{"type": "user", "uuid": \xff\xfe broken\n')
    lines.insert(6, b"not json at all\n")
    path.write_bytes(b"".join(lines))
    report = memory.ingest([path])
    assert [(problem.path, problem.line) for problem in report.errors] == [(str(path), 3), (str(path), 7)]
    assert all(problem.reason for problem in report.errors)
    assert report.failed == 0
    assert report.added == report.insights >= 3


def test_what_is_no_log_is_reported_and_the_others_are_read(memory: Memory, tmp_path: Path) -> None:
    """A missing file, a picture, a folder, a list of numbers: each is named once with its reason."""
    good = [write_log(tmp_path / name, conversation(key=name, session=name)) for name in ("a.jsonl", "z.jsonl")]
    bad = [tmp_path / name for name in ("missing.jsonl", "picture.png", "numbers.json", "folder")]
    bad[1].write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    bad[2].write_bytes(b"[1, 2, 3]")
    bad[3].mkdir()
    report = memory.ingest([good[0], *bad, good[1]])
    assert [(problem.path, problem.line) for problem in report.errors] == [(str(path), 0) for path in bad]
    assert (report.failed, report.sessions) == (4, 2)
    assert all(bullet.sessions == 2 for bullet in memory.bullets())
    assert memory.ingest([*good, *bad]).failed == 4


def test_an_empty_log_is_read_once(memory: Memory, tmp_path: Path) -> None:
    """It shows nothing, and is no error."""
    path = tmp_path / "empty.jsonl"
    path.write_bytes(b"")
    assert (memory.ingest([path]).errors, memory.ingest([path]).unchanged) == ([], 1)


def test_a_pipe_is_refused_without_waiting_for_it(memory: Memory, tmp_path: Path) -> None:
    """Nobody may ever write into it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    report = memory.ingest([pipe])
    assert "not a regular file" in report.errors[0].reason


def test_a_log_whose_name_is_not_text_is_read_like_any_other(memory: Memory, tmp_path: Path) -> None:
    """Its name is kept as far as text can hold it, and the log is known by it the next time."""
    name = os.fsdecode(b"caf\xe9-\xff.jsonl")
    records = [{k: v for k, v in record.items()} for record in conversation()]
    path = write_log(tmp_path / os.fsdecode(b"dir-\xfe") / name, records)
    report = memory.ingest([path])
    assert (report.errors, report.added) == ([], len(memory.bullets()))
    assert report.added >= 3
    assert memory.ingest([path]).unchanged == 1
    assert memory.home.ledger.damage() == []
    assert [check.ok for check in memory.examine()] == [True] * 4


def test_a_link_to_a_log_is_the_same_log(memory: Memory, tmp_path: Path) -> None:
    """It is not read twice."""
    path = write_log(tmp_path / "log.jsonl", conversation())
    (tmp_path / "link.jsonl").symlink_to(path)
    assert memory.ingest([path, tmp_path / "link.jsonl"]).unchanged == 1


# -- whose project ----------------------------------------------------------------------------------


def project_scopes(memory: Memory) -> set[str]:
    return {bullet.scope for bullet in memory.bullets() if bullet.scope != "global"}


FACTS = ("No, the database is in the folder infra/db, not in src. Always look there first in this repository.",)


@pytest.mark.parametrize("cwd", ["/no/longer/there", "C:\\work\\shop", "~nobody-of-this-name/x", "/work/\0"])
def test_what_was_learned_belongs_to_the_project_where_the_session_ran(
    memory: Memory, tmp_path: Path, cwd: str
) -> None:
    """Whether or not that folder exists here."""
    memory.ingest([write_log(tmp_path / "log.jsonl", conversation(cwd=cwd))])
    assert project_scopes(memory) <= {Project.of(cwd).scope}
    assert memory.bullets() != []


def test_inside_a_checkout_the_root_decides(memory: Memory, tmp_path: Path, project: Path) -> None:
    """A session in a sub-folder teaches the whole project."""
    memory.ingest([write_log(tmp_path / "log.jsonl", conversation(FACTS, cwd=str(project / "src" / "deep")))])
    assert project_scopes(memory) <= {Project(project).scope}
    assert memory.bullets() != []


def test_a_session_that_does_not_say_where_it_ran_belongs_to_the_current_project(
    open_memory: Callable[..., Memory], tmp_path: Path, project: Path
) -> None:
    """The one from which it was ingested."""
    memory = open_memory(project)
    memory.ingest([write_log(tmp_path / "log.jsonl", conversation(FACTS, cwd=None))])
    assert project_scopes(memory) <= {Project(project).scope}
    assert memory.bullets() != []


# -- narrowing --------------------------------------------------------------------------------------


def test_a_focused_ingest_takes_what_speaks_of_it_and_leaves_the_log_unread(memory: Memory, tmp_path: Path) -> None:
    """The next ingest without a focus takes the rest."""
    path = write_log(tmp_path / "log.jsonl", conversation())
    narrow = memory.ingest([path], focus="pnpm nothing-else")
    assert narrow.added == 1
    assert "pnpm" in memory.bullets()[0].text
    wide = memory.ingest([path])
    assert (wide.unchanged, wide.skipped) == (0, 1)
    assert wide.added >= 2


def test_progress_names_each_log_before_it_is_read(memory: Memory, tmp_path: Path) -> None:
    """In the order given."""
    paths = [write_log(tmp_path / f"{n}.jsonl", conversation(key=str(n))) for n in range(3)]
    told: list[Path] = []
    memory.ingest(paths, progress=told.append)
    assert told == paths


def test_a_log_and_its_bullets_are_one_step(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When writing down breaks off, the log counts as unread and none of its bullets is there."""
    path = write_log(tmp_path / "log.jsonl", conversation())
    ledger = memory.home.ledger

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ledger, "keep_cursor", fail)
        with pytest.raises(KeyboardInterrupt):
            memory.ingest([path])
    assert (memory.bullets(), ledger.logs_read(), ledger.head()) == ([], 0, 0)
    assert memory.ingest([path]).added >= 3
