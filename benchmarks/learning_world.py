"""The world of the feedback simulation: real rules with real similarities, and drawn usefulness, drift and feedback.

Topics are file and heading of public rule lines. Three lines of each topic are held back as the texts of tasks, the
others are bullets. What a policy may see of it is a `View`; the truth stays here.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]

TOPICS, BULLETS, HELD_OUT = 130, 852, 3
TASKS, TASKS_A_DAY, SLOTS = 3_000, 20, 5
ATTENTION = 0.85
HELPS, HARMS = 0.6, -1.0
LATE, LATE_UNTIL = 0.4, 0.75
FLIPPED, TAGGED, MISTAGGED = 0.08, 0.5, 0.15


@dataclass(frozen=True, slots=True)
class Corpus:
    """Bullets and tasks: the cosine of each task to each bullet, and the topic of each."""

    cosines: Floats
    bullet_topics: Whole
    task_topics: Whole


@dataclass(frozen=True, slots=True)
class World:
    """How useful the bullets are: shares of helpful and of neutral ones, the share of the helpful that turns harmful
    half-way, and what an off-topic bullet adds to the logit of success."""

    name: str
    helpful: float = 0.5
    neutral: float = 0.3
    drift: float = 0.35
    off_topic: float = -0.1


WORLDS = (
    World("standard"),
    World("mostly good", helpful=0.7, neutral=0.2),
    World("no drift", drift=0.0),
    World("off-topic costs", off_topic=-0.3),
)
FEEDBACKS = ("shared", "tagged")
BASES = (0.4, 0.6, 0.8)


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the simulation."""

    world: World
    feedback: str
    base: float
    seed: int


def settings(seeds: Sequence[int]) -> list[Setting]:
    """Every world, feedback and base rate for each of the seeds."""
    return [Setting(w, f, b, s) for s in seeds for w in WORLDS for f in FEEDBACKS for b in BASES]


def corpus(rules: Path, cache: Path | None = None) -> Corpus:
    """Chooses topics, bullets and tasks of the rules file and embeds them with the shipped model.

    A bullet is embedded as the product does it, `tech - heading: text`; a task says what it is about and names the
    technology, `tech: text`. `cache` is a folder in which the cosines are kept for the next run.
    """
    bullets, tasks = _choose(rules)
    key = hashlib.sha256(json.dumps([bullets, tasks]).encode()).hexdigest()[:16]
    kept = None if cache is None else cache / f"learning-{key}.npy"
    if kept is not None and kept.is_file():
        cosines = np.load(kept)
    else:
        from acemem.memory.embedders.minilm import MiniLmEmbedder

        embedder = MiniLmEmbedder()
        rows = embedder.embed_documents([text for _, text in tasks])
        cosines = (rows @ embedder.embed_documents([text for _, text in bullets]).T).astype(np.float64)
        if kept is not None:
            kept.parent.mkdir(parents=True, exist_ok=True)
            np.save(kept, cosines)
    return Corpus(cosines, np.array([t for t, _ in bullets]), np.array([t for t, _ in tasks]))


def _choose(rules: Path) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    by_topic: dict[tuple[str, str], list[str]] = {}
    with gzip.open(rules, "rt", encoding="utf-8") as lines_of_json:
        for line in lines_of_json:
            row = json.loads(line)
            by_topic.setdefault((row["file"], row["heading"]), []).append(row["text"])
    rng = random.Random(0)
    by_file: dict[str, list[tuple[str, str]]] = {}
    for topic, texts in sorted(by_topic.items()):
        if topic[1] and 8 <= len(set(texts)) <= 14:
            by_file.setdefault(topic[0], []).append(topic)
    # At most two headings of a file: they are about one technology, and hard to tell apart.
    files = list(by_file.values())
    rng.shuffle(files)
    chosen = [topic for topics in files for topic in rng.sample(topics, min(rng.choice((1, 2)), len(topics)))][:TOPICS]
    lines = []
    for topic in chosen:
        texts = sorted(set(by_topic[topic]))
        rng.shuffle(texts)
        lines.append(texts)
    while sum(len(texts) - HELD_OUT for texts in lines) > BULLETS:
        max(lines, key=len).pop()
    bullets, tasks = [], []
    for number, ((file, heading), texts) in enumerate(zip(chosen, lines, strict=True)):
        tech = _tech(file)
        tasks += [(number, f"{tech}: {text}") for text in texts[:HELD_OUT]]
        bullets += [(number, f"{tech} - {heading}: {text}") for text in texts[HELD_OUT:]]
    return bullets, tasks


def _tech(file: str) -> str:
    path = PurePosixPath(file)
    name = path.name.split(".")[0]
    return re.sub(r"[-_]+", " ", path.parent.name if name.isupper() and path.parent.name else name)


@dataclass(frozen=True, slots=True)
class View:
    """What a policy may see of the candidates of one task per row; (rows, columns), or (rows, 1) where it says row.

    `helpful` and `harmful` are weighted and aged as the policy asks, `plain_*` are marks as they are. Ages are in days.
    """

    cosine: Floats
    helpful: Floats
    harmful: Floats
    plain_helpful: Floats
    plain_harmful: Floats
    since_confirmed: Floats
    since_shown: Floats
    importance: Floats
    ignored: Floats  # times shown and not used since it last was, as far as tags tell
    base: Floats  # row: the running base rate
    pool: Flags
    rng: np.random.Generator


@dataclass(frozen=True, slots=True)
class Policy:
    """A way to choose: `rank` gives every candidate a number, and minus infinity to what is not to be shown at all.

    At most `k` are shown. Marks fade by `half_life` in days; one of a shared verdict counts `verdict_weight`. `pruning`
    is "none", "evidence" (the shipped rule) or "negative" (every score below zero).
    """

    name: str
    rank: Callable[[View], Floats]
    k: int = SLOTS
    half_life: float = math.inf
    verdict_weight: float = 1.0
    pruning: str = "none"
