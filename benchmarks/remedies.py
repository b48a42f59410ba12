"""What is told after a failed tool: the fix that a bullet knows, or something that has nothing to do with it.

Failures and their fixes are written by hand in `failures.json`: commands with what they print, and for the known ones a
bullet in the words of an extractor or a person. The thresholds of `retrieval/remedy.py` were set on the tuned set; the
held out set was written afterwards and looked at once. All fixes are stored among 300 rules drawn at random. Every
failure is one of a session of its own. "Beside it" is another bullet shown with or instead of the right one.
"Cold" is the answer without a daemon, by words alone. Fair to no one: the failures are plain ones, and whoever wrote a
fix had its failure in mind.
"""

from __future__ import annotations

import gzip
import json
import random
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

OTHERS = 300
SEED = 1
COLUMNS = ("known: shown", "known: beside it", "unknown: anything")

Sample = tuple[str, float]


def samples(data: Path) -> list[Sample]:
    """1 for each failure that was told so, by embedder and set."""
    from acemem import Memory

    with gzip.open(data / "rules" / "rules.jsonl.gz", "rt", encoding="utf-8") as file:
        rules = [json.loads(line)["text"] for line in file]
    others = random.Random(SEED).sample(rules, OTHERS)
    sets = json.loads((Path(__file__).parent / "failures.json").read_text("utf-8"))
    taken: list[Sample] = []
    for embedder in ("minilm", "hashing"):
        with tempfile.TemporaryDirectory() as home:
            (Path(home) / "config.toml").write_text(f'embedder = "{embedder}"\n', "utf-8")
            with Memory.open(home, home) as memory:
                memory.add(others, merge=False)
                fixes = [
                    (name, command, error, memory.add([text], kind=kind, merge=False)[0].id)
                    for name, cases in sets.items()
                    for command, error, kind, text in cases["known"]
                ]
                unknown = [(name, *case, "") for name, cases in sets.items() for case in cases["unknown"]]
                for system, tell in _systems(memory, embedder).items():
                    taken += _told(system, tell, [*fixes, *unknown])
    return taken


def summary(taken: list[Sample]) -> list[str]:
    """How many of how many, by system and set."""
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for what, value in taken:
        row, _, column = what.rpartition("; ")
        values[row][column].append(value)
    lines = [f"| system and set | {' | '.join(COLUMNS)} |", "| --- |" + " --- |" * len(COLUMNS)]
    for row, found in values.items():
        cells = [f"{sum(found[column]):.0f} of {len(found[column])}" for column in COLUMNS]
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return lines


def _systems(memory: Any, embedder: str) -> dict[str, Callable[[dict[str, Any]], list[str]]]:
    from acemem.retrieval import cold
    from acemem.retrieval.daemon.snapshot import newest_change, write_snapshot
    from acemem.retrieval.protocols import from_payload, protocol_of

    write_snapshot(memory.home, newest_change(memory.home.ledger))
    protocol = protocol_of("claude-code")

    def warm(payload: dict[str, Any]) -> list[str]:
        return [hit["id"] for hit in memory.hook("claude-code", "tool-failure", payload).receipt.data["hits"]]

    def by_words(payload: dict[str, Any]) -> list[str]:
        call = from_payload(protocol, *protocol.event("tool-failure"), payload, str(memory.project.root))
        found = cold.answer(str(memory.home.path), call)
        return [] if found is None else [hit["id"] for hit in found.receipt["hits"]]

    return {f"warm, {embedder}": warm} | ({"cold": by_words} if embedder == "minilm" else {})


def _told(
    system: str, tell: Callable[[dict[str, Any]], list[str]], cases: list[tuple[str, str, str, str]]
) -> Iterator[Sample]:
    for name, command, error, wanted in cases:
        payload = {"tool_name": "Bash", "tool_input": {"command": command}, "error": error, "transcript_path": "/x"}
        ids = tell(payload)
        if wanted:
            yield f"{system}; {name}; known: shown", float(wanted in ids)
            yield f"{system}; {name}; known: beside it", float(bool(set(ids) - {wanted}))
        else:
            yield f"{system}; {name}; unknown: anything", float(bool(ids))
