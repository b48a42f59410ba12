"""Who wrote a text that Claude Code logged as the user's, and what a tool result says of the person."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from acemem.memory.sessions.event import EventKind
from acemem.memory.sessions.injected import without_injected


class Said(NamedTuple):
    """A text with its author told by `kind`."""

    kind: EventKind
    text: str
    args: dict[str, Any] = {}


_INTERRUPTS = ("[Request interrupted by user]", "[Request interrupted by user for tool use]")
_PLAN = "Implement the following plan:"
_COMMANDS = ("<command-name>", "<command-message>", "<command-args>")
_IDE = re.compile(r"(?<!\s)\s*+<(ide_opened_file|ide_selection|ide_diagnostics)>.*?(?:</\1>|\Z)", re.DOTALL)
_SUMMARY = "This session is being continued from a previous conversation"
_INJECTED = (
    "<user-prompt-submit-hook>",
    "<session-start-hook>",
    "Base directory for this skill:",
    "Operation stopped by hook:",
)
# What a person may have caused but did not write.
_MACHINE = (
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "Caveat: The messages below",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "<teammate-message",
    "<ci-monitor-event>",
    "<channel source=",
    "<tick>",
    "<goal>",
    "[monitor]",
    "API Error:",
    "No response requested.",
)
_REFUSALS = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
)
_SAID = "the user said:\n"
_NOTE = "\n\nNote: The user's next message may"
_CLARIFY = "The user wants to clarify these questions"
_PAIR = re.compile(r'"([^"\n]{1,2000})"="([^"]{0,2000})"')
_ASKED = re.compile(r'^- "(.{1,2000})"\n\s+Answer: (.+)$', re.MULTILINE)


def said(text: str) -> Said | None:
    """The author of a text in a user record, and the text freed of what was put around it; None for nothing."""
    text = without_injected(text).strip()
    if not text:
        return None
    if text[0] not in "<[CITBOAN":  # every mark below begins with one of these
        return Said("human", text)
    if text.startswith("<ide_"):
        words = _IDE.sub("", text).strip()
        if not words:
            return Said("meta", text, {"source": "ide"})
        text = words
    if text.startswith(_INTERRUPTS):
        return Said("interrupt", "")
    if text.startswith(_PLAN):
        return Said("plan", text.removeprefix(_PLAN).strip())
    if text.startswith(_COMMANDS):
        command = between(text, "<command-name>", "</command-name>")
        words = without_injected(between(text, "<command-args>", "</command-args>"))
        return Said("human" if words else "meta", words or command, {"command": command})
    if text.startswith("<bash-input>"):
        return Said("meta", between(text, "<bash-input>", "</bash-input>"), {"source": "bash-input"})
    if text.startswith(_SUMMARY):
        return Said("summary", text)
    if text.startswith(_INJECTED):
        return Said("injected", text)
    if text.startswith(_MACHINE):
        return Said("meta", text)
    return Said("human", text)


def refusal(text: str) -> str | None:
    """The person's own words in the result of a call they refused, "" when they gave none, None when not refused."""
    if not text.startswith(_REFUSALS):
        return None
    start = text.find(_SAID)
    if start < 0:
        return ""
    words = text[start + len(_SAID) :]
    note = words.rfind(_NOTE)
    words = words[:note] if note >= 0 else words
    if words.startswith(_CLARIFY):
        return "\n".join(f"{question} → {answer}" for question, answer in _ASKED.findall(words[:20_000]))
    return words.strip()


def answers(text: str, structured: Any) -> Said | None:
    """The person's choices: "question → answer" a line, with the raw questions and answers beside them."""
    pairs: list[tuple[str, str]] = []
    args: dict[str, Any] = {}
    if isinstance(structured, dict) and isinstance(structured.get("answers"), dict):
        args = {name: structured[name] for name in ("questions", "answers", "annotations") if structured.get(name)}
        pairs = [(question, _choice(answer)) for question, answer in structured["answers"].items()]
    elif text.startswith(("User has answered", "Your questions have been answered")):
        pairs = _PAIR.findall(text[:50_000])
        args = {"answers": dict(pairs)}
    lines = [f"{question} → {answer}" for question, answer in pairs if answer]
    return Said("answer", "\n".join(lines), args) if lines else None


def plain_text(content: Any) -> str:
    """The text of a message's or a tool result's content, images and references left out."""
    if isinstance(content, str):
        return content
    return "\n".join(_texts(content))


def between(text: str, opening: str, closing: str) -> str:
    """What stands between two marks, "" when the first is missing; to the end when the second is."""
    start = text.find(opening)
    if start < 0:
        return ""
    start += len(opening)
    end = text.find(closing, start)
    return text[start : end if end >= 0 else len(text)].strip()


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, list):
        for block in content:
            if isinstance(block, str):
                yield block
            elif isinstance(block, dict) and isinstance(block.get("text"), str):
                yield block["text"]


def _choice(answer: Any) -> str:
    if isinstance(answer, list):
        return ", ".join(str(item) for item in answer)
    return answer if isinstance(answer, str) else "" if answer is None else str(answer)
