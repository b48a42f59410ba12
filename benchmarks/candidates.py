"""What finding near duplicates among 53,692 real rules costs, beside the least that an exact search could cost.

The baseline is one exact matrix product of all vectors with all vectors, float32, in blocks of the same size, of which
nothing is kept; ways take turns. "duplicates" is the search for pairs from 0.85 on in one scope and kind, "opposed"
that for the nearest dozen neighbours of each bullet from which conflicts are judged; every rule is in one scope and of
one kind, the worst case. Recall is against a product in float64. All rules are embedded, as MiniLM sees them with their
heading in front, which takes minutes before anything is measured.
The rest is a whole store: how long a plan takes, whether two runs give the same plan, and whether applying it a second
time changes anything, once with the limits of headings and entities as they are by default and once without them.
Memory is the peak of the whole process, of the search before recall is taken.
Unfair to the baseline: it takes both halves of a symmetric product. Unfair to us: it keeps nothing and judges nothing.
"""

from __future__ import annotations

import gzip
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROUNDS = 3
MOST = 1.5  # times the baseline
MEGABYTES = 2_000
UNLIMITED = "refine.per_section = 1000000\nrefine.per_entity = 1000000\n"


def samples(data: Path) -> list[tuple[str, float]]:
    """Seconds and CPU seconds of each way and round, counts of pairs, recall, what plans take and hold, megabytes."""
    from acemem.memory.embedders.catalog import load
    from acemem.memory.searchable import searchable_text

    with gzip.open(data / "rules" / "rules.jsonl.gz", "rt", encoding="utf-8") as file:
        rules = [json.loads(line) for line in file]
    bullets = [_bullet(at, rule["text"], rule["heading"]) for at, rule in enumerate(rules)]
    vectors = load("minilm").embed_documents([searchable_text(bullet) for bullet in bullets])
    taken = list(_search(bullets, vectors))
    for name, settings in (("without limits", UNLIMITED), ("with limits", "")):
        taken += [(f"{what}, {name}", value) for what, value in _plans(bullets, vectors, settings)]
    taken.append(("megabytes, whole", _peak()))
    return taken


def summary(taken: list[tuple[str, float]]) -> list[str]:
    """The search against the product, and the plans."""
    from statistics import median

    values: dict[str, list[float]] = {}
    for what, value in taken:
        values.setdefault(what, []).append(value)
    product = median(values["seconds, product"])
    rows = ["| way | median s | median CPU s | times the product | pairs |", "| --- | --- | --- | --- | --- |"]
    for way in ("product", "duplicates", "opposed"):
        pairs = f"{values[f'pairs, {way}'][0]:,.0f}" if way != "product" else ""
        wall, cpu = (median(values[f"{what}, {way}"]) for what in ("seconds", "CPU seconds"))
        rows.append(f"| {way} | {wall:.1f} | {cpu:.1f} | {wall / product:.2f} | {pairs} |")
    worst = max(median(values[f"seconds, {way}"]) for way in ("duplicates", "opposed")) / product
    peak, recall = values["megabytes, search"][0], values["recall"][0]
    kept = "kept" if worst <= MOST and peak < MEGABYTES and recall == 1 else "MISSED"
    rows += [
        "",
        f"Recall against float64 {recall:.4f}, {peak:.0f} MB at the peak "
        f"(marks: {MOST} times, recall 1, {MEGABYTES:,} MB; {kept}).",
        "",
        "| plan | CPU s | merged | kept apart | pruned | archived by limits | in conflict | again the same | "
        "left to do when applied |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name in ("without limits", "with limits"):
        found = [values[f"{what}, {name}"][0] for what in ("merged", "apart", "pruned", "limited", "conflicts")]
        same, left = values[f"same, {name}"][0], values[f"left, {name}"][0]
        rows.append(
            f"| {name} | {values[f'plan, {name}'][0]:.1f} | {' | '.join(f'{count:,.0f}' for count in found)} | "
            f"{'yes' if same else 'NO'} | {left:.0f} |"
        )
    return [*rows, "", f"Peak of the whole run with the stores: {values['megabytes, whole'][0]:.0f} MB."]


def _search(bullets: list[Any], vectors: Any) -> Iterator[tuple[str, float]]:
    from acemem.memory.refine.candidates import meeting, nearest, places
    from acemem.memory.refine.conflicts import NEAREST
    from acemem.memory.refine.duplicates import near

    scopes = [bullet.scope for bullet in bullets]
    found: dict[str, Any] = {}

    def duplicates() -> None:
        found["duplicates"] = near(bullets, vectors, 0.85)

    def opposed() -> None:
        found["opposed"] = nearest(meeting(vectors, scopes, 0.62), NEAREST, places(bullets), lambda pairs: slice(None))

    ways: dict[str, Callable[[], None]] = {
        "product": lambda: _product(vectors),
        "duplicates": duplicates,
        "opposed": opposed,
    }
    for _ in range(ROUNDS):
        for name, way in ways.items():
            wall, cpu = time.perf_counter(), time.process_time()
            way()
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            yield f"seconds, {name}", wall
            yield f"CPU seconds, {name}", cpu
    for name, pairs in found.items():
        yield f"pairs, {name}", float(len(pairs))
    yield "megabytes, search", _peak()
    pairs = found["duplicates"]
    mine = set(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))
    exact = _exact(vectors, 0.85)
    yield "recall", len(mine & exact) / len(exact) if mine <= exact else 0.0


def _product(vectors: Any) -> None:
    from acemem.memory.refine.candidates import BLOCK

    for start in range(0, len(vectors), BLOCK):
        for other in range(0, len(vectors), BLOCK):
            vectors[start : start + BLOCK] @ vectors[other : other + BLOCK].T


def _exact(vectors: Any, least: float) -> set[tuple[int, int]]:
    import numpy as np

    found: set[tuple[int, int]] = set()
    block = 1_024
    for start in range(0, len(vectors), block):
        scores = vectors[start : start + block].astype(np.float64) @ vectors[start:].astype(np.float64).T
        i, j = np.nonzero(np.round(scores, 6) >= least)
        found.update((start + a, start + b) for a, b in zip(i.tolist(), j.tolist(), strict=True) if a < b)
    return found


def _plans(bullets: list[Any], vectors: Any, settings: str) -> Iterator[tuple[str, float]]:
    from acemem import Memory

    with tempfile.TemporaryDirectory() as home:
        Path(home, "config.toml").write_text(settings, "utf-8")
        with Memory.open(home, home) as memory:
            _fill(memory, bullets, vectors)
            begun = time.process_time()
            plan = memory.refine(dry_run=True)
            yield "plan", time.process_time() - begun
            parts = {"merged": plan.merged, "apart": plan.kept_apart, "pruned": plan.pruned}
            for what, part in {**parts, "limited": plan.limited, "conflicts": plan.conflicts}.items():
                yield what, float(len(part))
            yield "same", float(memory.refine(dry_run=True) == plan)
            memory.refine(yes=True, plan=plan.id)
            again = memory.refine(dry_run=True)
            yield "left", float(again.removed + len(again.demoted) + len(again.conflicts))


def _fill(memory: Any, bullets: list[Any], vectors: Any) -> None:
    """Puts the rules into the ledger with their vectors, past admission, and writes the table."""
    import hashlib

    from acemem.memory.models import Draft
    from acemem.memory.searchable import searchable_text

    home = memory.home
    names = ("text", "kind", "scope", "section", "confidence", "trust", "created")
    with home.ledger.transaction():
        drafts = [Draft("add", b.id, data={name: getattr(b, name) for name in names}) for b in bullets]
        home.ledger.append(drafts, home.clock())
        hashes = [hashlib.sha256(searchable_text(bullet).encode()).hexdigest() for bullet in bullets]
        kept = {hash: row.tobytes() for hash, row in zip(hashes, vectors, strict=True)}
        home.ledger.keep_vectors(kept, home.embedder.fingerprint.sha256)
    home.sync()


def _bullet(at: int, text: str, heading: str | None) -> Any:
    from acemem.memory.models import Bullet

    return Bullet(
        id=f"r{at:07}",
        text=text[:2_000],
        kind="context",
        scope="project:rules",
        section=(heading or "Project facts")[:80],
        status="active",
        confidence=0.7,
        trust="agent",
        created=1_760_000_000.0,
        confirmed=1_760_000_000.0,
    )


def _peak() -> float:
    import resource
    import sys

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)
