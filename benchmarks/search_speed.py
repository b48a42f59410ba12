"""How long a warm search in process takes, from 1,000 to 100,000 bullets, beside the least that could be done.

The baseline, the first row of each size, embeds the same question with the same embedder, multiplies it with all
vectors in numpy, and asks SQLite's FTS5 for the same words; it keeps nothing, filters nothing and ranks nothing.
Questions are `needs.json`; both ways answer each in turn, after one round to warm up.
Texts are real rules, all in one project. Only the first 5,000 are embedded; the vector of each other is one of these
with noise (cosine about 0.9), since embedding 100,000 would take ten minutes and change no duration.
Unfair to us: the baseline holds only what this one project needs, and knows that nobody else writes.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
EMBEDDED = 5_000
NOISE = 0.48  # length of the noise beside a vector of length 1
ROUNDS = 3
MOST = 2.0  # times the baseline, at 10,000 bullets


def samples(data: Path) -> list[tuple[str, float]]:
    """Milliseconds of wall time and of CPU time of each answer, by size and way; seconds for the first answer."""
    import numpy as np

    from acemem import Memory

    with gzip.open(data / "rules" / "rules.jsonl.gz", "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    texts = list(dict.fromkeys(texts))
    rng = np.random.default_rng(1)
    texts = [texts[at] for at in rng.permutation(len(texts))]
    texts = (texts + [f"{text} (again)" for text in texts] + [f"{text} (once more)" for text in texts])[: SIZES[-1]]
    needs = [need for _, need in json.loads((Path(__file__).parent / "needs.json").read_text("utf-8"))]
    taken: list[tuple[str, float]] = []
    base = None
    for size in SIZES:
        with tempfile.TemporaryDirectory() as home:
            with Memory.open(home, home) as memory:
                if base is None:
                    base = memory.home.embedder.embed_documents(texts[:EMBEDDED])
                vectors = _vectors(base, size, rng)
                _fill(memory, texts[:size], vectors)
            with Memory.open(home, home) as memory:
                memory.home.embedder.embed_query("the weights are loaded")
                before = time.perf_counter()
                memory.search(needs[0])
                taken.append((f"{size}, first search", time.perf_counter() - before))
                ways = {"numpy and FTS5": _baseline(memory, texts[:size], vectors), "mem search": memory.search}
                for what, value in _in_turn(ways, needs):
                    taken.append((f"{size}, {what}", value))
    return taken


def summary(taken: list[tuple[str, float]]) -> list[str]:
    """Medians, the 95th percentile, the ratio to the baseline, and how much more each tenfold store costs."""
    from statistics import median, quantiles

    values: dict[str, list[float]] = {}
    for what, value in taken:
        values.setdefault(what, []).append(value)
    rows = [
        "| bullets | way | median ms | p95 ms | median CPU ms | times baseline | first search, s |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    ratios = {}
    for size in SIZES:
        for way in ("numpy and FTS5", "mem search"):
            wall, cpu = values[f"{size}, {way}, wall"], values[f"{size}, {way}, CPU"]
            ratios[size] = median(wall) / median(values[f"{size}, numpy and FTS5, wall"])
            first = f"{values[f'{size}, first search'][0]:.2f}" if way == "mem search" else ""
            p95 = quantiles(wall, n=20)[-1]
            ratio = f"{ratios[size]:.2f}" if way == "mem search" else "1"
            rows.append(
                f"| {size:,} | {way} | {median(wall):.1f} | {p95:.1f} | {median(cpu):.1f} | {ratio} | {first} |"
            )
    small, large = (median(values[f"{size}, mem search, wall"]) for size in (SIZES[0], SIZES[-1]))
    kept = "kept" if ratios[10_000] <= MOST else "MISSED"
    return [
        *rows,
        "",
        f"At 10,000 bullets {ratios[10_000]:.2f} times the baseline (mark: at most {MOST:.0f}; {kept}). "
        f"A hundred times as many bullets cost {large / small:.1f} times as much.",
    ]


def _vectors(base: Any, size: int, rng: Any) -> Any:
    import numpy as np

    vectors = base[np.arange(size) % len(base)].copy()
    if size > len(base):
        noise = rng.standard_normal((size - len(base), base.shape[1])).astype(np.float32)
        vectors[len(base) :] += NOISE * noise / np.linalg.norm(noise, axis=1, keepdims=True)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def _fill(memory: Any, texts: list[str], vectors: Any) -> None:
    """Puts the texts into the ledger with their vectors, past admission, and writes the table."""
    from acemem.memory.models import Draft

    home = memory.home
    embedder = home.embedder.fingerprint.sha256
    now = home.clock()
    data = {
        "kind": "context",
        "scope": memory.project.scope,
        "section": "Project facts",
        "confidence": 0.9,
        "trust": "user",
        "created": now,
    }
    with home.ledger.transaction():
        drafts = [Draft("add", f"b{at:07}", data={**data, "text": text}) for at, text in enumerate(texts)]
        home.ledger.append(drafts, now)
        hashes = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
        home.ledger.keep_vectors({h: row.tobytes() for h, row in zip(hashes, vectors, strict=True)}, embedder)
    home.sync()


def _baseline(memory: Any, texts: list[str], vectors: Any) -> Callable[[str], object]:
    import numpy as np

    from acemem.memory.words import asked

    index = sqlite3.connect(":memory:")
    index.execute("CREATE VIRTUAL TABLE bullets USING fts5(text, tokenize = 'porter unicode61')")
    index.executemany("INSERT INTO bullets(text) VALUES (?)", [(text,) for text in texts])

    def answer(query: str) -> object:
        near = vectors @ memory.home.embedder.embed_query(query)
        nearest = np.argpartition(-near, 50)[:50]
        words = " OR ".join(f'"{forms[-1]}"' for forms in asked(query))
        matching = index.execute(
            "SELECT rowid, rank FROM bullets WHERE bullets MATCH ? ORDER BY rank LIMIT 50", (words,)
        ).fetchall()
        return nearest, matching

    return answer


def _in_turn(ways: dict[str, Callable[[str], object]], queries: list[str]) -> Iterator[tuple[str, float]]:
    for round in range(ROUNDS + 1):
        for query in queries:
            for name, way in ways.items():
                wall, cpu = time.perf_counter(), time.process_time()
                way(query)
                wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
                if round:
                    yield f"{name}, wall", 1000 * wall
                    yield f"{name}, CPU", 1000 * cpu
