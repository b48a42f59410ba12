"""Whether a person's words say yes, say that it works, or only say to go on."""

from __future__ import annotations

import re

from acemem.memory.learn.offline.wording import sentences

_SOLVED = re.compile(
    # "It works like the other one" describes; "it works now" confirms.
    r"\b(?:it |that |this |everything |all )?(?:works|worked)\b(?! (?:basically|the same|like|by|with|as|on"
    r"|in|for|when|if|only|at))"
    r"|\b(?:that (?:did|fixed|solved) it|(?:is |it's |now )fixed|solved|no more errors?|seems to work"
    r"|(?:i've|i have) got it|looks (?:good|great|right|correct)|lgtm|has been (?:added|configured|set|done|created)"
    r"|that was it|much better|passes now|green now|(?:it's|its|is|are|has) gone|no (?:more )?(?:crash|failure)\w*"
    r"|klappt|funktioniert|läuft|laeuft|funciona|fonctionne|marche|działa|работает)\b|^(?:fixed|works)\b",
    re.IGNORECASE,
)
_APPROVES = re.compile(
    r"\b(?:exactly|perfect|correct|excellent|awesome|love (?:it|this|that)|keep (?:it|this|that)|(?:is|sounds"
    r"|looks) (?:great|good|fine|nice)|that(?:'"
    r"|’)?s (?:it|right|better|what i|the \w+ (?:i|we|the user|every))"
    r"|yes,? (?:that|this|exactly|please keep)|great (?:job|work)|well done|spot on|precisely|genau|parfait"
    r"|perfecto|exactement"
    r"|dokładnie|świetnie|идеально|точно|完美|很好)\b"
    r"|完美|很好|そうです",
    re.IGNORECASE,
)
_UNDONE = re.compile(
    r"\b(?:not|n't|but|however|almost|still|except|no|wrong|instead|fail(?:s|ing|ed)?|error|why)\b|\?\s*$",
    re.IGNORECASE,
)
_LIMITED = re.compile(r"\b(?:but|however|almost|still|except|only)\b|\?\s*$", re.IGNORECASE)
_DENIED = re.compile(
    r"\?\s*$|\b(?:not|nothing|never|nor|before|previously|used to|until|yesterday|earlier)\b|n't\b", re.IGNORECASE
)
_AGREES = re.compile(
    r"^(?:(?:yes|yep|yeah|yup|sure|ok(?:ay)?|agreed|deal|absolutely|definitely|please do|do (?:it|that)|go ahead"
    r"|ja|jo|gerne|klar|passt|oui|d'accord|sí|si|vale|claro|sim|tak|dobrze|да|давай|evet|はい|好的?|对)\b[\s,.!]*)+$"
    r"|\b(?:let's|let us|we(?:'ll| will| should)|i(?:'ll| will|'d)?) (?:go|do|take|try|use|choose|prefer)"
    r" (?:with |for )?(?:this|that|it|the (?:first|second|last|latter|former))\b",
    re.IGNORECASE,
)
_GO_ON = re.compile(
    r"^\W*(?:(?:yes|yep|yeah|y|ok(?:ay)?|sure|continue|go(?: ahead| on)?|proceed|do it|please|sorry|resume"
    r"|carry on|next|thanks|thank you|great|good"
    r"|perfect|cool|nice|a|b|c|\d|commit(?: it| this| and push)?|push(?: it)?|merge(?: it)?|lgtm|done|both"
    r"|all|start|try again|retry|again|hi|hello"
    r"|implement it|and|then|now|that|this|it|one|the|option|first|second)\W*)+$",
    re.IGNORECASE,
)


def solved(words: str) -> bool:
    """Whether the person says that the problem is gone or that they did what was proposed."""
    return any(
        _SOLVED.search(sentence) is not None and _DENIED.search(sentence) is None
        for sentence in sentences(words[:1_000])
    )


def approves(words: str) -> bool:
    """Whether the person says that what was done is right as it is, and asks for nothing against it."""
    if len(words) > 160:
        return False
    if solved(words) and _LIMITED.search(words) is None:
        return True
    return _UNDONE.search(words) is None and _APPROVES.search(words[:40]) is not None


def agrees(sentence: str) -> bool:
    """Whether a sentence takes what was offered: a bare yes, or the choice of it."""
    return _AGREES.search(sentence) is not None


def goes_on(words: str) -> bool:
    """Whether the words only let the agent continue."""
    return len(words) <= 80 and _GO_ON.match(words) is not None
