"""Reactions: whether a person's next words say that what the agent did was right, or that it was wrong."""

from __future__ import annotations

import re

from acemem.memory.learn.offline.confirmation import approves, goes_on, solved
from acemem.memory.learn.offline.conversation import Conversation, Turn
from acemem.memory.learn.offline.explanation import concedes
from acemem.memory.learn.offline.reports import tells_problem
from acemem.memory.learn.offline.wording import sentences

_THANKS = re.compile(
    r"\b(?:thanks|thank you|thx|nice(?: (?:one|work|job))?|great|awesome|excellent|perfect|brilliant|lovely"
    r"|good (?:job|work|catch)|well done|love it|amazing|fantastic|beautiful|wonderful"
    r"|sweet|neat|good stuff|nailed it|danke|merci|gracias"
    r"|obrigad[oa]|grazie|dzięki|спасибо|отлично|ありがとう|谢谢|不错|太好了|감사)(?!\w)",
    re.IGNORECASE,
)
_WORKS = re.compile(
    r"\b(?:works|working|worked|passes|passing|passed|green|fixed|solved|sorted|good to go|all good|looks good|lgtm"
    r"|ship it|no (?:complaints|objections|issues)|(?:it|that) runs|finally\W*$|correctly now"
    r"|happy with (?:this|that|it)|(?:it|that)(?:'s| is) fine|as (?:expected|i wanted)"
    r"|that(?:'s| is|s) (?:it|right|correct|what i (?:wanted|meant|needed)))\b",
    re.IGNORECASE,
)
_ACCEPTS = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|great|good|nice|cool|yes|yep|alright|perfect|lgtm|now|please|and|then|let's"
    r"|go ahead and)\W+)*(?:commit|push|merge|ship|deploy|release|(?:open|create) (?:a|the) pr(?! \w)"
    r"|mark it (?:as )?done)\b",
    re.IGNORECASE,
)
_OBJECTS = re.compile(
    r"^\W*(?:no+(?!\w)(?!,? (?:more )?(?:problems?|worries|need|rush|thanks|complaints?|objections?"
    r"|issues?|errors?|questions?))|nope|wrong|stop|wait|nein|falsch|non|нет|不对|違う)(?!\w)"
    r"|\b(?:that|this|it)(?:'s| is|s| was)? (?:\w+ )?(?:not (?:what|right|correct|how|it|good|true|the)|wrong|incorrect"
    r"|broken|a mistake|a bad idea|worse|useless|nonsense)\b"
    r"|\b(?:broke|breaks|broken|breaking|messed up|ruined|corrupted|wiped|deleted the wrong|made (?:it|things) worse"
    r"|regress\w*|kaputt|cassé|roto|сломал\w*|坏了|壊れ\w*)(?!\w)"
    r"|\b(?:revert|undo|roll ?back|back out|take (?:that|it|this) (?:back|out)|put (?:it|that|this) back)\b"
    r"|\b(?:does|did|do|is|are|was|has|can|will)(?:n't|nt| not) (?:work|help|fix|compile|build|pass|what i|right"
    r"|correct|start|run|solve|look right|make sense)\w*"
    r"|\bstill (?:fail\w*|broken|not|the same|get\w*|see\w*|crash\w*|there|wrong|red|hang\w*|throw\w*|happen\w*|doesn)"
    r"|\b(?:that|this|the|your) (?:note|notes|memory|rule|advice|hint|tip|record|lesson)s? (?:is|are|was|were|seems?) "
    r"(?:\w+ )?(?:wrong|incorrect|outdated|out of date|obsolete|stale|misleading|old|bad|no longer|not )"
    r"|\bnot (?:working|fixed|what i|right|correct|good|helpful)\b"
    r"|\b(?:i (?:said|told you|asked (?:you )?(?:not|for)|never (?:said|asked)|already (?:said|told))"
    r"|why (?:did|would|are|do) you|you (?:should(?:n't| not) have|forgot|missed|ignored|misunderstood"
    r"|were not supposed)|bad (?:advice|idea|suggestion)|terrible|horrible|same (?:error|problem|issue) again)\b"
    r"|\byou(?:'ve| have)? (?:just )?(?:remov|delet|chang|renam|dropp|overwr|introduc|break|los)\w* (?:the wrong|my|our"
    r"|a (?:new )?bug|an error)\b|\b(?:deleted|lost|overwrote|wiped) (?:my|our|the (?:wrong|whole|data))\b"
    r"|\b(?:made|makes|got|is|are|was) (?:\w+ )?(?:slower|worse)\b|\bslower than before\b"
    r"|\b(?:tests?|build|ci|pipeline|checks?) (?:is|are|went|turned) (?:now )?(?:red|broken|failing)\b"
    r"|\bi (?:don't|do not|didn't|did not) (?:want|like|ask|need) (?:that|this|it|you)\b|\bopposite of\b"
    r"|\b(?:can't|cannot|won't|doesn't|isn't|don't|couldn't) (?:\w+ ){1,5}any ?more\b|\b(?:can't|cannot) be right\b"
    r"|\broll\w* (?:this|that|it|\w+ \w+) back\b|\bmade (?:it|that|this|things) (?:fail|crash|break|slow)\w*"
    r"|\bi never wanted\b|\bmade a mess\b|\bstill asks\b|\brestore (?:them|it)\b"
    r"|\b(?:is|are) (?:empty|missing|gone|blank|broken|off|down) (?:now|since)\b"
    r"|\bnot like (?:this|that)\b|\b(?:does not|doesn't) (?:even )?exist\b|\bstart over\b|\bnothing happens\b"
    r"|\brestore (?:the|my|that)\b|\b(?:since then|4\d\d since|5\d\d since)\b|\bfalsch\b|\brückgängig\b"
    r"|\bgeht (?:immer noch )?nicht\b|\bfunktioniert nicht\b|\bne marche pas\b|\bno funciona\b"
    r"|не работает|不行|動かない",
    re.IGNORECASE,
)
_HARMLESS = re.compile(
    r"\b(?:no longer (?:fails?|broken|breaks?|crash\w*)|not broken|nothing (?:broke|breaks|is broken)|without breaking"
    r"|don't (?:break|revert)|do not (?:break|revert)|won't break|doesn't break|never breaks?|if (?:it|that|this)"
    r" (?:breaks?|fails?|doesn't)|in case|so (?:that )?(?:it|we|nothing) (?:doesn't|don't|breaks?))\b",
    re.IGNORECASE,
)
_FAULT = re.compile(r"\b(?:errors?|exceptions?|crash\w*|fail\w*|timeouts?)\b", re.IGNORECASE)
_AGAIN = re.compile(
    r"\b(?:still|again|after (?:that|this|your)|since (?:that|this|your)|because of (?:that|this|your)|introduced"
    r"|your (?:change|edit|fix|command|commit)|you (?:just )?(?:did|changed|ran|added|removed))\b",
    re.IGNORECASE,
)
_NOW = re.compile(r"\b(?:now|all of a sudden|suddenly)\b", re.IGNORECASE)
_ORDERS = re.compile(
    r"^\W*(?:(?:now|next|then|please|also|and|ok(?:ay)?|can you|could you|let's)\W+)*(?:fix|address"
    r"|resolve|solve|debug|investigate|look|add|handle|write|make|update|check|ensure|verify|create|implement|remove)\b",
    re.IGNORECASE,
)
_NEXT = re.compile(
    r"^\W*(?:(?:right|ok(?:ay)?|alright|good|now|and|so)\W+)*(?:next|now|then|let's|how|what|which|where|when|who|can"
    r" you|could you|would you|the next)\b",
    re.IGNORECASE,
)
_AIMS = re.compile(
    r"\b(?:before|earlier|yesterday|used to|make sure|ensure|check|verify|until|so that|should|must|if"
    r"|whether|how|needs? to)\b",
    re.I,
)
_TURNS_ROUND = re.compile(r"\b(?:but|however|although|except|unfortunately|aber|mais|pero|но)\b", re.IGNORECASE)
_LACKS = re.compile(
    r"\b(?:now|still|not|no longer|nothing|empty|blank|missing|gone|lost|slow\w*|wrong|too)\b|n't\b", re.IGNORECASE
)
_STEERS = re.compile(r"\b(?:instead|not|don't|dont|do not|stop|no|wait|wrong|never|why)\b", re.IGNORECASE)
_LONGEST = 1_000  # characters of a turn in which a verdict is looked for


def verdict(talk: Conversation, turn: Turn) -> bool | None:
    """What a turn says of the work before it: right, wrong, or nothing.

    A refusal, a correction and a report of what is broken *now* say that it was wrong; thanks, approval, "it works"
    and an order to commit say that it was right. Where both are said what was objected counts, unless the person says
    first that it works and then only what is left to do. To go on, to ask, and the next task say nothing.
    """
    words = turn.words[:_LONGEST]
    if turn.retyped or (turn.event.kind == "human" and not words):
        return None
    if turn.event.kind == "reject":
        return False if words and (_STEERS.search(words) or not goes_on(words)) else None
    if turn.interrupts and _STEERS.search(words):
        return False
    against = [number for number, said in enumerate(sentences(words)) if _objects(said)]
    favours = [number for number, said in enumerate(sentences(words)) if _favours(said)]
    if against:
        return None if favours and favours[0] < against[0] and _only_more(words) else False
    if favours and (less := _TURNS_ROUND.search(words)) is not None:
        return False if _LACKS.search(words[less.end() :]) else None
    if favours or approves(words) or _ACCEPTS.match(words):
        return True
    if any(concedes(talk.events[position].text) for position in talk.reply(turn.position)[:1]):
        return None if goes_on(words) or words.rstrip().endswith("?") else False
    return None


def moves_on(words: str) -> bool:
    """Whether the words ask something, or give the next task."""
    return words.rstrip().endswith("?") or _ORDERS.match(words) is not None or _NEXT.match(words) is not None


def _objects(sentence: str) -> bool:
    if _HARMLESS.search(sentence):
        return False
    if _OBJECTS.search(sentence):
        return True
    if not (tells_problem(sentence) or _FAULT.search(sentence)):
        return False
    return _AGAIN.search(sentence) is not None or (_NOW.search(sentence) is not None and not _ORDERS.match(sentence))


def _favours(sentence: str) -> bool:
    if sentence.rstrip().endswith("?") or _ORDERS.match(sentence):
        return False
    start = _TURNS_ROUND.split(sentence, maxsplit=1)[0]
    if _OBJECTS.search(start) and not _HARMLESS.search(start):
        return False
    return solved(sentence) or _THANKS.search(start[:60]) is not None or _praises(start)


def _praises(words: str) -> bool:
    if len(words) > 100 or _ORDERS.match(words) or _AIMS.search(words) or _STEERS.search(words):
        return False
    return _WORKS.search(words) is not None


def _only_more(words: str) -> bool:
    """Whether the words begin by saying that it works: what follows is then the rest, not the fault of the work."""
    first = sentences(words)[0]
    return solved(_TURNS_ROUND.split(first, maxsplit=1)[0]) and "broke" not in words
