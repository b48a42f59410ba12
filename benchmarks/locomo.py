"""Retrieval on LoCoMo: turns as documents, questions of categories 1 to 4, evidence turns as the answers.

The baseline, exact cosine over the same vectors, is the first row. Unfair to us: chat turns are not the rules this
product stores, and evidence and freshness, which it ranks by as well, are the same for every turn here.
"""

from __future__ import annotations

import json
import math
import tempfile
from pathlib import Path
from typing import Any

CATEGORIES = (1, 2, 3, 4)


def samples(data: Path) -> list[tuple[str, float]]:
    """For each question and system: recall@5, recall@10 and nDCG@10."""
    from acemem import Memory

    conversations = json.loads((data / "locomo" / "locomo_dev.json").read_text("utf-8"))
    taken: list[tuple[str, float]] = []
    with tempfile.TemporaryDirectory() as home, Memory.open(home, home) as memory:
        for number, conversation in enumerate(conversations):
            scope = f"project:locomo-{number}"
            turns = _turns(conversation)
            bullets = memory.add([text for _, text in turns], scope=scope, merge=False)
            turn_of = {bullet.id: turn for bullet, (turn, _) in zip(bullets, turns, strict=True)}
            vectors = memory.home.vectors(bullets)
            for question in conversation["qa"]:
                wanted = {turn for turn in question.get("evidence", []) if turn in set(turn_of.values())}
                if question["category"] not in CATEGORIES or not wanted:
                    continue
                query = memory.home.embedder.embed_query(question["question"])
                order = (-(vectors @ query)).argsort()[:10]
                hits = memory.search(question["question"], k=10, scope=scope, floor=False)
                taken += _measures("cosine", [turn_of[bullets[i].id] for i in order], wanted)
                taken += _measures("mem search", [turn_of[hit.id] for hit in hits], wanted)
    return taken


def summary(taken: list[tuple[str, float]]) -> list[str]:
    """Means over all questions."""
    from statistics import mean

    by_name: dict[str, list[float]] = {}
    for name, value in taken:
        by_name.setdefault(name, []).append(value)
    systems = list(dict.fromkeys(name.split(", ")[0] for name in by_name))
    measures = list(dict.fromkeys(name.split(", ")[1] for name in by_name))
    rows = [
        f"| {system} | " + " | ".join(f"{mean(by_name[f'{system}, {measure}']):.3f}" for measure in measures) + " |"
        for system in systems
    ]
    count = len(next(iter(by_name.values())))
    head = [f"| system | {' | '.join(measures)} |", "| --- |" + " --- |" * len(measures)]
    return [*head, *rows, "", f"{count} questions."]


def _turns(conversation: dict[str, Any]) -> list[tuple[str, str]]:
    sessions = conversation["conversation"]
    turns = []
    for key, session in sessions.items():
        if key.startswith("session_") and isinstance(session, list):
            date = sessions.get(f"{key}_date_time", "")
            for turn in session:
                image = f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""
                turns.append((turn["dia_id"], f"({date}) {turn['speaker']}: {turn['text']}{image}"))
    return turns


def _measures(system: str, found: list[str], wanted: set[str]) -> list[tuple[str, float]]:
    gain = sum(1 / math.log2(rank + 2) for rank, turn in enumerate(found) if turn in wanted)
    best = sum(1 / math.log2(rank + 2) for rank in range(min(len(wanted), 10)))
    return [
        (f"{system}, recall@5", len(wanted & set(found[:5])) / len(wanted)),
        (f"{system}, recall@10", len(wanted & set(found)) / len(wanted)),
        (f"{system}, nDCG@10", gain / best),
    ]
