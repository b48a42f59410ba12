"""What the agent offered with its price or against another way, and the person took."""

from __future__ import annotations

import re

from acemem.memory.learn.offline.confirmation import agrees, approves, goes_on
from acemem.memory.learn.offline.conversation import Conversation, Step, Turn
from acemem.memory.learn.offline.excerpt import beginning, ending
from acemem.memory.learn.offline.explanation import statements
from acemem.memory.learn.offline.instruction import statement, unfilled
from acemem.memory.learn.offline.moment import passes
from acemem.memory.learn.offline.person import from_user
from acemem.memory.learn.offline.wording import capital, joined, near_paths, plain, sentences, stems
from acemem.memory.sessions.event import SessionEvent

# A step that is only announced ("shall I commit?") has no price and no alternative; a proposal is put as a condition.
_OFFERS = re.compile(
    r"\b(?:i(?:'d| would| could| might| suggest| propose| recommend)|we(?:'d| would| could| might)"
    r"|alternatively)\b|\balternative:"
    r"|\bich (?:würde|könnte|schlage)|\bwir könnten\b|\bje (?:ferais|pourrais|propose)|\bon pourrait\b"
    r"|\b(?:haría|podría|podríamos|propongo|sugiero|faria|poderia|proponho|sugiro|farei|potrei|propongo|proponuję)\b",
    re.IGNORECASE,
)
_WEIGHS = re.compile(
    r"\b(?:instead|rather|alternatives?|alternatively|altogether|unusual|trade-?offs?|downsides?|slower|costs?|but|risk"
    r"|although|however|simpler|aber|allerdings|statt|dafür|langsamer|pero|aunque|en vez|mais|plutôt|au lieu|mas|porém"
    r"|ma|invece|ale|zamiast)\b",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:[^:,;]{0,40}[:,;] )?(?:i(?:'d| would| could| might| suggest| propose| recommend)|we(?:'d| could| might))"
    r" (?:rather |to |that we |also )*(?=\w)|^(?:an? |one |the )?(?:[\w-]+ ){0,2}alternatives?(?: is| would be)?"
    r"(?: to)?:? ",
    re.IGNORECASE,
)
# "Put that in": what the agent told as an answer is taken.
_TAKES = re.compile(
    r"(?:(?:ok(?:ay)?|yes|good|great|nice|right|then|please)[,.]? )*(?:put|add|use|take|do|build|go with)"
    r" (?:that|this|it)\b.{0,12}$",
    re.IGNORECASE,
)
_EITHER = re.compile(r",? (?:or|oder|ou|o|czy|albo|или) ", re.IGNORECASE)
_OPEN = re.compile(
    r"(?:(?:and|so|also|one question|question)[,:]? )?(?:which|what|where|how|who|when|welche\w*|was|wo|wohin|wie|wer"
    r"|qué|cuál\w*|dónde|cómo|quel\w*|que|où|comment|jak\w*|gdzie|какой|где|как)\b",
    re.IGNORECASE,
)
_SAYS_IT = 3  # content words of a question that says what it is about
_QUESTION = 400  # characters at the end of what the agent says
_FEW_WORDS = 5  # blanks in an answer that only names a way
_READ = 3_000  # characters of what the agent said


def accepted(talk: Conversation, turn: Turn) -> tuple[str, SessionEvent, Step] | None:
    """The proposal that a turn accepts as an instruction, where the agent made it, and the work that followed."""
    before = talk.last_said(turn.position)
    if turn.first or before is None or len(turn.words) > 240 or turn.refused is not None:
        return None
    if _TAKES.match(turn.words) and _asked_before(talk, turn):
        told = statements(beginning(before.text, _READ))[-1:]
        work = _work_after(talk, turn)
        return (near_paths(told[0], talk.session.cwd), before, work) if told and work is not None else None
    said = sentences(turn.words)
    if not any(agrees(s) or approves(s) for s in said) or not _WEIGHS.search(before.text[:_READ]):
        return None
    offers = [plain(s) for s in sentences(beginning(before.text, _READ)) if _OFFERS.search(plain(s))]
    offered = frozenset().union(*map(stems, offers))
    taken = [s for s in said if agrees(s) or (approves(s) and offered & stems(s))]
    if not offers or not taken:
        return None
    work = _work_after(talk, turn)
    if work is None:
        return None
    named = stems(turn.words)
    offer = max(reversed(offers), key=lambda s: len(named & stems(s)))
    more = [i.text for s in said if s not in taken and not goes_on(s) and (i := statement(s)) and len(stems(s)) > 1]
    text = joined(capital(_LEAD.sub("", offer)), *(more[:1]))
    return near_paths(text, talk.session.cwd), before, work


def _asked_before(talk: Conversation, turn: Turn) -> bool:
    """Whether the person's turn before was a question, so that what lies between answers it."""
    earlier = [other for other in talk.turns if other.position < turn.position]
    return bool(earlier) and "?" in earlier[-1].words


def _work_after(talk: Conversation, turn: Turn) -> Step | None:
    ahead = talk.steps_between(turn.position, talk.next_human(turn.position))
    return next((step for step in ahead if step.edits and step.succeeded), None)


def picked(talk: Conversation, turn: Turn) -> tuple[str, str, SessionEvent, Step] | None:
    """The agent's question, the words that answer it, where it was asked, and the work that followed.

    Of two ways a few words name one; what answers an open question counts with its reason.
    """
    before = talk.last_said(turn.position)
    said = sentences(turn.words)[:3]
    if turn.first or turn.refused is not None or before is None or not said or not talk.waits(turn.position):
        return None
    if not before.text.rstrip().endswith("?"):
        return None
    question, answer = plain(sentences(ending(before.text, _QUESTION))[-1]), unfilled(said[0])
    if len(stems(question)) < _SAYS_IT or not answer or passes(answer):
        return None
    if said[-1].endswith("?") or any(does(said[0]) for does in (agrees, approves, goes_on)):
        return None
    sides = [stems(side) & stems(answer) for side in _EITHER.split(question)]
    if len(sides) > 1:
        named = answer.count(" ") <= _FEW_WORDS and any(sides) and not all(sides)
    else:
        stated = statement(said[0])
        reasoned = len(said) > 1 or (stated is not None and stated.reasoned)
        named = _OPEN.match(question) is not None and reasoned
    ahead = talk.steps_between(turn.position, talk.next_human(turn.position))
    work = next((step for step in ahead if step.edits and step.succeeded), None)
    return (
        (question, joined(from_user(answer), *map(from_user, said[1:])), before, work)
        if named and work is not None
        else None
    )
