"""English wishes, questions and complaints put as what somebody is to do: each form with its rewriting."""

from __future__ import annotations

import re
from collections.abc import Callable

from acemem.memory.learn.offline.person import base_form, gerund_form

Rewrite = Callable[[re.Match[str], str], str | None]  # of a match and of what "that" stands for

_NOT = r"(?:n't|nt| not)"
_DONT = rf"do{_NOT}"


def phrased(bare: str, referent: str = "") -> str | None:
    """A sentence without its fillers as an instruction; None if it asks for nothing.

    `referent` is what "that" in "before you do that" stands for, if known.
    """
    for pattern, rewrite in _FORMS:
        if match := pattern.match(bare):
            text = rewrite(match, referent)
            if text is not None:
                return text
            if pattern in _FINAL:
                return None
    if bare.endswith("?"):
        return None
    for pattern, rewrite in _STATEMENTS:
        if (match := pattern.match(bare)) and (text := rewrite(match, referent)) is not None:
            return text
    return None


def _form(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


def _first(match: re.Match[str], referent: str) -> str | None:
    return match[1]


def _whole(match: re.Match[str], referent: str) -> str | None:
    return match[0]


def _inner(match: re.Match[str], referent: str) -> str | None:
    return phrased(match[1], referent) or match[1]


def _forbidden(match: re.Match[str], referent: str) -> str | None:
    return f"Do not {base_form(match[1])}"


def _maybe_not(match: re.Match[str], referent: str) -> str | None:
    """For forms whose first group is a "not"."""
    return ("Do not " if match[1] else "") + match[2]


def _led(match: re.Match[str], referent: str) -> str | None:
    return _with_lead(match[1], match[2])


def _led_prefer(match: re.Match[str], referent: str) -> str | None:
    return _with_lead(match[1], f"prefer {match[2]}")


def _with_lead(lead: str, verb: str) -> str | None:
    lead = lead.strip(" ,;")
    if _UNSURE.search(lead):
        return None
    return verb if not lead or _NO_LEAD.match(lead) else f"{lead}, {verb}"


def _under_lead(match: re.Match[str], referent: str) -> str | None:
    inner = phrased(match[2], referent) or ("" if match[2].endswith("?") else match[2])
    return f"{match[1].rstrip(',')}, {inner[:1].lower()}{inner[1:]}" if inner else None


def _before(match: re.Match[str], referent: str) -> str | None:
    what, then = match.groups()
    if what.lower() in ("that", "this", "it"):
        what = referent or "going on"
    then = phrased(then, referent) or then
    return f"Before {gerund_form(what)}, {then[:1].lower()}{then[1:]}"


def _not_wanted(match: re.Match[str], referent: str) -> str | None:
    return ("Do not " if match[1] else "Avoid ") + match[2]


def _no_noun(match: re.Match[str], referent: str) -> str | None:
    return None if _IDIOM.match(match[0]) else match[0]


def _negative(match: re.Match[str], referent: str) -> str | None:
    return match[0] if re.match(r"(?:never|stop|avoid)\b", match[0], re.IGNORECASE) else f"Do not {match[1]}"


_UNSURE = re.compile(rf"\b(?:if|whether|unless|(?:do|does|am|are){_NOT} (?:know|sure)|not sure|unsure|no idea)\b", re.I)
_NO_LEAD = re.compile(r"^(?:what|which|the (?:thing|way)|if|as|like|i|because|and|but|that)\b", re.IGNORECASE)
_IDIOM = re.compile(r"no (?:idea|problem|worries|need|one|way|matter|rush|wait)\b", re.IGNORECASE)

_VERBS = (
    "make sure|ensure|be|always|use|prefer|keep|put|write|name|call|add|remove|delete|drop|replace|move|rename"
    "|return|switch|follow|include|exclude|leave|update|change|set|convert|treat|handle|split|merge|extract|wrap|revert"
    "|restore|undo|read|check|verify|double[- ]check|test|run|get|pull|commit|push|wait|ask|tell|show|start|go|do|try"
    "|fix|look|think|create|make|implement|refactor|simplify|avoid|limit|provide|support|require|validate"
    "|document|explain|print|log|fail|throw"
    "|build|install|shorten|pass|expose|hide|sort|group|inline|mock|skip|ignore|catch|raise|declare|define|import"
)
_IMPERATIVE = re.compile(rf"^(?:{_VERBS})\b", re.IGNORECASE)
_OUGHT = _form(
    r"^[\w`\"'./ -]{2,80}\b(?:should(?:n't| not| never| always)?|must(?: not| never| always)?|has to|have to"
    r"|needs? to be)\b .{3,}"
)
_BEFORE = _form(r"^before (?:you |we )?(?:go(?:ing)? )?(?:and )?(?:do(?:ing)? )?(that|this|it|.+?),\s*(.+)$")
_MEMORIZE = _form(
    r"^(?:please )?(?:add|put|write|save|note|store|remember)(?: (?:this|that|it|a (?:note|rule|line"
    r"|memory)))?(?: down)?"
    r" (?:to|in|into) (?:your |the |my |our )?(?:project )?"
    r"(?:[\w./-]*(?:claude|agents|memory|gemini|learnings?|rules|conventions|instructions)[\w./-]*|notes)(?: file)?"
    r"(?: that|:| to| saying)? ?(.{12,})$"
)
_HABIT = _form(r"^i (?:always|never|usually|normally|typically|generally) \w+ .+$")
_ORDER = _form(r"^first,? (.+?)(?:,| and|;| only)* then (.+)$")

# The order decides: the more telling form stands before the more general one.
_FORMS: tuple[tuple[re.Pattern[str], Rewrite], ...] = (
    # "that's not what I asked for, I wanted a flag"
    (
        _form(
            r"^(?:(?:that's|that is|this is|it is|it's) not what i (?:asked|wanted|meant|said)(?: for)?[,;.]? )?"
            r"i (?:wanted|asked for|meant) (.+)$"
        ),
        lambda match, _: f"The user asked for {match[1]}",
    ),
    (
        _form(r"^(?:like )?i (?:already |just )?(?:said|told you|asked you|meant)(?: you)?(?: to| that|,|:)? (.+)$"),
        lambda match, referent: phrased(match[1], referent),
    ),
    # "you keep adding comments"
    (_form(r"^you(?:'re| are)? (?:keep|always|still|again) (?:on )?(\w+ing .+)$"), _forbidden),
    (_form(r"^you can (?:just |simply |always |also )*(use .+)$"), _first),
    # "why is there a Dockerfile now?"
    (
        _form(r"^why (?:is|are|was|were) there (?:still |now |suddenly )*(.+?)(?: (?:now|here|again|anyway))*\??$"),
        lambda match, _: f"Do not add {match[1]}",
    ),
    # "I'd like all errors to be wrapped"
    (
        _form(
            r"^i(?:'?d| would)? (?:really )?(?:like|want|need|prefer) "
            r"((?!you\b|us\b|it\b|this\b|that\b|to\b)[\w` -]{3,40}?) to (be .+)$"
        ),
        lambda match, _: f"{match[1].strip()} should {match[2]}",
    ),
    (_HABIT, _whole),
    (_BEFORE, _before),
    (_MEMORIZE, _inner),
    (_form(r"^(?:remember|keep in mind|note|be aware)(?: that|:|,)? (?:to )?(.{8,})$"), _inner),
    # "from now on ...", "in this repo, ..."
    (
        _form(
            r"^((?:from now on|in (?:the )?future|next time|going forward|in general|as a rule|by default"
            r"|in this (?:repo|repository|project|codebase)),?) (.+)$"
        ),
        _under_lead,
    ),
    (_ORDER, lambda match, _: f"{match[1]} first, then {match[2]}"),
    # "can't we just use a map?"
    (_form(r"^(?:ca|could|should|would)(?:n't|nt) (?:we|you) (?:just )?(.+?)\??$"), _first),
    (_form(r"^cannot (?:we|you) (?:just )?(.+?)\??$"), _first),
    # "shouldn't this be private?"
    (
        _form(rf"^should{_NOT} (this|that|it|these|those) (?:not )?(.+?)\??$"),
        lambda match, _: f"{match[1]} should {match[2]}",
    ),
    # "how about using sqlite?"
    (
        _form(r"^(?:how|what) about (?:(?:if )?(?:we|you) (?:just )?(?=\w)|(?=\w+ing \w))(.+?)\??$"),
        lambda match, _: base_form(match[1]),
    ),
    (_form(r"^it(?:'d| would| might) be (?:better|nicer|cleaner|best|good) (?:to|if (?:we|you|it)) (.+)$"), _first),
    (
        _form(rf"^you (?:forgot|missed|neglected|did{_NOT} remember)(?: about)? (.+)$"),
        lambda match, _: f"Do not forget {match[1]}",
    ),
    (_form(rf"^(?:we|you) should{_NOT}?(?:'ve| have) .+$"), _whole),
    (_form(r"^no (?:more )?[a-z][\w-]+(?: [\w-]+){0,6}[.!]?$"), _no_noun),
    # "can you use a switch?"
    (_form(r"^(?:can|could|would|will) (?:you|we)(?: please| maybe| also| just)* (not )?(.+?)\??$"), _maybe_not),
    # "why aren't we using table-driven tests?"
    (
        _form(
            r"^why (?:(?:are|do|did|ca|is|were)(?:n't|nt)|(?:are|do|did|can|is)(?= (?:we|you|i) not\b)|(?=not\b))"
            r" ?(?:we |you |i )?(?:not )?(?:just )?(.+?)\??$"
        ),
        lambda match, _: base_form(match[1]),
    ),
    (
        _form(r"^why (?:are|were|do|did|would) (?:you|we) (?:still |always |keep |again |even |now )*(.+?)\??$"),
        _forbidden,
    ),
    (
        _form(r"^is there (?:an |any |a )?(?:other|another|better) (?:way|option)s? (?:than|besides|but) (.+?)\??$"),
        lambda match, _: f"Find another way than {match[1]}",
    ),
    # "I don't want to have tokens there", "we don't want visual tests"
    (
        _form(
            rf"^(?:i|we)(?: really| explicitly| definitely)? {_DONT} (?:want|like|need)(?: (?:you|us|it))?( to)? (.+)$"
        ),
        _not_wanted,
    ),
    (
        _form(r"^(?:.*?\b)?i(?:'?d| would) rather (?:you |we |that we )?(.+)$"),
        lambda match, _: re.sub(r"(?<!rather) than ", " rather than ", match[1], count=1),
    ),
    (_form(r"^(.*?)\bi(?:'?d| would)(?: really)? (?:like|love|prefer) (?:to see|to have) (.+)$"), _led_prefer),
    (
        _form(
            r"^(.*?)\bi(?:'?d| would)?(?: really| do)? (?:like|want|need|prefer|love) (?:you|us|it|this|that) to (.+)$"
        ),
        _led,
    ),
    # "I want the formula to be called ..."
    (
        _form(
            r"^i(?: really| do)? (?:want|need)"
            r" ((?:the|a|an|this|that|these|those|all|our|my|your) (?:[\w-]+ ){1,4})to (.+)$"
        ),
        lambda match, _: f"{match[1].strip()} should {match[2]}",
    ),
    (_form(r"^(.*?)\b(?:i|we)(?:'?d| would)?(?: really| do| think we)? (?:like|want|prefer) to (.+)$"), _led),
    (_form(r"^(.*?)\b(?:i|we)(?:'?d)? prefer (.+)$"), _led_prefer),
    (
        _form(
            r"^(?:we|you)(?:'ll)? (?:really )?(?:should(?: really)?|must|need to|have to|ought to|gotta|better)"
            r" (?:always )?(not )?(.+)$"
        ),
        _maybe_not,
    ),
    (_form(r"^(?:we|you) (always|never) (.+)$"), lambda match, _: f"{match[1]} {match[2]}"),
    (_form(r"^let'?s (not )?(.+)$"), _maybe_not),
    (_form(rf"^(?:{_DONT}|never|stop|quit|avoid|no need to)\b (.+)$"), _negative),
)
_FINAL = frozenset(
    pattern for pattern, rewrite in _FORMS if rewrite in (_led, _led_prefer)
)  # unsure means nothing asked

_STATEMENTS: tuple[tuple[re.Pattern[str], Rewrite], ...] = (
    # "for tests please use ...", "when naming files, ..."
    (
        _form(
            r"^((?:for|in|when|whenever|with|on|after|before) [^,.]{2,60}?)(?:,| please,?) (?:please )?"
            r"((?:always |never |do not |don't )?\w+ .+)$"
        ),
        _under_lead,
    ),
    (
        _form(
            r"^(?:we|i)(?: really| definitely| only| explicitly)? (?:want|need) (?!to\b|you\b|it\b|this\b"
            r"|that\b|not\b|n't)"
            r"((?:an? |the |only |all |everything )?[\w`-].{6,})$"
        ),
        lambda match, _: f"{'The project needs' if match[0][0] in 'wW' else 'The user wants'} {match[1]}",
    ),
    (_IMPERATIVE, lambda match, _: match.string),
    (_OUGHT, _whole),
)


def is_standing(bare: str) -> bool:
    """Whether a sentence has a form in which people state habits, orders of steps and things to remember."""
    return any(pattern.match(bare) for pattern in (_HABIT, _ORDER, _MEMORIZE, _form(r"^before ")))
