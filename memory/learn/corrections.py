"""What a person corrects: refused calls, steering, complaints put as questions, and wishes about how to work."""

from __future__ import annotations

import re
from collections.abc import Iterator

from acemem.memory.insight import DecisionInsight, FailureInsight, Insight, InsightScope, PreferenceInsight
from acemem.memory.learn import command as shell
from acemem.memory.learn.confirmation import approves, goes_on
from acemem.memory.learn.conversation import Conversation, Finding, Step, Turn
from acemem.memory.learn.explanation import claim, concedes, fact, remedy
from acemem.memory.learn.instruction import Instruction, instruction, unfilled
from acemem.memory.learn.language import foreign_language
from acemem.memory.learn.noise import silences_check
from acemem.memory.learn.person import from_user
from acemem.memory.learn.reports import brings_paste, is_report
from acemem.memory.learn.wording import clipped, code, joined, near_paths, plain, sentences, stems
from acemem.memory.sessions.event import SessionEvent

_TAKES_OVER = re.compile(
    r"\b(?:i(?:'|’)?(?:ll| will| can)|let me) (?:just )?(?:take (?:it|over)|do (?:it|that|this|the rest)"
    r"|handle|run|finish|commit|push|test|fix)\b"
    r"|\bi(?:'|’)?ve got it from here\b",
    re.IGNORECASE,
)
_DOUBTS = re.compile(
    r"\bma(?:k|d)e (?:it|this|that|them) up\b|\bmaking (?:it|this|that|things) up\b|\bhallucinat"
    r"|\bare you sure\b|\bdoes (?:it|this|that) (?:really |even |actually )?exist"
    r"|\bis (?:it|this|that) (?:real|true)\b|\bwhere did you (?:get|find)\b|\binvent(?:ed|ing)?\b"
    r"|\bdid you (?:check|verify|read)\b",
    re.IGNORECASE,
)
_OPPOSES = re.compile(
    r"^\W*(?:no|nope|nah|stop|wait|wrong|hm+|huh|uh|really|actually|but|not|non|nein|nie|нет|não|why|didn(?:'"
    r"|’)?t (?:we|you|i)|i (?:said|told|meant|asked)|that(?:'|’)?s not"
    r"|that is not|you (?:forgot|missed|removed|deleted|broke|are not|aren't|should|don't|dont|keep)"
    r"|we (?:said|agreed|already|don't|dont))\b"
    r"|\bi (?:just )?checked\b|\binstead of\b|\bnot what i\b",
    re.IGNORECASE,
)
_FOREIGN_CONTRAST = re.compile(
    r"\b(?:zamiast|statt|anstatt|stattdessen|plutôt|au lieu|en lugar|en vez|invece|em vez|yerine|zawsze|nigdy"
    r"|immer|toujours|jamais|siempre|nunca|sempre|mai"
    r"|вместо|всегда|никогда|не надо|не нужно)\b|而不是|不要|总是|代わりに|しないで|대신",
    re.IGNORECASE,
)
_PROPOSES_WAY = re.compile(
    r"\b(?:should|needs? to|ought to|we (?:do|want|use)|let(?:'|’)?s|might want|could (?:we|you)|better to"
    r"|what about|how about|why not)\b",
    re.IGNORECASE,
)
_UNDID = re.compile(
    r"^i(?:'|’)?(?:ve)? (?:just |already |have )*(removed|deleted|reverted|undid|undone|rolled back|discarded"
    r"|dropped) (.{4,120})",
    re.IGNORECASE,
)
_COUNTERS = re.compile(
    r"^\W*(?:no|nope|wrong|that(?:'|’)?s (?:wrong|not|incorrect)|actually)\b|\w, not \w|[\w`/] not (?:in |on "
    r"|with |the |an? )?[\w`./-]+\W*$",
    re.I,
)
_SYMPTOM = re.compile(
    r"\b(?:still|showing|shows|getting|gets|seems|looks|appears|happens|happening|works|working)\b", re.IGNORECASE
)
_ASKS = re.compile(
    r"^\W*(?:what|how|where|when|which|who|is|are|does|do|did|can|could)\b(?!.*\bnot\b)[^.!]*\?\W*$", re.IGNORECASE
)
_AGAIN = re.compile(
    r"^(?:almost|not quite|closer|same|likewise)\b|\bsame (?:for|here|thing|with|in)\b"
    r"|\b(?:do|apply|use|make) (?:that|this|it|the same|so)\b[^.]{0,60}\b(?:too|as well|also)\b",
    re.IGNORECASE,
)
_ABOUT_WORK = re.compile(r"\b(?:prefer|always|never|from now on|in (?:the )?future|every time|going forward)\b", re.I)
_PROPOSES = re.compile(
    r"(?:want me to|shall i|should i|would you like me to|do you want me to|ready to|may i) ((?:(?:go ahead"
    r"|proceed) and )?[a-z]+(?: (?:this|that|it|them|these changes|the changes|[\w`./-]+)){0,3})",
    re.IGNORECASE,
)
_PLACE_NAME = re.compile(
    r"[\w-]+[/\\](?:[\w./\\-]+|(?=\s|$))|\b[\w-]+\.(?:py|go|ts|tsx|js|rs|md|json|ya?ml|toml|sh|sql|rb|java|css|html|c|h"
    r"|cpp)\b|`[^`]+`|\b\w+(?:[A-Z]\w+){1,}\b|\b\w+_\w+\b"
)
_BY_EXAMPLE = re.compile(
    r"\b(?:example from|in the style of|like (?:the )?[\w-]+ does|the same way as|modell?ed (?:on|after))\b",
    re.IGNORECASE,
)
_UNDERSTOOD = re.compile(r"i(?:'|’)?ll (.{20,200})$", re.IGNORECASE)
_LONGEST_WORDS = 600
_REMEMBERED = 6  # turns for which "do the same there" refers to a wish


def corrections(talk: Conversation) -> Iterator[Finding]:
    """What the person corrected or wished, each with the agent's admission where it made one."""
    last: Finding | None = None
    since = 0
    for turn in talk.turns:
        since += 1
        found = _of_turn(talk, turn, last if since <= _REMEMBERED else None)
        if isinstance(found, list):
            if isinstance(found[0].insight.detail, PreferenceInsight):
                last, since = found[0], 0
            yield from found
        elif found is not None:
            # The same wish again: a further record for it, not a second wish.
            last, since = found, 0
            yield found


def _of_turn(talk: Conversation, turn: Turn, last: Finding | None) -> list[Finding] | Finding | None:
    words = turn.words
    refuses = turn.event.kind == "reject"
    if not words or len(words) > _LONGEST_WORDS or (refuses and turn.event.tool == "AskUserQuestion"):
        return None
    if refuses and turn.refused is not None and _TAKES_OVER.search(words):
        return [_left_to_user(talk, turn, turn.refused)]
    if foreign := _in_own_language(talk, turn):
        return [foreign]
    if goes_on(words) or turn.retyped:
        return None
    reply = talk.reply(turn.position)
    admitted = next((talk.events[p] for p in reply[:3] if concedes(talk.events[p].text)), None)
    if last is not None and not refuses and not turn.first and _AGAIN.search(unfilled_start(words)):
        return _repeated(talk, turn, last)
    asked = _instructions(talk, turn)
    opposes = not turn.first and _OPPOSES.search(words) is not None
    reacts = turn.refused is not None or admitted is not None or opposes or turn.interrupts
    wanted = [item for item in asked if _counts(item, turn, reacts)]
    if not wanted and brings_paste(turn) and is_report(turn):
        return None
    if turn.refused is not None and silences_check(*turn.refused.change) and not wanted:
        return [_no_silencing(talk, turn, turn.refused, admitted)]
    if wanted and not _DOUBTS.search(words):
        return [_preference(talk, turn, wanted, admitted)]
    if undone := next((m for s in sentences(words) if not turn.first and (m := _UNDID.match(unfilled(s)))), None):
        return [_undone(talk, turn, undone[1], undone[2])]
    if turn.first and not refuses:
        return None
    # Words that only ask, approve or name the next step do not say what was wrong.
    next_step = bool(asked) and all(item.chore for item in asked) and len(asked) >= len(sentences(words))
    empty = approves(words) or next_step or (refuses and bool(_ASKS.match(words)))
    if empty and (admitted is None or not opposes):
        return None
    return _mistake(talk, turn, admitted) if refuses or admitted is not None or contradicts(words) else None


def contradicts(words: str) -> bool:
    """Whether short words set a fact against what the agent took for true, with a name in them."""
    if len(words) > 240 or words.rstrip().endswith("?") or not _PLACE_NAME.search(words) or _SYMPTOM.search(words):
        return False
    return _COUNTERS.search(words) is not None


def unfilled_start(words: str) -> str:
    """The first sentence of a turn without the praise or courtesy before it."""
    first = sentences(words)
    return (unfilled(first[0]) or first[0]) if first else words


def _instructions(talk: Conversation, turn: Turn) -> list[Instruction]:
    before = talk.last_said(turn.position)
    referent = ""
    if before is not None and (proposal := _PROPOSES.search(before.text[-300:])):
        referent = proposal[1]
    found = (instruction(sentence, referent) for sentence in sentences(turn.words))
    return [item for item in found if item is not None]


def _counts(item: Instruction, turn: Turn, reacts: bool) -> bool:
    """Whether an instruction says how to work, and not only what to do next."""
    if turn.event.kind == "reject":
        return not item.chore or item.lasting or item.contrast or len(item.text) > 24
    if turn.first:
        return _ABOUT_WORK.search(item.text) is not None and not item.chore
    return item.lasting or item.contrast or (reacts and not item.chore)


def _preference(talk: Conversation, turn: Turn, wanted: list[Instruction], admitted: SessionEvent | None) -> Finding:
    wish = joined(*(item.text for item in wanted[:3]), limit=240)
    if turn.refused is not None and turn.refused.path:
        wish = re.sub(r"^(?:this|it|that) should\b", f"{code(turn.refused.path)} should", wish, flags=re.IGNORECASE)
    told = ""
    if admitted is not None:
        told = remedy(admitted.text) or _sure_fact(admitted.text)
    elif _BY_EXAMPLE.search(wish) and (reply := talk.reply(turn.position)):
        # What the example is to teach stands only in how the agent understood it.
        told = next(
            (m[1] for p in reply[:2] for s in sentences(talk.events[p].text) if (m := _UNDERSTOOD.match(plain(s)))), ""
        )
    text = joined(near_paths(wish, talk.session.cwd), near_paths(told, talk.session.cwd))
    lasting = any(item.lasting or item.contrast for item in wanted)
    return _finding(
        talk,
        PreferenceInsight(preference=wish, evidence=clipped(plain(turn.words), 200)),
        text,
        turn,
        admitted,
        confidence=0.85 if lasting or turn.event.kind == "reject" else 0.8,
        scope="project" if _PLACE_NAME.search(wish) or " should be " in wish else "user",
    )


def _in_own_language(talk: Conversation, turn: Turn) -> Finding | None:
    """A correction in another language, kept in the person's words."""
    if not foreign_language(turn.words) or len(turn.words) > 300:
        return None
    if turn.event.kind != "reject" and (
        turn.first or not (_OPPOSES.search(turn.words) or _FOREIGN_CONTRAST.search(turn.words))
    ):
        return None
    wish = joined(*sentences(turn.words))
    admitted = next((talk.events[p] for p in talk.reply(turn.position)[:2] if concedes(talk.events[p].text)), None)
    detail = PreferenceInsight(preference=wish, evidence=clipped(plain(turn.words), 200))
    return _finding(
        talk,
        detail,
        near_paths(wish, talk.session.cwd),
        turn,
        admitted,
        0.8,
        "project" if _PLACE_NAME.search(wish) else "user",
    )


def _repeated(talk: Conversation, turn: Turn, last: Finding) -> Finding:
    insight = last.insight
    sources = talk.sources([turn.event]) + insight.sources
    return Finding(
        Insight(
            detail=insight.detail,
            text=insight.text,
            sources=tuple(sorted(set(sources), key=lambda source: (source.rec, source.key))),
            confidence=min(0.9, insight.confidence + 0.05),
            scope=insight.scope,
            strength=insight.strength,
            trust=insight.trust,
        ),
        last.known_at,
    )


def _mistake(talk: Conversation, turn: Turn, admitted: SessionEvent | None) -> list[Finding] | None:
    cwd = talk.session.cwd
    said = [from_user(unfilled(sentence).rstrip("?")) for sentence in sentences(turn.words)]
    said = [s for s in said if len(s) > 12 and not goes_on(s) and not re.match(r"(?i)tell the user|let the user", s)]
    if not said:
        return None
    objection = near_paths(joined(*said[:2], limit=160), cwd)
    truth = ""
    if admitted is not None:
        found = claim(admitted.text[:700])
        truth = near_paths(found.text if found else fact(admitted.text[:700]), cwd)
        fix = near_paths(remedy(admitted.text), cwd)
    else:
        fix = ""
    if truth and len(stems(truth) & stems(objection)) >= 0.6 * len(stems(truth)):
        truth = ""  # the agent only repeats the objection
    named = _PLACE_NAME.search(turn.words) is not None
    refuses = turn.event.kind == "reject"
    if not refuses and not truth and not fix and not named:
        return None
    doubts = _DOUBTS.search(turn.words) is not None
    what = _refused_in_words(turn.refused if refuses else None, cwd)
    head = joined(objection if not what or doubts else f"{what}: {objection[:1].lower()}{objection[1:]}", limit=200)
    text = joined(truth, fix, head) if doubts and truth else joined(head, truth, fix)
    if not refuses and not doubts and _PROPOSES_WAY.search(turn.words) and not _OPPOSES.search(turn.words):
        # The agent agrees with a proposal; nobody was wrong.
        agreed = DecisionInsight(decision=head, reasoning=clipped(truth or fix, 200), confirmed=True)
        return [_finding(talk, agreed, text, turn, admitted, 0.8, "project")]
    found_mistake = _finding(
        talk,
        FailureInsight(
            description=what or "the agent was wrong and the user said so",
            root_cause=truth or objection,
            resolution=fix,
            tool_calls=[_call_in_words(turn.refused)] if turn.refused else [],
        ),
        text,
        turn,
        admitted,
        confidence=0.8,
        scope="project",
    )
    if not doubts:
        return [found_mistake]
    check = PreferenceInsight(
        preference="Check unfamiliar configuration and claims against the real documentation before writing them down.",
        evidence=clipped(plain(turn.words), 200),
    )
    return [found_mistake, _finding(talk, check, check.preference, turn, admitted, 0.6, "user", strength="inferred")]


def _undone(talk: Conversation, turn: Turn, verb: str, what: str) -> Finding:
    what = from_user(what.rstrip(".! "))
    text = joined(near_paths(f"Do not bring back {what}: the user {verb.lower()} it", talk.session.cwd))
    return _finding(
        talk,
        PreferenceInsight(preference=text, evidence=clipped(plain(turn.words), 200)),
        text,
        turn,
        None,
        0.75,
        "project",
    )


def _sure_fact(text: str) -> str:
    found = claim(text)
    return found.text if found is not None and found.rank >= 2 else ""


def _left_to_user(talk: Conversation, turn: Turn, step: Step) -> Finding:
    what = near_paths(_call_in_words(step), talk.session.cwd)
    text = joined(
        f"Do not run {what} unasked: the user stops it to do this step"
        if step.command
        else f"Leave {what} to the user, who wants to do this step"
    )
    return _finding(
        talk,
        PreferenceInsight(preference=text, evidence=clipped(plain(turn.words), 200)),
        text,
        turn,
        None,
        confidence=0.8,
        scope="user",
    )


def _no_silencing(talk: Conversation, turn: Turn, step: Step, admitted: SessionEvent | None) -> Finding:
    truth = _sure_fact(admitted.text) if admitted is not None else ""
    where = code(near_paths(step.path, talk.session.cwd))
    wish = f"Do not silence the warning in {where}: re-read the code and remove its cause"
    return _finding(
        talk,
        PreferenceInsight(preference=joined(wish), evidence=clipped(plain(turn.words), 200)),
        joined(wish, near_paths(truth, talk.session.cwd)),
        turn,
        admitted,
        confidence=0.8,
        scope="user",
    )


def _refused_in_words(step: Step | None, cwd: str | None) -> str:
    if step is None:
        return ""
    if step.command:
        return f"The user refused {code(clipped(near_paths(shell.shown(step.command), cwd), 80))}"
    if step.edits and step.path:
        return f"The user refused the edit of {code(near_paths(step.path, cwd))}"
    return ""


def _call_in_words(step: Step | None) -> str:
    if step is None:
        return ""
    if step.command:
        return code(clipped(shell.shown(step.command), 120))
    return f"{step.event.tool or 'the tool'} {step.path}".strip()


def _finding(
    talk: Conversation,
    detail: PreferenceInsight | FailureInsight | DecisionInsight,
    text: str,
    turn: Turn,
    admitted: SessionEvent | None,
    confidence: float,
    scope: InsightScope,
    strength: str = "explicit",
) -> Finding:
    known_at = turn.position
    if admitted is not None:
        known_at = next((p for p in talk.reply(turn.position) if talk.events[p] is admitted), known_at)
    events: list[SessionEvent | None] = [turn.event, admitted]
    if turn.refused is not None:
        events.append(turn.refused.call)
    after = next(
        (s for s in talk.steps_between(turn.position, talk.next_human(turn.position)) if s.edits and s.succeeded), None
    )
    if after is not None:
        events.append(after.call)
    return Finding(
        Insight(
            detail=detail,
            text=text,
            sources=talk.sources(events),
            confidence=confidence,
            scope=scope,
            strength="inferred" if strength == "inferred" else "explicit",
            trust="user",
        ),
        known_at,
    )
