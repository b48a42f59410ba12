"""What a person corrects or wishes, told by where they say it: in a refusal, an interruption, an answer, before a redo.

A sentence counts when its form says that it lasts, or when its place in the dialogue shows that it changes the work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from acemem.memory.insight import (
    ContextInsight,
    DecisionInsight,
    FailureInsight,
    Insight,
    InsightScope,
    PreferenceInsight,
)
from acemem.memory.learn.offline.change import in_words
from acemem.memory.learn.offline.confirmation import approves, goes_on
from acemem.memory.learn.offline.conversation import Conversation, Finding, Step, Turn
from acemem.memory.learn.offline.excerpt import beginning
from acemem.memory.learn.offline.explanation import claim, fact, remedy, statements
from acemem.memory.learn.offline.guidance import grouped, guiding
from acemem.memory.learn.offline.instruction import Instruction, instruction, statement
from acemem.memory.learn.offline.noise import silences_check
from acemem.memory.learn.offline.place import Place, points_at_model
from acemem.memory.learn.offline.proposal import accepted, picked
from acemem.memory.learn.offline.reports import brings_paste, is_report, tells_problem
from acemem.memory.learn.offline.rework import kept_line
from acemem.memory.learn.offline.veto import bends_test, call_in_words, leaves_to_user
from acemem.memory.learn.offline.wording import capital, clipped, code, joined, near_paths, plain, sentences, stems
from acemem.memory.sessions.event import SessionEvent

Detail = PreferenceInsight | DecisionInsight | ContextInsight | FailureInsight

_POINTS = re.compile(
    r"\b(?:there|this|that|it|these|those|das|dies\w*|eso|esto|ese|esa|ça|cela|dit|dat|to)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"[/\\][\w./\\-]|`[^`]+`|\w-*+\.(?=[a-z])\w{1,10}\b|[a-z][A-Z]|\w_\w|\w:\w|-\w[\w-]")
_SYMPTOM = re.compile(r"\b(?:still|showing)\b|\?\W*$", re.IGNORECASE)
_STILL = re.compile(r"\b(?:still|again|immer noch|todavía|encore|toujours pas)\b", re.IGNORECASE)
_UNDERSTOOD = re.compile(r"i(?:'|’)?ll (.{20,200})$", re.IGNORECASE)
_LONGEST_WORDS = 600
_LOOK = re.compile(r"(?:(?:have|take) a )?look\b|see\b|check\b|mira\b|schau\b|regarde\b|zobacz\b", re.IGNORECASE)
_LOOKED_AT = 12  # steps
_MOST = 3  # insights of one turn, and sentences of one insight
_LEAST_WORDS = 3  # content words of a sentence that says something by itself
_ANSWER = 700  # characters of a reply in which the agent says what is true
_ECHO = 0.6  # share of a statement's words from which it only repeats another


def corrections(talk: Conversation) -> Iterator[Finding]:
    """What the person corrected or wished, each with the agent's admission where it made one."""
    for turn in talk.turns:
        yield from _of_turn(talk, turn)


def _of_turn(talk: Conversation, turn: Turn) -> Iterator[Finding]:
    words, refuses = turn.words, turn.event.kind == "reject"
    if not words or len(words) > _LONGEST_WORDS or (refuses and turn.event.tool == "AskUserQuestion"):
        return
    if goes_on(words) or turn.retyped:
        return
    if accepted(talk, turn) is not None or picked(talk, turn) is not None:
        return  # a decision, told with what was proposed
    place = Place.of(talk, turn)
    said = guiding(talk, turn, place)
    if not said and brings_paste(turn) and is_report(turn):
        return
    if turn.refused is not None and silences_check(*turn.refused.change) and not any(item.lasting for item in said):
        yield _no_silencing(talk, turn, turn.refused, place)
    elif leaves_to_user(talk, turn) and all(item.stated for item in said):
        assert turn.refused is not None
        yield _left_to_user(talk, turn, turn.refused, said)
    elif said and not (place.admitted is not None and _objects(said, place)):
        for number, group in enumerate(grouped(said, place)[:_MOST]):
            yield _guidance(talk, turn, group, place, number == 0)
    elif (not turn.first or refuses) and place.on_files and (found := _mistake(talk, turn, place)) is not None:
        yield found


def _guidance(talk: Conversation, turn: Turn, said: list[Instruction], place: Place, leads: bool) -> Finding:
    cwd = talk.session.cwd
    wish = near_paths(joined(*(item.text for item in said[:_MOST]), limit=240), cwd)
    stated = all(item.stated for item in said)
    of_project = stated or _NAME.search(wish) is not None or " should be " in wish
    answer = _answer(talk, turn, place) if leads else None
    told = ""
    if points_at_model(wish) or (place.by_example and leads and brings_paste(turn)):
        told = _new(near_paths(_lesson(talk, turn), cwd), wish)
        wish = _from_model(wish)
        if told and (_POINTS.match(wish) or _LOOK.match(wish)):
            wish, told = told, ""
    elif answer is not None:
        told = _new(near_paths(remedy(answer.text) or _sure_fact(answer.text), cwd), wish)
    if not told and leads and place.rework is not None and stated and not _NAME.search(wish):
        told = in_words([place.rework], cwd)
    placed = _bent(talk, turn, wish) or _placed(talk, turn, place, wish)
    scope: InsightScope = "project" if of_project or placed != wish else "user"
    wish = placed
    text = joined(wish, told)
    reacts = place.refuses or place.resumes or place.redone
    firm = reacts or any(item.lasting or item.contrast for item in said)
    evidence = clipped(plain(turn.words), 200)
    detail: Detail = PreferenceInsight(wish, evidence)
    if told and bends_test(talk, turn):
        detail = FailureInsight(wish, told, "", [call_in_words(turn.refused, cwd)])
    elif not reacts and (any(item.noted for item in said) or (stated and place.admitted is not None)):
        detail = ContextInsight(text, 0.85)
    elif scope == "project":
        detail = DecisionInsight(wish, evidence, confirmed=True)
    return _finding(talk, detail, text, turn, answer, 0.85 if firm else 0.8, scope)


def _lesson(talk: Conversation, turn: Turn) -> str:
    """What an example is to teach: only how the agent understood it says so."""
    replies = [talk.events[p].text for p in talk.reply(turn.position)[:2]]
    heard = [plain(sentence) for text in replies for sentence in sentences(text)]
    meant = next((m[1] for sentence in heard if (m := _UNDERSTOOD.match(sentence))), "")
    shown = fact(beginning(replies[0], _ANSWER)) if replies and not brings_paste(turn) else ""
    return joined(shown, meant)


def _from_model(wish: str) -> str:
    """The wish from the part on that points at a model: what stands before it may be any other step."""
    parts = re.split(r"(?:, | and | but )(?=\w)", wish)
    start = next((part for part in parts if points_at_model(part)), wish)
    return capital(wish[wish.index(start) :])


def _objects(said: list[Instruction], place: Place) -> bool:
    """Whether the sentences only set a fact against what the agent took for true."""
    return not (place.refuses or place.answers) and all(i.stated and not i.lasting and not i.contrast for i in said)


def _answer(talk: Conversation, turn: Turn, place: Place) -> SessionEvent | None:
    """Where the agent grants what the person said, or says what it does about it."""
    if place.admitted is not None:
        return place.admitted
    first = next(iter(talk.reply(turn.position)), None)
    return talk.events[first] if first is not None and (place.refuses or place.redone) else None


def _placed(talk: Conversation, turn: Turn, place: Place, wish: str) -> str:
    """The wish with what it points at: the refused command, the file of the edit, the line that the person kept."""
    cwd, opens = talk.session.cwd, _POINTS.match(wish) is not None
    step = turn.refused
    if step is None and place.redone:
        worked = reversed(talk.steps_before(turn.position, _LOOKED_AT))
        step = next((before for before in worked if before.edits and before.succeeded), None)
    elif step is not None and step.edits:
        opens = opens or (not _NAME.search(wish) and _POINTS.search(wish) is not None)
    if step is None or not opens:
        return wish
    lowered = wish[:1].lower() + wish[1:]
    if not step.edits or not step.path:
        return f"Do not run {call_in_words(step, cwd)}: {lowered}" if step.command else wish
    where = code(near_paths(step.path, cwd))
    if re.match(r"(?:this|it|that) should\b", wish, flags=re.IGNORECASE):
        return re.sub(r"^\w+", lambda _: where, wish)
    if kept := kept_line(talk, turn):
        return f"Keep {code(near_paths(kept, cwd))} in {where}: {lowered}"
    return f"In {where}: {lowered}"


def _bent(talk: Conversation, turn: Turn, wish: str) -> str:
    if not bends_test(talk, turn) or turn.refused is None:
        return ""
    where = code(near_paths(turn.refused.path, talk.session.cwd))
    return joined(f"Do not change what {where} expects to make the test pass", wish)


def _new(told: str, known: str) -> str:
    """What the agent says, unless it only repeats what is already said."""
    about = stems(told)
    return "" if not about or len(about & stems(known)) >= _ECHO * len(about) else told


def _mistake(talk: Conversation, turn: Turn, place: Place) -> Finding | None:
    """What the person set against the agent's work or belief, with the truth as the agent then states it."""
    cwd, refuses = talk.session.cwd, turn.event.kind == "reject"
    # A question after which the agent takes its own work back says that the work was wrong.
    asked = place.redone and place.admitted is None and turn.words.rstrip().endswith("?")
    asked = asked and not _STILL.search(turn.words) and _settled(talk, turn)
    if approves(turn.words) or not (refuses or asked or place.admitted is not None):
        return None
    said = [item for sentence in sentences(turn.words) if (item := statement(sentence)) is not None]
    least = _LEAST_WORDS - refuses
    told = [i.text for i in said if len(stems(i.text)) >= least and not goes_on(i.text) and not _next_step(i.text)]
    objection = near_paths(joined(*told[:2], limit=160), cwd)
    answer = place.admitted
    if answer is None and (said_at := talk.reply(turn.position)[:1]):
        answer = talk.events[said_at[0]] if asked or (refuses and _otherwise(talk, turn)) else None
    truth = fix = ""
    if answer is not None:
        start = beginning(answer.text, _ANSWER)
        found = claim(start)
        sure = statements(start) if asked else []
        told_by = [s for s in sure if not _POINTS.match(s)] or sure or [found.text if found else fact(start)]
        truth = _new(near_paths(joined(*told_by[:2], limit=240), cwd), objection)
        fix = near_paths(remedy(answer.text), cwd)
    named = _NAME.search(objection) is not None
    granted = (place.at_once or asked) and truth != "" and "?" in turn.words
    if not (told or refuses or granted) or (tells_problem(turn.words) and not truth):
        return None
    if not refuses and (_SYMPTOM.search(objection) or not (truth or fix)):
        return None
    if not (truth or fix or named):
        return None
    text = joined(objection, truth, fix)
    detail: Detail = ContextInsight(text, 0.8)
    if refuses and truth:
        call = call_in_words(turn.refused, cwd)
        detail = FailureInsight(objection or truth, truth, fix, [call] if call else [])
    elif refuses:
        detail = PreferenceInsight(preference=objection or fix, evidence=clipped(plain(turn.words), 200))
    elif asked:
        detail = DecisionInsight(text, clipped(plain(turn.words), 200), confirmed=True)
    return _finding(talk, detail, text, turn, answer, 0.8, "project")


def _settled(talk: Conversation, turn: Turn) -> bool:
    """Whether the person let the work stand that followed a turn."""
    after = next((other for other in talk.turns if other.position > turn.position), None)
    if after is None or after.refused or is_report(after):
        return False
    return not (tells_problem(after.words) or _STILL.search(after.words))


def _next_step(sentence: str) -> bool:
    order = instruction(sentence)
    return order is not None and order.chore and not order.lasting and not order.contrast


def _otherwise(talk: Conversation, turn: Turn) -> bool:
    """Whether the agent, after a refused edit, changed the same file in another way."""
    if turn.refused is None or not turn.refused.edits:
        return False
    ahead = talk.steps_between(turn.position, talk.next_human(turn.position), 12)
    again = next((s for s in ahead if s.edits and s.succeeded and s.path == turn.refused.path), None)
    return again is not None and again.change[1] != turn.refused.change[1]


def _sure_fact(text: str) -> str:
    found = claim(beginning(text, _ANSWER))
    return found.text if found is not None and found.rank >= 2 else ""


def _left_to_user(talk: Conversation, turn: Turn, step: Step, said: list[Instruction]) -> Finding:
    reason = joined(*(item.text for item in said[:2]), limit=120) if said else "the user stops it to do this step"
    text = joined(f"Do not run {call_in_words(step, talk.session.cwd)} unasked: {reason[:1].lower()}{reason[1:]}")
    detail = PreferenceInsight(preference=text, evidence=clipped(plain(turn.words), 200))
    return _finding(talk, detail, text, turn, None, 0.8, "user")


def _no_silencing(talk: Conversation, turn: Turn, step: Step, place: Place) -> Finding:
    truth = _sure_fact(place.admitted.text) if place.admitted is not None else ""
    where = code(near_paths(step.path, talk.session.cwd))
    wish = joined(f"Do not silence the warning in {where}: re-read the code and remove its cause")
    detail = PreferenceInsight(preference=wish, evidence=clipped(plain(turn.words), 200))
    text = joined(wish, near_paths(truth, talk.session.cwd))
    return _finding(talk, detail, text, turn, place.admitted, 0.8, "user")


def _finding(
    talk: Conversation,
    detail: Detail,
    text: str,
    turn: Turn,
    answer: SessionEvent | None,
    confidence: float,
    scope: InsightScope,
) -> Finding:
    until = talk.next_human(turn.position)
    known_at = next((p for p in talk.reply(turn.position) if talk.events[p] is answer), turn.position)
    after = next((s for s in talk.steps_between(turn.position, until) if s.edits and s.succeeded), None)
    refused = turn.refused.call if turn.refused is not None else None
    sources = talk.sources([turn.event, answer, refused, after.call if after is not None else None])
    return Finding(Insight(detail, text, sources, confidence, scope, "explicit", "user"), known_at)
