"""Text that was put into a conversation by machines, ours among them, and is not evidence of anything."""

from __future__ import annotations

import re
from dataclasses import replace

from acemem.memory.sessions.event import Session

_MEMORY = re.compile(r"<mem(?:\s[^<>]{0,80})?>.*?(?:</mem>|\Z)", re.DOTALL)
_ESCAPED = re.compile(r"&lt;mem v=[^<>]{0,80}?&gt;.*?(?:&lt;/mem&gt;|\Z)", re.DOTALL)  # as Gemini CLI hands it on
_BLOCK = re.compile(r"<!-- mem:begin\b.*?(?:<!-- mem:end -->|\Z)", re.DOTALL)
_CITED = re.compile(r"^.*(?:\[mem:[0-9a-z]{8}\]|<!-- mem:[0-9a-z]{8} -->)[ \t]*$\n?", re.MULTILINE)
_OPEN, _CLOSE = "<system-reminder>", "</system-reminder>"
_OPEN_AT_LINE = re.compile(r"^[ \t]*<system-reminder>", re.MULTILINE)


def without_injected(text: str, *, by_agent: bool = False) -> str:
    """The text without what our own hook, our managed blocks and the agent's reminders put in, closed or not.

    What is `by_agent` keeps lines that cite a bullet: they tell what it went by. They are no evidence all the same,
    see `without_restated`.
    """
    if "<mem" in text:
        text = _MEMORY.sub("", text)
    if "&lt;mem v=" in text:
        text = _ESCAPED.sub("", text)
    if "mem:" in text:  # a context file that was pasted, or one of its lines: what we wrote there is no new evidence
        text = _BLOCK.sub("", text)
        text = text if by_agent else _CITED.sub("", text)
    if _OPEN in text:
        text = _without_reminders(text)
    return text


def without_restated(session: Session) -> Session:
    """The session without the lines in which the agent says again what a bullet told it, which is no new evidence."""
    if not any(event.kind == "assistant" and "[mem:" in event.text for event in session.events):
        return session
    events = []
    for event in session.events:
        if event.kind == "assistant" and "[mem:" in event.text:
            text = _CITED.sub("", event.text).strip()
            if text:
                events.append(replace(event, text=text))
        else:
            events.append(event)
    return replace(session, events=events)


def _without_reminders(text: str) -> str:
    kept: list[str] = []
    position = 0
    while (start := text.find(_OPEN, position)) >= 0:
        end = text.find(_CLOSE, start)
        if end < 0:
            # Tool output is often cut inside the span, which then runs to the end; but people also write
            # about the tag, so an unclosed one counts only where a line begins with it.
            cut = _OPEN_AT_LINE.search(text, position)
            return "".join(kept) + (text[position : cut.start()] if cut else text[position:])
        kept.append(text[position:start])
        position = end + len(_CLOSE)
    return "".join(kept) + text[position:]
