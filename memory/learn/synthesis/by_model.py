"""The model synthesizer: a model compares sessions, and each of its changes is believed as far as its records go."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from acemem.memory.cleantext import one_line
from acemem.memory.context.changes import Change, applied, safe_content, target_path
from acemem.memory.context.proposals import Proposal, Quote, section_digest
from acemem.memory.context.sections import find_section
from acemem.memory.errors import AcememError, ModelError
from acemem.memory.learn.model.agents import RETRIES
from acemem.memory.learn.model.providers import open_model, reason
from acemem.memory.learn.model.spending import Budget, LimitReached, Limits, Usage
from acemem.memory.learn.offline.noise import is_shortcut
from acemem.memory.learn.offline.wording import stems
from acemem.memory.learn.synthesis.acceptance import bare
from acemem.memory.learn.synthesis.asking import (
    ChangesAnswer,
    Material,
    ProposedChange,
    Record,
    material,
    synthesis_agent,
)
from acemem.memory.learn.synthesis.files import ENDING_ID
from acemem.memory.learn.synthesis.ground import Dropped, Ground, Synthesis
from acemem.memory.learn.synthesis.quotes import QUOTE_CHARS
from acemem.memory.scope import GLOBAL
from acemem.memory.sessions.event import Session
from acemem.scoring.lifecycle import promotion_block

if TYPE_CHECKING:
    from pydantic_ai.models import Model

MOST_QUOTES = 6
LEAST_SHARE = 1 / 2  # of a line's words that its records must hold, see the check of extracted insights
LONGEST = 400  # characters of a line
_CODE = re.compile(r"`([^`\n]+)`")
_FORBIDS = re.compile(r"\b(?:not|never|avoid|without|instead of|nie|nicht|kein\w*|ohne)\b|n't\b", re.IGNORECASE)


@dataclass(slots=True)
class ModelAnswer:
    """What became of a model's changes, the sessions that it compared, and what it took."""

    synthesis: Synthesis = field(default_factory=Synthesis)
    sessions: list[Session] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)


def synthesize(
    ground: Ground,
    sessions: Sequence[Session],
    model: str | Model,
    focus: str | None = None,
    progress: Callable[[str], None] = lambda step: None,
) -> ModelAnswer:
    """The proposals of a model for sessions it has not compared yet; without any it is not asked.

    One request, within the limits that extract.max_* set for a run. Raises ModelError when no answer comes.
    """
    if not sessions:
        return ModelAnswer()
    opened = open_model(model) if isinstance(model, str) else model
    name = model if isinstance(model, str) else opened.model_id
    shown = material(ground, sessions, focus)
    progress(f"{name} compares {len(shown.compared)} sessions")
    answer, usage = asyncio.run(_ask(ground, shown, opened, name, focus))
    result = ModelAnswer(Synthesis(), shown.compared, usage)
    for change in answer.changes:
        judged = _Judge(ground, shown, change, result.synthesis.proposals).verdict(name)
        if isinstance(judged, Proposal):
            result.synthesis.proposals.append(judged)
        else:
            said = one_line(safe_or_nothing(change.content), QUOTE_CHARS)
            result.synthesis.dropped.append(Dropped(f"{one_line(change.target_file, 80)}: {said}", judged))
    return result


async def _ask(
    ground: Ground, shown: Material, model: Model, name: str, focus: str | None
) -> tuple[ChangesAnswer, Usage]:
    from pydantic_ai.exceptions import AgentRunError, UnexpectedModelBehavior, UserError
    from pydantic_ai.usage import UsageLimits

    from acemem.memory.learn.model.metered_model import MeteredModel

    budget = Budget(Limits.of(ground.home.settings))
    metered = MeteredModel(model, name, budget)
    try:
        async with metered:
            limits = UsageLimits(request_limit=RETRIES + 1)
            result = await synthesis_agent(focus).run(shown.prompt, model=metered, usage_limits=limits)
    except LimitReached as error:
        raise ModelError(str(error)) from error
    except UnexpectedModelBehavior as error:
        raise ModelError(f"the answer of {name!r} does not fit: {reason(error.__cause__ or error)}") from error
    except (AgentRunError, UserError) as error:
        raise ModelError(f"{name!r} compared nothing: {reason(error)}") from error
    return result.output, budget.used


class _Judge:
    """One change of a model's, against what it was shown and what the project's files say."""

    def __init__(self, ground: Ground, shown: Material, change: ProposedChange, before: Sequence[Proposal]) -> None:
        self.ground = ground
        self.shown = shown
        self.change = change
        self.before = before

    def verdict(self, model: str) -> Proposal | str:
        """A proposal, or why there is none."""
        change, ground = self.change, self.ground
        try:
            path = target_path(ground.project, change.target_file)
            content = safe_content(change.content)
        except AcememError as error:
            return str(error)
        cited = self._cited()
        if isinstance(cited, str):
            return cited
        witnesses = {record.witness: record.session for record in cited}
        against = promotion_block(
            kind=change.kind,
            confidence=min(max(change.confidence, 0.0), 1.0),
            sessions=len(witnesses),
            failures_seen=len({(record.session, record.rec) for record in cited if record.failed}),
            trust_tool_only=False,
        )
        if against:
            return " ".join(against)
        file = ground.files.named(change.target_file)
        document = file.document if file is not None else b""
        try:
            old = self._old(document)
            content, new = self._lines(content, old, cited)
        except _Refused as refused:
            return str(refused)
        except AcememError as error:
            return str(error)
        withdrawn = _named(line for line in old if line not in content)
        if not new and not withdrawn:
            return "says nothing that does not stand there"
        try:
            base = section_digest(document, change.heading) if change.change_type == "update" else ""
            kind_of_change = "create" if change.change_type == "append" and file is None else change.change_type
            heading = change.heading.strip() or None
            applied(document, Change(kind_of_change, content, heading), path)
        except AcememError as error:
            return str(error)
        personal = change.kind in ("preference", "user_fact") and path.name in (
            "CLAUDE.local.md",
            "MEMORY.md",
            "SOUL.md",
        )
        return Proposal(
            target_file=change.target_file,
            change_type=kind_of_change,
            content=content,
            heading=heading,
            reason=one_line(safe_or_nothing(change.reason), LONGEST) or f"{len(witnesses)} sessions bear it out.",
            confidence=round(min(change.confidence, 1.0), 6),
            kind=change.kind,
            scope=GLOBAL if personal else ground.project.scope,
            root=str(ground.project.root),
            source_sessions=tuple(witnesses.values()),
            evidence=_quotes(cited),
            bullets=tuple(_named(line for line in content.splitlines() if line not in old)),
            statements=tuple(new),
            withdraws=tuple(withdrawn),
            base=base,
            made_by=model,
        )

    # -- inside ----------------------------------------------------------------------------------

    def _cited(self) -> list[Record] | str:
        cited: list[Record] = []
        for evidence in self.change.evidence:
            if evidence.session not in self.shown.names:
                return f"cites session {evidence.session!r}, which it was not shown"
            for rec in evidence.records:
                found = self.shown.records.get((evidence.session, rec))
                if found is None:
                    return f"cites record {rec} of {evidence.session}, which it was not shown"
                cited += found
        unknown = [id for id in self.change.statements if id not in self.shown.bullets]
        if unknown:
            return f"puts down statement {unknown[0]!r}, which it was not shown"
        for id in self.change.statements:
            bullet = self.shown.bullets[id]
            cited += [
                Record(source.session, source.witness, source.rec, bullet.text, bullet.trust != "tool")
                for source in bullet.sources
            ]
        return cited or "cites no record"

    def _old(self, document: bytes) -> list[str]:
        """The lines that an update would replace."""
        if self.change.change_type != "update":
            return []
        text = document.decode("utf-8")
        section = find_section(text, self.change.heading)
        return [line.rstrip() for line in text[section.body : section.end].splitlines() if line.strip()]

    def _lines(self, content: str, old: Sequence[str], cited: Sequence[Record]) -> tuple[str, list[str]]:
        """The content with the ids of the bullets that it puts down, and what it says newly, line by line."""
        scope = GLOBAL if self.change.kind == "user_fact" else self.ground.project.scope
        kept: list[str] = []
        new: list[str] = []
        for line in content.splitlines():
            said = bare(line)
            if line.rstrip() in old or not stems(said):
                kept.append(line)
                continue
            against = self._against(said, line, cited, scope)
            if against is None:
                kept.append(self._with_id(line, said))
                new.append(said)
            elif self.change.change_type == "update":
                raise _Refused(f"{against}: {said}")
            else:
                last = against
        if not new and not old:
            raise _Refused(last if kept != content.splitlines() else "says nothing")
        return "\n".join(kept), new

    def _against(self, said: str, line: str, cited: Sequence[Record], scope: str) -> str | None:
        if len(said) > LONGEST:
            return f"a line of {len(said)} characters is no statement"
        if not line.startswith("#"):  # a heading within a skill or a rule's file says nothing by itself
            if not _speak_of(cited, said):
                return "its records do not speak of it"
            if not _speak_of([record for record in cited if record.trusted], said):
                return "it rests on tool output alone"
            if any(is_shortcut(code) for code in _CODE.findall(said)) and not _FORBIDS.search(said):
                return "it recommends a shortcut that merely worked"
            earlier = [text for proposal in self.before for text in proposal.statements]
            if self.ground.likeness.same(said, earlier) is not None:
                return "says what another change of this run says"
            return self.ground.against(said, self.change.kind, scope, self.change.confidence)
        return None

    def _with_id(self, line: str, said: str) -> str:
        """The line with the id of the bullet that says the same, so that it can be cited, and taken out again."""
        if ENDING_ID.search(line) or line.startswith("#"):
            return line
        bullets = list(self.shown.bullets.values())
        at = self.ground.likeness.same(said, [bullet.text for bullet in bullets])
        return line if at is None else f"{line.rstrip()} [mem:{bullets[at].id}]"


class _Refused(Exception):
    """A change that is not believed; the words say why."""


def _speak_of(records: Sequence[Record], statement: str) -> bool:
    """Whether records hold every word in backquotes, and half of all words, of a statement."""
    text = " ".join(record.text for record in records).casefold()
    quoted = [word.casefold() for code in _CODE.findall(statement) for word in code.split()]
    if any(word.strip(",;:'\"") not in text for word in quoted):
        return False
    words, held = stems(statement), stems(text)
    return sum(word in held for word in words) >= LEAST_SHARE * len(words)


def _quotes(cited: Sequence[Record]) -> tuple[Quote, ...]:
    """What was shown of the cited records, one of each session first."""
    first: dict[str, Quote] = {}
    more: list[Quote] = []
    for record in cited:
        quote = Quote(record.session, record.rec, one_line(record.text, QUOTE_CHARS))
        if record.witness in first:
            more.append(quote)
        else:
            first[record.witness] = quote
    return tuple(list(dict.fromkeys([*first.values(), *more]))[:MOST_QUOTES])


def safe_or_nothing(text: str) -> str:
    """What a model wrote, as it may be shown; nothing where that has no word."""
    try:
        return safe_content(text)
    except AcememError:
        return ""


def _named(lines: Iterable[str]) -> list[str]:
    """The ids of the bullets that lines end with."""
    return [found[1] for line in lines if (found := ENDING_ID.search(line))]
