"""Evidence check: a model's finding becomes an insight only if the records it cites exist and speak of it.

What the model says of itself is not taken on trust: whose words carry a finding, and how strong it is, is read from
the records.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from acemem.memory.cleantext import clean, one_line
from acemem.memory.insight import (
    AgentLearningInsight,
    ContextInsight,
    Detail,
    Insight,
    InsightScope,
    Source,
    Strength,
    Trust,
    UserFactInsight,
)
from acemem.memory.learn.model.answer import Answer, Finding, quotation
from acemem.memory.learn.model.chunks import Chunk
from acemem.memory.learn.offline.wording import stems
from acemem.memory.redaction.redaction import redact
from acemem.memory.sessions.event import EventKind, Session, SessionEvent

# The share of a statement's key words that its records must hold, a name counting twice; what is in backquotes must be
# there whatever the share. Of 76 insights written by hand 58 pass with their own records, of such insights put on the
# records of another session 2 %. With one name exchanged for a foreign one half of them pass while few are in
# backquotes, hence the models are told to put names there.
LEAST_SHARE = 1 / 2
LEAST_QUOTED = 1 / 2  # of the words of a quotation
LONGEST = 400  # characters of a statement
CONFIDENCE: dict[Strength, float] = {"explicit": 0.9, "resolved": 0.75, "inferred": 0.6}  # at most
_PREFIX = 5  # letters that two forms of one word share, in languages that inflect at the end

_PERSON: frozenset[EventKind] = frozenset({"human", "plan", "reject", "answer"})
_AGENT: frozenset[EventKind] = frozenset({"assistant", "call"})
_NO_EVIDENCE: frozenset[EventKind] = frozenset({"summary", "interrupt"})

_QUOTED = re.compile(r"`([^`\n]+)`")
_NAME = re.compile(r"[^\s`'\"(),;<>\[\]{}]{3,}")
_LOOKS_LIKE_CODE = re.compile(r"\d|[_/\\=@]|::|\w\.\w|^--?\w|^\.\w")
_SEPARATORS = re.compile(r"[/\\*]+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Dropped:
    """A finding that was not believed, and why."""

    session: str
    statement: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Record:
    """One event as it was shown."""

    event: SessionEvent
    text: str  # casefolded
    words: frozenset[str]


def checked(answer: Answer, session: Session, chunk: Chunk) -> Iterator[Insight | Dropped]:
    """What an answer to this window is worth: an insight for each finding that holds, the reason for each other."""
    shown = _records(chunk)
    for finding in answer.findings():
        statement = one_line(redact(clean(finding.statement))[0], LONGEST)
        judged = _judge(finding, statement, shown, session)
        yield judged if isinstance(judged, Insight) else Dropped(session.id, statement, judged)


def _judge(finding: Finding[Any], statement: str, shown: dict[int, list[_Record]], session: Session) -> Insight | str:
    detail: Detail = finding.insight
    if not stems(statement):
        return "says nothing"
    if not finding.records:
        return "cites no record"
    unknown = [rec for rec in finding.records if rec not in shown]
    if unknown:
        return f"cites record {unknown[0]}, which it was not shown"
    cited = [record for rec in sorted(set(finding.records)) for record in shown[rec]]
    telling = [record for record in cited if record.event.kind not in _NO_EVIDENCE]
    if not _carries(telling, statement):
        return "its records do not speak of it"
    quoted = stems(quotation(detail))
    if _count(quoted, telling) < LEAST_QUOTED * len(quoted):
        return "quotes what its records do not hold"
    trust = _trust(telling, statement, session)
    strength = _strength(finding.strength, trust, telling)
    confidence = CONFIDENCE[strength]
    if isinstance(detail, ContextInsight | UserFactInsight | AgentLearningInsight):
        confidence = max(0.0, min(confidence, detail.confidence))
        detail = replace(detail, confidence=confidence)
    scope: InsightScope = "project" if finding.scope == "user" and trust != "user" else finding.scope
    return Insight(
        detail=detail,
        text=statement,
        sources=_sources(telling, statement, session),
        confidence=confidence,
        scope=scope,
        strength=strength,
        trust=trust,
    )


def _records(chunk: Chunk) -> dict[int, list[_Record]]:
    records: dict[int, list[_Record]] = {}
    for message in chunk.messages:
        if message.rec in records and message.heading:
            continue  # another part of the same message, which carries the whole of it
        for event, text in zip(message.events, message.shown, strict=True):
            told = f"{event.tool or ''} {text}"
            records.setdefault(message.rec, []).append(_Record(event, told.casefold(), stems(told)))
    return records


def _carries(records: Sequence[_Record], statement: str) -> bool:
    """Whether the records hold every quoted name of the statement, and enough of its key words."""
    if not records or not all(_names_it(records, name) for name in _quoted(statement)):
        return False
    names, words = _names(statement), stems(statement)
    held = 2 * sum(_names_it(records, name) for name in names) + _count(words, records)
    return held >= LEAST_SHARE * (2 * len(names) + len(words))


def _quoted(statement: str) -> list[str]:
    """The words in backquotes, casefolded: what the model says stands so in the log."""
    return [name for span in _QUOTED.findall(statement) for word in span.split() if (name := _bare(word))]


def _names(statement: str) -> set[str]:
    """The commands, paths, options and numbers of a statement, casefolded: words that one does not paraphrase."""
    loose = [_bare(word) for word in _NAME.findall(_QUOTED.sub(" ", statement))]
    return {*_quoted(statement), *(name for name in loose if name and _LOOKS_LIKE_CODE.search(name))}


def _bare(word: str) -> str:
    return word.strip(",:;!?'\"()[]{}<>").rstrip(".").casefold()


def _names_it(records: Sequence[_Record], name: str) -> bool:
    """Whether the records hold a name, or each part of a path or pattern, which may be written in another way."""
    if any(name in record.text for record in records):
        return True
    parts = [part for part in _SEPARATORS.split(name) if len(part) > 1]
    return len(parts) > 1 and all(any(part in record.text for record in records) for part in parts)


def _count(words: Iterable[str], records: Sequence[_Record]) -> int:
    """How many of the words some record holds."""
    return sum(any(_holds(record, word) for record in records) for word in words)


def _holds(record: _Record, word: str) -> bool:
    if word in record.words:
        return True
    if _UNSPACED.search(word):  # a run of such letters is many words
        pairs = [word[at : at + 2] for at in range(len(word) - 1)] or [word]
        return sum(pair in record.text for pair in pairs) >= len(pairs) / 2
    return len(word) > _PREFIX and any(known.startswith(word[:_PREFIX]) for known in record.words)


def _trust(records: Sequence[_Record], statement: str, session: Session) -> Trust:
    """Whose words alone carry the statement: a person's, else the agent's, else what a tool returned."""
    person = _of(records, _PERSON)
    if session.interactive and _carries(person, statement):
        return "user"
    return "agent" if _carries([*person, *_of(records, _AGENT)], statement) else "tool"


def _of(records: Iterable[_Record], kinds: frozenset[EventKind]) -> list[_Record]:
    return [record for record in records if record.event.kind in kinds]


def _strength(claimed: Strength, trust: Trust, records: Sequence[_Record]) -> Strength:
    if claimed == "explicit" and trust == "user":
        return "explicit"
    results = [record for record in records if record.event.kind == "result"]
    failed = [place for place, record in enumerate(results) if record.event.error or "error" in record.text]
    # Resolved means that something went wrong and that a later result is there to show it gone.
    if claimed != "inferred" and failed and any(not record.event.error for record in results[failed[0] + 1 :]):
        return "resolved"
    return "inferred"


def _sources(records: Sequence[_Record], statement: str, session: Session) -> tuple[Source, ...]:
    """The records that speak of the statement, each once, by the event of it that says most."""
    words, names = stems(statement), _names(statement)
    best: dict[int, tuple[int, SessionEvent]] = {}
    for record in records:
        told = _count(words, [record]) + sum(name in record.text for name in names)
        if told and told > best.get(record.event.rec, (0, record.event))[0]:
            best[record.event.rec] = (told, record.event)
    return tuple(
        Source(event.key, event.rec, session.id, session.path, session.agent, event.ts, session.talk)
        for _, (_, event) in sorted(best.items())
    )
