"""What a person corrects or wishes, told by where they say it: in a refusal, an interruption, an answer, before a redo.

A sentence counts when its form says that it lasts, or when its place in the dialogue shows that it changes the work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from acemem.memory.insight import (
    ContextInsight,
    DecisionInsight,
    FailureInsight,
    Insight,
    InsightScope,
    PreferenceInsight,
)
from acemem.memory.learn.offline import command as shell
from acemem.memory.learn.offline.confirmation import approves, goes_on, solved
from acemem.memory.learn.offline.conversation import Conversation, Finding, Step, Turn
from acemem.memory.learn.offline.explanation import claim, concedes, fact, remedy
from acemem.memory.learn.offline.facts import states_fact
from acemem.memory.learn.offline.instruction import Instruction, instruction, statement
from acemem.memory.learn.offline.noise import silences_check
from acemem.memory.learn.offline.outcomes import is_check
from acemem.memory.learn.offline.reports import brings_paste, is_report, tells_problem
from acemem.memory.learn.offline.wording import clipped, code, joined, near_paths, plain, sentences, stems
from acemem.memory.sessions.event import SessionEvent

_DENIES = re.compile(
    r"\b(?:not|none|never|nothing|nobody|no(?= \w)|isn't|aren't|doesn't|don't|didn't|wrong|nicht|kein\w*"
    r"|ningun\w*|pas)\b",
    re.IGNORECASE,
)
_DEPENDS = re.compile(
    r"^(?:(?:that|this|it|they|these|those)(?:'\w+\b| (?:is|are|was|were|will|would|should|can|could|has|have|does|do"
    r"|makes?|looks?|works?)\b)|which\b|and\b|or\b|so\b|because\b|das\b|eso\b|esto\b)",
    re.IGNORECASE,
)
_POINTLESS = re.compile(rf"{_DEPENDS.pattern}|^you\b", re.IGNORECASE)  # of no use to who was not there
_TEST_FILE = re.compile(r"(?:^|[/\\._-])(?:tests?|specs?|expected|snapshots?)(?:$|[/\\._-])", re.IGNORECASE)
_POINTS = re.compile(r"\b(?:here|there|this|that|it|these|those|hier|aquí|esto|ici)\b", re.IGNORECASE)
_NAME = re.compile(
    r"[\w.~-]*[/\\][\w./\\-]+|`[^`]+`|\b[\w-]+\.(?=[a-z])\w{1,10}\b|\b\w*[a-z][A-Z]\w*|\b\w+_\w+\b|\w+:\w+|--?\w[\w-]+"
)
_SYMPTOM = re.compile(r"\b(?:still|showing)\b|\?\W*$", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_][\w.-]{2,}")
_PROPOSES = re.compile(
    r"(?:want me to|shall i|should i|would you like me to|do you want me to|ready to|may i) ((?:(?:go ahead"
    r"|proceed) and )?[a-z]+(?: (?:this|that|it|them|these changes|the changes|[\w`./-]+)){0,3})",
    re.IGNORECASE,
)
_UNDERSTOOD = re.compile(r"i(?:'|’)?ll (.{20,200})$", re.IGNORECASE)
_OF_THEMSELVES = re.compile(r"\bthe user\b|^we(?:'ve| have| had)\b", re.IGNORECASE)
_PRAISES = re.compile(r"\b(?:great|good|fine|nice|cool|ok(?:ay)?)$", re.IGNORECASE)
_LONGEST_WORDS = 600
_MOST = 3  # insights of one turn
_LEAST_WORDS = 3  # content words of a sentence that says something by itself
_ANSWER_WORDS = 5  # spaces in an answer from which it says more than yes
_FEW = 60  # characters of words that only stop the agent
_LOOKED_AT = 12  # steps before and after a turn in which the work may have turned round


@dataclass(frozen=True, slots=True)
class _Place:
    """What the dialogue around a turn shows, whatever its words."""

    admitted: SessionEvent | None  # where the agent says that the person is right
    redone: bool  # after the turn the agent dropped something that the person named
    answers: bool  # the agent had asked
    by_example: bool  # a pasted sample shows how it is to be

    def reacts(self, turn: Turn) -> bool:
        """Whether the turn changes what the agent was about to do or had done."""
        return turn.refused is not None or self.admitted is not None or turn.interrupts or self.redone


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
    place = _place(talk, turn)
    wanted = _wanted(talk, turn, place)
    if not wanted and brings_paste(turn) and is_report(turn):
        return
    if turn.refused is not None and silences_check(*turn.refused.change) and not any(w.lasting for w in wanted):
        yield _no_silencing(talk, turn, turn.refused, place.admitted)
    elif _takes_over(talk, turn, wanted):
        assert turn.refused is not None
        yield _left_to_user(talk, turn, turn.refused)
    elif wanted:
        for number, group in enumerate(_grouped(wanted)[:_MOST]):
            yield _preference(talk, turn, group, place if number == 0 else replace(place, admitted=None))
    elif (
        (not turn.first or refuses) and _about_files(talk, turn) and (found := _mistake(talk, turn, place)) is not None
    ):
        yield found


def _place(talk: Conversation, turn: Turn) -> _Place:
    reply = talk.reply(turn.position)
    admitted = next((talk.events[p] for p in reply[:3] if concedes(talk.events[p].text)), None)
    before = talk.last_said(turn.position)
    asked = before is not None and "?" in before.text[-300:]
    example = brings_paste(turn) and turn.words.rstrip().endswith(":") and not tells_problem(turn.words)
    asked = asked and not turn.first and turn.refused is None
    return _Place(admitted, not turn.first and _redone(talk, turn), asked, example)


def _about_files(talk: Conversation, turn: Turn) -> bool:
    """Whether the talk is about work on files: the answers of a customer to a clerk decide nothing."""
    return bool(talk.session.cwd) or any(s.command or s.path for s in talk.steps_before(turn.position, _LOOKED_AT))


def _redone(talk: Conversation, turn: Turn) -> bool:
    """Whether the work that followed dropped something that the person named and the agent had put there."""
    named = {word.strip(".").lower() for word in _WORD.findall(turn.words)}
    ahead = talk.steps_between(turn.position, talk.next_human(turn.position), _LOOKED_AT)
    after = [step.change for step in ahead if step.edits and step.succeeded]
    gone = named & (_tokens(" ".join(old for old, _ in after)) - _tokens(" ".join(new for _, new in after)))
    if any(_NAME.fullmatch(name) for name in gone):
        return True
    if not gone:
        return False
    before = (step.change[1] for step in talk.steps_before(turn.position, _LOOKED_AT) if step.edits)
    return bool(gone & _tokens(" ".join(before))) or _DENIES.search(turn.words) is not None


def _tokens(text: str) -> set[str]:
    return {word.strip(".").lower() for word in _WORD.findall(text[:20_000])}


def _wanted(talk: Conversation, turn: Turn, place: _Place) -> list[Instruction]:
    """The sentences of a turn that say how to work or how things are to be."""
    before = talk.last_said(turn.position)
    proposal = _PROPOSES.search(before.text[-300:]) if before is not None else None
    referent = proposal[1] if proposal else ""
    kept: list[Instruction] = []
    for sentence in sentences(turn.words):
        item = instruction(sentence, referent)
        if item is not None:
            if _counts(item, turn, place):
                kept.append(item)
        elif _about_files(talk, turn) and (item := statement(sentence)) is not None and _states(item, turn, place):
            kept.append(item)
    return kept


def _counts(item: Instruction, turn: Turn, place: _Place) -> bool:
    """Whether an instruction says how to work, and not only what to do next."""
    if turn.event.kind == "reject":
        return not item.chore or item.lasting or item.contrast or len(item.text) > 24
    if turn.first:
        return item.lasting and not item.contrast and not item.chore
    if item.lasting or item.contrast or place.by_example or place.redone:
        return True
    return not item.chore and (place.reacts(turn) or place.answers)


def _states(item: Instruction, turn: Turn, place: _Place) -> bool:
    """Whether a sentence that commands nothing says by its place in the dialogue how things are to be."""
    bare = item.text.rstrip(".!")
    if turn.first or goes_on(bare) or approves(bare) or solved(bare) or len(stems(bare)) < _LEAST_WORDS - place.redone:
        return False
    if _PRAISES.search(bare):
        return False
    if place.redone or (turn.event.kind == "reject" and (item.lasting or item.contrast)):
        return True
    if is_report(turn) or (place.admitted is not None and not place.answers):
        return False  # a problem, or a fact set against the agent's
    if item.lasting or item.contrast:
        return True
    if states_fact(bare) or _OF_THEMSELVES.search(bare):
        return False
    return place.answers and bare.count(" ") >= _ANSWER_WORDS


def _grouped(wanted: list[Instruction]) -> list[list[Instruction]]:
    """The sentences by what they are about: one that leans on those before, or shares a word with them, joins them."""
    groups: list[list[Instruction]] = []
    for item in wanted:
        about = stems(item.text)
        if groups and (_DEPENDS.match(item.text) or len(about) < _LEAST_WORDS or about & _words_of(groups[-1])):
            groups[-1].append(item)
        elif not _DEPENDS.match(item.text) or not item.stated:
            groups.append([item])
    return groups


def _words_of(group: list[Instruction]) -> frozenset[str]:
    return frozenset().union(*(stems(item.text) for item in group))


def _preference(talk: Conversation, turn: Turn, wanted: list[Instruction], place: _Place) -> Finding:
    cwd = talk.session.cwd
    wish = joined(*(item.text for item in wanted[:_MOST]), limit=240)
    if turn.refused is not None and turn.refused.path:
        wish = re.sub(r"^(?:this|it|that) should\b", f"{code(turn.refused.path)} should", wish, flags=re.IGNORECASE)
    told = ""
    if place.admitted is not None:
        told = remedy(place.admitted.text) or _sure_fact(place.admitted.text)
    elif place.by_example:
        # What the example is to teach stands only in how the agent understood it.
        said = [s for p in talk.reply(turn.position)[:2] for s in sentences(talk.events[p].text)]
        told = next((m[1] for s in said if (m := _UNDERSTOOD.match(plain(s)))), "")
    text = joined(near_paths(wish, cwd), near_paths(told, cwd))
    firm = turn.event.kind == "reject" or any(item.lasting or item.contrast for item in wanted)
    evidence = clipped(plain(turn.words), 200)
    scope: InsightScope = "project" if _NAME.search(wish) or " should be " in wish else "user"
    detail: PreferenceInsight | DecisionInsight | ContextInsight = PreferenceInsight(wish, evidence)
    if place.answers and not place.redone and all(item.stated and not item.lasting for item in wanted):
        # Granted before any work it says how things are to be, later how they are.
        worked = any(step.edits for step in talk.steps_before(turn.position, _LOOKED_AT))
        if worked and place.admitted is not None:
            detail, scope = ContextInsight(text, 0.8), "project"
        elif not any(item.contrast for item in wanted):
            detail, scope = DecisionInsight(wish, evidence, confirmed=True), "project"
    return _finding(talk, detail, text, turn, place.admitted, 0.85 if firm else 0.8, scope)


def _mistake(talk: Conversation, turn: Turn, place: _Place) -> Finding | None:
    """What the person set against the agent's work or belief, with the truth as the agent then states it."""
    cwd, refuses = talk.session.cwd, turn.event.kind == "reject"
    if approves(turn.words) or not (refuses or place.admitted is not None or _contradicts(turn.words)):
        return None
    said = [item for sentence in sentences(turn.words) if (item := statement(sentence)) is not None]
    least = _LEAST_WORDS - refuses
    told = [i.text for i in said if len(stems(i.text)) >= least and not goes_on(i.text) and not _next_step(i.text)]
    objection = near_paths(joined(*told[:2], limit=160), cwd)
    answer = place.admitted
    if answer is None and refuses and (said_at := talk.reply(turn.position)[:1]):
        answer = talk.events[said_at[0]] if _otherwise(talk, turn) else None
    truth = fix = ""
    if answer is not None:
        found = claim(answer.text[:700])
        truth = near_paths(found.text if found else fact(answer.text[:700]), cwd)
        fix = near_paths(remedy(answer.text), cwd)
    if truth and len(stems(truth) & stems(objection)) >= 0.6 * len(stems(truth)):
        truth = ""  # the agent only repeats the objection
    named = _NAME.search(objection) is not None
    if (not told and not refuses) or (tells_problem(turn.words) and not truth):
        return None
    if not refuses and _SYMPTOM.search(objection):
        return None
    if not (truth or fix or (objection and (named or (refuses and not _POINTLESS.match(objection))))):
        return None
    where = code(near_paths(turn.refused.path, cwd)) if turn.refused is not None and turn.refused.path else ""
    if refuses and not where and not named and not truth and not fix and len(turn.words) <= _FEW:
        return None  # words that only stop a command
    if _bends_test(talk, turn):
        objection = joined(f"Do not change what {where} expects to make the test pass", objection)
    elif where and not named and not truth and not fix and _POINTS.search(objection):
        objection = f"In {where}: {objection[:1].lower()}{objection[1:]}"
    text = joined(objection, truth, fix)
    detail: FailureInsight | PreferenceInsight | ContextInsight = ContextInsight(fact=text, confidence=0.8)
    if refuses and truth:
        call = _call_in_words(turn.refused)
        detail = FailureInsight(objection or truth, truth, fix, [call] if call else [])
    elif refuses:
        detail = PreferenceInsight(preference=objection or fix, evidence=clipped(plain(turn.words), 200))
    return _finding(talk, detail, text, turn, answer, 0.8, "project")


def _bends_test(talk: Conversation, turn: Turn) -> bool:
    """Whether the person refused an edit of a test that the agent began right after a check had failed."""
    step = turn.refused
    if step is None or not step.edits or not _TEST_FILE.search(step.path):
        return False
    checks = [s for s in talk.steps_before(step.called, _LOOKED_AT) if s.command and is_check(s.command)]
    return bool(checks) and checks[-1].failed


def _next_step(sentence: str) -> bool:
    order = instruction(sentence)
    return order is not None and order.chore and not order.lasting and not order.contrast


def _contradicts(words: str) -> bool:
    """Whether short words set a fact against what the agent took for true, with a name in them."""
    if len(words) > 240 or not _NAME.search(words) or _SYMPTOM.search(words):
        return False
    return _DENIES.search(words) is not None


def _otherwise(talk: Conversation, turn: Turn) -> bool:
    """Whether the agent, after a refused edit, changed the same file in another way."""
    if turn.refused is None or not turn.refused.edits:
        return False
    ahead = talk.steps_between(turn.position, talk.next_human(turn.position), _LOOKED_AT)
    again = next((s for s in ahead if s.edits and s.succeeded and s.path == turn.refused.path), None)
    return again is not None and again.change[1] != turn.refused.change[1]


def _sure_fact(text: str) -> str:
    found = claim(text)
    return found.text if found is not None and found.rank >= 2 else ""


def _takes_over(talk: Conversation, turn: Turn, wanted: list[Instruction]) -> bool:
    """Whether the person refused a command in a few words after which the agent did nothing until they came back."""
    step = turn.refused
    if step is None or not step.command or len(turn.words) > _FEW or "?" in turn.words or _NAME.search(turn.words):
        return False
    until = talk.next_human(turn.position)
    idle = until < len(talk.events) and not talk.steps_between(turn.position, until)
    return idle and all(item.stated for item in wanted)


def _left_to_user(talk: Conversation, turn: Turn, step: Step) -> Finding:
    what = near_paths(_call_in_words(step), talk.session.cwd)
    text = joined(f"Do not run {what} unasked: the user stops it to do this step")
    detail = PreferenceInsight(preference=text, evidence=clipped(plain(turn.words), 200))
    return _finding(talk, detail, text, turn, None, 0.8, "user")


def _no_silencing(talk: Conversation, turn: Turn, step: Step, admitted: SessionEvent | None) -> Finding:
    truth = _sure_fact(admitted.text) if admitted is not None else ""
    where = code(near_paths(step.path, talk.session.cwd))
    wish = joined(f"Do not silence the warning in {where}: re-read the code and remove its cause")
    detail = PreferenceInsight(preference=wish, evidence=clipped(plain(turn.words), 200))
    text = joined(wish, near_paths(truth, talk.session.cwd))
    return _finding(talk, detail, text, turn, admitted, 0.8, "user")


def _call_in_words(step: Step | None) -> str:
    if step is None:
        return ""
    if step.command:
        return code(clipped(shell.shown(step.command), 120))
    return f"{step.event.tool or 'the tool'} {step.path}".strip()


def _finding(
    talk: Conversation,
    detail: PreferenceInsight | FailureInsight | DecisionInsight | ContextInsight,
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
