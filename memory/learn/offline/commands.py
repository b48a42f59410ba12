"""What the traces show of a project's commands: which are run again and again, in which order, and by which hooks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from acemem.memory.insight import AgentLearningInsight, ContextInsight, Insight
from acemem.memory.learn.offline import command as shell
from acemem.memory.learn.offline.change import changes
from acemem.memory.learn.offline.conversation import Conversation, Finding, Step
from acemem.memory.learn.offline.noise import is_shortcut
from acemem.memory.learn.offline.outcomes import clean, error_line, is_check
from acemem.memory.learn.offline.trust import trust_in
from acemem.memory.learn.offline.wording import clipped, code, joined, near_paths

_RUNS = 3  # of a command before it counts as the way to do it here
_ROUNDS = 2  # runs of two commands, one after the other, before their order counts as a habit
_MOST = 2  # commands told of one session: the first that became certain
_AHEAD = 400  # steps within which a command may succeed after all
_LONGEST = 120  # characters of a command that is worth typing again

# What anybody tries first in such a project says nothing about this one.
_CUSTOMARY = re.compile(
    r"^(?:go (?:build|test|vet|run|fmt)|cargo \w+|(?:python3? -m )?pytest|npm (?:test|ci|install|run (?:build"
    r"|test))|yarn(?: test| build)?|pnpm (?:test|build)"
    r"|make(?: test| build)?|tsc|npx tsc|ruff check|mypy|gradle (?:build|test)|\./gradlew (?:build|test)"
    r"|mvn \w+|dotnet (?:build|test)|rake|rspec|bundle exec rspec"
    r"|python3? -m (?:build|unittest)|swift (?:build|test)|mix test|composer test)\b(?:\s++(?:-\S+|\.\S*"
    r"|(?=[\w-]*+[/.])[\w./-]++)(?!\S))*+$"
)
_HOUSEKEEPING = re.compile(
    r"(?:rm|mv|cp|mkdir|rmdir|touch|ln|chmod|chown|kill|pkill|killall|sed|perl|tee|tar|zip|unzip|open|clear|sudo|seq"
    r"|pip3?|(?:npm|pnpm|yarn|bun|brew|apt|apt-get|cargo|go|gem) (?:i|install|add|get|remove|uninstall|update))(?:\s|$)"
)
_PURPOSES = (
    (re.compile(r"type-?check|tsc|mypy|pyright", re.I), "type check"),
    (re.compile(r"lint|biome|ruff|eslint|clippy|vet\b|staticcheck", re.I), "linter"),
    (re.compile(r"fmt|format|prettier|gofmt", re.I), "formatter"),
    (re.compile(r"test|jest|spec|pytest|\bgut\b", re.I), "tests"),
    (re.compile(r"build|compile|\bmake\b", re.I), "build"),
)
_TELLING = 3  # words of a launcher that say where something runs
_SET_UP = re.compile(r"(?!\w+=(?:[01]|true|false|yes|no|always|never)?(?:\s|$))[A-Z]\w*=\S")  # more than a switch
_SCRIPT = re.compile(r"\.(?:py|m?[jt]sx?|sh|rb|pl|php|R|lua)$")
_ECHOED = re.compile(r"^\$ (.+)$", re.MULTILINE)  # bun, yarn, husky
_HOOK = re.compile(
    r"hook: (pre-commit|pre-push|commit-msg)|husky - (pre-commit|pre-push|commit-msg)|\b(pre-commit"
    r"|pre-push) hook\b",
    re.I,
)
_HOOK_STEP = re.compile(r"^(?:[┃|]|[^\S\n])*+([\w:.-]{3,30}) ❯", re.MULTILINE)
_LIMIT = re.compile(
    r"already (?:used by|checked out (?:at|in)) worktree|cannot connect to the docker daemon"
    r"|read-only file ?system|permission denied \(publickey"
    r"|no space left on device|could not resolve host|network is unreachable|operation not permitted"
    r"|requires a tty|not a tty"
    r"|address already in use|gpg failed to sign",
    re.IGNORECASE,
)


def command_learnings(talk: Conversation) -> Iterator[Finding]:
    """The commands by which work is done here, their order, what the hooks run, and what the environment refuses."""
    yield from _ways(talk)
    yield from _surroundings(talk)
    hooks: set[str] = set()
    limits: set[str] = set()
    for step in talk.finished:
        if step.edits or not step.command:
            continue
        if (hook := _hook(step)) and hook[0] not in hooks:
            hooks.add(hook[0])
            yield _hook_context(talk, step, *hook)
        limit = _LIMIT.search(clean(step.text)) if step.failed else None
        if limit and limit[0].lower() not in limits and not _overcome(talk, step):
            limits.add(limit[0].lower())
            yield _environment(talk, step)


def _overcome(talk: Conversation, failed: Step) -> bool:
    """Whether a command succeeded later after all, or only showed what went wrong elsewhere."""
    return shell.only_looks(shell.goal(failed.command)) or any(
        step.succeeded and any(shell.same_end(failed.command, part) for part in shell.parts(step.command))
        for step in talk.steps_between(failed.ended, len(talk.events), _AHEAD)
    )


@dataclass(slots=True)
class _Habit:
    """The steps that ran a command."""

    steps: list[Step] = field(default_factory=list)
    succeeded: int = 0

    def add(self, step: Step) -> None:
        """One more run."""
        self.steps.append(step)
        self.succeeded += step.succeeded

    @property
    def reliable(self) -> bool:
        """Whether it succeeded more often than it failed; what mostly fails is told as a failure."""
        return self.succeeded * 2 > len(self.steps)


def _ways(talk: Conversation) -> Iterator[Finding]:
    habits: dict[str, _Habit] = {}
    orders: Counter[tuple[str, str]] = Counter()
    told: set[str] = set()
    own: set[str] = set()
    previous: tuple[str, Step] | None = None
    for step in talk.finished:
        if step.edits:
            own.update(change.path.rsplit("/", 1)[-1] for change in changes(step) if not change.old)
            previous = None
            continue
        for name in _worked_with(step, own):
            habit = habits.setdefault(name, _Habit())
            habit.add(step)
            if previous is not None and previous[0] != name and step.succeeded and previous[1].succeeded:
                pair = (previous[0], name)
                orders[pair] += 1
                if orders[pair] >= _ROUNDS and not told & set(pair) and not all(map(_CUSTOMARY.match, pair)):
                    told.update(pair)
                    yield _order(talk, pair, [*habits[pair[0]].steps, *habits[name].steps])
            previous = (name, step)
            enough = len(habit.steps) >= _RUNS and habit.reliable
            if enough and name not in told and len(told) < _MOST and not _CUSTOMARY.match(name):
                told.add(name)
                yield _way(talk, name, habit.steps)


def _surroundings(talk: Conversation) -> Iterator[Finding]:
    """What commands are called through here, and what a check needed around it to run at all."""
    through: dict[str, dict[str, list[Step]]] = {}
    checked = False
    for step in talk.finished:
        if not step.command or step.edits or not step.succeeded or is_shortcut(step.command):
            continue
        for part in shell.deeds(step.command):
            launcher = part.removesuffix(shell.bare(part)).strip()
            if not launcher:
                continue
            calls = through.setdefault(launcher, {})
            calls.setdefault(shell.program(shell.bare(part)), []).append(step)
            steps = [ran for runs in calls.values() for ran in runs]
            if (
                len(launcher.split()) >= _TELLING
                and len(calls) == _ROUNDS
                and len(calls[shell.program(shell.bare(part))]) == 1
            ):
                shown = code(near_paths(launcher, talk.session.cwd))
                names = " and ".join(map(code, calls))
                text = joined(f"Run commands of this project such as {names} through {shown}")
                detail = AgentLearningInsight(text, "environment", clipped(part, 200), 0.55)
                yield _inferred(talk, detail, text, steps, 0.55, part)
            elif (
                not checked
                and is_check(part)
                and _SET_UP.match(launcher)
                and len(shell.shown(step.command)) < 2 * _LONGEST
            ):
                checked = True
                shown = code(near_paths(shell.shown(step.command), talk.session.cwd))
                text = joined(f"Run the {_purpose(part) or 'check'} with {shown}")
                detail = AgentLearningInsight(text, "build_command", clipped(part, 200), 0.5)
                yield _inferred(talk, detail, text, [step], 0.5, step.command)


def _worked_with(step: Step, own: set[str]) -> Iterator[str]:
    """The commands of a step by which the work is done or checked, as they were called."""
    if not step.command or is_shortcut(step.command) or shell.is_inline(step.command):
        return
    for part in shell.deeds(step.command):
        words = shell.core(part)
        if len(part) <= _LONGEST and "\n" not in part and not _HOUSEKEEPING.match(shell.bare(part)):
            if not own & {word.rsplit("/", 1)[-1] for word in words if word == words[0] or _SCRIPT.search(word)}:
                yield part


def _purpose(name: str) -> str:
    return next((purpose for pattern, purpose in _PURPOSES if pattern.search(name)), "")


def _way(talk: Conversation, name: str, runs: list[Step]) -> Finding:
    purpose, shown = _purpose(name), code(near_paths(name, talk.session.cwd))
    text = joined(f"Run the {purpose} with {shown}" if purpose else f"Use {shown} in this project")
    detail = AgentLearningInsight(text, "build_command", clipped(f"ran {shown} repeatedly", 200), 0.55)
    return _inferred(talk, detail, text, runs, 0.55, name)


def _order(talk: Conversation, pair: tuple[str, str], seen: list[Step]) -> Finding:
    first, second = (
        code(near_paths(name, talk.session.cwd)) + (f" ({purpose})" if (purpose := _purpose(name)) else "")
        for name in pair
    )
    text = joined(f"After a change run {first} first, then {second}")
    detail = AgentLearningInsight(text, "tool_chain", clipped(f"{pair[0]} → {pair[1]}", 200), 0.55)
    return _inferred(talk, detail, text, seen, 0.55, *pair)


def _inferred(
    talk: Conversation, detail: AgentLearningInsight, text: str, steps: list[Step], confidence: float, *commands: str
) -> Finding:
    sources = talk.sources([event for step in steps for event in (step.call, step.outcome)])
    trust = trust_in(talk, *commands)
    insight = Insight(detail, text, sources, confidence, "project", "inferred", trust)
    return Finding(insight, max(step.ended for step in steps))


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
        steps = [line.strip() for line in _ECHOED.findall(text)]
    steps = list(dict.fromkeys(line for line in steps if len(line) < 60))
    if not steps:
        return None
    return (name.lower() or ("pre-push" if "push" in ran[-1] else "pre-commit")), steps[:5]


def _hook_context(talk: Conversation, step: Step, name: str, steps: list[str]) -> Finding:
    listed = ", ".join(code(line) for line in steps)
    text = joined(f"The {name} hook runs {listed} at every git {name.removeprefix('pre-').replace('-msg', '')}")
    return _of_tool(talk, ContextInsight(fact=text, confidence=0.6), text, step, 0.6)


def _environment(talk: Conversation, step: Step) -> Finding:
    cwd = talk.session.cwd
    error = error_line(step.text) or next((s for s in clean(step.text).split("\n") if _LIMIT.search(s)), "")
    name = code(clipped(near_paths(shell.shown(step.command), cwd), 100))
    text = joined(f"{name} does not work here: {near_paths(error, cwd)}")
    return _of_tool(talk, AgentLearningInsight(text, "environment", clipped(error, 200), 0.5), text, step, 0.5)


def _of_tool(
    talk: Conversation, detail: AgentLearningInsight | ContextInsight, text: str, step: Step, confidence: float
) -> Finding:
    sources = talk.sources([step.call, step.outcome])
    return Finding(Insight(detail, text, sources, confidence, "project", "inferred", "tool"), step.ended)
