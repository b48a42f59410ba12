"""How a note tells of a session: when things were, in whose words, and how much they are worth."""

from __future__ import annotations

import re
from dataclasses import dataclass

from acemem.memory.learn.offline import command as shell
from acemem.memory.learn.offline.conversation import Conversation, Step
from acemem.memory.learn.offline.outcomes import error_line, looks_failed
from acemem.memory.learn.offline.wording import clipped, near_paths, own_words, plain
from acemem.memory.models import iso
from acemem.memory.safe_text import safe
from acemem.memory.session_notes.note import Statement
from acemem.memory.sessions.bounds import shorten
from acemem.memory.sessions.event import SessionEvent

NAME = 240  # characters of a command or a path
ONE_LINE = 300  # characters up to which a quotation is put on one line
_ABOUT = ("description", "query", "pattern", "url", "prompt", "skill")  # arguments that say what a call is about
_SHORT = 120
_PASTED = 300  # characters from which on what was pasted is only told of
_NAMED = re.compile(r"(?:Error|Exception)\b|\berror\b.*:|\bfail(?:ed|ure)?\b|\bfatal\b", re.IGNORECASE)
_LEAST = 80  # characters of a quotation, however little room there is


def quotable(text: str) -> str:
    """A text from a log without what cannot be seen, secrets, and marks of our own, the user's quotation marks too."""
    return safe(text).replace("“", '"').replace("”", '"')


def moment(at: float | None) -> str:
    """A point in time in UTC, to the minute; empty for none."""
    return (iso(at) or "")[:16].replace("T", " ")


def counted(count: int, name: str) -> str:
    """So many of something."""
    return f"{count} {name}" if count == 1 else f"{count} {name}s"


@dataclass(frozen=True, slots=True)
class Telling:
    """One conversation, told within so many characters a statement."""

    talk: Conversation
    longest: int = 3_000

    def when(self, event: SessionEvent) -> str:
        """When something was, in UTC; by its record where the log has no times."""
        return moment(event.ts) or f"record {event.rec}"

    def at(self, event: SessionEvent | None, text: str, tier: float) -> Statement:
        """A statement about an event. Tiers of worth are whole numbers; within one the newest is worth most."""
        if event is None:
            return Statement(text, tier)
        return Statement(f"{self.when(event)}: {text}", self.worth(event, tier))

    def worth(self, event: SessionEvent, tier: float) -> float:
        """The worth of what an event shows."""
        last = self.talk.events[-1].rec if self.talk.events else 0
        return round(tier + 0.9 * min(max(event.rec / max(last, 1), 0.0), 1.0), 4)

    def user(self, text: str, limit: int) -> str:
        """The user's own words."""
        return f"“{self._quoted(text, limit)}”"

    def asked(self, event: SessionEvent, limit: int) -> str:
        """A turn of the user: their own words, and of what they pasted only how much it is and which error it shows."""
        words = own_words(event.text)
        pasted = len(event.text) - len(words)
        if not words or pasted < max(_PASTED, len(words) // 2):
            return self.user(event.text, limit)
        error = error_line(event.text) if looks_failed(event.text) else ""
        told = f" that tells of {self.other(error, 200)}" if _NAMED.search(error) else ""
        return f"{self.user(words, limit)} (with {pasted:,} characters of pasted text{told})"

    def other(self, text: str, limit: int) -> str:
        """Words of the agent or of a tool."""
        text = plain(text) if limit <= ONE_LINE else text
        return f"'{self._quoted(text, limit)}'"

    @property
    def whom(self) -> str:
        """Who gives the agent its work."""
        return "the user" if self.talk.session.interactive else "the program that runs the session"

    def near(self, text: str) -> str:
        """A path or a command as seen from the session's folder, in Markdown code."""
        return f"`{clipped(quotable(near_paths(text, self.talk.session.cwd)), NAME).replace('`', chr(39))}`"

    def command(self, step: Step) -> str:
        """What a step ran, or which tool it called with what."""
        if step.command:
            return self.near(shell.shown(step.command) or step.command)
        about = step.path or next((v for key in _ABOUT if isinstance(v := step.args.get(key), str) and v), "")
        name = self.near(step.event.tool or "a tool")
        return f"{name} on {self.near(clipped(quotable(about), _SHORT))}" if about else name

    def goal(self, command: str) -> str:
        """What a command is for; of one that carries its own program, only what runs it."""
        goal = shell.goal(command)
        return self.near(f"{shell.program(command)} …" if shell.is_inline(goal) else clipped(quotable(goal), _SHORT))

    def _quoted(self, text: str, limit: int) -> str:
        if limit <= ONE_LINE:
            return clipped(quotable(text), limit)
        text = "\n".join(line.rstrip() for line in quotable(text).strip().split("\n") if line.strip())
        return shorten(text, max(min(limit, self.longest), _LEAST))
