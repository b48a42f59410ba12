"""What is found: LoCoMo, LongMemEval, rules asked for in other words; and what a question of another subject gets.

LoCoMo: turns are documents, questions of categories 1 to 4 are asked within all turns of their conversation, evidence
turns are the answers. LongMemEval: a slice of 20 questions, each with 44 to 50 sessions cut to 500 characters.
Rules: 80 needs of `needs.json`, written by hand from rules drawn at random and without looking at any result, each in
other words than its rule and often without its technology's name; and 200 headings as needs, whose rules are those that
stand under them; both among 1,500 and 10,000 other rules drawn at random, stored without heading or file.
Unrelated: 200 questions of LoCoMo and LongMemEval to the rules, and 200 needs and rules to the conversations.
Baselines are the first rows; "mem search" is the product, and the rows after it are its relevance with one part taken
out or put in. Evidence, freshness and patience cannot show here, where all are alike: `learning.py` has them.
Unfair to us: chat turns are not what this product stores, and a rule drawn at random often has others that serve the
need as well and count as wrong.
"""

from __future__ import annotations

import gzip
import json
import math
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

CATEGORIES = (1, 2, 3, 4)
SIZES = (1_500, 10_000)
FLOOR_SIZES = {10: 12, 30: 8, 100: 6, 300: 4, 1_000: 3, 3_000: 2, 10_000: 1}  # and how many samples of each
UNRELATED = 200
WEIGHTS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
MARKS = {"recall@10": 0.680, "nDCG@10": 0.520}
MOST_UNRELATED, MOST_LOST = 0.05, 0.02
AIMED_UNRELATED = 0.04  # when floors are learned, so that other questions do not pass the mark by chance

Sample = tuple[str, float]


def samples(data: Path) -> list[Sample]:
    """For each corpus and way of ranking the measures of each question; for floors the shares; the fitted floors."""
    import numpy as np

    from acemem import Memory

    rng = np.random.default_rng(1)
    chats = _conversations(data)
    rules = _rules(data)
    needs = [(at, need) for at, need in json.loads((Path(__file__).parent / "needs.json").read_text("utf-8"))]
    slices = [json.loads(line) for line in (data / "longmemeval" / "mempalace_20q_trunc500.jsonl").open("rb")]
    chat_questions = [question for chat in chats for question, _, _ in chat["questions"]]
    foreign = [chat_questions[at] for at in rng.permutation(len(chat_questions))[: UNRELATED - len(slices)]]
    foreign += [item["question"] for item in slices]
    others = [need for _, need in needs] + [rules[at]["text"] for at in rng.permutation(len(rules))[:UNRELATED]]
    taken: list[Sample] = []
    with tempfile.TemporaryDirectory() as home, Memory.open(home, home) as memory:
        taken += _locomo(memory, chats, others[:UNRELATED])
        taken += _longmemeval(memory, slices)
        for size in SIZES:
            taken += _of_rules(memory, rules, needs, foreign, size)
    for embedder in ("minilm", "hashing"):
        taken += _floors(embedder, rules, foreign)
    return _thinned(taken)


def summary(taken: list[Sample]) -> list[str]:
    """Tables of means, and whether each mark is kept."""
    from statistics import mean

    values: dict[str, list[float]] = defaultdict(list)
    for what, value in taken:
        values[what].append(value)
    means = {what: mean(found) for what, found in values.items()}
    lines: list[str] = []
    for corpus, measures in (
        ("LoCoMo", ("recall@5", "recall@10", "nDCG@10")),
        ("LongMemEval", ("recall@1", "recall@5", "nDCG@10")),
        *(
            (f"{kind} among {size:,} rules", ("recall@10", "nDCG@10"))
            for size in SIZES
            for kind in ("needs", "headings")
        ),
    ):
        ways = list(dict.fromkeys(what.split("; ")[1] for what in values if what.startswith(f"{corpus}; ")))
        count = len(values[f"{corpus}; mem search; {measures[-1]}"])
        lines += [f"### {corpus}, {count} questions", "", f"| ranking | {' | '.join(measures)} |"]
        lines.append("| --- |" + " --- |" * len(measures))
        lines += [
            f"| {way} | " + " | ".join(f"{means[f'{corpus}; {way}; {m}']:.3f}" for m in measures) + " |" for way in ways
        ]
        lines.append("")
    for measure, mark in MARKS.items():
        found = means[f"LoCoMo; mem search; {measure}"]
        lines.append(f"- LoCoMo {measure} {found:.3f}, mark {mark:.3f}: {_verdict(found >= mark)}")
    lines += ["", "### LoCoMo by conversation and category, mem search", "", "| part | recall@10 | nDCG@10 |"]
    lines.append("| --- | --- | --- |")
    parts = [what.removesuffix("; recall@10") for what in values if re.match(r"LoCoMo (con|cat).*; recall@10", what)]
    lines += [
        f"| {p.partition(' ')[2]} | {means[f'{p}; recall@10']:.3f} | {means[f'{p}; nDCG@10']:.3f} |" for p in parts
    ]
    lines += ["", "### A question of another subject", ""]
    lines += ["| store | unrelated that get something | recall@10 without floor | with floor | lost |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for what in [what for what in values if what.startswith("floor; ") and what.endswith("; unrelated")]:
        store = what.split("; ")[1]
        for related in ("questions", "needs", "headings"):
            name = f"floor; {store}; {related}"
            if f"{name}; with" in values:
                without, kept = means[f"{name}; without"], means[f"{name}; with"]
                lost = f"{without - kept:.3f} ({_verdict(without - kept <= MOST_LOST)})"
                share = f"{means[what]:.3f} ({_verdict(means[what] <= MOST_UNRELATED)})"
                lines.append(f"| {store}, {related} | {share} | {without:.3f} | {kept:.3f} | {lost} |")
    lines += ["", "### Floors learned from rules and chat questions", "", "| bullets | minilm | hashing |"]
    lines.append("| --- | --- | --- |")
    for size in FLOOR_SIZES:
        lines.append(f"| {size:,} | {means[f'level; minilm; {size}']:.3f} | {means[f'level; hashing; {size}']:.3f} |")
    fits = [
        f"{e}: floor {means[f'fit; {e}; floor']:.3f}, growth {means[f'fit; {e}; growth']:.3f}"
        for e in ("minilm", "hashing")
    ]
    return [*lines, "", "Lines through these: " + "; ".join(fits) + "."]


def _thinned(taken: list[Sample]) -> list[Sample]:
    """Every sample of cosine and of the product, and of every other way of ranking the means."""
    from statistics import mean

    values: dict[str, list[float]] = defaultdict(list)
    for what, value in taken:
        values[what].append(value)
    whole = re.compile(r"; (cosine|mem search); |^LoCoMo (con|cat)|^(floor|level|fit); ")
    return [
        (what, value) for what, found in values.items() for value in (found if whole.search(what) else [mean(found)])
    ]


def _verdict(kept: bool) -> str:
    return "kept" if kept else "MISSED"


def _locomo(memory: Any, chats: list[dict[str, Any]], others: list[str]) -> Iterator[Sample]:
    import numpy as np
    from retrieval_rankings import ABLATIONS, BASELINES, Corpus, Question, search

    from acemem.retrieval.weights import RankingWeights

    tried: list[dict[float, list[tuple[list[int], set[int]]]]] = []
    shown = []
    kept: list[tuple[float, float]] = []
    for number, chat in enumerate(chats):
        corpus = Corpus(memory, f"project:locomo-{number}", chat["texts"])
        by_weight: dict[float, list[tuple[list[int], set[int]]]] = {weight: [] for weight in WEIGHTS}
        for text, wanted, category in chat["questions"]:
            question = Question(corpus, text)
            for name, ranking in BASELINES.items():
                yield from _measured(f"LoCoMo; {name}", _first(ranking(question)), wanted)
            found = search(question, 10, floor=False)
            yield from _measured("LoCoMo; mem search", found, wanted)
            yield from _measured(f"LoCoMo conversation {number + 1}", found, wanted)
            yield from _measured(f"LoCoMo category {category}", found, wanted)
            for name, ranking in ABLATIONS.items():
                yield from _measured(f"LoCoMo; {name}", _first(ranking(question)), wanted)
            for weight, results in by_weight.items():
                results.append((_first(question.ours(RankingWeights(semantic=weight)).relevance), wanted))
            floored = search(question, 10, floor=True)
            kept.append((_recall(found, wanted, 10), _recall(floored, wanted, 10)))
        tried.append(by_weight)
        shown += [bool(search(Question(corpus, text), 10, floor=True)) for text in others]
    for number, left_out in enumerate(tried):
        rest = {
            weight: np.mean([_recall(*r, 10) for other in tried if other is not left_out for r in other[weight]])
            for weight in WEIGHTS
        }
        best = max(WEIGHTS, key=lambda weight: (rest[weight], -weight))
        for found, wanted in left_out[best]:
            name = f"LoCoMo conversation {number + 1}, weight {best}, the best on the other four"
            yield from _measured(name, found, wanted)
            yield from _measured("LoCoMo; relevance, its weight chosen on the other conversations", found, wanted)
    yield from _floor_samples("LoCoMo conversations", shown, "questions", kept)


def _longmemeval(memory: Any, slices: list[dict[str, Any]]) -> Iterator[Sample]:
    from retrieval_rankings import BASELINES, Corpus, Question, search

    for number, item in enumerate(slices):
        sessions = item["retrieval_results"]["ranked_items"]
        sessions = sorted(sessions, key=lambda session: session["corpus_id"][::-1])  # not in the order of a retriever
        wanted = {at for at, session in enumerate(sessions) if session["corpus_id"].startswith("answer")}
        corpus = Corpus(memory, f"project:longmemeval-{number}", [session["text"] for session in sessions])
        question = Question(corpus, item["question"])
        for name, ranking in BASELINES.items():
            yield from _measured(f"LongMemEval; {name}", _first(ranking(question)), wanted)
        yield from _measured("LongMemEval; mem search", search(question, 10, floor=False), wanted)


def _of_rules(
    memory: Any, rules: list[dict[str, Any]], needs: list[tuple[int, str]], foreign: list[str], size: int
) -> Iterator[Sample]:
    from retrieval_rankings import ABLATIONS, BASELINES, Corpus, Question, search

    chosen = _drawn(rules, {at for at, _ in needs}, size)
    corpus = Corpus(memory, f"project:rules-{size}", [rule["text"] for rule in chosen])
    place = {rule["id"]: at for at, rule in enumerate(chosen)}
    related = {
        "needs": [(need, {place[at]}) for at, need in needs],
        "headings": _headings(chosen),
    }
    shown = [bool(search(Question(corpus, text), 10, floor=True)) for text in foreign]
    for kind, asked in related.items():
        kept = []
        for text, wanted in asked:
            question = Question(corpus, text)
            name = f"{kind} among {size:,} rules"
            for way, ranking in BASELINES.items():
                yield from _measured(f"{name}; {way}", _first(ranking(question)), wanted)
            found = search(question, 10, floor=False)
            yield from _measured(f"{name}; mem search", found, wanted)
            for way, ranking in ABLATIONS.items():
                yield from _measured(f"{name}; {way}", _first(ranking(question)), wanted)
            kept.append((_recall(found, wanted, 10), _recall(search(question, 10, floor=True), wanted, 10)))
        yield from _floor_samples(f"{size:,} rules", shown, kind, kept)
        shown = []


def _floor_samples(
    store: str, shown: Sequence[bool], related: str, kept: Sequence[tuple[float, float]]
) -> Iterator[Sample]:
    yield from ((f"floor; {store}; unrelated", float(something)) for something in shown)
    for without, left in kept:
        yield from ((f"floor; {store}; {related}; without", without), (f"floor; {store}; {related}; with", left))


def _floors(embedder: str, rules: list[dict[str, Any]], foreign: list[str]) -> Iterator[Sample]:
    """The level that 96 of 100 unrelated questions stay below, among so many rules, and the line through all levels.

    This is where `floor` and `growth` of a calibration come from.
    """
    import numpy as np
    import pyarrow as pa

    from acemem.memory.embedders.catalog import load
    from acemem.memory.shelf import Shelf
    from acemem.memory.words import asked, words
    from acemem.retrieval.relevance import relevance, strength
    from acemem.retrieval.weights import DEFAULT_WEIGHTS

    model = load(embedder)
    texts = [rule["text"] for rule in _drawn(rules, set(), max(FLOOR_SIZES))]
    vectors = model.embed_documents(texts)
    said = np.array([" ".join(words(text)) for text in texts])
    questions = [(model.embed_query(text), asked(text)) for text in foreign]
    levels = []
    for size, draws in FLOOR_SIZES.items():
        strengths = []
        for draw in range(draws):
            rows = np.random.default_rng(draw).permutation(len(texts))[:size]
            shelf = Shelf([str(row) for row in rows], vectors[rows], pa.array(said[rows].tolist(), pa.string()))
            for vector, asks in questions:
                cosines = shelf.cosines(vector)
                assert cosines is not None
                bm25, most = shelf.bm25(asks)
                strengths.append(strength(relevance(cosines, bm25, most, model.calibration, DEFAULT_WEIGHTS).subject))
        levels.append(float(np.quantile(strengths, 1 - AIMED_UNRELATED)))
        yield f"level; {embedder}; {size}", levels[-1]
    growth, floor = np.polyfit(np.log10(np.array(list(FLOOR_SIZES)) / 1_000), levels, 1)
    yield from ((f"fit; {embedder}; floor", float(floor)), (f"fit; {embedder}; growth", float(growth)))


def _drawn(rules: list[dict[str, Any]], ids: set[int], size: int) -> list[dict[str, Any]]:
    """The rules with these ids, and others drawn at random, so many in all, none twice in the same words."""
    import numpy as np

    first = [rule for rule in rules if rule["id"] in ids]
    order = np.random.default_rng(7).permutation(len(rules))
    rest = (rules[at] for at in order if rules[at]["id"] not in ids)
    return list({rule["text"]: rule for rule in (*first, *rest)}.values())[:size]


def _headings(rules: list[dict[str, Any]], most: int = 200) -> list[tuple[str, set[int]]]:
    """Headings with the name of their file, as a person would say both, and the numbers of the rules below each."""
    import numpy as np

    below: dict[str, set[int]] = defaultdict(set)
    for at, rule in enumerate(rules):
        parts = rule["file"].split("/")
        file = parts[-2] if parts[-1] == "SKILL.md" and len(parts) > 1 else parts[-1].rsplit(".", 1)[0]
        file = re.sub(r"-?(cursorrules|prompt|file|instructions|agent|coding-standards|best-practices|rule)", "", file)
        if rule["heading"]:
            below[re.sub(r"[^A-Za-z0-9 ]+", " ", f"{file} {rule['heading'].split('>')[-1]}").strip()].add(at)
    names = sorted(below)
    return [(names[at], below[names[at]]) for at in np.random.default_rng(3).permutation(len(names))[:most]]


def _conversations(data: Path) -> list[dict[str, Any]]:
    found = []
    for conversation in json.loads((data / "locomo" / "locomo_dev.json").read_text("utf-8")):
        turns = _turns(conversation)
        place = {turn: at for at, (turn, _) in enumerate(turns)}
        questions = [
            (asked["question"], wanted, asked["category"])
            for asked in conversation["qa"]
            if asked["category"] in CATEGORIES
            and (wanted := {place[turn] for turn in asked.get("evidence", []) if turn in place})
        ]
        found.append({"texts": [text for _, text in turns], "questions": questions})
    return found


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


def _rules(data: Path) -> list[dict[str, Any]]:
    with gzip.open(data / "rules" / "rules.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _first(scores: Any, k: int = 10) -> list[int]:
    return [int(at) for at in (-scores).argsort(kind="stable")[:k]]


def _recall(found: Sequence[int], wanted: set[int], k: int) -> float:
    return len(wanted & set(found[:k])) / len(wanted)


def _gain(found: Sequence[int], wanted: set[int]) -> float:
    gain = sum(1 / math.log2(rank + 2) for rank, at in enumerate(found[:10]) if at in wanted)
    return gain / sum(1 / math.log2(rank + 2) for rank in range(min(len(wanted), 10)))


def _measured(name: str, found: list[int], wanted: set[int]) -> Iterator[Sample]:
    for k in (1, 5) if name.startswith("LongMemEval") else (5, 10) if name.startswith("LoCoMo;") else (10,):
        yield f"{name}; recall@{k}", _recall(found, wanted, k)
    yield f"{name}; nDCG@10", _gain(found, wanted)
