"""What a person asks for, turned from a wish, a question or a complaint into an instruction."""

from __future__ import annotations

import re
from dataclasses import dataclass

from acemem.memory.learn.person import from_user
from acemem.memory.learn.phrasing import is_standing, phrased
from acemem.memory.learn.wording import capital, ended, plain

_FILLER = re.compile(
    r"^(?:(?:ok(?:ay)?|alright|right|hm+|uh+|um+|a+h+|oh|so|well|great|good|nice|perfect|cool|awesome|thanks|thank you"
    r"|sorry|hey|hi|also|and|but|now|then|just|actually|please|pls|plz|nope|nah|yes|yeah|yep|yup|wait|really|huh|wow"
    # A bare "no" may belong to a noun ("no mocks"); with a comma or before a clause it is an answer.
    r"|no(?=\s*[,.!;:—–-]|\s+(?:i|we|you|it|that|this|use|don't|dont|do|not|just|the|please|wait|let's|stop|keep)\b)"
    r"|that(?:'|’)?s (?:wrong|not right|incorrect)|finally|exactly|i think|i guess|maybe|again|remember that"
    r"|so basically|first of all|fyi|btw)"
    r"(?![\w'’-]|\s+(?:need\b|idea\b|point\b|way\b|longer\b|one\b|sure\b))[\s,.!?:;…—–-]*)+",
    re.IGNORECASE,
)
_LASTING = re.compile(
    r"\b(?:always|never|from now on|in (?:the )?future|every time|each time|going forward|next time|prefer|instead of"
    r"|rather than|rather|do(?:n't| not)|dont|stop|avoid|must (?:not|never|always)|no more|not allowed|remember"
    r"|forgot|forget|keep in mind|in the style of|the same way as|example from|modell?ed (?:on|after)|consistent with"
    r"|follow(?:ing)? the (?:same )?(?:pattern|style|convention)s?|like (?:the )?[\w-]+ does|you keep|we want"
    r"|(?:ask|check|confirm|tell|show|wait|stop|read|look)\b[^.]{0,40}\b(?:before|first)"
    r"|keep (?!going\b|it\b|that\b|this\b)\w+|use `[^`]+` (?:to|for) \w+|for tests?)\b",
    re.IGNORECASE,
)
_FOR_NOW = re.compile(
    r"\b(?:yet|for now|right now|this time|just now|for the moment|today|later|first thing)\b", re.IGNORECASE
)
_CONTRAST = re.compile(
    r"\b(?:instead|rather than|in place of|as opposed to)\b|, not \w"
    r"|[\w`/] not (?:in |on |with |the |an? )?[\w`./-]+\W*$",
    re.IGNORECASE,
)
_CHORES = (
    "commit|push|merge|rebase|run|re-?run|test|continue|proceed|resume|go|start|open|show|list|check|look|explain|tell|read"
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
_PLEASE = re.compile(r",?\s+(?:please|pls|plz)(?=[.!,]?$)", re.IGNORECASE)
_POLITE = re.compile(r"^(?:but )?(?:tell me|let me know|correct me|feel free|you know)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Instruction:
    """One thing a person wants."""

    text: str
    lasting: bool  # said for more than this one step
    contrast: bool  # said against something
    chore: bool  # a next step of the work: commit, fix, add


def instruction(sentence: str, referent: str = "") -> Instruction | None:
    """The sentence as an instruction, or None if it asks for nothing.

    `referent` is what "that" in "before you do that" stands for, if known.
    """
    bare = unfilled(sentence).replace("’", "'")
    if len(bare) < 4 or _POLITE.match(bare):
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
    lasting = is_standing(bare) or _LASTING.search(bare) is not None or _LASTING.search(text) is not None
    return Instruction(
        text=ended(capital(from_user(plain(text)))),
        lasting=lasting and _FOR_NOW.search(bare) is None,
        contrast=_CONTRAST.search(bare) is not None,
        chore=_CHORE.match(text) is not None,
    )


def unfilled(sentence: str) -> str:
    """The sentence without the interjections and courtesies it starts with."""
    return _FILLER.sub("", plain(sentence)).strip()
