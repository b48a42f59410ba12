"""Commands and edits that failed and later succeeded: what went wrong, why, and what fixed it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from acemem.memory.insight import AgentLearningInsight, FailureInsight, Insight
from acemem.memory.learn.offline import command as shell
from acemem.memory.learn.offline.command import edit_of
from acemem.memory.learn.offline.conversation import Conversation, Finding, Step
from acemem.memory.learn.offline.explanation import Claim, claim, remedy
from acemem.memory.learn.offline.noise import is_meant_to_fail, is_shortcut, is_slip, silences_check
from acemem.memory.learn.offline.outcomes import error_line
from acemem.memory.learn.offline.wording import alike, clipped, code, joined, near_paths, stems
from acemem.memory.redaction.redaction import redact
from acemem.memory.sessions.event import SessionEvent

_MOST_OPEN = 16  # failures remembered at a time; older ones are no longer what the agent works on
_GIVEN_UP = 6  # commands after which the agent is taken to do without what failed
_REACH = 12  # commands within which another command counts as the way out of a failure

_MISUSED = re.compile(
    r"command not found|not found\b|unrecogni[sz]ed|unknown (?:sub)?(?:command|option|flag|argument)"
    r"|no such (?:option|command|file)|invalid option"
    r"|not a git repository|no module named|missing script|unexpected argument|cannot find (?:module|package)"
    r"|is not recognized|permission denied"
    r"|could not (?:find|resolve|import)|not installed|no (?:virtual|python) ?env|requires? (?:node|python"
    r"|version)|unsupported|does not exist"
    r"|did you mean|is not a (?:valid|known)|missing required|not supported",
    re.IGNORECASE,
)
_UNAVAILABLE = re.compile(
    r"command not found|unexpected argument|unrecogni[sz]ed (?:subcommand|option|argument|flag)"
    r"|unknown (?:option|flag|subcommand|command|argument)"
    r"|no such (?:option|command)|(?:invalid|illegal) option|is not recognized as",
    re.IGNORECASE,
)
_NOT_MATCHED = re.compile(
    r"string to replace (?:was )?not found|did not match|no match(?:es)? found|old_str(?:ing)? not found", re.IGNORECASE
)
_REWRITES = re.compile(r"\b(?:write|sed -i|perl -p|replace)\b")
_NUMBERED = re.compile(r"\A\s*\d+(?:→|\t)")
_NO_FILE = re.compile(r"no such file|does not exist|cannot find the (?:file|path)|not found", re.IGNORECASE)
_PATH = re.compile(r"(?<![\w=:])[~.]?/?(?:[\w.@-]+/)+[\w@-]+\.\w+")
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.]*[A-Z_.]\w+|[A-Z]\w{3,}")
_READ = 20_000  # characters of an edit
_MOST_LINES = 200  # of an edit, to be compared
_SHORT = 160
_FEW = 3  # lines that an edit adds, to be told as a line and not by names
_SPECIFIC = re.compile(r"['\"`‘“][^'\"`]{3,60}['\"`’”]")
_GENERIC = frozenset({"run", "exec", "python", "python3", "node", "npx", "npm", "sh", "bash", "git", "source", "-m"})


@dataclass(slots=True)
class _Open:
    """A failure that nothing has resolved yet."""

    key: str
    error: str
    steps: list[Step]
    until: int = -1  # where the same command began to fail with another error
    edits: list[Step] = field(default_factory=list)
    repairs: list[Step] = field(default_factory=list)
    commands_since: int = 0
    untold: bool = True

    @property
    def first(self) -> Step:
        return self.steps[0]

    @property
    def ended(self) -> int:
        return self.steps[-1].ended


def resolved_failures(talk: Conversation) -> Iterator[Finding]:
    """The failures that a later success resolved, each once, in the order in which they were resolved."""
    open_failures: list[_Open] = []
    unmatched: dict[str, list[Step]] = {}
    lost: dict[str, tuple[str, Step]] = {}
    for step in talk.finished:
        yield from _unmatched_edits(talk, step, unmatched)
        if step.failed:
            _lose(step, lost)
            if (step.command or _names_fault(step)) and not _carries_nothing(talk, step):
                _remember(open_failures, step)
            continue
        yield from _found_elsewhere(talk, step, lost)
        if step.edits or edit_of(step.command):
            for failure in open_failures:
                failure.edits.append(step)
        if step.command or step.edits:
            yield from _close(talk, open_failures, step)
            yield from _no_way_here(talk, open_failures, step)
    yield from _no_way_here(talk, open_failures, None)


def _names_fault(step: Step) -> bool:
    return step.edits and bool(step.text)


def _carries_nothing(talk: Conversation, step: Step) -> bool:
    if is_slip(step.text, shell.goal(step.command)) or is_shortcut(step.command):
        return True
    before = talk.last_said(step.called)
    after = talk.said_before_next_step(step.ended)[:1]
    return (before is not None and is_meant_to_fail(before.text[-600:])) or any(
        is_meant_to_fail(talk.events[position].text[:600]) for position in after
    )


def _key(step: Step) -> str:
    if step.edits:
        return f"edit {step.path}".strip()
    goal = shell.goal(step.command)
    return shell.program(step.command) if goal.startswith(("git ", "gh ")) else goal


def _remember(open_failures: list[_Open], step: Step) -> None:
    key, error = _key(step), error_line(step.text)
    for failure in open_failures:
        failure.commands_since += 1
    for failure in open_failures:
        if failure.key == key and failure.until < 0:
            if failure.error == error or step.edits:
                failure.steps.append(step)
                return
            failure.until = step.called
    open_failures.append(_Open(key, error, [step]))
    if len(open_failures) > _MOST_OPEN:
        del open_failures[0]


def _close(talk: Conversation, open_failures: list[_Open], step: Step) -> Iterator[Finding]:
    keys = {_key(step)} | set(shell.parts(step.command))
    same = [failure for failure in open_failures if failure.key in keys]
    others: list[_Open] = []
    for failure in open_failures:
        if failure in same:
            # The same end reached after other preparation is another way to it, not a repair.
            if not failure.edits and not step.edits and shell.shown(failure.first.command) != shell.shown(step.command):
                others.append(failure)
        elif step.command and not step.edits and _leads_out(failure, step):
            others.append(failure)
    for failure in same:
        open_failures.remove(failure)
    for failure in others:
        if failure in open_failures:
            open_failures.remove(failure)
    for failure in open_failures:
        failure.commands_since += 1
        if step.command and not step.edits:
            failure.repairs.append(step)
    if is_shortcut(step.command):
        return
    if others:
        yield _other_way(talk, others, step)
    for failure in same:
        if failure not in others and not any(silences_check(*edit.change) for edit in failure.edits):
            finding = _repaired(talk, failure, step)
            if finding is not None:
                yield finding


def _leads_out(failure: _Open, step: Step) -> bool:
    if failure.commands_since > _REACH or failure.first.edits or not _MISUSED.search(failure.error):
        return False
    wanted = _telling(failure.first)
    got = _telling(step)
    if not wanted or not got or is_slip("", shell.goal(step.command)):
        return False
    return len(wanted & got) * 2 >= min(len(wanted), len(got)) and len(wanted & got) > 0


def _telling(step: Step) -> frozenset[str]:
    return frozenset(word for word in shell.words(step.command) - _GENERIC if "/" not in word)


def _other_way(talk: Conversation, failures: list[_Open], step: Step) -> Finding:
    cwd = talk.session.cwd
    first = failures[0]
    right = code(near_paths(shell.shown(step.command), cwd))
    wrong = code(near_paths(shell.shown(first.first.command), cwd))
    error = near_paths(first.error, cwd)
    text = joined(f"Use {right}, not {wrong}" + (f", which fails with: {error}" if error else ""))
    bad = [failed for failure in failures for failed in failure.steps]
    events: list[SessionEvent | None] = [e for failed in bad for e in (failed.call, failed.outcome)]
    events += [step.call, step.outcome]
    return _finding(
        talk,
        FailureInsight(
            description=f"{wrong} fails",
            root_cause=clipped(error),
            resolution=f"Run {right}",
            tool_calls=[clipped(failed.command, 200) for failed in bad] + [clipped(step.command, 200)],
        ),
        text,
        events,
        step.ended,
    )


def _repaired(talk: Conversation, failure: _Open, step: Step) -> Finding | None:
    cwd = talk.session.cwd
    end = failure.until if failure.until >= 0 else step.called
    edits = [edit for edit in failure.edits if edit.called < end or edit is step]
    repairs = [run for run in failure.repairs if run.called < end and _is_repair(run)]
    if not edits and not repairs and not step.edits:
        return None  # nothing changed in between: chance, not a repair
    said = talk.said_between(failure.ended, end)
    why: Claim | None = None
    told: SessionEvent | None = None
    fix = ""
    for position in said:
        found = claim(talk.events[position].text)
        if found is not None and (why is None or found.rank >= why.rank):
            why, told = found, talk.events[position]
        fix = remedy(talk.events[position].text) or fix
        told = told or (talk.events[position] if fix else None)
    if not fix and repairs and not edits:
        fix = f"Run {code(near_paths(shell.shown(repairs[-1].command), cwd))}"
    if (why is None or why.rank < 2) and not fix:
        fix = edit_in_words(edits, cwd) or (_edited_files(edits, cwd) if _SPECIFIC.search(failure.error) else "")
    if step.edits and step.command:
        fix = _accepted_in_words(failure.first, step) or fix
    if (why is None or why.rank < 2) and not fix:
        return None
    what = clipped(near_paths(shell.goal(failure.first.command.split("\n")[0]), cwd), 80)
    error = clipped(near_paths(failure.error, cwd), 120)
    head = f"{code(what)} fails with: {error}" if error else f"{code(what)} fails"
    cause = near_paths(why.text, cwd) if why else ""
    text = joined(head, cause, near_paths(fix, cwd))
    events: list[SessionEvent | None] = [failed.outcome for failed in failure.steps]
    events += [failure.first.call, told, *(edit.call for edit in edits[-3:]), *(run.call for run in repairs[-1:])]
    events += [step.call, step.outcome]
    return _finding(
        talk,
        FailureInsight(
            description=clipped(head),
            root_cause=clipped(cause),
            resolution=clipped(fix or edit_in_words(edits, cwd)),
            tool_calls=[
                clipped(s.command or f"{s.event.tool} {s.path}", 200) for s in (failure.first, *edits[-3:], step)
            ],
        ),
        text,
        events,
        step.ended,
    )


def _is_repair(step: Step) -> bool:
    return bool(
        re.search(
            r"\b(?:install|fix|format|fmt|--write|--fix|generate|migrate|init|sync|clean|rm|mv|cp|export"
            r"|login|create|start|upgrade|tidy)\b",
            step.command,
        )
    ) and not is_shortcut(step.command)


def edit_in_words(edits: list[Step], cwd: str | None) -> str:
    """What the edits changed: the line that one of them replaced or added, or the names that it exchanged."""
    for describe in (_line_in_words, _names_in_words):
        for edit in reversed(edits):
            where = f" in {code(near_paths(edit.path, cwd))}" if edit.path else ""
            # Before the edit is taken apart: a name or a line out of a secret no longer looks like one.
            if what := describe(*(redact(text[:_READ])[0] for text in edit.change)):
                return what + where
    return ""


def _line_in_words(old: str, new: str) -> str:
    before, after = (list(filter(None, map(str.strip, text.split("\n")[:_MOST_LINES]))) for text in (old, new))
    gone, come = [line for line in before if line not in after], [line for line in after if line not in before]
    if not old and len(come) == 1 and len(come[0]) <= _SHORT:
        return f"Write {code(come[0])}"
    if not old or not 0 < len(come) <= _FEW or len(gone) > 1:
        return ""
    line = max(come, key=lambda added: alike(stems(added), stems(gone[0]))) if gone else come[0]
    if len(line) + len("".join(gone)) > _SHORT or (not gone and len(come) > 1):
        return ""
    return f"Write {code(line)} instead of {code(gone[0])}" if gone else f"Add {code(line)}"


def _names_in_words(old: str, new: str) -> str:
    before, after = (dict.fromkeys(_IDENTIFIER.findall(text)) for text in (old, new))
    gone = [code(name) for name in before if name not in after][:2]
    come = [code(name) for name in after if name not in before][:2]
    return f"Use {' and '.join(come)} instead of {' and '.join(gone)}" if gone and come else ""


def _accepted_in_words(refused: Step, accepted: Step) -> str:
    """What differs between an edit that was refused and the one that was accepted in its place."""
    wrong, right = refused.change[1], accepted.change[1]
    if wrong.split() == right.split() and wrong != right:
        return "The same text was accepted with the indentation of its place"
    first, then = (step.command.split("\n")[0] for step in (refused, accepted))
    return f"{code(then)} was accepted" if then and then != first else ""


def _no_way_here(talk: Conversation, open_failures: list[_Open], step: Step | None) -> Iterator[Finding]:
    """Commands and options that this machine does not have, once the agent has gone on without them for a while."""
    cwd = talk.session.cwd
    for failure in list(open_failures):
        waited = failure.commands_since >= _GIVEN_UP if step is not None else failure.commands_since > 0
        if failure.untold and waited and _is_installed_name(failure.first) and _UNAVAILABLE.search(failure.error):
            failure.untold = False
            name = code(clipped(near_paths(shell.goal(failure.first.command), cwd), 100))
            text = joined(f"{name} does not work here: {near_paths(failure.error, cwd)}")
            detail = AgentLearningInsight(
                learning=text, category="environment", evidence=clipped(failure.error, 200), confidence=0.5
            )
            sources = talk.sources([e for failed in failure.steps for e in (failed.call, failed.outcome)])
            insight = Insight(detail, text, sources, 0.5, "project", "inferred", "tool")
            yield Finding(insight, step.ended if step is not None else len(talk.events))


def _is_installed_name(step: Step) -> bool:
    """Whether a command is called by name: a path is most likely the program under work, which may well refuse."""
    return not step.edits and "/" not in shell.goal(step.command).split(" ", 1)[0]


def _unmatched_edits(talk: Conversation, step: Step, unmatched: dict[str, list[Step]]) -> Iterator[Finding]:
    """Edits refused because their old text did not match, until one was accepted: what differs between the two.

    Where the old texts show no difference that teaches, the agent must have said why, and have failed twice.
    """
    if step.edits and step.path and step.failed:
        if _NOT_MATCHED.search(step.text[:300]) or _NUMBERED.search(step.change[0]):
            unmatched.setdefault(step.path, []).append(step)
        return
    for path in [path for path in unmatched if _rewrites(step, path)]:
        slips = unmatched.pop(path)
        tool = slips[0].event.tool or "edit"
        why = _difference(slips, step)
        told = [talk.events[p] for p in talk.said_between(slips[0].ended, step.called)]
        speech = None
        if why:
            text = f"{tool} fails when {why}."
        else:
            speech = next((event for event in reversed(told) if claim(event.text)), None)
            found = claim(speech.text) if speech is not None and len(slips) > 1 else None
            if found is None:
                continue
            why = found.text
            text = joined(f"{tool} did not find the text to replace in {code(near_paths(path, talk.session.cwd))}", why)
        detail = FailureInsight(
            description=f"{tool} does not find the text to replace",
            root_cause=clipped(why),
            resolution=clipped(step.command or "give the old text exactly as it stands in the file", 200),
            tool_calls=[f"{tool} {path}", clipped(step.command or f"{step.event.tool} {path}", 200)],
        )
        events = [event for slip in slips for event in (slip.call, slip.outcome)] + [speech, step.call, step.outcome]
        yield _finding(talk, detail, text, events, step.ended, general=speech is None)


def _rewrites(step: Step, path: str) -> bool:
    """Whether a step that succeeded changes the file, through an editing tool or by a command that names it."""
    if not step.succeeded or (not step.edits and path.rsplit("/", 1)[-1] not in step.command):
        return False
    return step.path == path if step.edits else _REWRITES.search(step.command) is not None


def _difference(slips: list[Step], accepted: Step) -> str:
    """What was wrong with the old text of refused edits, seen from the one that was accepted."""
    right = accepted.change[0]
    for wrong in (slip.change[0] for slip in slips):
        if _NUMBERED.search(wrong) and right and not _NUMBERED.search(right):
            return "the old text contains the line-number prefix that reading a file prints; strip the prefix first"
        if wrong != right and wrong.split() == right.split():
            return "the old text has other white space than the file; copy its indentation exactly"
    return ""


def _edited_files(edits: list[Step], cwd: str | None) -> str:
    files = list(dict.fromkeys(code(near_paths(edit.path, cwd)) for edit in edits if edit.path))
    return f"Fixed in {', '.join(files[-2:])}" if files else ""


def _lose(step: Step, lost: dict[str, tuple[str, Step]]) -> None:
    """Remembers a path that does not exist, by the name of its file."""
    if not _NO_FILE.search(step.text[:600]):
        return
    for path in [step.path, *_PATH.findall(step.command)]:
        name = path.rsplit("/", 1)[-1]
        if "/" in path and "." in name and name in (step.text[:600] if step.command else path):
            lost[name] = (path, step)


def _found_elsewhere(talk: Conversation, step: Step, lost: dict[str, tuple[str, Step]]) -> Iterator[Finding]:
    """A file that was not where the agent looked for it, read or run later at another place."""
    for path in [step.path, *_PATH.findall(step.command)] if lost and not step.edits else []:
        missing, slip = lost.get(path.rsplit("/", 1)[-1], ("", None))
        if (
            slip is None
            or path == missing
            or missing.endswith(path.lstrip("./"))
            or path.endswith(missing.lstrip("./"))
        ):
            continue
        del lost[path.rsplit("/", 1)[-1]]
        cwd = talk.session.cwd
        here, there = code(near_paths(path, cwd)), code(near_paths(missing, cwd))
        text = joined(f"The file is {here}; {there} does not exist here")
        detail = AgentLearningInsight(text, "file_location", clipped(error_line(slip.text), 200), 0.6)
        sources = talk.sources([slip.call, slip.outcome, step.call, step.outcome])
        yield Finding(Insight(detail, text, sources, 0.6, "project", "resolved", "tool"), step.ended)


def _finding(
    talk: Conversation,
    detail: FailureInsight,
    text: str,
    events: list[SessionEvent | None],
    known_at: int,
    general: bool = False,
) -> Finding:
    return Finding(
        Insight(
            detail=detail,
            text=text,
            sources=talk.sources(events),
            confidence=0.7,
            scope="general" if general else "project",
            strength="resolved",
            trust="agent",
        ),
        known_at,
    )
