"""What the agent says about a problem: that the person is right, what the cause is, and what it does about it.

None of it is believed alone: a cause counts only beside a later success or the person's word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from acemem.memory.learn.offline.excerpt import beginning
from acemem.memory.learn.offline.wording import capital, plain, sentences

_CONCEDES = re.compile(
    r"\byou(?:'|’)?(?:re| are) (?:absolutely |completely |totally |quite |so )?(?:right|correct)\b(?! to\b)"
    r"|\bgood (?:point|catch|call)\b"
    r"|\bi apologi[sz]e\b|\bmy (?:mistake|bad|apologies)\b|\bi was wrong\b|\bi misunderstood\b|\bi (?:missed"
    r"|overlooked|made that up)\b"
    r"|^(?:ah|oh|right)?,? ?sorry\b|\bfair point\b|\bi made an? (?:\w+ )?(?:error|mistake)\b|\bi was conflating\b",
    re.IGNORECASE,
)
_OPENER = re.compile(
    r"^(?:(?:ah+|oh|no|yes|yep|right|sorry|perfect|great|excellent|interesting|hm+|okay|ok|got it|found it"
    r"|i see(?: (?:it|the (?:issue|problem)|what\S+ happening"
    r"|now))?|i (?:found|see|can see|understand) the (?:issue|problem|bug)(?: (?:now|more clearly(?: now)?))?"
    r"|found the (?:issue|problem|bug)"
    r"|now i (?:see|understand)(?: what\S* happening)?|you(?:'|’)?(?:re| are) (?:absolutely |completely "
    r"|totally )?(?:right|correct)"
    r"|good (?:point|catch|call|question|feedback)|(?:excellent|perfect|great) feedback|i apologi[sz]e"
    r"|my (?:mistake|bad)|wait|actually|done|fixed|that(?:'|’)s (?:very )?strange"
    r"|step \d+|the (?:issue|problem)|however|so|but|also|in fact)"
    r"\s*(?:[,.!:;—–-]+\s*|$))+",
    re.IGNORECASE,
)
_CAUSE = re.compile(
    r"\b(?:the|root|real|actual|main|core) (?:issue|problem|cause|bug|reason|culprit|error)\b.{0,30}?\b(?:is"
    r"|was|here|are)\b"
    r"|\bcaused by\b|\bdue to\b|\bbecause\b|\bsince\b .{0,80}\b(?:is|are|was|has|have|does|do|can)\b"
    r"|\blimitation\b|\bis a \w+, not\b",
    re.IGNORECASE,
)
_FACT = re.compile(
    r"\b(?:does(?:n't| not)|do(?:n't| not)|is(?:n't| not)|are(?:n't| not)|was(?:n't| not)|can(?:'t|not)|won't"
    r"|never|no longer|only"
    r"|should (?:be|have|return|use)|instead of|not an?\b|rather than|was removed|were removed|got removed"
    r"|missing|duplicate[ds]?"
    r"|wrong|invalid|incorrect|already|require[sd]?|needs?|expects?|rejects?|matches|treats?|ignores?"
    r"|undefined|unused|unknown"
    r"|error|mistake|was renamed|stale|outdated|conflicts?|imported|uses|broke|breaks|captured)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(r"`|\b\w+[._]\w+|\b\w*[a-z][A-Z]\w+|(?<!\w)'[\w.-]+'|\b[A-Z]{2,}[a-z]?\b|\.\w{2,4}\b")
_GUESS = re.compile(
    r"\b(?:might|may be|maybe|perhaps|probably|possibly|could be|seems?|appears?|looks like|not sure|i wonder"
    r"|likely|i think|let's see|let me"
    r"|want me to|would you|shall i|should i|do you want|if you|i'll check|need to (?:look|check|see|find"
    r"|understand))\b|\?\s*$",
    re.IGNORECASE,
)
_ANNOUNCEMENT = re.compile(r"(?<!\s)\s*+(?:[.,;—–-]\s*+)?\b(?:let me|i'll|i will)\b", re.IGNORECASE)
_WORK_TALK = re.compile(
    r"(?:now|next|first|then|before|after|once|to|and|but|let'?s|i'll|i will|i need|i should|i can|i'm|i've|i"
    r"|we need|we should|we can|we'll|looking at|this will|that will|this should"
    r"|this (?:change|update|updated?|code|approach|implementation|modification|fix|test|version)"
    r"|these changes|the (?:above|following)"
    r"|you(?:'|’)?re|you are|here's|here is|here are|the next step|option \d|the (?:only )?downside)\b",
    re.IGNORECASE,
)
_REVEALS = re.compile(
    r"^(?:ah+!?\s*|oh!?\s*|perfect!?\s*|yes!?\s*)?(?:now )?i (?:can )?(?:see|found|understand"
    r"|get it)\b.{0,40}[!.:]|^found (?:it|the \w+)|^that explains"
    r"|\b(?:well-)?known (?:\w+ )?(?:issue|limitation|bug|problem)\b|^(?:the )?root cause\b|^aha\b",
    re.IGNORECASE,
)
_BOAST = re.compile(
    r"✅|🎉|🚀|🎯|\ball (?:\d+ )?(?:unit |quality )?(?:tests?|checks?)\b.{0,20}\b(?:pass|green|clean)"
    r"|\bsuccess(?:ful(?:ly)?)?\b|\bcomplete[d!]?\b|\bready\b"
    r"|\bpass(?:es|ed|ing)?\b|\bworks? (?:correctly|now)\b|\bdone\b",
    re.IGNORECASE,
)
_REMEDY = re.compile(
    r"(?:^|\b)(?:i(?:'|’)ll|i will|i(?:'|’)m going to|let me|i need to|i should|we need to|i can|we can"
    r"|i have to|need to|now i(?:'|’)ll) (?:also |just |now |then )*"
    r"((?:use|add|modify|replace|remove|refactor|switch|rename|exclude|pass|set|call|move|convert|wrap|create"
    r"|make|merge|split|import|declare|cast|mock"
    r"|return|restrict|strip|escape|install|activate|upgrade|downgrade|pin|configure|adjust|widen|stop|drop"
    r"|update the|change|combine|extract|put|quote"
    r"|parse|sort|regenerate|amend|stream|exclude|ignore|guard|initiali[sz]e|format)\b(?:`[^`\n]*`|[^.!?\n`]"
    r"|[.!?](?=\w)){2,200})",
    re.IGNORECASE,
)
_DANGLES = re.compile(
    r"\b(?:to|that|is|are|was|following|because|with|of|these|this|were|and|or)\s*+(?:[:.…]++\s*+)?$", re.IGNORECASE
)
_NOTHING_TO_DO = re.compile(
    r"\bno (?:need|further)\b|\balready (?:been )?(?:implemented|modified|present|in place|added|done)\b"
    r"|\bsearch (?:section|block)\b"
    r"|\byou haven't\b",
    re.IGNORECASE,
)
_LABELLED = re.compile(r"\(?[A-Za-z\d][).:] ")  # an item of a choice
_DONE = {
    "changed": "change", "replaced": "replace", "added": "add", "removed": "remove", "moved": "move", "set": "set",
    "renamed": "rename", "refactored": "refactor", "extracted": "extract", "switched": "switch", "using": "use",
    "converted": "convert", "wrapped": "wrap", "excluded": "exclude", "updated": "update", "created": "create",
    "reverted": "revert",
}  # fmt: skip
_VAGUE = re.compile(
    r"^(?:(?:use|add|remove|change|make|update|replace|create|set) (?:it|this|that|them|those|the (?:fix"
    r"|change|test|file|issue|error|plan|todo|loop|doc|documentation|comment|readme)s?(?=\W*$| (?:to|so|and"
    r"|for|in|now|here|at|with)\b)|sure)\b"
    r"|make (?:the|these|both) (?:change|edit|fix))",
    re.IGNORECASE,
)


def concedes(text: str) -> bool:
    """Whether the agent admits, at the start of what it says, that the person is right."""
    return _CONCEDES.search(plain(text[:200])) is not None


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence about a problem; `rank` 3 names a cause, 2 states a fact with a name in it, 1 any fact."""

    text: str
    rank: int


def boasts(text: str) -> bool:
    """Whether the agent praises its own work instead of saying what it did."""
    return (
        _BOAST.search(text) is not None
        or re.search(r"\b(?:completely|properly|fully|perfectly|robust)\b", text) is not None
    )


@lru_cache(maxsize=256)
def claim(text: str) -> Claim | None:
    """The sentence that states a cause or a fact about the problem, the last of the strongest; None if none does."""
    best: Claim | None = None
    for sentence, revealed in _statements(text):
        rank = 0
        if revealed or _CAUSE.search(sentence):
            rank = 3
        elif _FACT.search(sentence):
            rank = 2 if _NAMED.search(sentence) else 1
        if rank and (best is None or rank >= best.rank):
            best = Claim(sentence, rank)
    return best


def fact(text: str) -> str:
    """The first plain statement after the agent's admission; empty if it only announces work."""
    return next(iter(statements(text)), "")


def statements(text: str) -> list[str]:
    """The plain statements in what the agent says."""
    return [sentence for sentence, _ in _statements(text)]


def remedy(text: str) -> str:
    """What the agent announces to do about a problem, as an instruction; empty if it only looks further."""
    for sentence in sentences(_prose(text)):
        sentence = plain(sentence)
        if match := _REMEDY.search(sentence):
            step = match[1].strip(" :")
            if not _VAGUE.match(step) and len(step) > 12:
                return capital(step)
    return ""


def done(text: str) -> str:
    """What the agent reports to have changed, as an instruction; empty if it reports nothing."""
    for sentence in sentences(_prose(text)):
        sentence = _OPENER.sub("", plain(sentence)).strip(" -–—:,;")
        first, _, rest = sentence.partition(" ")
        verb = _DONE.get(first.lower())
        if verb and len(rest) > 10:
            return f"{capital(verb)} {rest}"
    return ""


def _statements(text: str) -> list[tuple[str, bool]]:
    """The sentences that state something, each with whether the agent presents it as what it has found out."""
    found: list[tuple[str, bool]] = []
    revealed = False
    for raw in sentences(_prose(text)):
        sentence = plain(raw)
        opened = _REVEALS.search(sentence[:80]) is not None
        revealed = revealed or opened
        if _DANGLES.search(sentence) or _LABELLED.match(sentence) or _NOTHING_TO_DO.search(sentence):
            continue
        sentence = _OPENER.sub("", sentence).strip(" -–—:,;")
        if not 18 <= len(sentence) <= 400 or sentence.count(" ") < 3 or _BOAST.search(sentence):
            continue
        if admitted := re.match(r"i (made an? (?:\w+ )?(?:error|mistake) .{8,})", sentence, re.IGNORECASE):
            found.append((f"The agent {admitted[1]}", True))
            continue
        if _GUESS.search(sentence):
            # "X is wrong - let me fix that": the part before the announcement still states the fact.
            sentence = _ANNOUNCEMENT.split(sentence, maxsplit=1)[0].strip(" -–—:,;")
            if len(sentence) < 18 or _GUESS.search(sentence):
                continue
        if _WORK_TALK.match(sentence) or sum(1 for char in sentence if char in '(){}[]=;<>"\\') > len(sentence) // 8:
            continue
        found.append((capital(sentence), revealed))
        revealed = False
    return found


def _prose(text: str) -> str:
    text = re.sub(r"```.*?(?:```|\Z)", "\n", beginning(text, 6_000), flags=re.DOTALL)
    return "\n".join(line for line in text.split("\n") if not line.lstrip().startswith(("|", ">", "#")))
