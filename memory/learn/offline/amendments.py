"""Edits that the person changed before they accepted them: a correction without a word."""

from __future__ import annotations

from collections.abc import Iterator

from acemem.memory.insight import Insight, PreferenceInsight
from acemem.memory.learn.offline.change import Change, told
from acemem.memory.learn.offline.conversation import Conversation, Finding
from acemem.memory.learn.offline.wording import clipped, code, joined, near_paths

_SHORT = 160  # characters of a line that is told
_FEW = 3  # lines that the person left out, to be told


def amended_edits(talk: Conversation) -> Iterator[Finding]:
    """What the person wrote in place of the agent's lines, or left out of them, each edit once."""
    for step in talk.steps if talk.session.interactive else ():
        corrected = step.outcome.correction if step.outcome is not None else None
        if step.outcome is None or corrected is None:
            continue
        proposed, accepted = corrected
        path = str(step.outcome.args.get("file_path") or step.path)
        what = (
            told([Change(path, proposed, accepted)], talk.session.cwd) if accepted else _left_out(talk, path, proposed)
        )
        if not what:
            continue
        text = joined(what, "The user changed the edit so before accepting it")
        detail = PreferenceInsight(preference=clipped(what), evidence=clipped(accepted or proposed, 200))
        sources = talk.sources([step.call, step.outcome])
        yield Finding(Insight(detail, text, sources, 0.65, "project", "explicit", "user"), step.ended)


def _left_out(talk: Conversation, path: str, proposed: str) -> str:
    lines = [line.strip() for line in proposed.split("\n") if line.strip()]
    if not 0 < len(lines) <= _FEW or sum(map(len, lines)) > _SHORT:
        return ""
    return f"Do not write {' and '.join(map(code, lines))} in {code(near_paths(path, talk.session.cwd))}"
