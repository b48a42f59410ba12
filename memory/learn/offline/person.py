"""English verbs and persons: "using" as "use", and what somebody says of themselves as said of the user."""

from __future__ import annotations

import re

_BASES = {
    "using": "use", "doing": "do", "having": "have", "making": "make", "running": "run", "getting": "get",
    "putting": "put", "setting": "set", "writing": "write", "removing": "remove", "changing": "change",
    "creating": "create", "deleting": "delete", "committing": "commit", "storing": "store", "taking": "take",
    "giving": "give", "moving": "move", "trying": "try", "importing": "import", "parsing": "parse",
    "ignoring": "ignore", "raising": "raise", "renaming": "rename", "merging": "merge", "caching": "cache",
}  # fmt: skip
_GERUNDS = {base: gerund for gerund, base in _BASES.items()}

_FIRST_PERSON = tuple(
    (re.compile(pattern, flags), replacement)
    for pattern, replacement, flags in (
        (r"\bI'm\b|\bI am\b|\bim\b", "the user is", re.IGNORECASE),
        (r"\bI've\b|\bI have\b", "the user has", re.IGNORECASE),
        (r"\bI'll\b|\bI will\b", "the user will", re.IGNORECASE),
        (r"\bI'd\b|\bI would\b", "the user would", re.IGNORECASE),
        (
            r"\bI ((?:still|really|just|also|always|usually) )?(?:don't|dont|do not)\b",
            r"the user \1does not",
            re.IGNORECASE,
        ),
        (r"\bmy\b", "the user's", re.IGNORECASE),
        (r"(?<![\w.`'/-])I(?![\w.`'/=-])", "the user", re.NOFLAG),
        # A small "i" is the person only in prose: in code it counts loops.
        (r"(?<![\w.`'/-])i(?= (?!=|\+|<|>|\d)\w)", "the user", re.NOFLAG),
    )
)
_OBJECT = re.compile(r"(?<![\w.`'/-])me(?![\w.`'/-])")
_THIRD_PERSON = {"have": "has", "do": "does", "go": "goes"}
_SAME = frozenset(  # in every person: modal verbs and past forms that do not end in -ed
    "is has does was had did will would can could may might shall should must cannot ran saw got went made wrote said"
    " told thought found set put let cut forgot broke built left kept meant gave took knew came lost felt held led met"
    " paid sent spent won began chose fell flew grew hid rose spoke stood threw understood wore".split()
)
_SUBJECT_VERB = re.compile(
    r"\b(the user (?:(?:already|also|only|just|really|still|always|usually|normally|typically|generally|never|mostly"
    r"|often|sometimes) )*)([a-z]+)\b(?!['.])",
    re.IGNORECASE,
)
_REFLEXIVE = re.compile(r"\bmyself\b", re.IGNORECASE)
_HEDGE = re.compile(
    r"^(?:and |so |but )?i (?:(?:kind of|kinda|just|do|also) )*(?:think|guess|believe|suppose|bet|assume|reckon"
    r"|know|feel(?: like)?)"
    r"(?: that)? (?=(?:we|you|it|that|this|the|an?|there|our|they)\b)"
    r"|(?:,|(?<![,\s]))\s*+\bi (?:think|guess|believe|suppose)\b(?! (?:we|you|it|that|this|the|a)\b)"
    r"|,? (?:in my (?:view|opinion))\b",
    re.IGNORECASE,
)


def base_form(phrase: str) -> str:
    """A phrase that starts with "using ..." as "use ..."; any other as it is."""
    first, _, rest = phrase.partition(" ")
    low = first.lower()
    if low in _BASES:
        first = _BASES[low]
    elif low.endswith("ing") and len(low) > 5:
        stem = low[:-3]
        doubled = len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "sl"
        first = stem[:-1] if doubled else stem
    return f"{first} {rest}".strip()


def gerund_form(phrase: str) -> str:
    """A phrase that starts with "use ..." as "using ..."; one that starts with a pronoun or a name as it is."""
    first, _, rest = phrase.strip().partition(" ")
    low = first.lower()
    if low in ("you", "we", "i") or low.endswith("ing") or not low.isalpha():
        return phrase.strip()
    form = low[:-1] + "ing" if low.endswith("e") and not low.endswith("ee") else low + "ing"
    return f"{_GERUNDS.get(low, form)} {rest}".strip()


def from_user(text: str) -> str:
    """An English text about "me" and "my" as one about the user."""
    text = _HEDGE.sub("", text.replace("’", "'"))
    for pattern, replacement in _FIRST_PERSON:
        text = pattern.sub(replacement, text)
    text = _REFLEXIVE.sub("personally", _SUBJECT_VERB.sub(lambda match: match[1] + _third_person(match[2]), text))
    return _OBJECT.sub("the user", text)


def _third_person(verb: str) -> str:
    low = verb.lower()
    if low in _SAME or re.search(r"[^e]ed$|ly$|ss$", low) or (low.endswith("s") and len(low) > 3):
        return verb
    if low in _THIRD_PERSON:
        return _THIRD_PERSON[low]
    if re.search(r"[^aeiou]y$", low):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if low.endswith(("s", "sh", "ch", "x", "z")) else f"{verb}s"
