"""What a value looks like: a secret, a placeholder, code that refers to something, or a word."""

from __future__ import annotations

import re

from acemem.memory.redaction.spans import MARK

__all__ = [
    "has_both",
    "has_four_kinds",
    "is_mixed",
    "is_placeholder",
    "is_random",
    "is_reference",
    "is_secret",
    "looks_chosen",
]

_PLACEHOLDER_WORDS = frozenset(
    "your my the a an example sample dummy fake test testing placeholder changeme change me here insert replace todo "
    "foo bar baz mock demo some any this default none null nil true false undefined empty unset xxx redacted masked "
    "hidden removed omitted truncated censored value string password passwd pass pwd secret token apikey user username "
    "host name invalid expired missing wrong votre ihr su clave cle".split()
)
_WORD = r"(?:[A-Z]?[a-z]+(?:[A-Z][a-z]+)*|[A-Z]+|[vV]?\d{1,8})"
_WORDY = re.compile(rf"{_WORD}(?:[^A-Za-z0-9]+{_WORD})*[^A-Za-z0-9]*")
_ONE_SIGN = re.compile(r"(.)\1*")
_MASKED = re.compile(r"\.\.\.|…|\*{3}|•{3}|x{6}|X{6}|REDACTED")
_REFERENCE = re.compile(
    r"\$\{|\$\(|\{\{|#\{|^\$\w+$|^\$[A-Z_]{2,}|^%\w+%$|^%\(\w|^\{[\w.]*\}|^<[^>]*>?$|^&\w+$|^\[[\w .]*\]?$"
    r"|\[\^?(?:\w-\w|[-!])|^!?(?:[A-Za-z_$][\w$]*(?:\?\.|\.|::|->))+[A-Za-z_$][\w$]*+(?:[^\w$](?s:.*))?$"
    r"|^(?:await|new|return|typeof)\b"
)
_CODE = re.compile(r"[A-Za-z_\])](?:\(|\[)|^[(\[{]|=>|&&|\|\||^[!&*@~^]\w|\w[!=]==?|\?\w*:")
_ELSEWHERE = re.compile(
    r"[a-z][\w+.-]*://|/(?:[\w.-]+/|[\w.-]*$)|~/|\.{1,2}/|[A-Za-z]:\\|arn:|[\w.-]+@[\w-]+\.\w+$"
    r"|[\w-]+\.(?:json|ya?ml|txt|pem|key|env|py|js|ts|md|toml)$"
)
_TECHNICAL = re.compile(
    r"(?:sha|md|aes|rsa|hmac|ecdsa|ed|x|utf|base|rs|hs|es|ps|oauth|tls|http|argon|pbkdf|bcrypt|ipv|k|win|u?int|float|s)"
    r"[-_]?\d+(?:\.\d+)*[a-z]{0,2}(?:[-_ ].*)?"
    r"|(?:i18n|l10n|a11y|e2e|b2b|p2p|w3c)\d*(?:[-_ ].*)?"
    r"|\d+(?:\.\d+)?[-_ ]?(?:char(?:acter)?s?|bytes?|bits?|days?|hours?|min(?:utes?)?|sec|ms|[smhdwkKMG][bB]?)"
    r"(?:[-_ ].*)?",
    re.IGNORECASE,
)
_SIGNS = re.compile(r"[!@#$%^&*~+]")
_DIGIT_OR_SIGN = re.compile(r"[\d!@#$%^&*~+]")
_SIGN_WITHIN = re.compile(r"[^\W_][+-]*+[!$%^&*?~#@][!$%^&*?~#@+-]*+[^\W_]")
_RARE_SIGN = re.compile(r"[!$%^&*?~]")  # a number sign and an at sign also join words
_DIGIT_AS_LETTER = re.compile(r"[A-Za-z]\d(?=[a-z])")
# Options, versions, code, colours, escapes, and references to an issue or a package.
_NOT_CHOSEN = re.compile(
    r"^[-#]|^v?\d+\.\d|[()\[\]{}<>;|=,:/\\\"'`]|%[0-9A-F]{2}|[~^]\d*$|^[\w.-]+[#+@~^]v?\d[\d.]*$|@[\w-]+\.|\$\d"
)
# A variable named after what it holds, and a word or constant in place of a value.
_NAME_LIKE = re.compile(r"(?=\w*(?:pass|pwd|token|secret|key))\w++", re.IGNORECASE)
_SPEAKS = re.compile(
    r"pass|secret|token|key|required|optional|string|undefined|postgres|admin|change|prompt|env", re.IGNORECASE
)


def is_placeholder(value: str) -> bool:
    if _MASKED.search(value) or _ONE_SIGN.fullmatch(value):
        return True
    words = {word.lower() for word in re.split(r"[^A-Za-z]+|(?<=[a-z])(?=[A-Z])", value)}
    return not words.isdisjoint(_PLACEHOLDER_WORDS) and _WORDY.fullmatch(value) is not None


def is_reference(value: str) -> bool:
    return _REFERENCE.search(value) is not None and not any(is_random(part) for part in re.split(r"[^\w]", value))


def is_random(value: str) -> bool:
    """Say whether the value is a long mixture of letters and digits that no person would choose."""
    if len(value) < 16 or _WORDY.fullmatch(value):
        return False
    digits, letters = sum(map(str.isdigit, value)), sum(map(str.isalpha, value))
    return digits >= 2 and letters >= 2 and not _REFERENCE.search(value) and not _ELSEWHERE.match(value)


def is_secret(value: str, kind: str, how: str) -> bool:
    """Judge a value that stands after a name: `how` it was given decides how much it must look like a secret."""
    if len(value) < (6 if kind == "password" else 8) or MARK in value or " " in value or "\t" in value:
        return False
    if how in ("bare", "said", "loose") and not _DIGIT_OR_SIGN.search(value):
        return False
    if is_placeholder(value) or is_reference(value) or _ELSEWHERE.match(value) or _TECHNICAL.fullmatch(value):
        return False
    if how in ("loose", "default"):
        chosen = how == "default" and kind == "password" and len(value) >= 8 and has_both(value)
        told = kind == "password" and looks_chosen(value)
        return chosen or told or is_random(value) or has_four_kinds(value)
    if how in ("bare", "said") and _CODE.search(value):
        return False
    both = has_both(value)
    signs = _SIGNS.search(value, 1, len(value) - 1) is not None and any(map(str.isalpha, value))
    if kind == "password":
        return not (how in ("bare", "said") and _NAME_LIKE.fullmatch(value)) and (
            both
            or signs
            or (value.isdigit() and how in ("env", "quoted"))
            or (value.isalpha() and how == "env" and not _SPEAKS.search(value))
            or (value.count("-") >= 3 and how in ("env", "quoted") and not _SPEAKS.search(value))
        )
    if how in ("bare", "said"):
        digits = sum(map(str.isdigit, value))
        return both and len(value) >= 12 and not _WORDY.fullmatch(value) and (digits >= 3 or not value.isidentifier())
    return (
        (both and (signs or not _WORDY.fullmatch(value)))
        or is_mixed(value)
        or (kind == "secret" and how == "env" and value.isalpha() and not _SPEAKS.search(value))
    )


def has_both(value: str) -> bool:
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def has_four_kinds(value: str) -> bool:
    return has_both(value) and value.upper() != value and value.lower() != value and bool(_SIGNS.search(value))


def looks_chosen(value: str) -> bool:
    """Say whether the value reads as a password that a person made up, even where nothing names it as one.

    A sign between its letters and digits, or digits in place of letters, as nobody writes a word, a name or a version.
    """
    if len(value) < 6 or not has_both(value) or _NOT_CHOSEN.search(value):
        return False
    if MARK in value or is_placeholder(value) or is_reference(value) or _ELSEWHERE.match(value):
        return False
    cases = value.upper() != value and value.lower() != value
    if _SIGN_WITHIN.search(value) and (cases or _RARE_SIGN.search(value)):
        return True
    parts = [part for part in re.split(r"[^A-Za-z0-9]", value) if not _TECHNICAL.fullmatch(part)]
    return cases and sum(len(_DIGIT_AS_LETTER.findall(part)) for part in parts) >= 2


def is_mixed(value: str) -> bool:
    """Say whether the letters change case too often for the humps of a name."""
    changes = sum(a.isupper() != b.isupper() for a, b in zip(value, value[1:], strict=False))
    return len(value) >= 16 and changes > 0.45 * len(value)
