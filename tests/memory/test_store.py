"""The bullet table: exact neighbours, no row of another scope, and a way out of every kind of damage."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from acemem import Memory, StoreError
from acemem.memory.config import save
from acemem.memory.embedders.base import Fingerprint
from acemem.memory.store import Store
from tests.bullets import a_bullet

TEXTS = [
    "Deploys need two approvals",
    "The linter is ruff",
    "Postgres runs in docker",
    "Tests are run with make check",
    "Users' names are stored in NFC",
]
EVERYTHING = "status != 'archived'"


def copy_of(memory: Memory, folder: Path) -> Path:
    shutil.copytree(memory.home.path / "lance", folder)
    return folder


def put_back(memory: Memory, folder: Path) -> None:
    shutil.rmtree(memory.home.path / "lance")
    shutil.copytree(folder, memory.home.path / "lance")


def test_nearest_is_ordered_by_the_true_cosine(memory: Memory) -> None:
    """What the table returns equals the dot product of the unit vectors."""
    bullets = memory.add(TEXTS)
    vectors = memory.home.vectors(bullets)
    query = memory.home.embedder.embed_query("which linter do we use")
    expected = sorted(zip((vectors @ query).tolist(), [b.id for b in bullets], strict=True), reverse=True)
    found = memory.home.store.nearest(query, EVERYTHING, 10)
    assert [id for id, _ in found] == [id for _, id in expected]
    assert [cosine for _, cosine in found] == pytest.approx([cosine for cosine, _ in expected], abs=1e-5)


def test_a_filter_never_lets_another_scope_through(memory: Memory) -> None:
    """Not even when the best match by far lies there; an apostrophe in a scope's name is only a character."""
    [hidden] = memory.add("The linter is ruff", scope="tool:bob's")
    [seen] = memory.add("Postgres runs in docker", scope="tool:x' OR 'a' = 'a")
    assert [hit.id for hit in memory.search("The linter is ruff", scope="tool:x' OR 'a' = 'a", floor=False)] == [
        seen.id
    ]
    assert [hit.id for hit in memory.search("The linter is ruff", scope="tool:bob's", floor=False)] == [hidden.id]


@pytest.mark.parametrize(
    "query", ["", "  ", "\0", '"', "AND OR NOT", "a:b^2 (", "'; DROP TABLE bullets; --", "*", "é" * 3_000]
)
def test_no_query_is_taken_for_syntax(memory: Memory, query: str) -> None:
    """What a person types is words."""
    memory.add(TEXTS)
    assert {hit.text for hit in memory.search(query, floor=False)} <= set(TEXTS)


def test_a_shelf_is_read_again_when_another_process_has_written(open_memory: Callable[..., Memory]) -> None:
    """Whatever it wrote: more rows, fewer, or another table in its place."""
    here, there = open_memory(), open_memory()
    here.add(TEXTS[:2])
    shelf = here.home.store.shelf(EVERYTHING)
    assert here.home.store.shelf(EVERYTHING) is shelf
    [third] = there.add(TEXTS[2])
    assert third.id in here.home.store.shelf(EVERYTHING).ids
    there.forget(third.id)
    there.home.sync()
    assert third.id not in here.home.store.shelf(EVERYTHING).ids
    there.rebuild()
    assert sorted(here.home.store.shelf(EVERYTHING).ids) == [bullet.id for bullet in here.bullets()]


def test_a_read_of_the_table_takes_its_vectors_once(memory: Memory) -> None:
    """While they are read there is no second copy of them: the daemon has no room for one."""
    import pyarrow as pa

    vectors = np.random.default_rng(1).standard_normal((4_000, 384)).astype(np.float32)
    bullets = [a_bullet(f"b{number:06}", f"Number {number}") for number in range(len(vectors))]
    with memory.home.store.writing():
        memory.home.store.write(bullets, vectors)
    arrow = pa.default_memory_pool()
    before = arrow.max_memory()
    tracemalloc.start()
    shelf = memory.home.store.shelf(EVERYTHING)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert shelf.cosines(vectors[7])[7] == pytest.approx(float(vectors[7] @ vectors[7]), rel=1e-5)  # type: ignore[index]
    assert peak < 1.5 * vectors.nbytes
    assert arrow.max_memory() - before < vectors.nbytes / 4


def test_damage_shows_in_the_files_and_not_in_the_version(memory: Memory) -> None:
    """What was read of the table before hides it, until that is let go of."""
    memory.add(TEXTS)
    store = memory.home.store
    shelf, version, files = store.shelf(EVERYTHING), store.version(), store.files()
    assert store.files() == files
    for path in (memory.home.path / "lance" / "bullets.lance" / "data").iterdir():
        path.write_bytes(path.read_bytes()[:100])
    assert store.version() == version
    assert store.files() != files
    assert store.shelf(EVERYTHING) is shelf
    store.forget()
    with pytest.raises(StoreError, match="mem doctor --rebuild"):
        store.shelf(EVERYTHING)


@pytest.mark.parametrize("place", ["lance", "lance/bullets.lance"])
def test_a_file_in_the_table_s_place_is_a_store_error(memory: Memory, place: str) -> None:
    """Every question says how it is put right, and a rebuild does it."""
    memory.add(TEXTS)
    shutil.rmtree(memory.home.path / place)
    (memory.home.path / place).write_bytes(b"")
    store = memory.home.store
    for ask in (store.version, store.files, lambda: store.shelf(EVERYTHING)):
        with pytest.raises(StoreError, match="mem doctor --rebuild"):
            ask()
    assert memory.rebuild() == len(TEXTS)
    assert len(store.shelf(EVERYTHING)) == len(TEXTS)


def test_few_shelves_are_kept(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that was asked for longest ago goes, and is read again."""
    monkeypatch.setattr("acemem.memory.store.SHELVES", 2)
    memory.add(TEXTS)
    shelves = [memory.home.store.shelf(f"{EVERYTHING} AND kind != '{n}'") for n in range(3)]
    assert memory.home.store.shelf(f"{EVERYTHING} AND kind != '2'") is shelves[2]
    again = memory.home.store.shelf(f"{EVERYTHING} AND kind != '0'")
    assert again is not shelves[0]
    assert again.ids == shelves[0].ids


def test_with_many_rows_the_table_s_own_index_finds_the_same(
    open_memory: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Past the limit no vectors are kept in memory; hits and ranks stay what they were."""
    memory = open_memory()
    memory.add(TEXTS)
    expected = memory.search("which linter is used with docker", floor=False)
    monkeypatch.setattr("acemem.memory.store.SHELF_ROWS", 2)
    large = open_memory()
    assert large.home.store.shelf(EVERYTHING).cosines(np.ones(384, np.float32)) is None
    found = large.search("which linter is used with docker", floor=False)
    assert [hit.id for hit in found] == [hit.id for hit in expected]
    assert [hit.rank_score for hit in found] == pytest.approx([hit.rank_score for hit in expected], abs=1e-5)


def test_writing_the_same_state_twice_changes_nothing(memory: Memory) -> None:
    """One row a bullet, however often it is written."""
    bullets = memory.add(TEXTS)
    before = memory.home.store.faces()
    memory.home.store.write(bullets, memory.home.vectors(bullets))
    assert memory.home.store.faces() == before
    assert memory.home.store.count() == 5


def test_a_store_that_was_never_written_is_empty(tmp_path: Path) -> None:
    """Asking it anything makes nothing and finds nothing."""
    store = Store(tmp_path / "none", Fingerprint("hashing:8", "1", 8, "0" * 64))
    assert (store.count(), store.faces(), store.needs_tidying()) == (0, {}, False)
    assert store.nearest(np.ones(8, np.float32), EVERYTHING, 3) == []
    assert (len(store.shelf(EVERYTHING)), store.version()) == (0, None)
    assert not (tmp_path / "none").exists()


# -- another embedder -------------------------------------------------------------------------------


def test_the_vectors_of_two_embedders_are_never_mixed(open_memory: Callable[..., Memory]) -> None:
    """Another embedder on the same store is refused with the command that re-embeds, and that one works."""
    open_memory().add(TEXTS)
    save(open_memory().home.path, "embedder", "hashing:64")
    memory = open_memory()
    for attempt in (lambda: memory.search("linter"), lambda: memory.add("Something else"), memory.home.sync):
        with pytest.raises(
            StoreError, match=r"hashing:384@.*hashing:64@.*mem reembed.*mem config embedder hashing:384"
        ):
            attempt()
    assert [check.ok for check in memory.examine()] == [True, True, True, False]
    assert memory.reembed() == 5
    assert memory.search("linter ruff")[0].text == "The linter is ruff"
    assert all(check.ok for check in memory.examine())
    assert memory.home.vectors(memory.bullets()).shape == (5, 64)


def test_a_process_that_still_has_the_old_embedder_is_refused_after_a_reembed(
    open_memory: Callable[..., Memory],
) -> None:
    """Even one that had the table open, and even where the vectors are of the same length."""
    old = open_memory()
    old.add(TEXTS)
    assert old.search("linter ruff") != []
    new = open_memory()
    fingerprint = new.home.embedder.fingerprint
    new.home.store.fingerprint = replace(fingerprint, revision="2", sha256="f" * 64)
    with new.home.store.writing():
        new.home.store.drop()
        new.home.ledger.soil()
        new.home.sync()
    for attempt in (lambda: old.search("linter ruff"), lambda: old.add("Something else")):
        with pytest.raises(StoreError, match="mem reembed"):
            attempt()


def test_a_reembed_that_breaks_off_is_finished_by_the_next_one(open_memory: Callable[..., Memory]) -> None:
    """With the old table gone and the new one not yet written, nothing is lost."""
    memory = open_memory()
    memory.add(TEXTS)
    save(memory.home.path, "embedder", "hashing:64")
    interrupted = open_memory()
    with interrupted.home.store.writing():
        interrupted.home.store.drop()
    after = open_memory()
    assert after.search("linter ruff")[0].text == "The linter is ruff"
    assert after.reembed() == 5


def test_a_table_of_a_newer_schema_is_refused_with_the_way_out(
    open_memory: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger can make it again in this version's shape."""
    with monkeypatch.context() as patch:
        patch.setattr("acemem.memory.store.SCHEMA_VERSION", 99)
        open_memory().add(TEXTS)
    memory = open_memory()
    with pytest.raises(StoreError, match=r"schema 99, this acemem writes \d+.*mem doctor --rebuild"):
        memory.search("linter")
    assert memory.rebuild() == 5
    assert memory.search("linter ruff")[0].text == "The linter is ruff"


@pytest.mark.parametrize("use", [lambda memory: memory.search("linter ruff"), lambda memory: memory.add("One more.")])
def test_a_table_of_an_older_schema_is_made_again_by_itself(
    open_memory: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch, use: Callable[[Memory], object]
) -> None:
    """From the ledger, at the first use, with everything in it."""
    with monkeypatch.context() as patch:
        patch.setattr("acemem.memory.store.SCHEMA_VERSION", 0)
        older = open_memory()
        bullets = older.add(TEXTS)
        older.feedback(bullets[1].id, True)
    memory = open_memory()
    use(memory)
    assert memory.search("linter ruff")[0].text == "The linter is ruff"
    assert memory.search("linter ruff")[0].bullet.score == 0.3
    assert all(check.ok for check in memory.examine())


# -- damage -----------------------------------------------------------------------------------------


def newest(folder: Path, pattern: str) -> Path:
    return max(folder.rglob(pattern), key=lambda path: (path.stat().st_mtime_ns, path.name))


@pytest.mark.parametrize("damage", ["empty", "half", "noise"])
@pytest.mark.parametrize("part", ["manifest", "data"])
def test_a_damaged_table_is_a_store_error_and_a_rebuild_loses_nothing(
    open_memory: Callable[..., Memory], part: str, damage: str
) -> None:
    """Search names `mem doctor --rebuild`, doctor sees it, and afterwards every bullet with every mark is there."""
    memory = open_memory()
    bullets = memory.add(TEXTS)
    memory.feedback(bullets[1].id, True)
    memory.forget(bullets[0].id)
    memory.home.sync()
    expected = memory.bullets(archived=True)
    memory.close()
    lance = memory.home.path / "lance" / "bullets.lance"
    if part == "manifest":  # the newest is read; its name is not its age
        current = memory.home.store._opened().version
        broken = [p for p in lance.rglob("*.manifest") if int(p.stem) in (current, 2**64 - 1 - current)]
    else:
        broken = list((lance / "data").rglob("*.lance"))
    assert broken
    for path in broken:
        content = path.read_bytes()
        path.write_bytes(
            {"empty": b"", "half": content[: len(content) // 2], "noise": random.Random(1).randbytes(len(content))}[
                damage
            ]
        )
    memory = open_memory()
    with pytest.raises(StoreError, match="mem doctor --rebuild"):
        memory.search("linter ruff")
    assert [check.name for check in memory.examine() if not check.ok] == ["table"]
    assert memory.rebuild() == 5
    assert memory.bullets(archived=True) == expected
    assert memory.search("linter ruff")[0].text == "The linter is ruff"
    assert all(check.ok for check in memory.examine())


def test_a_table_that_fell_behind_is_noticed_by_doctor(open_memory: Callable[..., Memory], tmp_path: Path) -> None:
    """The right number of rows is not enough: one that still shows an archived bullet as live is damage."""
    memory = open_memory()
    bullets = memory.add(TEXTS)
    older = copy_of(memory, tmp_path / "older")
    memory.forget(bullets[0].id)
    memory.home.sync()
    memory.close()
    put_back(memory, older)
    memory = open_memory()
    [check] = [check for check in memory.examine() if not check.ok]
    assert "mem doctor --rebuild" in check.detail
    memory.rebuild()
    assert all(check.ok for check in memory.examine())


def test_the_newest_ledger_decides_what_is_shown(open_memory: Callable[..., Memory], tmp_path: Path) -> None:
    """A table that fell behind may find an archived bullet, but it is not returned."""
    memory = open_memory()
    bullets = memory.add(TEXTS)
    older = copy_of(memory, tmp_path / "older")
    memory.forget(bullets[1].id)
    memory.home.sync()
    memory.close()
    put_back(memory, older)
    assert "The linter is ruff" not in [hit.text for hit in open_memory().search("linter ruff", floor=False)]


# -- one writer at a time ---------------------------------------------------------------------------


def test_a_writer_that_waits_too_long_says_for_whom(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock of a live process is respected; the message names the file."""
    memory.add(TEXTS)
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys, filelock\nwith filelock.FileLock(sys.argv[1]):\n print('held', flush=True)\n sys.stdin.read()",
            str(memory.home.path / "write.lock"),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        monkeypatch.setattr("acemem.memory.store.LOCK_SECONDS", 0.05)
        monkeypatch.setattr(memory.home.store, "_lock", None)
        with pytest.raises(StoreError, match=r"write\.lock"):
            memory.add("Something else")
        assert memory.search("linter ruff")[0].text == "The linter is ruff"  # readers need no lock
    finally:
        holder.communicate()
    memory.add("Something else")
    assert memory.home.store.count() == 6


def test_a_lock_that_a_dead_process_left_behind_holds_nobody_up(memory: Memory) -> None:
    """The file may stay; what counts is whether somebody holds it."""
    memory.home.path.joinpath("write.lock").write_bytes(b"")
    assert memory.add(TEXTS[0])[0].text == TEXTS[0]
