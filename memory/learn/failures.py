"""Commands and edits that failed and later succeeded: what went wrong, why, and what fixed it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from acemem.memory.insight import AgentLearningInsight, FailureInsight, Insight
from acemem.memory.learn import command as shell
from acemem.memory.learn.conversation import Conversation, Finding, Step
from acemem.memory.learn.explanation import Claim, claim, remedy
from acemem.memory.learn.noise import is_meant_to_fail, is_shortcut, is_slip, silences_check
from acemem.memory.learn.outcomes import error_line
from acemem.memory.learn.wording import clipped, code, joined, near_paths
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
_NUMBERED = re.compile(r"\A\s*\d+(?:→|\t)")
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
    misread: dict[str, Step] = {}
    unmatched: dict[str, list[Step]] = {}
    for step in talk.finished:
        if step.edits and not step.command:
            yield from _numbered_edit(talk, step, misread)
        yield from _unmatched_edits(talk, step, unmatched)
        if step.failed:
            if (step.command or _names_fault(step)) and not _carries_nothing(talk, step):
                _remember(open_failures, step)
            continue
        if step.edits:
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
        return "edit " + step.path if not step.command else "edit"
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
    edits = [edit for edit in failure.edits if edit.called < end]
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
        fix = _edit_in_words(edits, cwd) or (_edited_files(edits, cwd) if _SPECIFIC.search(failure.error) else "")
    accepted = step.command.split("\n")[0] if step.edits else ""
    if accepted and accepted != failure.first.command.split("\n")[0]:
        fix = fix or f"{code(accepted)} was accepted"
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
            resolution=clipped(fix or _edit_in_words(edits, cwd)),
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


def _edit_in_words(edits: list[Step], cwd: str | None) -> str:
    for edit in reversed(edits):
        old, new = edit.change
        old, new = old.strip(), new.strip()
        if old and new and "\n" not in old and "\n" not in new and len(old) + len(new) < 160:
            return f"Write {code(new)} instead of {code(old)} in {code(near_paths(edit.path, cwd))}"
    return ""


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
    """Edits of one file refused again and again because the old text did not match, until the agent saw why."""
    if step.edits and step.path and step.failed:
        if _NOT_MATCHED.search(step.text[:300]):
            unmatched.setdefault(step.path, []).append(step)
        return
    if not step.succeeded or not unmatched:
        return
    for path, slips in list(unmatched.items()):
        if step.path != path and path.rsplit("/", 1)[-1] not in step.command:
            continue
        if not step.edits and not re.search(r"\b(?:write|sed -i|perl -p|replace)\b", step.command):
            continue
        del unmatched[path]
        if len(slips) < 2:
            continue
        told = [talk.events[p] for p in talk.said_between(slips[0].ended, step.called)]
        why = next((found for event in reversed(told) if (found := claim(event.text))), None)
        if why is None:
            continue
        tool = slips[0].event.tool or "edit"
        text = joined(
            f"{tool} did not find the text to replace in {code(near_paths(path, talk.session.cwd))}", why.text
        )
        detail = FailureInsight(
            description=f"{tool} did not find the text to replace, more than once",
            root_cause=clipped(why.text),
            resolution=clipped(step.command or "edited with the text as it stands in the file", 200),
            tool_calls=[f"{tool} {path}", clipped(step.command or f"{step.event.tool} {path}", 200)],
        )
        events = (
            [slip.outcome for slip in slips]
            + [event for event in told if claim(event.text) == why]
            + [step.call, step.outcome]
        )
        yield _finding(talk, detail, text, events, step.ended)


def _edited_files(edits: list[Step], cwd: str | None) -> str:
    files = list(dict.fromkeys(code(near_paths(edit.path, cwd)) for edit in edits if edit.path))
    return f"Fixed in {', '.join(files[-2:])}" if files else ""


def _numbered_edit(talk: Conversation, step: Step, misread: dict[str, Step]) -> Iterator[Finding]:
    """An edit refused because its old text had the line numbers that the reading tool prints, then accepted without."""
    old, _ = step.change
    if step.failed and _NUMBERED.match(old):
        misread[step.path] = step
    elif not step.failed and old and not _NUMBERED.match(old) and (slip := misread.pop(step.path, None)):
        tool = slip.event.tool or "edit"
        yield _finding(
            talk,
            FailureInsight(
                description=f"{tool} does not find the text to replace",
                root_cause="the old text still had the line numbers that the reading tool puts before each line",
                resolution="leave the line-number prefix out of the old text",
                tool_calls=[f"{tool} {slip.path}", f"{tool} {step.path}"],
            ),
            f"{tool} fails when the old text contains the line-number prefix that reading a file prints; "
            "strip the prefix first.",
            [slip.call, slip.outcome, step.call, step.outcome],
            step.ended,
            general=True,
        )


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
