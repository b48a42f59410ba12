"""Spending: what a run may use of a model, what it has used, and what it would use, in requests, tokens and dollars."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from acemem.memory.config import Settings
from acemem.memory.learn.model.answer import skip_plugins

ANSWER_TOKENS = 1_500  # what an answer is taken for before it is there


class LimitReached(Exception):
    """The next request could pass a limit of the run, so it is not sent."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use at most, and how many requests may be under way at once."""

    requests: int = 200
    tokens: int = 5_000_000
    dollars: float = 5.0
    concurrency: int = 4

    @classmethod
    def of(cls, settings: Settings) -> Limits:
        """What a store is set to."""
        return cls(
            settings.extract_max_requests,
            settings.extract_max_tokens,
            settings.extract_max_dollars,
            settings.extract_concurrency,
        )


@dataclass(slots=True)
class Usage:
    """What was used. `dollars` counts what has a known price; `unpriced` is the number of requests without one."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    dollars: float = 0.0
    unpriced: int = 0

    @property
    def tokens(self) -> int:
        """In and out."""
        return self.input_tokens + self.output_tokens

    def add(self, other: Usage, sign: int = 1) -> None:
        """Adds the other, or takes it away."""
        self.requests += sign * other.requests
        self.input_tokens += sign * other.input_tokens
        self.output_tokens += sign * other.output_tokens
        self.dollars += sign * other.dollars
        self.unpriced += sign * other.unpriced

    def to_json(self) -> dict[str, Any]:
        """As the command line prints it; `dollars` is null where no request had a price."""
        return {
            "requests": self.requests,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "dollars": None if self.requests and self.unpriced == self.requests else round(self.dollars, 6),
        }


class Budget:
    """The limits of a run against what it has used and what is under way.

    What is under way counts as its estimate, so that requests sent at the same time cannot pass a limit together.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.used = Usage()
        self._under_way = Usage()
        self._settled = asyncio.Event()

    async def reserve(self, estimate: Usage) -> None:
        """Takes up room for one request, if need be after others that may leave some.

        Raises LimitReached, with the setting to raise, where there is none.
        """
        while (refusal := self._refusal(estimate)) is not None:
            if not self._under_way.requests:
                raise LimitReached(refusal)
            await self._settled.wait()
        self._under_way.add(estimate)

    def settle(self, estimate: Usage, used: Usage) -> None:
        """Puts what a request really used in the place of its estimate."""
        self._under_way.add(estimate, -1)
        self.used.add(used)
        self._settled.set()
        self._settled = asyncio.Event()

    def _refusal(self, estimate: Usage) -> str | None:
        limits, asked = self.limits, Usage()
        for part in (self.used, self._under_way, estimate):
            asked.add(part)
        for setting, need, limit in (
            ("extract.max_requests", asked.requests, limits.requests),
            ("extract.max_tokens", asked.tokens, limits.tokens),
            ("extract.max_dollars", round(asked.dollars, 4), limits.dollars),
        ):
            if need > limit:
                return (
                    f"{setting} = {limit} would be passed ({need} with the next request); what was answered is kept: "
                    f"raise it with `mem config {setting} N` and run the same again"
                )
        return None


def dollars(model: str, input_tokens: int, output_tokens: int) -> float | None:
    """What so many tokens cost by the list price of `PROVIDER:NAME`; None where no price is known."""
    provider, name = provider_and_name(model)
    skip_plugins()
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    tokens = Tokens(input_tokens=input_tokens, output_tokens=output_tokens)
    try:
        return float(calc_price(tokens, name, provider_id=provider).total_price)
    except LookupError:
        return None


def provider_and_name(model: str) -> tuple[str | None, str]:
    """A model's provider as the price table calls it, and its name there."""
    provider, colon, name = model.partition(":")
    if not colon:
        return None, model
    known = {"openai-chat": "openai", "openai-responses": "openai", "claude-cli": "anthropic", "google-gla": "google"}
    return known.get(provider, provider.removeprefix("gateway/")), name
