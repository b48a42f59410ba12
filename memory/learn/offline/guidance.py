"""Which sentences of a turn guide the work beyond the next step, and which of them belong together."""

from __future__ import annotations

import re
from dataclasses import replace

from acemem.memory.learn.offline.confirmation import approves, goes_on, solved
from acemem.memory.learn.offline.conversation import Conversation, Turn
from acemem.memory.learn.offline.excerpt import ending
from acemem.memory.learn.offline.facts import states_fact
from acemem.memory.learn.offline.instruction import Instruction, instruction, is_tweak, statement, unfilled
from acemem.memory.learn.offline.language import is_foreign
from acemem.memory.learn.offline.moment import moves_on
from acemem.memory.learn.offline.place import Place, points_at_model
from acemem.memory.learn.offline.reports import brings_paste, is_report, tells_problem
from acemem.memory.learn.offline.wording import reports_speech, sentences, stems

_DEPENDS = re.compile(
    r"^(?:(?:that|this|it|they|these|those)(?:'\w+\b| (?:is|are|was|were|will|would|should|can|could|has|have|does|do"
    r"|makes?|looks?|works?)\b)|which\b|or\b|so\b|because\b|das\b|eso\b|esto\b)",
    re.IGNORECASE,
)
_PROPOSES = re.compile(
    r"(?:want me to|shall i|should i|would you like me to|do you want me to|ready to|may i) ((?:(?:go ahead"
    r"|proceed) and )?[a-z]+(?: (?:this|that|it|them|these changes|the changes|[\w`./-]+)){0,3})",
    re.IGNORECASE,
)
_OF_THEMSELVES = re.compile(r"^the user\b(?!')|^we(?:'ve| have| had)\b", re.IGNORECASE)
_OWN_ACT = re.compile(r"i(?:'|’)ll\b|i will\b|i(?:'|’)m going to\b|let me\b", re.IGNORECASE)  # of the person
_ELSEWHERE = re.compile(r"\b(?:there|those|them)\b(?! (?:is|are|was|were)\b)", re.IGNORECASE)
# "Anna says we should ...": somebody else's wish, unless the person lets it count.
_HANDS_ON = re.compile(
    r"(?!i\b|we\b|you\b)(?:[\w'-]+ ){1,3}(?:says?|said|writes?|wrote|claims?|thinks?|asks?|asked"
    r"|suggests?|told (?:me|us))\b",
    re.IGNORECASE,
)
_PRAISES = re.compile(r"\b(?:great|good|fine|nice|cool|ok(?:ay)?)$", re.IGNORECASE)
_SYMPTOM = re.compile(
    r"^(?:it|that|this)\b[^,]*\b(?:still|again)\b"
    r"|[\"“„«](?=[^\"“„«”]*\b(?:error|exception|not|undefined|failed|cannot)\b)|\bthe (?:issue|problem|bug) is\b"
    r"|\b(?:looks?|seems?|feels?|is|are) (?:\w+ ){0,2}(?:odd|off|weird|strange|broken|missing|empty|blank|black|down"
    r"|slow)\b",
    re.IGNORECASE,
)
_MEANT = re.compile(r"\bnot (?:what|how) (?:the user|we)\b", re.IGNORECASE)  # which says only that it is wrong
_ANNOUNCES = re.compile(
    r"^(?:\w+ )?(?:\w+ )?(?:things?|points?|notes?|comments?|questions?|feedback|sachen|dinge|punkte|cosas|choses"
    r"|cose|coisas|rzeczy|uwagi)\b(?: \w+)?\W*$",
    re.IGNORECASE,
)
_POINTS_AT = re.compile(r"\b(?:this|these|like|following|below|such|example|sample)\b", re.IGNORECASE)
_IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_VERDICT = 80  # characters of a sentence that only says how the work came out
_LEAST_WORDS = 3  # content words of a sentence that says something by itself
_ANSWER_WORDS = 5  # spaces in an answer from which it says more than yes
_REASONED = 24  # characters of an order that is more than "commit" or "run the tests"


def guiding(talk: Conversation, turn: Turn, place: Place) -> list[Instruction]:
    """The sentences of a turn that say how to work or how things are to be."""
    before = talk.last_said(turn.position)
    proposal = _PROPOSES.search(ending(before.text, 300)) if before is not None else None
    referent = proposal[1] if proposal else ""
    kept: list[Instruction] = []
    foreign = is_foreign(turn.words)
    warned = False  # "Careful there." says that what follows is to be kept in mind
    for sentence in sentences(turn.words):
        if (foreign and moves_on(sentence)) or reports_speech(sentence):
            continue
        if _HANDS_ON.match(sentence) and not (place.reacts(turn) or place.heeded):
            continue
        if _OWN_ACT.match(unfilled(sentence)) and not place.refuses:
            continue
        item = instruction(sentence, referent, foreign)
        if item is not None:
            if _counts(item, turn, place):
                kept.append(item)
        elif place.on_files and (item := statement(sentence, foreign)) is not None:
            if warned and not item.passing:
                item = replace(item, lasting=True)
            if _states(item, turn, place):
                kept.append(item)
            warned = warned or (item.noted and _weight(item.text) < _LEAST_WORDS)
    return kept


def _counts(item: Instruction, turn: Turn, place: Place) -> bool:
    """Whether an instruction says how to work, and not only what to do next."""
    if item.passing or (item.asked and not (place.reacts(turn) or place.followed)):
        return False
    if place.refuses:
        return not item.chore or item.lasting or item.contrast or len(item.text) > _REASONED
    if is_tweak(item):
        return False
    if turn.first:
        return _reminds(item, place) or (item.lasting and not item.contrast and not item.chore)
    if (
        item.lasting
        or (item.contrast and (not item.chore or place.reacts(turn) or place.answers or place.heeded))
        or _reminds(item, place)
        or ((item.reasoned or (item.forbids and place.heeded)) and not item.chore)
        or (place.by_example and (_POINTS_AT.search(item.text) or points_at_model(item.text)))
    ):
        return True
    return (not item.chore or (item.reasoned and place.at_once)) and (place.reacts(turn) or place.answers)


def _reminds(item: Instruction, place: Place) -> bool:
    """Whether something is said to be kept in mind, and is more than an aside: with why, or the agent takes it up."""
    return item.noted and (item.lasting or item.reasoned or place.heeded)


def _states(item: Instruction, turn: Turn, place: Place) -> bool:
    """Whether a sentence that commands nothing says by its place in the dialogue how things are to be."""
    bare = item.text.rstrip(".!")
    reacts = place.redone or place.refuses or place.resumes
    least = _LEAST_WORDS - reacts
    if turn.first and not place.refuses and not _reminds(item, place):
        return False
    if item.passing or goes_on(bare) or _weight(bare) < least or _PRAISES.search(bare):
        return False
    if len(bare) <= _VERDICT and (approves(bare) or solved(bare)):
        return False
    if tells_problem(bare) or _SYMPTOM.search(bare) or _ANNOUNCES.match(bare):
        return False
    if is_tweak(item) or _MEANT.search(bare):
        return False
    if bare.lower().startswith(("you ", "you'")) and not (item.lasting or item.contrast):
        return False  # a reproach, of no use to who was not there
    if brings_paste(turn) and not (place.refuses or item.lasting or item.contrast):
        return False  # it introduces what was pasted
    if reacts:
        return True
    if not place.answers and (is_report(turn) or place.admitted is not None):
        return False  # a problem, or a fact set against the agent's
    if item.lasting or item.contrast or _reminds(item, place):
        return True
    if states_fact(bare) or _OF_THEMSELVES.search(bare):
        return False
    if place.heeded and (_DEPENDS.match(bare) or _ELSEWHERE.search(bare)):
        return False
    if place.heeded or (place.by_example and points_at_model(bare)):
        return True
    return place.answers and bare.count(" ") >= _ANSWER_WORDS


def grouped(said: list[Instruction], place: Place) -> list[list[Instruction]]:
    """The sentences by what they are about.

    One that leans on those before, or shares a word with them, joins them; and what a person says against a piece
    of work is one thing, unless they say that there is more.
    """
    groups: list[list[Instruction]] = []
    together = place.refuses or place.resumes or place.redone
    for item in said:
        about = stems(item.text)
        leans = _DEPENDS.match(item.text) or _weight(item.text) < _LEAST_WORDS
        joins = together or item.stated or about & _words_of(groups[-1]) if groups else False
        if groups and (leans or (joins and not item.adds)):
            groups[-1].append(item)
        elif not _DEPENDS.match(item.text) or not item.stated or together:
            groups.append([item])
    return groups


def _weight(text: str) -> int:
    """How many content words a text has; scripts without blanks are counted by their length."""
    return max(len(stems(text)), len(_IDEOGRAPHS.findall(text)) // 2)


def _words_of(group: list[Instruction]) -> frozenset[str]:
    return frozenset().union(*(stems(item.text) for item in group))
