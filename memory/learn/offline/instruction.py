"""What a person asks for, turned from a wish, a question or a complaint into an instruction."""

from __future__ import annotations

import re
from dataclasses import dataclass

from acemem.memory.learn.offline.language import foreign_language
from acemem.memory.learn.offline.person import from_user
from acemem.memory.learn.offline.phrasing import is_standing, phrased
from acemem.memory.learn.offline.wording import capital, ended, plain

_FILLER = re.compile(
    r"^(?:(?:ok(?:ay)?|alright|right|hm+|uh+|um+|a+h+|oh|so|well|great|good|nice|perfect|cool|awesome|thanks|thank you"
    r"|sorry|hey|hi|also|and|but|now|then|just|actually|please|pls|plz|nope|nah|yes|yeah|yep|yup|wait|hold on"
    r"|really|huh|wow"
    # A bare "no" may belong to a noun ("no mocks"); with a comma or before a clause it is an answer.
    r"|no(?=\s*[,.!;:—–-]|\s+(?:i|we|you|it|that|this|use|don't|dont|do|not|just|the|please|wait|let's|stop|keep)\b)"
    r"|that(?:'|’)?s (?:wrong|not right|incorrect)|finally|exactly|i think|i guess|maybe|again|remember that"
    r"|so basically|first of all|fyi|btw|i(?:'ve)? (?:just )?(?:checked|looked|tested|verified)(?=\s*[,:]))"
    r"(?![\w'’-]|\s+(?:need\b|idea\b|point\b|way\b|longer\b|one\b|sure\b))[\s,.!?:;…—–-]*)+",
    re.IGNORECASE,
)
_LASTING = re.compile(
    r"\b(?:always|never|from now on|in (?:the )?future|every time|each time|going forward|next time|prefer|rather"
    r"|do(?:n't| not)|dont|stop|avoid|must (?:not|never|always)|no more|not allowed|remember|forgot|forget|keep in mind"
    r"|(?:ask|check|confirm|tell|show|wait|stop|read|look)\b[^.]{0,40}\b(?:before|first)"
    r"|immer|niemals|ab jetzt|künftig|siempre|nunca|jamás|toujours|jamais|désormais|sempre|zawsze|nigdy"
    r"|всегда|никогда)\b|总是|不要|しないで",
    re.IGNORECASE,
)
_FOR_NOW = re.compile(
    r"\b(?:yet|for now|right now|this time|just now|for the moment|today|later|first thing)\b", re.IGNORECASE
)
_CONTRAST = re.compile(
    r"\b(?:instead|rather than|in place of|as opposed to|no longer|anstatt|statt|stattdessen|plutôt|au lieu|en lugar"
    r"|en vez|invece|em vez|zamiast|yerine|вместо)\b|[,;—–-] (?:not|nicht|no|pas|non|nie|не) \w|\bke?in\w* \w+, \w"
    r"|[\w`/)] not (?:in |on |with |the |an? )?[\w`./-]+\W*$|而不是|代わりに|改用",
    re.IGNORECASE,
)
_CHORES = (
    "commit|push|merge|rebase|run|re-?run|test|continue|proceed|resume|go|start|open|show|list|check|look"
    "|explain|tell|read"
    "|summari[sz]e|describe|talk|discuss|give|let me|see|do it|do that|do this|try|fix|address|investigate|find|search"
    "|review|create|make|get (?:this|that|it)|have a look|research|take (?:a|another) look|implement|write|update|print"
    "|add|generate|debug|think|plan|help|wait|hold|stop$|end|validate|know|say|thank|understand|work|deploy|post|send"
    "|ask|answer|move on|remove|delete|change|rename|move|set|build|install|analy[sz]e|compare|figure|come up"
    "|brainstorm|refactor|clean|finish|complete|verify|ensure|make sure"
)
_CHORE = re.compile(rf"^(?:(?:please|now|then|also|go ahead and|try to|go) )*(?:{_CHORES})\b", re.IGNORECASE)
# Without what "that" stands for, nobody can follow it later.
_POINTS_AWAY = re.compile(
    r"^(?:do not )?(?:(?:do|use|try|change|fix|remove|add|revert) (?:that|this|it|them|so)\b"
    r"|(?:make|keep|put|get) (?:(?:that|this|them)\b|it(?: (?:like|this|that|here|there|way|as|is))*\W*$))|^there\b",
    re.IGNORECASE,
)
_TURNS = re.compile(r"(?:,? but |; |,? so please |, please |,? so (?=let)| - | — | – )", re.IGNORECASE)
_PLEASE = re.compile(r",?\s+(?:please|pls|plz|imo|imho|afaik|afaics)(?=[.!,]*$)", re.IGNORECASE)
_UNSURE = re.compile(
    r"\b(?:(?:do|am|are)(?:n't|nt| not) (?:know|sure)|not sure|unsure|no idea|wonder)\b", re.IGNORECASE
)
_QUESTION = re.compile(
    r"^(?:and |but |so )?(?:what|how|why|where|when|which|who|whose|is|are|am|was|were|do|does|did|has|have|can|could"
    r"|will|would|should|shall|may|any|[a-z]+n't)\b|\b(?:right|no|eh|ok|is it|have you\b.*|did you\b.*)\s*\?$"
    r"|\b(?:can|could|would|will|should|may|do|does|did|is|are) (?:i|you|we|it|there|they)\b",
    re.IGNORECASE,
)
_ASKS_UNMARKED = re.compile(
    r"^(?:(?:does|did|is|are|can|could|would|has) (?:[\w-]+ ){2,}|(?:why|how|where) (?:\w+ )|what (?:is|are"
    r"|does|do)\b)",
    re.IGNORECASE,
)
_POLITE = re.compile(r"^(?:but )?(?:tell me|let me|correct me|feel free|you know)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Instruction:
    """One thing a person wants."""

    text: str
    lasting: bool  # said for more than this one step
    contrast: bool  # said against something
    chore: bool  # a next step of the work: commit, fix, add
    stated: bool = False  # without the form of an instruction: its place in the dialogue has to make it one


def instruction(sentence: str, referent: str = "") -> Instruction | None:
    """The sentence as an instruction, or None if it asks for nothing.

    `referent` is what "that" in "before you do that" stands for, if known.
    """
    bare = unfilled(sentence).replace("’", "'")
    if len(bare) < 4 or _POLITE.match(bare) or _UNSURE.search(bare):
        return None
    text = phrased(bare, referent)
    if text is None and not bare.endswith("?"):
        tail = _TURNS.split(bare)[-1]
        text = phrased(unfilled(tail), referent) if tail != bare else None
    if text is None:
        return None
    text = _PLEASE.sub("", text)
    if _POINTS_AWAY.match(text):
        return None
    return _instruction(text, bare, stated=False)


def statement(sentence: str) -> Instruction | None:
    """A sentence that has no form of an instruction, as it stands; None for a question or a doubt."""
    bare = unfilled(sentence).replace("’", "'")
    if len(bare) < 4 or bare.startswith("(") or asks(bare):
        return None
    if any(pattern.search(bare) for pattern in (_POLITE, _UNSURE, _POINTS_AWAY)):
        return None
    bare = _PLEASE.sub("", bare.rstrip("? "))
    return _instruction(bare, bare, stated=True)


def asks(bare: str) -> bool:
    """Whether a sentence asks, and does not only state something with a question mark behind it."""
    if _ASKS_UNMARKED.match(bare):
        return True
    return bare.endswith("?") and (_QUESTION.search(bare) is not None or foreign_language(bare) != "")


def _instruction(text: str, bare: str, stated: bool) -> Instruction:
    lasting = is_standing(bare) or _LASTING.search(bare) is not None or _LASTING.search(text) is not None
    return Instruction(
        text=ended(capital(from_user(plain(text)))),
        lasting=lasting and _FOR_NOW.search(bare) is None,
        contrast=_CONTRAST.search(bare) is not None,
        chore=_CHORE.match(text) is not None,
        stated=stated,
    )


def unfilled(sentence: str) -> str:
    """The sentence without the interjections and courtesies it starts with."""
    return _FILLER.sub("", plain(sentence)).strip()
