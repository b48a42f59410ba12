"""Whose words a command is: the agent's own, or those of a tool's output that it followed."""

from __future__ import annotations

import re
from functools import lru_cache

from acemem.memory.insight import Trust
from acemem.memory.learn.offline import command as shell
from acemem.memory.learn.offline.conversation import Conversation

_LEAST = 8  # characters; shorter commands stand in any text
_ENOUGH = 3  # words in front of the options that name a command without them
_RECALLED = 2_000  # events before its first use in which a command is looked for


def trust_in(talk: Conversation, *commands: str) -> Trust:
    """The trust of what names commands that the agent ran.

    It is "tool" if a tool's result held one of them before the agent used it first, and no person said it.
    """
    parts = dict.fromkeys(part for command in commands for part in shell.parts(command))
    return "tool" if any(_followed(talk, part) for part in parts) else "agent"


def _followed(talk: Conversation, part: str) -> bool:
    spelled = _spelled(part)
    if spelled is None:
        return False
    words, pattern = spelled

    def holds(text: str) -> bool:
        return all(word in text for word in words) and pattern.search(text) is not None

    if any(holds(talk.events[place].text) for place in talk.human):
        return False
    used = next((step.called for step in talk.steps if holds(step.command)), len(talk.events))
    before = talk.events[max(0, used - _RECALLED) : used]
    return any(event.kind == "result" and holds(event.text) for event in before)


@lru_cache(maxsize=256)
def _spelled(part: str) -> tuple[list[str], re.Pattern[str]] | None:
    """The words of a command, and how it may be spelled: any white space, options left out where enough remains."""
    tokens = shell.bare(part).split()
    plain = tokens[: next((place for place, token in enumerate(tokens) if token.startswith("-")), len(tokens))]
    if len(plain) >= _ENOUGH:
        tokens = plain
    if len(tokens) < 2 or len(" ".join(tokens)) < _LEAST:
        return None
    return tokens, re.compile(r"(?<![\w-])" + r"\s+".join(map(re.escape, tokens)) + r"(?![\w-])")
