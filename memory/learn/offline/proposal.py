"""What the agent offered with its price or against another way, and the person took."""

from __future__ import annotations

import re

from acemem.memory.learn.offline.confirmation import agrees, approves, goes_on
from acemem.memory.learn.offline.conversation import Conversation, Step, Turn
from acemem.memory.learn.offline.excerpt import beginning
from acemem.memory.learn.offline.instruction import statement
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
_READ = 3_000  # characters of what the agent said


def accepted(talk: Conversation, turn: Turn) -> tuple[str, SessionEvent, Step] | None:
    """The proposal that a turn accepts as an instruction, where the agent made it, and the work that followed."""
    before = talk.last_said(turn.position)
    if turn.first or before is None or len(turn.words) > 240 or turn.refused is not None:
        return None
    said = sentences(turn.words)
    if not any(agrees(s) or approves(s) for s in said) or not _WEIGHS.search(before.text[:_READ]):
        return None
    offers = [plain(s) for s in sentences(beginning(before.text, _READ)) if _OFFERS.search(plain(s))]
    offered = frozenset().union(*map(stems, offers))
    taken = [s for s in said if agrees(s) or (approves(s) and offered & stems(s))]
    if not offers or not taken:
        return None
    ahead = talk.steps_between(turn.position, talk.next_human(turn.position))
    work = next((step for step in ahead if step.edits and step.succeeded), None)
    if work is None:
        return None
    named = stems(turn.words)
    offer = max(reversed(offers), key=lambda s: len(named & stems(s)))
    more = [i.text for s in said if s not in taken and not goes_on(s) and (i := statement(s)) and len(stems(s)) > 1]
    text = joined(capital(_LEAD.sub("", offer)), *(more[:1]))
    return near_paths(text, talk.session.cwd), before, work
