"""The one shape in which every agent's log is seen, and the contract of a reader."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

EventKind = Literal[
    "human",  # words a person typed: prompts, steering in the queue, arguments of slash commands
    "plan",  # a plan that the agent wrote and the person approved by sending it
    "assistant",  # what the agent said
    "call",  # a tool call
    "result",  # what a tool returned; see `correction` for what the person made of an edit before it was applied
    "reject",  # a tool call that the person refused; `text` holds their words, if any
    "interrupt",  # the person stopped the agent
    "answer",  # the person's answers to the agent's multiple-choice question
    "summary",  # a summary of earlier records; never evidence
    "injected",  # text that hooks or the agent's own memory put in; never evidence
    "meta",  # anything else worth keeping: titles, compaction boundaries, state
]

_SAID_OR_DONE = ("human", "plan", "assistant", "call")


@dataclass(frozen=True, slots=True)
class SessionEvent:
    """One normalised record of a session.

    `rec` is where it stands: the 1-based physical line of a JSON-lines log, the 0-based index in a log that
    is one JSON document. `key` names the record wherever it occurs, so that forked and resumed copies of it
    are one piece of evidence. `ts` is UTC seconds since the epoch.
    """

    kind: EventKind
    rec: int
    key: str
    text: str = ""
    ts: float | None = None
    tool: str | None = None
    args: dict[str, Any] = field(default_factory=dict)
    error: bool = False  # a result that reports failure
    call_id: str | None = None  # joins a call with its result or rejection

    @property
    def changed_by_person(self) -> bool:
        """Whether the person changed what the agent proposed before accepting it: as telling as a rejection."""
        return self.kind == "result" and self.args.get("user_modified") is True

    @property
    def correction(self) -> tuple[str, str] | None:
        """The lines of such an edit that only the agent wrote, and those that only the person did; either may be "".

        None for all other events, and where the log does not show both versions. The file is `args["file_path"]`,
        the whole proposal the arguments of the call with the same `call_id`.
        """
        proposed, accepted = self.args.get("proposed"), self.args.get("accepted")
        if self.changed_by_person and isinstance(proposed, str) and isinstance(accepted, str):
            return proposed, accepted
        return None


@dataclass(frozen=True, slots=True)
class Problem:
    """A place in a log that could not be read; everything around it was kept. `line` is 1-based, 0 for the file."""

    path: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.reason}" if self.line else f"{self.path}: {self.reason}"


@dataclass(slots=True)
class Session:
    """One agent conversation on disk, in the order of its log."""

    agent: str
    id: str
    path: str
    events: list[SessionEvent] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    parent_id: str | None = None
    cwd: str | None = None  # where it started, as the log says; may not exist on this machine
    git_branch: str | None = None
    started: float | None = None  # UTC seconds
    interactive: bool = True  # False: another program wrote the "user" turns
    success: bool | None = None  # outcome that the log itself records, where it does
    consumed: int = 0  # bytes of whole records read; less than the size while the last line is unfinished

    @property
    def talk(self) -> str:
        """The key of what was said or done first: forks and resumed copies of a conversation have it in common."""
        # A copy may begin with a title, instructions or a summary of its own.
        return next((event.key for event in self.events if event.kind in _SAID_OR_DONE), self.id)


class Reader(Protocol):
    """What every agent's module offers, under these names, as plain functions."""

    agent: str

    def detect(self, head: bytes, path: Path) -> bool:
        """Whether this is one of the agent's logs, judged by its first 64 KiB; the name may not decide."""
        ...

    def read(self, path: Path) -> Session:
        """Reads the whole log. Never raises for what the log contains: see `Session.problems`."""
        ...

    def discover(self, home: Path, environ: dict[str, str]) -> Iterator[Path]:
        """Every log of this agent in its usual places below `home`, with its environment overrides."""
        ...
