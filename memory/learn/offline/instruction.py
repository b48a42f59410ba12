"""What a person asks for, turned from a wish, a question or a complaint into an instruction."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from acemem.memory.function_words import ENGLISH
from acemem.memory.learn.offline.language import foreign_language, is_foreign
from acemem.memory.learn.offline.moment import passes
from acemem.memory.learn.offline.person import from_user
from acemem.memory.learn.offline.phrasing import is_standing, phrased
from acemem.memory.learn.offline.wording import capital, ended, plain

_FILLER = re.compile(
    r"^(?:(?:ok(?:ay)?|alright|right|hm+|uh+|um+|a+h+|oh|so|well|great|good|nice|perfect|cool|awesome|lovely|sweet|neat"
    r"|excellent|thanks|thank you|sorry|hey|hi|also|and|but|now|then|just|actually|please|pls|plz|nope|nah|yes"
    r"|yeah|yep|yup|wait|hold on"
    r"|really|huh|wow"
    # A bare "no" may belong to a noun ("no mocks"); with a comma or before a clause it is an answer.
    r"|no(?=\s*[,.!;:—–-]|\s+(?:i|we|you|it|that|this|use|don't|dont|do|not|just|the|please|wait|let's|stop|keep)\b)"
    r"|that(?:'|’)?s (?:wrong|not right|incorrect)|finally|exactly|i think|i guess|maybe|again|remember that"
    r"|so basically|first of all|fyi|btw|by the way|for (?:later|the record)|(?:if|in case) (?:it|that) helps"
    r"|i(?:'ve)? (?:just )?(?:checked|looked|tested|verified)(?=\s*[,:]))"
    r"(?![\w'’-]|\s+(?:need\b|idea\b|point\b|way\b|longer\b|one\b|sure\b))[\s,.!?:;…—–-]*)+",
    re.IGNORECASE,
)
# "Point 4: ...": the list that the number belongs to is not there any more.
_LABEL = re.compile(r"^(?:(?:point|item|step|comment|question|punkt|punto|re) )?#?\d{1,2} ?[:.)] ", re.IGNORECASE)
_LASTING = re.compile(
    r"\b(?:always|never(?! mind)|from now on|in (?:the )?future|every time|each time|whenever|going forward|next time"
    r"|prefer|rather|do(?:n't| not)|dont|stop|avoid|must (?:not|never|always)|no more|not allowed|remember|forgot"
    r"|forget|keep in mind"
    r"|(?:ask|check|confirm|tell|show|wait|stop|read|look)\b[^.]{0,40}\bbefore"
    r"|(?:ask|confirm|tell|show) (?:me|us)\b[^.]{0,40}\bfirst"
    r"|immer|niemals|ab jetzt|künftig|siempre|nunca|jamás|toujours|jamais|désormais|sempre|zawsze|nigdy"
    r"|всегда|никогда)\b|总是|不要|しないで",
    re.IGNORECASE,
)
_FORBIDS = re.compile(r"\b(?:please |just |also ){0,4}(?:do not|don't|dont|stop|avoid)\b", re.IGNORECASE)
# What people put before a fact that is to be kept in mind, and warnings.
_NOTED = re.compile(
    r"\b(?:fyi|btw|by the way|for (?:later|the record|your information|next time|reference)|careful|watch out|beware"
    r"|heads[- ]up|one (?:more )?thing\b.{0,40}:|übrigens|nebenbei|zur info|vorsicht|por cierto|ojo|cuidado"
    r"|au fait|à propos|a proposito|a propósito|przy okazji|ostrożnie|trouwens)\b"
    r"|\b(?:кстати|осторожно)\b|ちなみに|顺便|注意",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:because|since|otherwise|so that|or else|weil|denn|damit|sonst|porque|para que|si no|parce que|car|sinon"
    r"|perché|altrimenti|senão|bo|żeby|inaczej)\b|\b(?:потому что|чтобы|иначе)\b"
    r"|[,;—–] (?:they|it|this|that|the|we|he|she)(?:'\w+)? \w"
    r"|[,;—–] \w+ (?:is|are|was|were|has|have|gets?|does|do|can|will|would|isn't|aren't|doesn't|don't|can't|won't)\b",
    re.IGNORECASE,
)
_CONTRAST = re.compile(
    r"\b(?:instead|rather than|in place of|as opposed to|no longer|anstatt|statt|stattdessen|plutôt|au lieu|en lugar"
    r"|en vez|invece|em vez|zamiast|yerine|вместо)\b|[,;—–-] (?:not|nicht|no|pas|non|nie|не) \w|\bke?in\w* \w+, \w"
    r"|(?<=[\w`/)])(?<!\bdo) not (?:in |on |with |the |an? )?[\w`./-]+\W*$|而不是|代わりに|改用",
    re.IGNORECASE,
)
# Verbs that say how to work; what any other command asks for is done once.
_METHOD = re.compile(
    r"^(?:please |also |just )*(?:always|use|prefer|keep|avoid|follow|stick|treat|leave|stay|be|have|assume|rely"
    r"|respect|never|do not|don't|dont|stop)\b",
    re.IGNORECASE,
)
_LITTLE = re.compile(
    r"(?<!\S)[^\s\d]*+\d\S*+ (?:instead\W*$"
    r"|(?:\w+ )?(?:instead of|rather than|not|statt|en vez de|au lieu de|invece di|zamiast) \d)",
    re.IGNORECASE,
)
# Without what "that" stands for, nobody can follow it later.
_POINTS_AWAY = re.compile(
    r"^(?:do not )?(?:\w+ (?:that|this|it|them|those|these|so)(?: (?:one|here|there|again|back|then|now))*\W*$"
    r"|(?:make|keep|put|get) (?:(?:that|this|them)\b|it(?: (?:like|this|that|here|there|way|as|is))*\W*$))"
    r"|^there\b(?!'s| (?:is|are|was|were)\b)",
    re.IGNORECASE,
)
_FINITE = frozenset(
    "is are was were am has have had does do did can could will would shall should must may might needs isnt arent"
    " cannot gets goes took went came got made said".split()
)
_AFTER_VERB = frozenset(
    "sure the a an all this that these those it them me us my your our its his their every each both some any more"
    " another in on to with from into up out off back down everything".split()
)
_CODE = re.compile(r"`[^`]*`")
_THIRD_PERSON = re.compile(r"\w+\w[^su]s$")
_MODAL = re.compile(r"\b(?:should|must|has to|have to|needs? to)\b", re.IGNORECASE)
_NEVER_AFTER_VERB = frozenset("as of than like per is".split())
_NO_VERBS = (ENGLISH - {"do", "have", "be"}) | frozenset(
    "no not only never nobody everybody everyone nothing yes somebody someone people there first last one two three"
    " after before since while until both more most many few much less every any all again also maybe still yet"
    " just".split()
)
_TURNS = re.compile(r"(?:,? but |; |,? so please |, please |,? so (?=let)| - | — | – )", re.IGNORECASE)
_PLEASE = re.compile(
    r"(?:,|(?<![,\s]))\s++(?:(?:please|pls|plz|bitte)(?=[.,!?]|$)"
    r"|(?:imo|imho|afaik|afaics|isn't it|right|ok|oder|verdad|n'est-ce pas)(?=[.!,?]*$))",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:(?:do|am|are)(?:n't|nt| not) (?:know|sure)|not sure|unsure|no idea|wonder|worry)\b"
    r"|^(?:it )?(?:looks like|seems)\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"^(?:and |but |so )?(?:what|how|why|where|when|which|who|whose|is|are|am|was|were|do|does|did|has|have|can|could"
    r"|will|would|should|shall|may|any|[a-z]+n't)\b|\b(?:right|no|eh|ok|is it|have you\b.*|did you\b.*)\s*\?$"
    r"|\b(?:can|could|would|will|should|may|do|does|did|is|are) (?:i|you|we|it|there|they)\b",
    re.IGNORECASE,
)
_DOUBTS = re.compile(
    r"(?:and |but |so )*(?:why|how come|is|are|do|does|did|was|were|isn't|aren't|doesn't)\b(?! not)", re.I
)
_REPROACH = re.compile(r"why (?:are|aren't) (?:you|we)\b|.{0,30}\b(?:still|keep)\b", re.IGNORECASE)
_ASKS_UNMARKED = re.compile(
    r"^(?:(?:does|did|is|are|can|could|would|has) (?:[\w-]+ ){2,}|(?:why|how|where) (?:\w+ )"
    r"|(?:what|who|which)\b(?! (?:i|we|you|they|matters?|counts?)\b)"
    r"(?:[^,]* (?:is|are|was|do|does|did|[a-z]+[^s]s)\b))",
    re.IGNORECASE,
)
_OF_ME = re.compile(r"i\b", re.IGNORECASE)
_POLITE = re.compile(r"^(?:but )?(?:tell me|let me|correct me|feel free|you know|never mind|ignore)\b", re.IGNORECASE)
_ADDS = re.compile(
    r"^(?:and|also|plus|another thing|one more thing|besides|und|außerdem|y(?= )|además|et(?= )|aussi|e(?= )"
    r"|inoltre|além disso|oraz"
    r"|en ook|ve ayrıca|и|также)\b(?! (?:that|this|it|then|so)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Instruction:
    """One thing a person wants."""

    text: str
    lasting: bool  # said for more than this one step
    forbids: bool  # a bare "don't"
    contrast: bool  # said against something
    chore: bool  # a next step of the work: commit, fix, add
    noted: bool  # said to be kept in mind, or as a warning
    reasoned: bool  # said with its reason
    passing: bool  # said for the moment only
    adds: bool  # opened as one more thing
    asked: bool = False  # put as a question, which the agent may only answer
    stated: bool = False  # without the form of an instruction: its place in the dialogue has to make it one


def instruction(sentence: str, referent: str = "", foreign: bool | None = None) -> Instruction | None:
    """The sentence as an instruction, or None if it asks for nothing.

    `referent` is what "that" in "before you do that" stands for, and `foreign` whether it is not English, if known.
    """
    bare = unfilled(sentence).replace("’", "'")
    if len(bare) < 4 or _POLITE.match(bare) or _UNSURE.search(bare):
        return None
    foreign = is_foreign(bare) if foreign is None else foreign
    text = _command(bare, referent, foreign)
    clause = bare  # of the sentence, that which commands
    if text is None and not bare.endswith("?") and (tail := _TURNS.split(bare)[-1]) != bare:
        clause = unfilled(tail)
        text = _command(clause, referent, foreign)
    if text is None:
        return None
    text = _PLEASE.sub("", text)
    if _POINTS_AWAY.match(text):
        return None
    item = _instruction(text, bare, sentence, foreign, forbids=_FORBIDS.match(clause) is not None)
    return replace(item, asked=_inquires(sentence, clause))


def _inquires(sentence: str, clause: str) -> bool:
    asks_back = sentence.rstrip().endswith("?") or _DOUBTS.match(clause) is not None
    return asks_back and _REPROACH.match(clause) is None


def _command(bare: str, referent: str, foreign: bool) -> str | None:
    if foreign:
        return None
    if (text := phrased(bare, referent)) is not None or bare.endswith("?"):
        return text
    return bare if orders(bare) or (" " in bare and _METHOD.match(bare)) else None


def statement(sentence: str, foreign: bool | None = None) -> Instruction | None:
    """A sentence that has no form of an instruction, as it stands; None for a question or a doubt."""
    bare = unfilled(sentence).replace("’", "'")
    if len(bare) < 4 or bare.startswith("(") or asks(bare):
        return None
    foreign = is_foreign(bare) if foreign is None else foreign
    if (not foreign and orders(bare)) or any(pattern.search(bare) for pattern in (_POLITE, _UNSURE, _POINTS_AWAY)):
        return None
    bare = _ADDS.sub("", _PLEASE.sub("", bare.rstrip("? "))).lstrip(" ,")
    return _instruction(bare, bare, sentence, foreign, stated=True)


def orders(bare: str) -> bool:
    """Whether an English sentence is a bare command, whatever its verb."""
    bare = _CODE.sub("0", bare)
    words = [word.strip(",.;:!()").lower() for word in bare.split()]
    if (
        len(words) < 3
        or bare.split(maxsplit=1)[0][-1] in ",.;:!"
        or not words[0].isalpha()
        or words[0] in _NO_VERBS
        or words[0].endswith(("s", "ed", "ing", "ly"))
    ):
        return False
    if words[1] in _NEVER_AFTER_VERB:
        return False
    if words[1] in _AFTER_VERB or not words[1][:1].isalpha():
        return words[2] not in _FINITE and (words[1] in _AFTER_VERB or not _THIRD_PERSON.match(words[2]))
    return not any(word in _FINITE or "'" in word for word in words) and not any(
        word.isalpha() and _THIRD_PERSON.match(word) for word in words[1:3]
    )


def is_tweak(item: Instruction) -> bool:
    """Whether an order only wants the same thing a little different: 20 instead, 20 instead of 10."""
    return not item.lasting and not item.reasoned and _LITTLE.search(item.text) is not None


def _begins_with_verb(order: str) -> bool:
    first = order.split(maxsplit=1)[0].strip(",.").lower()
    return first.isalpha() and first not in _NO_VERBS and _MODAL.search(order) is None


def asks(bare: str) -> bool:
    """Whether a sentence asks, and does not only state something with a question mark behind it."""
    if _ASKS_UNMARKED.match(bare):
        return True
    return bare.rstrip().endswith("?") and (_QUESTION.search(bare) is not None or foreign_language(bare) != "")


def _instruction(
    text: str, bare: str, sentence: str, foreign: bool, stated: bool = False, forbids: bool = False
) -> Instruction:
    # "Don't push" alone may hold for this time only: what else the sentence says decides.
    lasting = is_standing(bare) or _LASTING.search(_FORBIDS.sub("", bare) if forbids else bare) is not None
    if stated and _OF_ME.match(bare):
        lasting = False  # "I don't see it" forbids nothing
    passing = passes(bare, stated)
    return Instruction(
        text=ended(capital(plain(text) if foreign else from_user(plain(text)))),
        forbids=forbids,
        lasting=lasting and not passing,
        reasoned=_REASON.search(bare) is not None,
        noted=_NOTED.search(sentence) is not None and not passing,
        contrast=_CONTRAST.search(bare) is not None,
        chore=not (foreign or stated) and _METHOD.match(text) is None and _begins_with_verb(text),
        passing=passing,
        adds=_ADDS.match(sentence) is not None,
        stated=stated,
    )


def unfilled(sentence: str) -> str:
    """The sentence without the interjections and courtesies it starts with."""
    return _FILLER.sub("", _LABEL.sub("", plain(sentence))).strip()
