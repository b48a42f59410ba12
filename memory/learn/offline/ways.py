"""Another command that did what one could not do here, and what this machine does not have at all."""

from __future__ import annotations

import re
from collections.abc import Iterator

from acemem.memory.insight import AgentLearningInsight, FailureInsight, Insight
from acemem.memory.learn.offline import command as shell
from acemem.memory.learn.offline.cause import account, aftermath
from acemem.memory.learn.offline.conversation import Conversation, Finding, Step
from acemem.memory.learn.offline.noise import is_slip
from acemem.memory.learn.offline.outcomes import clean, error_line, is_check, judges_code
from acemem.memory.learn.offline.struggle import Run, Struggle
from acemem.memory.learn.offline.trust import trust_in
from acemem.memory.learn.offline.wording import clipped, code, joined, near_paths
from acemem.memory.sessions.event import SessionEvent

_REACH = 12  # commands within which another command counts as the way out of a failure
_GIVEN_UP = 6  # commands after which the agent is taken to do without what failed
_OBJECT = 6  # characters from which the last word of a command is what it is about
_ECHO = 5  # lines at the start of an output in which a task runner prints what it runs
_LOOKED_AT = 40  # steps after a failure in which a task's definition is looked for
_READ = 8_000  # characters of a file
_DEFINED = 300  # characters of a task's definition

_UNAVAILABLE = re.compile(
    r"command not found|unexpected argument|unrecogni[sz]ed (?:subcommand|option|argument|flag)"
    r"|unknown (?:option|flag|subcommand|command|argument)"
    r"|no such (?:option|command)|(?:invalid|illegal) option|is not recognized as",
    re.IGNORECASE,
)
_GENERIC = frozenset({"run", "exec", "compose"})  # words of a command that do not say what it does
_LEAVES_OUT = re.compile(r"\s--?(?:no|skip|ignore|disable|without|allow|force)\b[\w-]*")  # success by doing less
_NO_FILE = re.compile(r"no such file|does not exist|cannot find the (?:file|path)|not found", re.IGNORECASE)
_PATH = re.compile(r"(?<![\w=:])[~.]?/?(?:[\w.@-]{1,100}+/){1,30}[\w@-]{1,100}+\.\w+")


def leads_out(talk: Conversation, struggle: Struggle, step: Step) -> bool:
    """Whether a command that succeeded did what the struggle was about in another way."""
    failed = struggle.first
    if struggle.age > _REACH or judges_code(failed.command, failed.text):
        return False
    goals = [shell.goal(failed.command), shell.goal(step.command)]
    words = shell.core(failed.command)
    # What is not installed under its name may be there behind a launcher: one word is then enough.
    missing = _UNAVAILABLE.search(struggle.error) is not None
    if len(words) < (1 if missing else 2) or any(
        is_slip("", goal) or shell.only_looks(goal) or shell.is_inline(goal) for goal in goals
    ):
        return False
    got = set(shell.core(step.command))
    about = set(words[1:]) - _GENERIC
    common = about & got
    if is_check(failed.command) == is_check(step.command) and (
        (words[0] in got and len(common) * 2 >= len(about) and (common or missing))
        or (words[-1] in common and len(words[-1]) >= _OBJECT)
    ):
        return True
    return _echoes(step, words) or _defines(talk, failed, step, words)


def _echoes(step: Step, words: tuple[str, ...]) -> bool:
    """Whether what it printed first is the command that failed, called in another way."""
    return any(_holds(line, words) for line in clean(step.text).lstrip().split("\n")[:_ECHO])


def _defines(talk: Conversation, failed: Step, step: Step, words: tuple[str, ...]) -> bool:
    """Whether a file read since the failure defines the command as one that runs what failed."""
    task = shell.core(step.command)[-1:]
    if not task or len(task[0]) < 3:
        return False
    defined = re.compile(rf"^\s*[\"']?{re.escape(task[0])}[\"']?\s*[:=]", re.MULTILINE)
    for seen in talk.steps_between(failed.ended, step.called, _LOOKED_AT):
        if task[0] not in seen.text or words[0] not in seen.text:
            continue
        found = defined.search(seen.text[:_READ])
        if found and _holds(seen.text[found.end() : found.end() + _DEFINED], words):
            return True
    return False


def _holds(text: str, words: tuple[str, ...]) -> bool:
    return all(word in text for word in words) and all(
        re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) for word in words
    )


def other_way(talk: Conversation, failed: list[Run], step: Step, success: Step) -> Iterator[Finding]:
    """The command that came further, in place of the runs that failed; `success` is where it came to its end."""
    heard = aftermath(talk, success)
    wrong, right = shell.shown(failed[0].step.command), shell.shown(step.command)
    if heard is None or set(_LEAVES_OUT.findall(right)) - set(_LEAVES_OUT.findall(wrong)):
        return
    cwd = talk.session.cwd
    right, wrong = code(near_paths(right, cwd)), code(near_paths(wrong, cwd))
    error = near_paths(failed[0].error, cwd)
    known_at, said = heard
    told = account(talk, said, " ".join([failed[0].error, shell.goal(step.command)]), strict=True)
    why = near_paths(told.why, cwd) if told.rank > 1 else ""
    text = joined(f"Use {right}, not {wrong}" + (f", which fails with: {error}" if error else ""), why)
    events: list[SessionEvent | None] = [event for run in failed for event in (run.step.call, run.step.outcome)]
    events += [step.call, step.outcome, success.outcome, told.told if why else None]
    detail = FailureInsight(
        description=f"{wrong} fails",
        root_cause=clipped(why or error),
        resolution=f"Run {right}",
        tool_calls=[clipped(run.step.command, 200) for run in failed] + [clipped(step.command, 200)],
    )
    trust = trust_in(talk, step.command)
    yield Finding(Insight(detail, text, talk.sources(events), 0.7, "project", "resolved", trust), known_at)


def unavailable(talk: Conversation, open_: list[Struggle], step: Step | None) -> Iterator[Finding]:
    """Commands and options that this machine does not have, once the agent has gone on without them for a while."""
    cwd = talk.session.cwd
    for struggle in open_:
        waited = struggle.age >= _GIVEN_UP if step is not None else struggle.age > 0
        if struggle.untold and waited and _is_installed_name(struggle.first) and _UNAVAILABLE.search(struggle.error):
            struggle.untold = False
            name = code(clipped(near_paths(shell.goal(struggle.first.command), cwd), 100))
            text = joined(f"{name} does not work here: {near_paths(struggle.error, cwd)}")
            detail = AgentLearningInsight(text, "environment", clipped(struggle.error, 200), 0.5)
            sources = talk.sources([event for run in struggle.runs for event in (run.step.call, run.step.outcome)])
            insight = Insight(detail, text, sources, 0.5, "project", "inferred", "tool")
            yield Finding(insight, step.ended if step is not None else len(talk.events))


def _is_installed_name(step: Step) -> bool:
    """Whether a command is called by name: a path is most likely the program under work, which may well refuse."""
    return "/" not in shell.goal(step.command).split(" ", 1)[0]


def found_elsewhere(talk: Conversation) -> Iterator[Finding]:
    """Files that were not where the agent looked for them, read or run later at another place."""
    lost: dict[str, tuple[str, Step]] = {}
    for step in talk.finished:
        if step.failed:
            _lose(step, lost)
        elif lost and not step.edits:
            yield from _found(talk, step, lost)


def _lose(step: Step, lost: dict[str, tuple[str, Step]]) -> None:
    """Remembers a path that does not exist, by the name of its file."""
    if not _NO_FILE.search(step.text[:600]):
        return
    for path in [step.path, *_PATH.findall(step.command)]:
        name = path.rsplit("/", 1)[-1]
        if "/" in path and "." in name and name in (step.text[:600] if step.command else path):
            lost[name] = (path, step)


def _found(talk: Conversation, step: Step, lost: dict[str, tuple[str, Step]]) -> Iterator[Finding]:
    for path in [step.path, *_PATH.findall(step.command)]:
        name = path.rsplit("/", 1)[-1]
        missing, slip = lost.get(name, ("", None))
        if (
            slip is None
            or path == missing
            or missing.endswith(path.lstrip("./"))
            or path.endswith(missing.lstrip("./"))
        ):
            continue
        del lost[name]
        cwd = talk.session.cwd
        here, there = code(near_paths(path, cwd)), code(near_paths(missing, cwd))
        text = joined(f"The file is {here}; {there} does not exist here")
        detail = AgentLearningInsight(text, "file_location", clipped(error_line(slip.text), 200), 0.6)
        sources = talk.sources([slip.call, slip.outcome, step.call, step.outcome])
        yield Finding(Insight(detail, text, sources, 0.6, "project", "resolved", "tool"), step.ended)
