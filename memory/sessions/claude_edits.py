"""Edits that the person changed in Claude Code before accepting them: what was proposed and what was made of it."""

from __future__ import annotations

from typing import Any

from acemem.memory.sessions.bounds import MAX_TEXT, is_shortened, shorten

MAX_LINES = 2_000  # of either version that are compared
_PROPOSALS = ("new_string", "content", "new_source")


def changed_by_person(structured: Any, given: dict[str, Any], limit: int = MAX_TEXT) -> dict[str, Any] | None:
    """What a result tells of such an edit, as `SessionEvent.args` has it; None when the person changed nothing.

    `given` are the arguments of the call, `structured` is the record's own copy of the result, which says what was made
    in the end: a line in it that the agent did not propose is the person's, one that is missing was not wanted.
    """
    if not (isinstance(structured, dict) and structured.get("userModified") is True):
        return None
    path = structured.get("filePath") or given.get("file_path") or ""
    told: dict[str, Any] = {"user_modified": True, "file_path": str(path)[:500]}
    proposed, (made, around) = _proposed(given), _made(structured)
    # An agent's call may be shortened, and then what is missing in it would pass for the person's own.
    if (made or around) and proposed and not any(is_shortened(text) for text in proposed):
        lines = [line for text in proposed for line in text.split("\n")][:MAX_LINES]
        own = _without(made, lines)
        dropped = _without(lines, [*made, *around])
        if own or dropped:
            told |= {"proposed": shorten("\n".join(dropped), limit), "accepted": shorten("\n".join(own), limit)}
    return told


def _proposed(given: dict[str, Any]) -> list[str]:
    edits = given.get("edits")
    several = [edit for edit in edits if isinstance(edit, dict)] if isinstance(edits, list) else []
    texts = [call.get(name) for call in (given, *several) for name in _PROPOSALS]
    return [text for text in texts if isinstance(text, str)]


def _made(structured: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The lines that were written, and those around them that a patch leaves as they are."""
    made: list[str] = []
    around: list[str] = []
    patch, content = structured.get("structuredPatch"), structured.get("content")
    if isinstance(content, str):  # of a whole file that was written
        return content.split("\n")[:MAX_LINES], []
    for hunk in patch if isinstance(patch, list) else []:
        lines = hunk.get("lines") if isinstance(hunk, dict) else None
        for line in lines if isinstance(lines, list) else []:
            if isinstance(line, str) and len(made) + len(around) < MAX_LINES:
                if line.startswith("+"):
                    made.append(line[1:])
                elif line.startswith(" "):
                    around.append(line[1:])
    return made, around


def _without(lines: list[str], others: list[str]) -> list[str]:
    """The lines that are not among the others, blank ones and differences at the end of a line left out."""
    known = {line.rstrip() for line in others}
    return [line.rstrip() for line in lines if line.strip() and line.rstrip() not in known]
