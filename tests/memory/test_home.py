"""A home: its vectors, and its bullet table kept up with its ledger."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from acemem import Memory
from acemem.memory.config import save

TEXTS = ["Deploys need two approvals", "The linter is ruff", "Postgres runs in docker"]


def table(memory: Memory) -> dict[str, tuple[str, ...]]:
    return memory.home.store.faces()


def test_vectors_have_length_one_and_come_in_the_order_of_the_bullets(memory: Memory) -> None:
    """Equal bullets get equal rows, none give an empty array of the right width."""
    bullets = memory.add(TEXTS)
    vectors = memory.home.vectors([*bullets, bullets[0]])
    assert vectors.shape == (4, memory.home.embedder.fingerprint.dimension)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0)
    assert (vectors[0] == vectors[3]).all()
    assert not (vectors[0] == vectors[1]).all()
    assert memory.home.vectors([]).shape == (0, memory.home.embedder.fingerprint.dimension)


def test_no_text_is_embedded_twice_in_the_life_of_a_store(
    open_memory: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rebuilding the table in another process needs no model at all."""
    open_memory().add(TEXTS)
    memory = open_memory()

    def refuse(texts: object) -> None:
        raise AssertionError(f"embedded again: {texts}")

    monkeypatch.setattr(memory.home.embedder, "embed_documents", refuse)
    assert memory.rebuild() == 3


def test_the_duplicate_threshold_moves_with_the_setting_on_the_embedders_own_scale(
    open_memory: Callable[..., Memory],
) -> None:
    """The setting speaks of MiniLM's cosines, 0.85; the hashing embedder's 0.70 stands for the same."""
    first = open_memory()
    assert first.home.duplicate_cosine == pytest.approx(0.70)
    save(first.home.path, "refine.duplicate", 0.90)
    assert open_memory().home.duplicate_cosine == pytest.approx(0.75)


def test_after_a_sync_the_table_has_what_the_ledger_has(memory: Memory) -> None:
    """And a second sync finds nothing to do."""
    bullets = memory.add(TEXTS)
    memory.forget(bullets[0].id)
    memory.feedback(bullets[1].id, True)
    memory.home.sync()
    assert table(memory)[bullets[0].id][-1] == "archived"
    assert memory.home.ledger.dirty() == []
    version = memory.home.store._opened().version
    memory.home.sync()
    memory.home.freshen()
    assert memory.home.store._opened().version == version


def test_a_crash_between_the_table_and_the_note_of_it_is_mended(memory: Memory) -> None:
    """The rows are written again, each once."""
    memory.home.sync()
    bullets = memory.add(TEXTS)
    memory.home.ledger.soil()
    memory.home.store.write(memory.home.ledger.dirty(), memory.home.vectors(memory.home.ledger.dirty()))
    memory.home.sync()
    assert table(memory).keys() == {bullet.id for bullet in bullets}
    assert memory.home.store.count() == 3


def test_a_deleted_table_is_made_again_by_the_next_search(open_memory: Callable[..., Memory]) -> None:
    """In the process that had it open, in another one, and in a new one."""
    memory, other = open_memory(), open_memory()
    memory.add(TEXTS)
    assert other.search("linter ruff")[0].text == "The linter is ruff"
    for seeker in (memory, other, open_memory()):
        shutil.rmtree(memory.home.path / "lance")
        assert seeker.search("linter ruff")[0].text == "The linter is ruff"
        assert seeker.home.store.count() == 3


def test_rows_lost_with_the_power_are_written_again(open_memory: Callable[..., Memory]) -> None:
    """LanceDB does not force its files to the disk: the table may come back as an older one than the ledger knows."""
    memory = open_memory()
    memory.add(TEXTS[:1])
    shutil.copytree(memory.home.path / "lance", memory.home.path / "older")
    memory.add(TEXTS[1:])
    memory.close()
    shutil.rmtree(memory.home.path / "lance")
    (memory.home.path / "older").rename(memory.home.path / "lance")
    after = open_memory()
    assert after.search("linter ruff")[0].text == "The linter is ruff"
    assert after.home.store.count() == 3


def test_searching_an_empty_store_makes_no_table(memory: Memory) -> None:
    """Reading leaves nothing behind but the ledger."""
    assert memory.search("anything at all") == []
    assert not (memory.home.path / "lance").exists()


def test_a_changed_weight_moves_every_score_at_the_next_opening(open_memory: Callable[..., Memory]) -> None:
    """In the ledger, in what search returns, and in what doctor holds them against."""
    memory = open_memory()
    [bullet] = memory.add(TEXTS[:1])
    for helpful in (True, True, False):
        memory.feedback(bullet.id, helpful)
    assert memory.bullet(bullet.id).score == 0.1
    save(memory.home.path, "score.helpful", 1)
    save(memory.home.path, "score.harmful", -0.25)
    after = open_memory()
    assert after.bullet(bullet.id).score == after.search("two approvals")[0].bullet.score == 1.75
    assert after.feedback(bullet.id, False).score == 1.5
    assert all(check.ok for check in after.examine())


def test_a_closed_home_opens_again_when_it_is_needed(memory: Memory) -> None:
    """Closing lets go of files, it does not make the object useless."""
    [bullet] = memory.add(TEXTS[0])
    memory.close()
    memory.close()
    assert memory.bullet(bullet.id).text == TEXTS[0]


def test_a_question_does_not_wait_for_another_process_that_writes(open_memory: Callable[..., Memory]) -> None:
    """While the writer's lock is taken, a query answers from the table as it is."""
    memory = open_memory()
    known = memory.add("Run the tests with make test.")[0]
    memory.forget(memory.add("Deploy on Fridays only.")[0].id)  # the table is behind now
    program = (
        "import sys; from pathlib import Path; from filelock import FileLock\n"
        "with FileLock(sys.argv[1]): print('held', flush=True); sys.stdin.read()"
    )
    lock = str(memory.home.path / "write.lock")
    with subprocess.Popen(
        [sys.executable, "-c", program, lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None and writer.stdout.readline() == "held\n"
        hits = memory.search("Run the tests with make test.")
        stale = memory.search("Deploy on Fridays only.")
        writer.communicate()
    assert [hit.id for hit in hits] == [known.id]
    assert stale == []
