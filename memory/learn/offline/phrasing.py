"""English wishes, questions and complaints put as what somebody is to do: the grammar of asking, whatever is asked."""

from __future__ import annotations

import re
from collections.abc import Callable

from acemem.memory.learn.offline.person import base_form, gerund_form

Rewrite = Callable[[re.Match[str], str], str | None]  # of a match and of what "that" stands for

_NOT = r"(?:n't|nt| not)"
_MAYBE = (
    r"(?: (?:please|just|maybe|also|really|definitely|explicitly|only|simply|do|still|always|keep|again|even|now))*"
)


def phrased(bare: str, referent: str = "") -> str | None:
    """A sentence without its fillers as an instruction; None if it has none of the forms of asking.

    `referent` is what "that" in "before you do that" stands for, if known.
    """
    for pattern, rewrite in _FORMS:
        if (match := pattern.match(bare)) and (text := rewrite(match, referent)):
            return text.rstrip("? ")
    return None


def is_standing(bare: str) -> bool:
    """Whether a sentence has a form in which people state habits, orders of steps and things to remember."""
    return any(pattern.match(bare) for pattern in (_HABIT, _ORDER, _MEMORIZE, _BEFORE))


def _form(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


def _whole(match: re.Match[str], referent: str) -> str | None:
    return None if match[0].endswith("?") or _IDIOM.match(match[0]) else match[0]


def _inner(match: re.Match[str], referent: str) -> str | None:
    return phrased(match[1], referent) or match[1]


def _asked(match: re.Match[str], referent: str) -> str | None:
    """For forms whose first group is a "not"."""
    return ("Do not " if match[1] else "") + base_form(match[2])


def _forbidden(match: re.Match[str], referent: str) -> str | None:
    return f"Do not {base_form(match[1])}"


def _unwanted(match: re.Match[str], referent: str) -> str | None:
    return ("Do not " if match[1] else "Avoid ") + match[2]


def _wanted(match: re.Match[str], referent: str) -> str | None:
    lead, verb, what, to, rest = (part or "" for part in match.groups())
    lead = lead.strip(" ,;")
    if _UNSURE.search(lead) or (verb in ("like", "want", "need", "love") and not to):
        return None
    if what and what.strip().lower() not in ("you", "us", "it", "this", "that", "we", "you to", "we to"):
        text = f"{what.strip()} should {rest}"
    elif verb == "prefer" and not to:
        text = f"prefer {rest}"
    else:
        text = re.sub(r"^(?:see|have) ", "prefer ", rest) if verb in ("like", "love", "prefer") else rest
    return text if not lead or _NO_LEAD.match(lead) else f"{lead}, {text}"


def _needed(match: re.Match[str], referent: str) -> str | None:
    return f"{'The project needs' if match[0][0] in 'wW' else 'The user wants'} {match[1]}"


def _under_lead(match: re.Match[str], referent: str) -> str | None:
    inner = phrased(match[2], referent) or ("" if match[2].endswith("?") else match[2])
    return f"{match[1].rstrip(',')}, {inner[:1].lower()}{inner[1:]}" if inner else None


def _before(match: re.Match[str], referent: str) -> str | None:
    what, then = match.groups()
    if what.lower() in ("that", "this", "it"):
        what = referent or "going on"
    then = phrased(then, referent) or then
    return f"Before {gerund_form(what)}, {then[:1].lower()}{then[1:]}"


_UNSURE = re.compile(rf"\b(?:if|whether|unless|(?:do|does|am|are){_NOT} (?:know|sure)|not sure|unsure|no idea)\b", re.I)
_NO_LEAD = re.compile(r"^(?:what|which|the (?:thing|way)|if|as|like|i|because|and|but|that)\b", re.IGNORECASE)
_IDIOM = re.compile(r"no (?:idea|problem|worries|need|one|way|matter|rush|wait)\b", re.IGNORECASE)
_BEFORE = _form(r"^before (?:you |we )?(?:go(?:ing)? )?(?:and )?(?:do(?:ing)? )?(that|this|it|.+?),\s*(.+)$")
_MEMORIZE = _form(
    r"^(?:please )?(?:add|put|write|save|note|store|remember)(?: (?:this|that|it|a (?:note|rule|line"
    r"|memory)))?(?: down)?"
    r" (?:to|in|into) (?:your |the |my |our )?(?:project )?"
    r"(?:[\w./-]*(?:claude|agents|memory|gemini|learnings?|rules|conventions|instructions)[\w./-]*|notes)(?: file)?"
    r"(?: that|:| to| saying)? ?(.{12,})$"
)
_HABIT = _form(r"^i (?:always|never|usually|normally|typically|generally) \w+ .+$")
_ORDER = _form(r"^first,? (.+?)(?:,| and|;| only){0,4} then (.+)$")

# The order decides: the more telling form stands before the more general one.
_FORMS: tuple[tuple[re.Pattern[str], Rewrite], ...] = (
    (_HABIT, _whole),
    (_BEFORE, _before),
    (_MEMORIZE, _inner),
    (_form(r"^(?:remember|keep in mind|note|be aware)(?: that|:|,)? (?:to )?(.{8,})$"), _inner),
    # "I said to use tabs"
    (
        _form(r"^(?:like )?i (?:already |just )?(?:said|told you|asked you|meant)(?: you)?(?: to| that|,|:)? (.+)$"),
        _inner,
    ),
    # "from now on ...", "in this repo, ...", "for tests please ..."
    (
        _form(
            r"^((?:from now on|in (?:the )?future|next time|going forward|in general|as a rule|by default"
            r"|in this (?:repo|repository|project|codebase)),?) (.+)$"
        ),
        _under_lead,
    ),
    (
        _form(
            r"^((?:for|in|when|whenever|with|on|after|before) [^,.]{2,60}?)(?:,| please,?) (?:please )?"
            r"((?:always |never |do not |don't )?\w+ .+)$"
        ),
        _under_lead,
    ),
    (_ORDER, lambda match, _: f"{match[1]} first, then {match[2]}"),
    # "can you use a switch?", "can't we just use a map?", "you should use a map", "let's use a map"
    (
        _form(
            rf"^(?:(?:can|could|would|will) (?:you|we)|(?:can't|cant|cannot|couldn'?t|shouldn'?t|wouldn'?t) (?:we|you)"
            rf"|(?:we|you)(?:'ll)? (?:should|must|need to|have to|ought to|gotta|better)|let'?s){_MAYBE}"
            r" (not )?(.*[^?]|\?)\?*$"
        ),
        _asked,
    ),
    # "why aren't we using table-driven tests?", "how about using sqlite?"
    (
        _form(
            rf"^(?:why (?:(?:are|do|did|ca|is|were){_NOT}(?: we| you| i)?|(?:are|do|did|can) (?:we|you|i) not|not)"
            rf"|(?:how|what) about(?: (?:we|you)\b)?){_MAYBE}( not)? (.*[^?]|\?)\?*$"
        ),
        _asked,
    ),
    # "why is there a Dockerfile now?", "why did you delete the tests?", "you keep adding comments"
    (
        _form(
            rf"^why (?:is|are|was|were) there{_MAYBE} (.+?)"
            r"(?: (?:now|here|again|anyway)){0,4}(?:(?<!\?)|(?<= \?))\?*$",
        ),
        lambda match, _: f"Do not add {match[1]}",
    ),
    (_form(rf"^why (?:are|were|do|did|would) (?:you|we){_MAYBE} (.*[^?]|\?)\?*$"), _forbidden),
    (_form(r"^you(?:'re| are)? (?:keep|always|still|again) (?:on )?(\w+ing .+)$"), _forbidden),
    (
        _form(rf"^you (?:forgot|missed|neglected|did{_NOT} remember)(?: about)? (.+)$"),
        lambda m, _: f"Do not forget {m[1]}",
    ),
    # "I don't want to have tokens there", "we don't want visual tests"
    (_form(rf"^(?:i|we){_MAYBE} do{_NOT} (?:want|like|need)(?: (?:you|us|it))?( to)? (.+)$"), _unwanted),
    # "I'd rather have clicks than selectors"
    (
        _form(r"^(?:.*?\b)?i(?:'?d| would) rather (?:you |we |that we )?(.+)$"),
        lambda match, _: re.sub(r"(?<!rather) than ", " rather than ", match[1], count=1),
    ),
    # "for every test I'd like to see ...", "I want the tap to be called ...", "I prefer early returns"
    (
        _form(
            rf"^(.*?)\b(?:i|we)(?:'?d| would)?(?: think we)?{_MAYBE} (like|love|want|need|prefer)"
            r"( (?:you|us|it|this|that)(?= to\b)| [\w` -]{3,40}?(?= to\b))?( to)? (.+)$"
        ),
        _wanted,
    ),
    (_form(rf"^(?:we|i){_MAYBE} (?:want|need) (?!to\b|you\b|it\b|this\b|that\b|not\b|n't)([\w`-].{{6,}})$"), _needed),
    (_form(r"^you can (?:just |simply |always |also )*(use .+)$"), lambda match, _: match[1]),
    (_form(r"^(?:we|you) (always|never) (.+)$"), lambda match, _: f"{match[1]} {match[2]}"),
    (_form(rf"^do{_NOT}\b (.+)$"), lambda match, _: f"Do not {match[1]}"),
    (
        _form(
            r"^(?:please )?(?:always|never(?! mind)|stop|quit|avoid)\b .+$"
            r"|^no (?:more )?[a-z][\w-]+(?: (?!since\b|yet\b|so far)[\w-]+){0,6}[.!]?$"
        ),
        _whole,
    ),
    # "the importer must keep the order"
    (
        _form(
            r"^[\w`\"'./ -]{2,80}\b(?:should(?:n't| not| never| always)?|must(?: not| never| always)?|has to|have to"
            r"|needs? to be)\b .{3,}"
        ),
        _whole,
    ),
)
