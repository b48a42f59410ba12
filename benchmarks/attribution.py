"""Attribution: 200 sessions with planted uses and ends in five agents' formats, and tau-bench's own runs.

The logs are written to disk, receipts are put into the ledger of a fresh home as the hook writes them, `mem ingest`
reads the logs, and the marks that it left are compared with the plan. A mark is right if the bullet was used and it
went as the mark says; coverage is the share of all used bullets, also those whose use shows nowhere and those whose
session ended without a word, that got a right mark. The first three rows are what others do: to blame everything that
was shown for how the session ended, to count every id that the agent wrote, and to count every bullet of which the
agent used a word. The rows below ours leave one thing out each.

The first set's wording was there while the rules of attribution were written; the other two speak in one that was
written after them. The first run on that gave 0.957 right at a coverage of 0.349 with 1 event for a bullet that was
only shown, and 0.812 at 0.335 with 12 on tau-bench, nearly all by one sentence in which the agent says what would have
been had it followed the note. Since then a sentence that supposes is no citation, of two citations side by side the
second is not gone by because the first is, and a few more places in a sentence count as marks of its source: the rows
below are no first run any more. Wordings held back before it gave 0.64 while a
citation still counted unless it was known to be a disclaimer; that is why it now needs a sign that it was gone by.

Unfair to us: three in ten uses leave no trace, two in ten sessions end without a verdict, and half of the commands
are ones that anybody runs. Unfair to the others: their notion of how a session ended is ours. The tau-bench runs are
real, but nobody had a memory in them: the citations were written into them by this script.
"""

from __future__ import annotations

import json
import random
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import attribution_sessions as made
from attribution_wordings import HELD_BACK, SEEN, Wording

SESSIONS, SEED = 200, 20_261_130
LIMITS = {"right": 0.85, "coverage": 0.30}
TAU = "sierra-research_tau-bench__gpt-4o-airline.json"
POLICY = (
    "Ask for the user id before anything about a reservation.",
    "List the details of an action and get a yes before the booking database is changed.",
    "Basic economy flights cannot be modified; offer a change of cabin instead.",
    "At most one travel certificate, one credit card and three gift cards pay for a reservation.",
    "Refunds go to the original payment method within five to seven days.",
    "Transfer to a human agent only when the request is outside of what the tools can do.",
)
SET = {
    "generated": "200 generated sessions, wording seen",
    "held back": "200 other generated sessions, wording written later",
    "tau": "tau-bench runs, wording written later",
}


class Truth(NamedTuple):
    """What is planned of a session: which bullets it was shown, and how it went with those that it used."""

    session: str
    shown: tuple[str, ...]
    ends: dict[str, bool | None]


Marks = dict[tuple[str, str], bool]  # (session, bullet): helpful


def samples(data: Path) -> list[tuple[str, float]]:
    """Of every mark whether it is right, of every used bullet whether it got a right one, and of every other bullet
    whether it got an event."""
    taken: list[tuple[str, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        sets = {
            "generated": _generated(data, Path(folder, "seen"), SEED, SEEN),
            "held back": _generated(data, Path(folder, "held"), SEED + 1, HELD_BACK),
            "tau": _tau(data, Path(folder), HELD_BACK),
        }
        for name, (truths, receipts, logs) in sets.items():
            for system, marks in _systems(truths, receipts, logs, Path(folder, f"home-{name}")):
                taken += _measured(f"{name}, {system}", truths, marks)
    return taken


def summary(taken: list[tuple[str, float]]) -> list[str]:
    """The share of right marks, coverage, and events for bullets that were only shown; by set and system."""
    by_name: dict[str, list[float]] = {}
    for what, value in taken:
        by_name.setdefault(what, []).append(value)
    rows: list[str] = []
    for name, title in SET.items():
        rows += ["", f"{title}:", "", "| system | marks | right | coverage | events for only shown | mark |"]
        rows.append("| --- | --- | --- | --- | --- | --- |")
        for system in dict.fromkeys(what.split(", ")[1] for what in by_name if what.startswith(name)):
            right = by_name.get(f"{name}, {system}, right", [])
            covered = by_name.get(f"{name}, {system}, covered", [])
            stray = int(sum(by_name.get(f"{name}, {system}, stray", [])))
            share, coverage = _mean(right), _mean(covered)
            kept = share >= LIMITS["right"] and coverage >= LIMITS["coverage"] and stray == 0
            mark = ("kept" if kept else "MISSED") if system == "mem ingest" else ""
            rows.append(f"| {system} | {len(right)} | {share:.3f} | {coverage:.3f} | {stray} | {mark} |")
    return rows[1:]


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _measured(name: str, truths: list[Truth], marks: Marks) -> Iterator[tuple[str, float]]:
    for truth in truths:
        for bullet in truth.shown:
            mark = marks.get((truth.session, bullet))
            used = bullet in truth.ends
            right = used and mark is not None and mark is truth.ends[bullet]
            if mark is not None:
                yield f"{name}, right", float(right)
            if used:
                yield f"{name}, covered", float(right)
            else:
                yield f"{name}, stray", float(mark is not None)


# -- the two sets ----------------------------------------------------------------------------------


class Shown(NamedTuple):
    """What becomes a receipt."""

    session: str
    agent: str
    prompt: str
    at: float
    rules: tuple[made.Rule, ...]


def _generated(data: Path, folder: Path, seed: int, wording: Wording) -> tuple[list[Truth], list[Shown], list[Path]]:
    truths, receipts, logs = [], [], []
    for session in made.planned(data, SESSIONS, seed, wording):
        made.write(session, folder / "logs")
        ids = tuple(rule.id for rule in session.shown)
        truths.append(Truth(session.id, ids, session.ends))
        receipts.append(Shown(session.id, session.agent, session.prompt, session.began + 1, tuple(session.shown)))
        logs.append(session.path)
    return truths, receipts, logs


def _tau(data: Path, folder: Path, wording: Wording) -> tuple[list[Truth], list[Shown], list[Path]]:
    """Real runs with their reward; a memory's traces are written into their copies."""
    rng = random.Random(SEED)
    path = data / "sessions" / "openai-chat" / TAU
    runs: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))
    rules = [made.Rule(f"policy{number:02}", text) for number, text in enumerate(POLICY)]
    truths, receipts = [], []
    for number, run in enumerate(runs):
        name, shown = f"{path.stem}#{number}", rng.sample(rules, 3)
        spoken = [m for m in run["traj"] if m["role"] == "assistant" and m.get("content")]
        used, aside, silent = shown
        ends: dict[str, bool | None] = {}
        if rng.random() < 0.6 and spoken:
            rng.choice(spoken)["content"] += " " + rng.choice(wording.cites).format(id=used.id)
            ends[used.id] = run["reward"] >= 1
        if rng.random() < 0.4 and spoken:
            rng.choice(spoken)["content"] += " " + rng.choice(wording.sets_aside).format(id=aside.id)
        if rng.random() < 0.2:
            ends[silent.id] = run["reward"] >= 1  # it goes by it without a word
        prompt = next(m["content"] for m in run["traj"] if m["role"] == "user")
        truths.append(Truth(name, tuple(rule.id for rule in shown), ends))
        receipts.append(Shown(name, "openai-chat", prompt, made.START + number, tuple(shown)))
    log = folder / TAU
    log.write_text(json.dumps(runs), "utf-8")
    return truths, receipts, [log]


# -- the systems -----------------------------------------------------------------------------------


def _systems(truths: list[Truth], receipts: list[Shown], logs: list[Path], home: Path) -> Iterator[tuple[str, Marks]]:
    from acemem.memory.attribution.outcomes import ending
    from acemem.memory.learn.offline.conversation import Conversation
    from acemem.memory.sessions import catalog

    sessions = {session.id: session for log in logs for session in catalog.read(log)}
    texts = {rule.id: rule.text for shown in receipts for rule in shown.rules}
    ends = {name: ending(Conversation.of(session)).success for name, session in sessions.items()}

    def baseline(counts: Callable[[str, str], bool]) -> Marks:
        marks: Marks = {}
        for truth in truths:
            ended = ends[truth.session]
            acts = sessions[truth.session].events
            said = "\n".join(e.text if e.kind == "assistant" else json.dumps(e.args) for e in acts if _is_act(e.kind))
            marks.update(((truth.session, id), ended) for id in truth.shown if ended is not None and counts(said, id))
        return marks

    yield "everything shown", baseline(lambda said, id: True)
    yield "every id written", baseline(lambda said, id: id in said)
    yield "any word in common", baseline(lambda said, id: bool(_words(texts[id]) & _words(said)))
    yield "mem ingest", _ingested(receipts, logs, home / "ours")
    for name, without in _ABLATIONS.items():
        with without():
            yield f"without {name}", _ingested(receipts, logs, home / re.sub(r"\W", "-", name))


def _is_act(kind: str) -> bool:
    return kind in ("assistant", "call")


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]{6,}", text.lower()))


def _ingested(receipts: list[Shown], logs: list[Path], home: Path) -> Marks:
    """The marks that a real ingest leaves in a real home."""
    from acemem import Memory
    from acemem.memory.fingerprint import fingerprint
    from acemem.memory.models import SECTIONS, Draft

    home.mkdir(parents=True)
    (home / "config.toml").write_text('embedder = "hashing"\n', "utf-8")
    now = made.START
    with Memory.open(home, home, lambda: now) as memory:
        rules = {rule.id: rule.text for shown in receipts for rule in shown.rules}
        common = {"kind": "pattern", "scope": "global", "section": SECTIONS["pattern"], "confidence": 0.9}
        memory.home.ledger.append(
            [
                Draft("add", id, data={**common, "text": text, "trust": "user", "created": now})
                for id, text in rules.items()
            ],
            now,
        )
        for number, shown in enumerate(receipts):
            now = shown.at
            hits = [
                {"id": rule.id, "rank": rank, "rank_score": 1.0, "relevance": 0.5, "parts": {}}
                for rank, rule in enumerate(shown.rules, 1)
            ]
            data = {"receipt": f"r{number:08x}", "agent": shown.agent, "hits": hits}
            data["prompt_hash"] = fingerprint(shown.prompt)
            memory.keep_receipt(Draft("receipt", session=shown.session, data=data))
        memory.ingest(logs)
        events = [event for event in memory.home.ledger.events("feedback") if event.session]
        return {(str(event.session), str(event.bullet)): event.data["helpful"] for event in events}


@contextmanager
def _without_traces() -> Iterator[None]:
    with patch("acemem.memory.attribution.uses.traces", lambda *_: []):
        yield


@contextmanager
def _without_knowing() -> Iterator[None]:
    with patch("acemem.memory.attribution.traces._known_before", lambda *_: False):
        yield


@contextmanager
def _without_everyday() -> Iterator[None]:
    with patch("acemem.memory.attribution.traces.is_everyday", lambda tokens: False):
        yield


@contextmanager
def _without_disclaimers() -> Iterator[None]:
    with patch("acemem.memory.attribution.citations._said", lambda *_: True):
        yield


@contextmanager
def _without_reactions() -> Iterator[None]:
    with patch("acemem.memory.attribution.outcomes.verdict", lambda *_: None):
        yield


@contextmanager
def _without_checks() -> Iterator[None]:
    with patch("acemem.memory.attribution.outcomes._is_told", lambda *_: False):
        yield


_ABLATIONS = {
    "commands and files": _without_traces,
    "asking where else it is known from": _without_knowing,
    "the list of everyday commands": _without_everyday,
    "understanding how a note is cited": _without_disclaimers,
    "the person's reactions": _without_reactions,
    "tests and builds": _without_checks,
}
