"""Whether words hold for the moment only: for today, for this one time, until something is over."""

from __future__ import annotations

import re

_MOMENT = re.compile(
    # a point in time that passes
    r"\b(?:today|tonight|tomorrow|(?:right|just|for) now|(?:at|for) the moment"
    r"|this (?:time|once|week|morning|afternoon|evening)|(?:just|only|for) (?:this )?once|yet(?! another)"
    r"|so far|since (?:the )?\d|since yesterday"
    # a purpose that is soon served
    r"|(?:just|only) for (?:a|an|one|the|this|that|my|me)\b|for (?:one|this one|this) \w+"
    r"|so (?:that )?i can \w+|temporar(?:y|ily)|one-?off|quick (?:look|check|test|try|fix)"
    # as long as something else goes on
    r"|while i\b|wait (?:a|an|for|until)|until (?:i|it|my|then)\b|in the meantime"
    r"|heute|morgen|jetzt(?! an\b)|diesmal|vorerst|erstmal|vorläufig|gerade|nur kurz|ausnahmsweise|solange"
    r"|hoy|mañana|ahora|esta vez|por ahora|de momento|mientras|provisional\w*"
    r"|aujourd'hui|demain|cette fois|pour l'instant|maintenant|en attendant|provisoire\w*"
    r"|oggi|domani|adesso|questa volta|per ora|hoje|amanhã|agora|desta vez|por enquanto"
    r"|vandaag|morgen|deze keer|voorlopig|dzisiaj|dziś|jutro|teraz|tym razem|na razie|bugün|yarın|şimdi(?:lik)?)\b"
    r"|\b(?:сегодня|завтра|сейчас|пока что|в этот раз|временно)\b|今天|今回|今日|这次|暂时|現在|现在",
    re.IGNORECASE,
)
# What is only so as long as something else goes on: "the server is being moved", "I'm on the train".
_MEANWHILE = re.compile(
    r"(?:'m|'s|'re|\b(?:is|are|am|be)) (?:(?:currently|still|just) (?:\w+ing|down|out|busy)|being (?!a|an|the)\w+"
    r"|down|busy|away|offline|about to)\b"
    r"|\bi(?:'m| am) (?:on|in|at) (?:the|a|my) (?:way|road|train|plane|bus|call|phone|meeting|airport|hotel|office)\b"
    r"|^(?:please )?(?:do not|don't|dont|no|leave|skip)\b[^,;.]*(?:[,;.—–]| because| since| as| while)"
    r"[^,;]*(?:'m|'s|'re|\bis|\bare|\bam|\bbe) \w{2,}ing\b",
    re.IGNORECASE,
)
_WHENEVER = re.compile(r"\b(?:if|when|whenever|once|in case|unless)\b", re.IGNORECASE)
_NOW = re.compile(r"(?<!from )\bnow(?! on\b)", re.IGNORECASE)
_OPENS = re.compile(r"^(?:and |so |ok(?:ay)?,? |then )*(?:now|ahora|jetzt|maintenant|teraz)\b[\s,]*", re.IGNORECASE)
_ALSO = re.compile(
    r"(?:\w+ ){0,2}(?:noch|auch|también|además|aussi|encore|anche|ancora|também|ainda|jeszcze|też|ook|nog"
    r"|ещё|еще|также)\b",
    re.IGNORECASE,
)


def passes(sentence: str, states: bool = False) -> bool:
    """Whether a sentence speaks of the moment only.

    "Now" in front of it goes on with the work, and one that `states` how things are now says that they changed.
    """
    plain = _OPENS.sub("", sentence.replace("’", "'"))
    if _MOMENT.search(plain) or (not states and _NOW.search(plain)):
        return True
    return _MEANWHILE.search(plain) is not None and _WHENEVER.search(plain) is None


def moves_on(sentence: str) -> bool:
    """Whether a sentence that is not English begins with "now" or "also", as people name the next thing to do."""
    return _OPENS.match(sentence) is not None or _ALSO.match(sentence) is not None
