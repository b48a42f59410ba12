"""What was done to the files and with commands: the sections on files, workflow and results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from acemem.memory.learn.offline import command as shell
from acemem.memory.learn.offline.change import changes
from acemem.memory.learn.offline.confirmation import approves
from acemem.memory.learn.offline.conversation import Step
from acemem.memory.learn.offline.outcomes import clean, error_line, is_check
from acemem.memory.learn.offline.wording import near_paths
from acemem.memory.session_notes.note import Statement
from acemem.memory.session_notes.telling import Telling

_REMOVES = re.compile(r"(?:sudo )?(?:git )?(rm|mv)\s++(.+)")
_DELETED = re.compile(r"^\*\*\* Delete File: (.+)$", re.MULTILINE)
_COMMITTED = re.compile(r"^\[([^\s\]]+)(?: \(root-commit\))? ([0-9a-f]{7,40})\] (.+)$", re.MULTILINE)
_COMMITS = re.compile(r"git (?:-\S+ \S+ )*commit\b")
_READS = re.compile(r"read|view|open|cat\b", re.IGNORECASE)
_MOST_READ = 20
_OUTPUT = 160  # characters of the line in which a check says how it came out


@dataclass(slots=True)
class _File:
    """One file of the session, as far as the log shows."""

    edits: list[Step] = field(default_factory=list)
    gone: Step | None = None  # deleted or moved after the last edit
    moved_to: str = ""


def files(telling: Telling) -> Iterator[Statement]:
    """The files that were changed, with what became of them, and those that were only read."""
    known: dict[str, _File] = {}
    read: Counter[str] = Counter()
    last_read: dict[str, int] = {}
    for step in telling.talk.finished:
        if not step.succeeded:
            continue
        if step.edits:
            for path in _changed(telling, [step]):
                file = known.setdefault(path, _File())
                file.edits.append(step)
                file.gone = None
        elif step.path and not step.command and _READS.search(step.event.tool or ""):
            path = near_paths(step.path, telling.talk.session.cwd)
            read[path] += 1
            last_read[path] = step.ended
        for path, target in _gone(telling, step):
            for name, file in known.items():
                if name == path or name.startswith(f"{path.rstrip('/')}/"):
                    file.gone, file.moved_to = step, target
    for path, file in known.items():
        yield _told(telling, path, file)
    only_read = sorted((path for path in read if path not in known), key=lambda path: -last_read[path])
    if only_read:
        names = ", ".join(telling.near(path) for path in only_read[:_MOST_READ])
        more = f" and {len(only_read) - _MOST_READ} more" if len(only_read) > _MOST_READ else ""
        yield Statement(f"read and not changed, the latest first: {names}{more}", 3.5)


def _told(telling: Telling, path: str, file: _File) -> Statement:
    last = file.edits[-1].event
    times = f"changed {len(file.edits)} times, the last time" if len(file.edits) > 1 else "changed"
    text = f"{telling.near(path)}: {times} {telling.when(last)}"
    if file.gone is None:
        return Statement(text, telling.worth(last, 6))
    fate = f"moved to {telling.near(file.moved_to)}" if file.moved_to else "deleted"
    return Statement(f"{text}; {fate} {telling.when(file.gone.event)}", telling.worth(file.gone.event, 4))


def names_of_changed(telling: Telling, edits: Sequence[Step]) -> list[str]:
    """The files that these edits changed, each once, in the order of their last change."""
    return [telling.near(path) for path in _changed(telling, edits)]


def _changed(telling: Telling, edits: Sequence[Step]) -> list[str]:
    found: dict[str, None] = {}
    for step in edits:
        for change in changes(step):
            if change.path:
                path = near_paths(change.path, telling.talk.session.cwd)
                found.pop(path, None)
                found[path] = None
    return list(found)


def _gone(telling: Telling, step: Step) -> Iterator[tuple[str, str]]:
    """The paths that a step took away, each with where it went, if it was moved."""
    cwd = telling.talk.session.cwd
    if not step.command:
        patch = step.args.get("input") or step.args.get("patch")
        for path in _DELETED.findall(patch) if isinstance(patch, str) else ():
            yield near_paths(path.strip(), cwd), ""
        return
    for part in shell.parts(step.command):
        match = _REMOVES.fullmatch(part)
        named = [word.strip("'\"") for word in match[2].split() if not word.startswith("-")] if match else []
        named = [near_paths(name, cwd) for name in named]
        if match and match[1] == "rm":
            yield from ((name, "") for name in named)
        elif len(named) > 1:
            yield from ((name, named[-1]) for name in named[:-1])


def workflow(telling: Telling) -> Iterator[Statement]:
    """The checks that were run, and other commands that came back, with how often and how they ended."""
    for name, steps in _runs(telling).items():
        check = is_check(name)
        if not check and (len(steps) < 2 or shell.only_looks(name)):
            continue
        failed = sum(step.failed for step in steps)
        ended = "failed" if steps[-1].failed else "succeeded"
        often = f"run {len(steps)} times, {failed} failed, the last" if len(steps) > 1 else "run once and"
        yield Statement(
            f"{telling.goal(name)}: {often} {ended} {telling.when(steps[-1].event)}",
            telling.worth(steps[-1].event, 5 if check else 2),
        )


def _runs(telling: Telling) -> dict[str, list[Step]]:
    """The commands that were run, as they were called last, each with its runs.

    Of a chain that succeeded all parts did; which part of another one failed is not known, so its goal stands for it.
    """
    runs: dict[tuple[str, ...], tuple[str, list[Step]]] = {}
    for step in telling.talk.finished:
        if not step.command or step.edits or shell.is_inline(goal := shell.goal(step.command)):
            continue
        for part in (goal,) if step.failed else dict.fromkeys((*shell.parts(step.command), goal)):
            if core := shell.core(part):
                runs[core] = part, [*runs.get(core, ("", []))[1], step]
    return dict(runs.values())


def commits(telling: Telling) -> list[tuple[Step, str, str, str]]:
    """The commits that the log shows: the step, branch, hash and message."""
    made = []
    for step in telling.talk.finished:
        if step.succeeded and any(_COMMITS.match(shell.bare(part)) for part in shell.parts(step.command)):
            # Wrappers of git print less.
            made += [(step, *found) for found in _COMMITTED.findall(step.text) or [("", "", "")]]
    return made


def results(telling: Telling) -> Iterator[Statement]:
    """What came out: commits, the latest outcome of each check, pull requests, what the user called right."""
    talk = telling.talk
    made = commits(telling)
    for step, branch, hash, message in made:
        text = f"commit {telling.near(hash)} on {telling.near(branch)}: {telling.other(message, 200)}"
        text = text if hash else f"{telling.goal(step.command)} succeeded"
        yield telling.at(step.event, text, 6 if step is made[-1][0] else 4)
    for name, steps in _runs(telling).items():
        if not is_check(name):
            continue
        step = steps[-1]
        # What a chain prints at its end is of its last part.
        said = _outcome(step) if step.failed or shell.core(name) == shell.core(step.command) else ""
        came = "failed" if step.failed else "succeeded"
        words = f": {telling.other(said, _OUTPUT)}" if said else ""
        yield telling.at(step.event, f"{telling.goal(name)} {came}{words}", 6)
    for event in talk.events:
        if event.kind == "meta" and event.args.get("type") == "pr-link" and event.text:
            yield telling.at(event, f"pull request {telling.near(event.text)}", 6)
    for turn in talk.turns:
        if not turn.first and turn.after_work and turn.words and approves(turn.words):
            yield telling.at(turn.event, f"the user approved: {telling.user(turn.words, 200)}", 5)


def _outcome(step: Step) -> str:
    """The line in which a check says how it came out: why it failed, else its last one."""
    if step.failed:
        return error_line(step.text)
    return next((line.strip() for line in reversed(clean(step.text).split("\n")) if re.search(r"\w", line)), "")
