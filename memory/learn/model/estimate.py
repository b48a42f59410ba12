"""Estimate: what a run over sessions would ask of a model, before anything is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from acemem.memory.learn.model.agents import answer_key, overhead
from acemem.memory.learn.model.chunks import Chunk, Chunking
from acemem.memory.learn.model.kept_answers import KeptAnswers
from acemem.memory.learn.model.spending import ANSWER_TOKENS, dollars


@dataclass(slots=True)
class Estimate:
    """What one model would be asked. `kept` counts windows that were answered before and cost nothing.

    `dollars` is by the list price, None where none is known. Answers that do not fit the types are asked for again, so
    a run may use more; its limits hold all the same.
    """

    model: str
    sessions: int = 0
    requests: int = 0
    kept: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def dollars(self) -> float | None:
        """What it would cost."""
        if not self.requests:
            return 0.0
        return dollars(self.model, self.input_tokens, self.output_tokens)

    def add(self, chunks: Sequence[Chunk], chunking: Chunking, answers: KeptAnswers, focus: str | None) -> None:
        """Takes in the windows of one more session."""
        self.sessions += 1
        extra = overhead(focus)
        for chunk in chunks:
            if answers.get(answer_key(self.model, chunk, focus)) is not None:
                self.kept += 1
                continue
            self.requests += 1
            self.input_tokens += chunking.tokens(len(chunk.text) + extra)
            self.output_tokens += ANSWER_TOKENS

    def to_json(self) -> dict[str, Any]:
        """As the command line prints it."""
        cost = self.dollars
        return {
            "model": self.model,
            "sessions": self.sessions,
            "requests": self.requests,
            "kept": self.kept,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "dollars": None if cost is None else round(cost, 6),
        }

    def __str__(self) -> str:
        cost = self.dollars
        price = "no known price" if cost is None else f"about ${cost:.2f}"
        again = f", {self.kept} answered before" if self.kept else ""
        return (
            f"{self.model}: {price} for {self.requests} requests{again}, {self.input_tokens:,} tokens in and about "
            f"{self.output_tokens:,} out, from {self.sessions} sessions"
        )
