"""Text that was put into a conversation by machines, ours among them, and is not evidence of anything."""

from __future__ import annotations

import re

_MEMORY = re.compile(r"<mem(?:\s[^<>]{0,80})?>.*?(?:</mem>|\Z)", re.DOTALL)
_BLOCK = re.compile(r"<!-- mem:begin\b.*?(?:<!-- mem:end -->|\Z)", re.DOTALL)
_CITED = re.compile(r"^.*\[mem:[0-9a-z]{8}\][ \t]*$\n?", re.MULTILINE)
_OPEN, _CLOSE = "<system-reminder>", "</system-reminder>"
_OPEN_AT_LINE = re.compile(r"^[ \t]*<system-reminder>", re.MULTILINE)


def without_injected(text: str) -> str:
    """The text without what our own hook, our managed blocks and the agent's reminders put in, closed or not."""
    if "<mem" in text:
        text = _MEMORY.sub("", text)
    if "mem:" in text:  # a context file that was pasted, or one of its lines: what we wrote there is no new evidence
        text = _CITED.sub("", _BLOCK.sub("", text))
    if _OPEN in text:
        text = _without_reminders(text)
    return text


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
