"""One-time codes: numbers that a sentence, a field or an option says to be a code for one login."""

from __future__ import annotations

import re
from functools import cache

from acemem.memory.redaction.spans import MARK, Span, apart, around, places

__all__ = ["one_time_codes"]

_ANCHORS = ("code", "otp", "2fa", "mfa", "one-time", "one_time", "one time", "authenticator")
_ANCHORS_NOT_LATIN = ("código", "код", "验证码", "驗證碼", "認証")
_CODE = r"""
    (?:one[-_ ]?time|verification|verify|confirm(?:ation)?|security|auth(?:entication|enticator|orization)?|log[-_ ]?in
      |sign[-_ ]?in|access|sms|text|e-?mail|device|user|activation|reset|two[-_ ]factor|2[-_ ]?fa|mfa|[th]?otp|pairing
      |backup|recovery)[-_ ]?(?:pass)?(?:code|pin)s?
    | (?:two[-_ ]factor|2[-_ ]?fa|mfa|[th]?otp|authenticator)[-_ ]?(?:token|value|number|password)
    | authenticator(?:\sapp)?
    | one[-_ ]?time[-_ ]?(?:pass(?:word|phrase)?|token|key)s? | passcodes? | (?-i:PIN)
    | (?:best(?:ä|ae|\\{1,4}u00e4)tigungs|sicherheits|einmal|anmelde|pr(?:ü|ue)f)-?code
    | c[oó]digo\sde\s(?:verificaci[oó]n|seguridad|acceso)
    | code\sde\s(?:v[ée]rification|s[ée]curit[ée]|confirmation) | codice\sdi\s(?:verifica|sicurezza)
    | código\sde\sverificação | код\s(?:подтверждения|доступа) | 验证码 | 驗證碼 | 認証コード
"""
# These alone also name a feature or a version: they ask for the six digits that codes have.
_KIND = r"[th]?otps? | 2[-_ ]?fa | mfa"
_DIGITS = r"(?:[A-Z]{1,2}-)?\d{3}[ -]\d{3}|(?:[A-Z]{1,2}-)?\d{4,10}"
_LETTERS = r"(?=[A-Za-z-]{0,60}+\d|[A-Z-]{1,60}\b)[A-Za-z0-9]{4,6}-[A-Za-z0-9]{4,6}"
_UNIT = (
    r"(?![\w%]|[.,:/-]\d|\s{0,2}(?:m?s|sec(?:ond)?s?|min(?:ute)?s?|hours?|days?|times|digits?|char(?:acter)?s?|bytes?|bits?"
    r"|users?|requests?|attempts?|lines?|tests?|items?|rows?)\b)"
)
_OPEN = r"[\s\"'`*(\[\\]{0,5}"
_ONLY_DIGITS = re.compile(_DIGITS)
_NAMED = rf"""(?:(?<![A-Za-z])|(?<=\\[nrt]))(?:(?P<code>{_CODE})|(?P<kind>{_KIND}))(?![a-z])
    (?:(?P<filler>(?:[ ]+[^\s\d:=]{{1,24}}){{0,8}}?)[\"'`*\])\\]{{0,4}}\s{{0,3}}
       (?P<says>\b(?:is|was|are|shows|says|reads|ist|lautet|es|est)\b(?:[ ](?:now|still))?:?|=>|->|[:=：是为|—–-]|è|é)
      | (?P<beside>[ ]))
    {_OPEN}(?P<value>{_DIGITS}|{_LETTERS}){_UNIT}"""
_SIX = r"(?:[A-Z]{1,2}-)?\d{3}[ -]?\d{3}"
_SAID = rf"""(?<![\w-])code(?P<which>(?:[ ][A-Za-z]{{1,15}}){{0,4}}?)
        [ ](?:is|was)(?:[ ](?:now|still))?:?{_OPEN}(?P<is>{_SIX}){_UNIT}
      | \b(?:enter|type|typed|entered|use|used|got|received|send|sent|the|this|my|your)[ ]code:?{_OPEN}
        (?P<given>{_SIX}){_UNIT}"""
_YOURS = (
    rf"(?<![\w.:/-])(?P<value>{_DIGITS})\s{{1,2}}(?:is|as|when\sasked\sfor)\s(?:your|my|our|the|a)\s"
    rf"(?:[^\s\d.]{{1,20}}\s){{0,4}}?(?:{_CODE}|{_KIND}|(?<=your\s)code)(?![a-z])"
)
# How far each reaches before and after its anchor.
_NAMED_REACH, _SAID_REACH, _YOURS_REACH = (40, 240), (40, 140), (80, 40)
# Words that make the number something else.
_OTHER = re.compile(
    r"\b(?:ports?|length|timeout|ttl|expir\w*|size|limit|id|ids|count|number|interval|window|error|status|exit|return"
    r"|http|line|lines|issue|pr|ticket|year|table|step|version|rfc|response|zip|postal|postcode|country|area|colou?r"
    r"|returned|throws?|raised|api|product|item|order|currency|language|region|airport|result|reason|source"
    r"|default|server|callback)\b",
    re.IGNORECASE,
)
_WORD_BEFORE = re.compile(r"[\w-]{1,40} $")
_YEAR = re.compile(r"(?:19|20)\d\d(?:(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01]))?")
_LETTERED = re.compile(r"one|device|confirm|user|backup|recovery|pairing|auth|verif|login|sign", re.IGNORECASE)
# Recovery codes come by the dozen.
_MORE = (
    rf"(?:[\s,;]{{1,3}}(?:(?:and|or)\s)?(?:\d{{1,2}}[.)]\s)?(?:[-*]\s)?"
    rf"[\"']?(?:{_DIGITS}|{_LETTERS})(?![\w%]|[.:/]\d)[\"']?)+"
)

# Without one of these there is no code.
_DIGITS_OR_LETTERS = re.compile(r"\d{3}|[A-Za-z0-9]{4}-[A-Za-z0-9]{4}")


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    # Only now: a hook has less time than these take to compile, and most texts speak of no code.
    return re.compile(expression, re.IGNORECASE | re.VERBOSE)


def one_time_codes(text: str, lowered: str) -> list[Span]:
    """Numbers, and pairs of letter groups, that are said to be a one-time code."""
    spans: list[Span] = []
    anchors = [anchor for anchor in _ANCHORS if anchor in lowered]
    if not text.isascii():
        anchors += [anchor for anchor in _ANCHORS_NOT_LATIN if anchor in lowered]
    if "PIN" in text:
        anchors.append("pin")
    if not anchors or not _DIGITS_OR_LETTERS.search(text):
        return spans
    spots = places(lowered, anchors)
    for found in around(text, spots, _compiled(_NAMED), *_NAMED_REACH):
        if MARK in text[max(0, found.start() - len(MARK)) : found.start()]:
            continue
        if _is_code(found["value"], found["code"], bool(found["beside"])) and not _OTHER.search(found["filler"] or ""):
            start, stop = found.span("value")
            many = (found["code"] or "").lower().startswith(("backup", "recovery"))
            more = re.compile(_MORE).match(text, stop) if many else None
            spans.append((start, more.end() if more else stop, "one-time-code"))
    for found in around(text, spots, _compiled(_SAID), *_SAID_REACH):
        of = _WORD_BEFORE.search(text, max(0, found.start() - _SAID_REACH[0]), found.start()) if found["is"] else None
        if not _OTHER.search(f"{of and of[0]} {found['which']}"):
            spans.append((*found.span("is" if found["is"] else "given"), "one-time-code"))
    for found in around(text, spots, _compiled(_YOURS), *_YOURS_REACH):
        if not _YEAR.fullmatch(found["value"]):
            spans.append((*found.span("value"), "one-time-code"))
    return apart(spans)


def _is_code(value: str, named: str | None, beside: bool) -> bool:
    if not _ONLY_DIGITS.fullmatch(value):  # letters, as for a device or for recovery
        one, _, other = value.partition("-")
        mixed = value.isupper() or sum(map(str.isdigit, value)) >= 2
        return named is not None and _LETTERED.match(named) is not None and len(one) == len(other) and mixed
    if _YEAR.fullmatch(value):
        return False
    digits = sum(map(str.isdigit, value))
    return digits >= 6 if named is None or beside else digits >= 4
