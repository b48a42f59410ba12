"""Verdicts: what becomes of changes on trial: kept, taken back, proposed to be taken back, or left on trial."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from acemem.memory.context import block
from acemem.memory.context.proposals import Proposal, propose, restore_file
from acemem.memory.errors import AcememError, BadInput
from acemem.memory.home import Home
from acemem.memory.learn.evolution.lessons import of_file
from acemem.memory.learn.evolution.reverting import Written, proposed_revert, restored
from acemem.memory.learn.evolution.trial import Trial, trials
from acemem.memory.models import Draft
from acemem.memory.scope import Project

Action = Literal["kept", "reverted", "revert proposed", "on trial"]


@dataclass(frozen=True, slots=True)
class Judged:
    """A trial, what is done about it, and why; `revert` is the proposal to take the change back."""

    trial: Trial
    action: Action
    reason: str
    revert: Proposal | None = None

    def to_json(self) -> dict[str, Any]:
        """As `mem evolve --judge --json` prints it."""
        told = {"action": self.action, "reason": self.reason, "revert": self.revert.to_json() if self.revert else None}
        return self.trial.to_json() | told


def judge(
    home: Home,
    project: Project | None = None,
    write: bool = True,
    progress: Callable[[str], None] = lambda path: None,
) -> list[Judged]:
    """Ends the trials that sessions have decided; of one project and of the user's own skills, or of the whole store.

    A change after which things go better is kept. One after which they go worse is taken back, to the byte, where
    nobody has touched its section since; else that is proposed. The others stay on trial. Every end is a decision in
    the ledger, which `mem review ID --undo` takes back. `write=False` only says what would be done.
    """
    return [_judge(home, trial, write) for trial in trials(home, project, progress)]


def _judge(home: Home, trial: Trial, write: bool) -> Judged:
    if trial.verdict == "undecided":
        return Judged(trial, "on trial", trial.story)
    if trial.verdict == "better":
        return _end(home, Judged(trial, "kept", trial.story), {}, write)
    try:
        with home.store.writing():  # so that no review changes the file meanwhile
            return _revert(home, trial, write)
    except AcememError as error:
        return Judged(trial, "on trial", f"it should go, and cannot be taken out: {error}; {trial.story}")


def _revert(home: Home, trial: Trial, write: bool) -> Judged:
    written = Written.of(home, trial.proposal, trial.acceptance)
    now = block.read(written.path)
    try:
        text = now.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{written.path} is not UTF-8 text (byte {error.start})") from error
    if written.is_gone(text):
        return _end(home, Judged(trial, "reverted", f"somebody took it out already; {trial.story}"), {}, write)
    back = restored(written, text)
    if back is not None:
        done = Judged(trial, "reverted", trial.story)
        if not write:
            return done
        data = _deed(written.path, text, back)
        if _digest(text) == trial.acceptance.data["after"]:
            restore_file(trial.acceptance.data)
        else:
            block.replace_file(written.path, now, back.encode("utf-8"))
        return _end(home, done, data, write)
    revert = proposed_revert(written, text, trial.story)
    if revert is None:
        return Judged(trial, "on trial", f"it should go, and its section was changed too much since; {trial.story}")
    if _is_refused(home, revert):
        return _end(home, Judged(trial, "kept", f"a person wants it to stay; {trial.story}"), {}, write)
    if write:
        revert = propose(home, [revert])[0]
    return Judged(trial, "revert proposed", f"its section was changed since; {trial.story}", revert)


def _is_refused(home: Home, revert: Proposal) -> bool:
    same = [p for p in of_file(home, revert.path) if p.change == revert.change]
    return any(proposal.standing == "rejected" for proposal in same)


def _deed(path: Path, now: str, back: str) -> dict[str, Any]:
    """What a decision holds so that it can be taken back, as an acceptance does."""
    return {
        "file": str(path),
        "existed": True,
        "start": 0,
        "removed": now,
        "added": len(back),
        "was": _digest(now),
        "after": _digest(back),
    }


def _end(home: Home, judged: Judged, data: dict[str, Any], write: bool) -> Judged:
    if write:
        standing = {"proposal": judged.trial.proposal.id, "standing": "reverted"}
        if judged.action == "kept":  # it stays accepted, and is on trial no more
            standing["standing"] = "accepted"
        told = {"note": judged.reason, "trial": judged.trial.to_json()}
        home.ledger.append([Draft("decision", data=standing | data | told)], home.clock())
    return judged


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
