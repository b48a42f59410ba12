"""Inspection: where in a document a lesson belongs, and what the document says of it already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from acemem.memory.home import Home
from acemem.memory.learn.evolution.correction import CODE, banned
from acemem.memory.learn.evolution.document import Document, Passage, Statement
from acemem.memory.models import Bullet
from acemem.memory.refine.contradiction import contradicts
from acemem.memory.refine.guards import keeps_apart
from acemem.memory.refine.statement import parse

if TYPE_CHECKING:
    from acemem.memory.store import Vector

# How far from "unrelated" to "the same in other words" two texts must be to have one subject. Of 13 lessons about
# three skills and 56 pairs of a lesson with a skill of another subject, it parts 11 from all, with MiniLM.
ON_SUBJECT = 0.3
ON_SUBJECT_IF_NAMED = 0.15  # where both name the same command, file or tool
Verdict = Literal["lacking", "contradicted", "said"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a document says of a lesson, and in which passage that is, or belongs.

    `nearness` is the cosine to what is nearest there, -1..1. `statement` is the one that the lesson contradicts, or
    that says it; `passage` is None for what concerns the document as a whole and no part of it.
    """

    lesson: Bullet
    verdict: Verdict
    nearness: float
    passage: Passage | None
    statement: Statement | None = None
    reason: str = ""


class Inspection:
    """A document whose statements are compared with lessons; what stands before `first` is its author's alone."""

    def __init__(self, home: Home, document: Document, first: int = 0) -> None:
        import numpy as np

        self.home, self.document = home, document
        self._embed = home.embedder.embed_documents
        # Each passage as its statements, and once as a whole under its heading.
        self._parts: list[tuple[Passage, Statement | None]] = []
        texts: list[str] = []
        for passage in document.passages:
            told = [statement for statement in passage.statements if statement.start >= first]
            self._parts += [(passage, statement) for statement in told]
            texts += [statement.text for statement in told]
            if passage.section is not None:
                self._parts.append((passage, None))
                texts.append(f"{passage.heading}: {' '.join(s.text for s in told)[:1000]}")
        dimension = home.embedder.fingerprint.dimension
        self._vectors: Vector = self._embed(texts) if texts else np.zeros((0, dimension), np.float32)
        self._about = self._embed([document.about])[0] if document.about else None
        self._flat = flat(document.text)
        self._names = [names(" ".join([*texts_of(p), *p.code])) for p in document.passages]
        calibration = home.embedder.calibration
        reach = calibration.same - calibration.unrelated
        self._least = calibration.unrelated + ON_SUBJECT * reach
        self._least_if_named = calibration.unrelated + ON_SUBJECT_IF_NAMED * reach

    def findings(self, lessons: Sequence[Bullet]) -> list[Finding]:
        """What is found of each lesson that concerns the document, in the order of the lessons."""
        if not lessons:
            return []
        vectors = self._embed([lesson.text for lesson in lessons])
        found = (self._finding(lesson, vector) for lesson, vector in zip(lessons, vectors, strict=True))
        return [finding for finding in found if finding is not None]

    def _finding(self, lesson: Bullet, vector: Vector) -> Finding | None:
        near = (self._vectors @ vector).tolist()
        order = sorted(range(len(near)), key=lambda at: -near[at])
        if flat(lesson.text).rstrip(".") in self._flat:
            return Finding(lesson, "said", 1.0, None, reason="it stands there in these words")
        for at in order:  # first, since a document may say one thing twice, in two ways
            passage, statement = self._parts[at]
            if statement is None or near[at] < self._least:
                continue
            if why := opposes(lesson.text, statement.text, near[at] >= self.home.conflict_cosine):
                return Finding(lesson, "contradicted", near[at], passage, statement, why)
        for at in order:
            passage, statement = self._parts[at]
            if statement is None or near[at] < self.home.duplicate_cosine:
                continue
            if keeps_apart(lesson.text, statement.text) is None:
                return Finding(lesson, "said", near[at], passage, statement, "it is said in other words")
        return self._place(lesson, vector, near)

    def _place(self, lesson: Bullet, vector: Vector, near: Sequence[float]) -> Finding | None:
        own = names(lesson.text)
        best: tuple[float, float, Passage] | None = None
        for (passage, _), cosine in zip(self._parts, near, strict=True):
            if passage.section is None:  # what stands above all headings cannot be named by a change
                continue
            shares = bool(own & self._telling(passage))
            if cosine >= (self._least_if_named if shares else self._least):
                rank = cosine + (self._least - self._least_if_named if shares else 0.0)
                if best is None or rank > best[0]:
                    best = (rank, cosine, passage)
        if best is not None:
            return Finding(lesson, "lacking", best[1], best[2])
        whole = float(self._about @ vector) if self._about is not None else -1.0
        return Finding(lesson, "lacking", whole, None) if whole >= self._least else None

    def _telling(self, passage: Passage) -> set[str]:
        """The names of a passage that not every part of the document has."""
        at = next(at for at, other in enumerate(self.document.passages) if other is passage)
        most = max(1, len(self._names) // 2)
        return {name for name in self._names[at] if sum(name in others for others in self._names) <= most}


def opposes(lesson: str, statement: str, is_near: bool) -> str | None:
    """Why a lesson and a statement cannot both be followed, if so; `is_near` lets their wordings be compared."""
    if code := banned(lesson, statement):
        return f"It advises `{code}`, which the lesson warns against."
    return contradicts(lesson, statement) if is_near else None


def names(text: str) -> set[str]:
    """The commands, files, flags and tools that a text names."""
    found = {token.key for token in parse(text) if token.sort in ("code", "name", "flag")}
    for code in CODE.findall(text):
        words = code.split()
        found.add(" ".join(words[:2]).casefold())
    return {name for name in found if len(name) > 1}


@lru_cache(maxsize=256)
def flat(text: str) -> str:
    """A text in one line and one case, to look for words in."""
    return " ".join(text.split()).casefold()


def texts_of(passage: Passage) -> list[str]:
    """What a passage says, its heading first."""
    return [passage.heading, *(statement.text for statement in passage.statements)]
