"""Why something failed, as the agent told it last before what it did proved to be the cure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from acemem.memory.learn.offline.conversation import Conversation, Step
from acemem.memory.learn.offline.excerpt import beginning
from acemem.memory.learn.offline.explanation import boasts, claim, remedy
from acemem.memory.learn.offline.person import base_form
from acemem.memory.learn.offline.wording import capital, clipped, plain, sentences, stems
from acemem.memory.sessions.event import SessionEvent

_LONGEST = 190
_READ = 1_500  # characters of what the agent said
# The first person, and words that announce or guess, in the languages in which agents answer: closed classes of words.
_OWN_ACT = re.compile(
    r"^(?:(?:now|so|then|ok(?:ay)?|and|but|next|first|ja|dann|jetzt|ahora|alors|maintenant),? )*"
    r"(?:i\b|i[’']|let\b|we\b|running\b|checking\b|looking\b|trying\b|ich\b|wir\b|je\b|j[’']|nous\b|on va\b|voy\b"
    r"|vamos\b|vou\b|eu\b|io\b|ik\b|jag\b|jeg\b|teraz\b|я\b|мы\b)",
    re.IGNORECASE,
)
_AGREES = re.compile(
    r"^(?:yes|yep|right|true|correct|exactly|indeed|ja|genau|sí|oui|sim|tak)\b[,:.!]*\s*", re.IGNORECASE
)
_GUESS = re.compile(
    r"\?|:$|\b(?:perhaps|maybe|might|probably|possibly|could be|seems?|guess|suspect|unrelated|vielleicht"
    r"|wahrscheinlich|scheint|quiz[aá]s?|parece|probablemente|peut-être|semble|forse|sembra|talvez|może|возможно)\b",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(r"^(?:it|this|that|these|those|they)\b|\b(?:it|them)\b", re.IGNORECASE)
_MYSELF = re.compile(r"\b(?:I|me|my|ich|mein\w*)\b")
# "Switching to a lazy scan." announces like "I'll switch to a lazy scan." does.
_UNDER_WAY = re.compile(
    r"^(?!look|check|runn|try|test|read|verify|start|continu|wait|let|go|do|be|get|see|think|th|someth|noth)"
    r"(?!.*\b(?:is|are|was|were|has|have|does|makes?|needs?|fix(?:es)?|helps?|works?|gives?|will|would|should|can)\b)"
    r"([A-Za-z]{2,}ing (?=\w).{12,200}?)[.:]?$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_][\w.-]*[^\W_]")
_PART = re.compile(r"[^\W\d_]\w{3,}")
_CODE_LIKE = re.compile(r"[a-z][A-Z]|[A-Z]{2}|\w[_./]\w|\d")
_COMMON = frozenset(
    "error errors failed failure fails tests testing build running command file files output project source exit code"
    " expected found return returned should would could because before after again other where which there".split()
)


@dataclass(frozen=True, slots=True)
class Account:
    """What the agent said of a cause and of its cure; either may be empty. `told` is where."""

    why: str = ""
    rank: int = 0
    fix: str = ""
    told: SessionEvent | None = None


def account(
    talk: Conversation, positions: Iterable[int], about: str, strict: bool = False, demanded: str = ""
) -> Account:
    """The agent's account of a failure among what it said at `positions`; the last of the most telling counts.

    `about` is what is known of the matter without the agent: the error and what was changed. Where the account is
    strict, only what names something of it counts. What repeats what a person demanded explains nothing.
    """
    names = _names(about)
    asked = stems(demanded)
    best = Account()
    for position in positions:
        event = talk.events[position]
        why, rank = _cause(event.text, names, strict)
        fix = remedy(event.text) or _under_way(event.text)
        if rank and len(stems(why) & asked) * 2 >= len(stems(why)):
            rank = 0
        if rank > 1 or (rank and rank >= best.rank):
            best = Account(why, rank, fix or best.fix, event)
        elif fix:
            best = Account(best.why, best.rank, fix, best.told or event)
    return best


def stated(talk: Conversation, positions: list[int]) -> Account:
    """The last plain statement among what the agent said, where only its place tells that it is about the failure."""
    for position in reversed(positions):
        if why := _about(talk.events[position].text, None):
            return Account(why, 1, "", talk.events[position])
    return Account()


def aftermath(talk: Conversation, success: Step) -> tuple[int, list[int]] | None:
    """Where the agent spoke right after a success, and up to where that is known; None while the log ends there."""
    for position in range(success.ended + 1, len(talk.events)):
        event = talk.events[position]
        if event.kind in ("call", "human", "reject", "plan", "answer", "interrupt"):
            return position, []
        if event.kind == "assistant" and event.text.strip():
            return position, [position]
    return None


def _cause(text: str, names: frozenset[str], strict: bool) -> tuple[str, int]:
    found = claim(text)
    why = _impersonal(found.text) if found is not None else ""
    if found is not None and why and found.rank > 1 and (not strict or _shares(why, names)):
        return _with_context(text, why), found.rank
    if told := _about(text, names):
        return told, 2
    return (why, found.rank) if found is not None and why and not strict else ("", 0)


def _under_way(text: str) -> str:
    """What the agent says that it is doing, as an instruction."""
    found = (_UNDER_WAY.match(plain(sentence)) for sentence in sentences(beginning(text, _READ)))
    return next((capital(base_form(match[1])) for match in found if match), "")


def _with_context(text: str, why: str) -> str:
    """A sentence that points to the one before it, together with that one."""
    said = list(map(plain, sentences(beginning(text, _READ))))
    place = said.index(why) if why in said else 0
    if (
        not place
        or not _POINTS_BACK.search(why)
        or _is_own(said[place - 1])
        or len(said[place - 1]) + len(why) > _LONGEST
    ):
        return why
    return f"{said[place - 1]} {why}"


def _is_own(sentence: str) -> bool:
    """Whether a sentence tells what the agent does, guesses or is proud of, and not how things are."""
    return (
        bool(_OWN_ACT.match(sentence) or _UNDER_WAY.match(sentence) or _GUESS.search(sentence))
        or boasts(sentence)
        or sentence.count(" ") < 3
    )


def _impersonal(sentence: str) -> str:
    """A sentence without its clauses about the agent itself; empty if little remains."""
    if not _MYSELF.search(sentence):
        return sentence
    kept = [clause for clause in re.split(r"(?<=[:;,—–]) | - ", sentence) if not _MYSELF.search(clause)]
    told = " ".join(kept).strip(" :;,—–-")
    return capital(told) if len(told) > 18 else ""


def _about(text: str, names: frozenset[str] | None) -> str:
    """The statements of a text from the first one that names what the failure is about to the first announcement."""
    told = ""
    for sentence in (_AGREES.sub("", plain(said)) for said in sentences(beginning(text, _READ))):
        if _is_own(sentence):
            if told:
                break
            continue
        if not told and names is not None and not _shares(sentence, names):
            continue
        if told and len(told) + len(sentence) > _LONGEST:
            break
        told = f"{told} {sentence}".strip()
    return clipped(capital(told), _LONGEST)


def _shares(sentence: str, names: frozenset[str]) -> bool:
    shared = [word for word in _words(sentence) if word.lower() in names]
    return any(map(_CODE_LIKE.search, shared)) or len({word.lower() for word in shared}) > 1


def _words(text: str) -> list[str]:
    return _WORD.findall(text) + _PART.findall(text)


def _names(about: str) -> frozenset[str]:
    return frozenset(
        word.lower()
        for word in _words(about[:6_000])
        if (len(word) > 4 and word.lower() not in _COMMON) or _CODE_LIKE.search(word)
    )
