"""Traces: what an agent did that it can only have had from a bullet, and what it did against a bullet's warning.

A command that everybody runs, that the person named, that stands in an output the agent read, or that it had run
before the bullet was shown says nothing of the bullet. What is left is little, but it is the bullet's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from acemem.memory.attribution.everyday import is_everyday, is_everyday_file, program
from acemem.memory.learn.offline import command as shell
from acemem.memory.learn.offline.conversation import Conversation, Step
from acemem.memory.learn.offline.outcomes import error_line
from acemem.memory.learn.offline.wording import alike, stems
from acemem.memory.models import Bullet
from acemem.scoring.credit import How

_CODE = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(r"(?<![\w/.@-])(?:\.{0,2}/)?[\w.@-]+(?:/[\w.@-]+)+\.[A-Za-z]\w{0,7}\b")
_WARNS_BEFORE = re.compile(
    r"\b(?:never|not|n't|avoid\w*|instead of|rather than|without|stop|no longer|except|unlike|forbid\w*|deprecated"
    r"|old|wrong|broken|fail(?:s|ed|ing)?|replac(?:e|es|ed|ing)|over|beats?|nie|nicht|statt|kein\w*)\b[^.;:!?]{0,50}$",
    re.IGNORECASE,
)
_WARNS_AFTER = re.compile(
    r"^['\"`)]*\s*(?:alone |here |there |often |always |\([^)]*\) )*(?:fail|break|hang|crash|error|(?:does|do|is|are"
    r"|will|can|must|should)(?: not|n't)|cannot|never|no longer|won't"
    r"|is (?:broken|forbidden|deprecated|banned|disabled|slow))",
    re.IGNORECASE,
)
_FORBIDS = re.compile(r"(?:\b(?:not|never|avoid|stop|no longer)|n't)\s+(?:to\s+)?$", re.IGNORECASE)
_BLANK = re.compile(r"<[^>]{0,999}>|\[[^\]]{0,999}\]|\{[^}]{0,999}\}|\.\.\.|…|\bpath/to/\S*")
_ENV = re.compile(r"^\w+=\S*$")
_WORD = re.compile(r"[a-z][a-z0-9:_-]*")

_ALIKE = 0.6  # share of words from which two errors are one
_ERROR_WORDS = 4


@dataclass(frozen=True, slots=True)
class Trace:
    """Something the agent did at `position` among the events of its talk that goes back to a bullet."""

    position: int
    how: How
    what: str


@dataclass(frozen=True, slots=True)
class _Sign:
    """A command or a file that a bullet names, and whether it recommends it or warns against it."""

    sort: Literal["command", "path"]
    tokens: tuple[str, ...]
    warned: bool


def traces(talk: Conversation, bullet: Bullet, shown_at: int) -> list[Trace]:
    """What the agent did after `shown_at` that goes back to the bullet, in the order of the log.

    How it shows: "command" or "path", "avoided" for the remedy of a failure that did not come back, "repeated" for
    a failure that did, or for a command that the bullet warns against and that failed.
    """
    signs = _signs(bullet.text)
    after = [step for step in talk.steps if step.called > shown_at]
    found: list[Trace] = []
    for step in after:
        if (again := _repeats(bullet, signs, step)) is not None:
            found.append(Trace(step.called, "repeated", again))
            break
    again_at = found[0].position if found else None
    for step in after:
        what = _command_of(bullet.text, signs, step) or _path_of(signs, step)
        if not what or _known_before(talk, what[1], step.called, shown_at):
            continue
        how: How = what[0]
        if how == "command" and bullet.kind == "failure" and again_at is None:
            how = "avoided"
        found.append(Trace(step.called, how, what[1]))
        break
    return found


@lru_cache(maxsize=1024)
def _signs(text: str) -> tuple[_Sign, ...]:
    found: list[_Sign] = []
    for match in _CODE.finditer(text):
        tokens = _tokens(_BLANK.sub(" ", match[1]))
        if len(tokens) > 1 and _WORD.match(tokens[0].removeprefix("./").lower()):
            found.append(_Sign("command", tokens, _warned(text, match.start(), match.end())))
    for match in _PATH.finditer(text):
        if not is_everyday_file(match[0]) and "//" not in match[0]:
            found.append(_Sign("path", (match[0].removeprefix("./"),), _warned(text, match.start(), match.end())))
    return tuple(found)


def _warned(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - 120) : start].rstrip("`'\"")
    clause = re.split(r"[.;:!?]\s|,\s+(?:use|run|prefer|but)\b", before)[-1]
    turned = re.split(r"\b(?:use|run|prefer)\b", clause)
    # "Do not run X" warns of X, "not X but run Y" does not warn of Y.
    warns = _WARNS_BEFORE.search(clause) is not None
    if warns and len(turned) > 1 and _WARNS_BEFORE.search(turned[-1]) is None:
        warns = _FORBIDS.search(turned[-2]) is not None
    return warns or _WARNS_AFTER.match(text[end:]) is not None


def _tokens(command: str) -> tuple[str, ...]:
    words = [word.strip("'\"`,") for word in command.split()]
    while words and (_ENV.match(words[0]) or words[0] in ("$", "sudo", ">")):
        words.pop(0)
    return tuple(word for word in words if word)


def _parts(step: Step) -> Iterator[tuple[str, ...]]:
    """The commands that a step runs, as tokens."""
    if not step.command:
        return
    lines = [step.command] if "<<" in step.command else step.command.split("\n")
    for line in lines:
        for part in shell.parts(line):
            if tokens := _tokens(part):
                yield tokens


def _command_of(text: str, signs: tuple[_Sign, ...], step: Step) -> tuple[How, str] | None:
    for part in _parts(step):
        for sign in signs:
            if sign.sort == "command" and not sign.warned and _runs(part, sign.tokens) and not is_everyday(sign.tokens):
                return "command", " ".join(sign.tokens)
        if (told := _told_in_prose(text, part)) is not None:
            return "command", told
    return None


def _runs(part: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    """Whether a command is the wanted one, maybe with more arguments."""
    if program(part[0]) != program(wanted[0]):
        return False
    rest = iter(part[1:])
    return all(any(have == want or have.removeprefix("./") == want for have in rest) for want in wanted[1:])


def _told_in_prose(text: str, part: tuple[str, ...]) -> str | None:
    """The command as the bullet's prose has it, where the rest of the command is flags and files only."""
    if len(part) < 2:
        return None
    for length in range(len(part), 1, -1):
        head = " ".join(part[:length])
        # Bare words that the bullet does not have make it another command: `npm run build` is not `npm run lint`.
        if any(_WORD.fullmatch(token) for token in part[length:]):
            return None
        at = _find(text, head)
        if at is not None:
            end = at + len(head)
            return None if _warned(text, at, end) or is_everyday(part[:length]) else head
    return None


def _find(text: str, words: str) -> int | None:
    found = re.search(rf"(?<![\w/.-]){re.escape(words)}(?![\w/-])", text)
    return found.start() if found else None


def _path_of(signs: tuple[_Sign, ...], step: Step) -> tuple[How, str] | None:
    paths = [sign.tokens[0] for sign in signs if sign.sort == "path" and not sign.warned]
    if not paths or step.call is None:
        return None
    given = json.dumps(step.args, ensure_ascii=False, default=str)
    for path in paths:
        if re.search(rf"(?<![\w-]){re.escape(path)}(?![\w-])", given):
            return "path", path
    return None


def _known_before(talk: Conversation, what: str, called: int, shown_at: int) -> bool:
    """Whether the agent could have it from somewhere else: the person, an output, or its own earlier work."""
    last = what.rsplit("/", 1)[-1] if " " not in what else what
    wanted = re.compile(rf"(?<![\w-]){re.escape(last)}(?![\w-])")
    if any(event.kind in ("injected", "summary") and wanted.search(event.text) for event in talk.session.events):
        return True  # the project's own instructions
    for position, event in enumerate(talk.events[:called]):
        if event.kind in ("human", "plan", "reject", "answer", "result") and wanted.search(event.text):
            return True
        if position > shown_at:
            continue
        if event.kind == "assistant" and wanted.search(event.text):
            return True
        if event.kind == "call" and wanted.search(json.dumps(event.args, ensure_ascii=False, default=str)):
            return True
    return False


def _repeats(bullet: Bullet, signs: tuple[_Sign, ...], step: Step) -> str | None:
    """The failure of this step that the bullet warns of, if it is that."""
    if not step.failed or step.refused:
        return None
    for part in _parts(step):
        for sign in signs:
            if sign.sort == "command" and sign.warned and _runs(part, sign.tokens):
                return " ".join(sign.tokens)
    if bullet.kind != "failure":
        return None
    error = error_line(step.text)
    words = stems(error)
    if len(words) < _ERROR_WORDS:
        return None
    for told in (str(bullet.fields.get("description", "")), re.split(r"(?<=[.!])\s", bullet.text)[0]):
        if told and alike(words, stems(told)) >= _ALIKE:
            return error
    return None
