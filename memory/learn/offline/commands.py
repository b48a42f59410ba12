"""What the traces show of a project's commands: the checks, their order, what hooks run and what does not work here."""

from __future__ import annotations

import re
from collections.abc import Iterator

from acemem.memory.insight import (
    AgentLearningInsight,
    ContextInsight,
    Insight,
    Strength,
    Trust,
)
from acemem.memory.learn.offline import command as shell
from acemem.memory.learn.offline.conversation import Conversation, Finding, Step
from acemem.memory.learn.offline.noise import is_shortcut
from acemem.memory.learn.offline.outcomes import clean, error_line, is_check
from acemem.memory.learn.offline.wording import clipped, code, joined, near_paths

_RUNS = 3  # of a check before it counts as the way to do it here
_ROUNDS = 2  # of the same two checks in the same order before it counts as a habit
_MOST = 2  # checks told of one session: the first that became certain

# What anybody tries first in such a project says nothing about this one.
_CUSTOMARY = re.compile(
    r"^(?:go (?:build|test|vet|run|fmt)|cargo \w+|(?:python3? -m )?pytest|npm (?:test|ci|install|run (?:build"
    r"|test))|yarn(?: test| build)?|pnpm (?:test|build)"
    r"|make(?: test| build)?|tsc|npx tsc|ruff check|mypy|gradle (?:build|test)|\./gradlew (?:build|test)"
    r"|mvn \w+|dotnet (?:build|test)|rake|rspec|bundle exec rspec"
    r"|python3? -m (?:build|unittest)|swift (?:build|test)|mix test|composer test)\b(?:\s+(?:-\S+|\.\S*"
    r"|[\w./-]*[/.][\w./-]*))*$"
)
_ECHOED = (
    re.compile(r"^\[[\w:-]+\] \$ (.+)$", re.MULTILINE),  # mise, just
    re.compile(r"^> [^\n]*\n> ([^\n]+)$", re.MULTILINE),  # npm, pnpm
    re.compile(r"^\$ (.+)$", re.MULTILINE),  # bun, yarn, husky
)
_PURPOSES = (
    (re.compile(r"type-?check|tsc|mypy|pyright", re.I), "type check"),
    (re.compile(r"lint|biome|ruff|eslint|clippy|vet\b|staticcheck", re.I), "linter"),
    (re.compile(r"fmt|format|prettier|gofmt", re.I), "formatter"),
    (re.compile(r"test|jest|spec|pytest", re.I), "tests"),
    (re.compile(r"build|compile", re.I), "build"),
)
_HOOK = re.compile(
    r"hook: (pre-commit|pre-push|commit-msg)|husky - (pre-commit|pre-push|commit-msg)|\b(pre-commit"
    r"|pre-push) hook\b",
    re.I,
)
_HOOK_STEP = re.compile(r"^[┃|\s]*([\w:.-]{3,30}) ❯", re.MULTILINE)
_LIMIT = re.compile(
    r"already (?:used by|checked out (?:at|in)) worktree|cannot connect to the docker daemon"
    r"|read-only file ?system|permission denied \(publickey"
    r"|no space left on device|could not resolve host|network is unreachable|operation not permitted"
    r"|requires a tty|not a tty"
    r"|address already in use|gpg failed to sign",
    re.IGNORECASE,
)


def command_learnings(talk: Conversation) -> Iterator[Finding]:
    """Checks that are run again and again, their order, what the hooks run, and what the environment refuses."""
    runs: dict[str, list[Step]] = {}
    rounds: dict[tuple[str, str], list[Step]] = {}
    told: set[str] = set()
    hooks: set[str] = set()
    limits: set[str] = set()
    previous: Step | None = None
    for step in talk.finished:
        if step.edits:
            previous = None
            continue
        if not step.command:
            continue
        if hook := _hook(step):
            name, finding = hook[0], _hook_context(talk, step, *hook)
            if name not in hooks:
                hooks.add(name)
                yield finding
        if step.failed and (found := _LIMIT.search(clean(step.text))) and found[0].lower() not in limits:
            limits.add(found[0].lower())
            yield _environment(talk, step)
        name = shell.shown(step.command)
        if not is_check(step.command) or is_shortcut(step.command) or len(name) > 120 or "\n" in name:
            continue
        runs.setdefault(name, []).append(step)
        if previous is not None and step.succeeded and previous.succeeded:
            pair = (shell.shown(previous.command), name)
            seen = rounds.setdefault(pair, [])
            seen += [previous, step]
            if pair[0] != name and len(seen) == 2 * _ROUNDS and not told & set(pair):
                told.update(pair)
                yield _order(talk, pair, seen)
        previous = step
        known = [name for name in runs if name in told]
        if len(runs[name]) == _RUNS and name not in told and len(known) < _MOST and not _CUSTOMARY.match(name):
            if any(run.succeeded for run in runs[name]):
                told.add(name)
                yield _way(talk, name, runs[name])


def _purpose(name: str) -> str:
    return next((purpose for pattern, purpose in _PURPOSES if pattern.search(shell.goal(name))), "checks")


def _echoed(step: Step, name: str) -> str:
    """The command that a task runner says it runs for this one."""
    text = clean(step.text)
    for pattern in _ECHOED:
        for found in pattern.findall(text[:2_000] + "\n" + text[-800:]):
            if shell.shown(found) != name and 4 < len(found) < 120 and _purpose(found) == _purpose(shell.goal(name)):
                return str(found).strip()
    return ""


def _way(talk: Conversation, name: str, runs: list[Step]) -> Finding:
    inner = next((echoed for run in runs if (echoed := _echoed(run, name))), "")
    text = joined(
        f"Run the {_purpose(name)} with {code(near_paths(name, talk.session.cwd))}"
        + (f", which runs {code(inner)}" if inner else "")
    )
    return _finding(
        talk,
        AgentLearningInsight(
            learning=text,
            category="build_command",
            evidence=clipped(f"ran {code(name)} repeatedly", 200),
            confidence=0.55,
        ),
        text,
        runs,
        0.55,
    )


def _order(talk: Conversation, pair: tuple[str, str], seen: list[Step]) -> Finding:
    cwd = talk.session.cwd
    first, second = (code(near_paths(name, cwd)) for name in pair)
    text = joined(f"After a change run {first} ({_purpose(pair[0])}) first, then {second} ({_purpose(pair[1])})")
    return _finding(
        talk,
        AgentLearningInsight(learning=text, category="tool_chain", evidence=f"{pair[0]} → {pair[1]}", confidence=0.55),
        text,
        seen,
        0.55,
    )


def _hook(step: Step) -> tuple[str, list[str]] | None:
    """The hook that a commit or push ran and the steps it printed."""
    ran = [part for part in shell.parts(step.command) if re.match(r"(?:rtk )?git (?:commit|push)\b", part)]
    if not ran or is_shortcut(step.command):
        return None
    text = clean(step.text)
    named = _HOOK.search(text)
    name = next((group for group in named.groups() if group), "") if named else ""
    steps = _HOOK_STEP.findall(text)
    if not steps:
        steps = [line.strip() for line in _ECHOED[2].findall(text)]
    steps = list(dict.fromkeys(line for line in steps if len(line) < 60))
    if not steps:
        return None
    return (name.lower() or ("pre-push" if "push" in ran[-1] else "pre-commit")), steps[:5]


def _hook_context(talk: Conversation, step: Step, name: str, steps: list[str]) -> Finding:
    listed = ", ".join(code(line) for line in steps)
    text = joined(f"The {name} hook runs {listed} at every git {name.removeprefix('pre-').replace('-msg', '')}")
    return _finding(talk, ContextInsight(fact=text, confidence=0.6), text, [step], 0.6, trust="tool")


def _environment(talk: Conversation, step: Step) -> Finding:
    cwd = talk.session.cwd
    error = error_line(step.text) or next((s for s in clean(step.text).split("\n") if _LIMIT.search(s)), "")
    name = code(clipped(near_paths(shell.shown(step.command), cwd), 100))
    text = joined(f"{name} does not work here: {near_paths(error, cwd)}")
    return _finding(
        talk,
        AgentLearningInsight(learning=text, category="environment", evidence=clipped(error, 200), confidence=0.5),
        text,
        [step],
        0.5,
        trust="tool",
    )


def _finding(
    talk: Conversation,
    detail: AgentLearningInsight | ContextInsight,
    text: str,
    steps: list[Step],
    confidence: float,
    trust: Trust = "agent",
) -> Finding:
    strength: Strength = "inferred"
    events = [event for step in steps for event in (step.call, step.outcome)]
    return Finding(
        Insight(
            detail=detail,
            text=text,
            sources=talk.sources(events),
            confidence=confidence,
            scope="project",
            strength=strength,
            trust=trust,
        ),
        max(step.ended for step in steps),
    )
