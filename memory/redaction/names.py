"""Secrets that are known by what they are given to: headers, options of commands, and names such as `DB_PASSWORD`."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from acemem.memory.redaction.spans import Span, apart, around, places
from acemem.memory.redaction.values import is_random, is_secret, looks_chosen

__all__ = ["by_name", "headers"]

_AUTHORIZATION = re.compile(
    r"uthorization\b[\"'\]\\*]*\s{0,3}[:=,]\s{0,3}[\\\"'`f]{0,3}"
    r"(?:(Bearer|Basic|Token|ApiKey|Api-Key|SSWS|GenieKey|Key|JWT)\s{1,3})?([^\s\"'`\\,;]{8,4000})",
    re.IGNORECASE,
)
_COOKIES = re.compile(r"cookie[\"']?:\s?[\"']?([^\n]{1,4000})", re.IGNORECASE)
_COOKIE = re.compile(r"[=]([^;\s\"'\\]{16,})")
_COMMANDS = (
    ("curl", re.compile(r"\bcurl\b[^\n]{0,400}?\s(?:-u|--user)[= ]?\s{0,3}[\"']?[^\s:\"']{1,100}:([^\s\"']{4,100})")),
    ("mysql", re.compile(r"\bmysql(?:dump|admin|import)?\b[^\n|;&]{0,200}?\s-p[\"']?([^\s\"']{6,100})")),
    ("sshpass", re.compile(r"\bsshpass\s{1,3}-p\s{0,3}[\"']?([^\s\"']{4,100})")),
    ("login", re.compile(r"\blogin\b[^\n|;&]{0,200}?\s-p\s{1,3}[\"']?([^\s\"']{6,100})")),
    ("redis-cli", re.compile(r"\bredis-cli\b[^\n|;&]{0,200}?\s-a\s{1,3}[\"']?([^\s\"']{6,100})")),
    ("machine", re.compile(r"\bmachine\s{1,3}\S{1,200}\s{1,3}login\s{1,3}\S{1,100}\s{1,3}password\s{1,3}(\S{4,200})")),
)


def headers(text: str, lowered: str) -> list[Span]:
    """Values of Authorization and Cookie headers, and passwords among the options of a command."""
    spans: list[Span] = []
    if "uthorization" in lowered:
        for found in around(text, places(lowered, ("uthorization",)), _AUTHORIZATION):
            scheme, value = found.groups()
            basic = scheme is not None and scheme.lower() == "basic"
            if _is_user_and_password(value) if basic else is_secret(value, "token", "quoted"):
                spans.append((*found.span(2), "authorization"))
    if "cookie" in lowered:
        for header in around(text, places(lowered, ("cookie:", 'cookie":', "cookie':")), _COOKIES, after=4_100):
            for found in _COOKIE.finditer(text, *header.span(1)):
                if is_random(found.group(1)):
                    spans.append((*found.span(1), "cookie"))
    for command, pattern in _COMMANDS:
        if command in text:
            for found in around(text, places(text, (command,)), pattern):
                if is_secret(found.group(1), "password", "env"):
                    spans.append((*found.span(1), "password"))
    return apart(spans)


def _is_user_and_password(value: str) -> bool:
    try:
        return b":" in base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False


_NAME = re.compile(
    r"""(?P<name>
      pass(?:word|wd|phrase|code)|(?<![a-z])pwd?(?![a-z])|(?<=[_-])pass(?![a-z])|(?<![\w-])pass(?=["']?\s?[=:])
    | passwort|kennwort|contrase[ñn]a|mot[ _]de[ _]passe|(?<![a-z])mdp(?![a-z])|senha|palavra[- ]passe|wachtwoord
    | hasł[oa]|haslo|şifre(?:si|niz)?|парол[ьяюе]|密[码碼]|口令|パスワード|비밀번호|패스워드|पासवर्ड
    | كلمة\s(?:ال)?(?:مرور|سر)
    | secret(?:[_ -]?(?:access)?[_ -]?key)?(?:[_-]?base)?
    | token | credentials?
    | (?:api|app|application|access|auth|account|admin|client|consumer|customer|db|database|deploy|encrypt(?:ion)?
      |decryption|function|hmac|host|ingest|jwt|license|licence|master|private|project|root|security|server|service
      |session|shared|signing|signature|site|ssh|subscription|user|webhook|write)[_ -]?key
    | (?<=["'])auth(?=["']) | mnemonic | (?:seed|recovery)[_ -]?phrase
    )""",
    re.IGNORECASE | re.VERBOSE,
)
# "… for the admin account": whose secret it is, between the name and the value.
_WHOSE = r"""\s{1,3}
    (?:for|of|to|on|at|für|von|vom|zu|zum|zur|der|des|del?|della|do|da|du|pour|para|per|por|voor|van|od|от|для|к)\s
    (?:[\w.@'-]{1,30}\s){0,4}?[\w.@'-]{1,30}"""
_IS = r"(?:is|was|are|will\sbe|ist|lautet|war|es|era|est|è|é|jest|это|هي|है)"
_SETS = re.compile(
    rf"""(?:[_-]?(?:\d{{1,2}}|prod(?:uction)?|staging|stage|dev(?:elopment)?|test|live|local|value|v\d|primary|secondary))?
    (?:
      (?P<xml>>)
    | (?P<said>\**(?:{_WHOSE})?(?:,[^\n,.:;]{{1,40}},)?\s{{1,3}}{_IS}(?::\s|\s)
        (?:(?:now|still|set\sto|changed\sto|jetzt|ahora|maintenant|agora|ora|теперь)\s)?\s{{0,2}})
    | (?P<whose>\**{_WHOSE}\**\s?[:：=]\s{{1,3}})
    | (?P<to>\**(?:{_WHOSE})?\s{{1,3}}(?:to|auf|[-–—])\s{{1,3}})
    | (?P<default>\\?["']\s{{0,3}},\s{{0,3}}(?=\\?["']))
    | (?P<field>\\?["']?\s{{0,3}},?\s{{0,20}}\\?["']?value\\?["']?\s{{0,3}}[:=]\s{{0,3}})
    | (?P<set>[\\"'`\])*?!]{{0,6}}\s{{0,3}}
        (?::=|=>|->|={{1,3}}|!==?|[:：|—]\**(?:\s{{0,3}}[\w.\[\]]{{1,20}}\s{{1,3}}=(?!=))?|[为是はがを은는이가])\s{{0,3}})
    | (?P<loose>[ \t]{{1,3}})
    )""",
    re.IGNORECASE | re.VERBOSE,
)
# A value is judged by its beginning; what belongs to a longer one goes with it.
_JUDGED = 300
_VALUE = re.compile(
    r"[fbruFBRU@]{0,2}(?P<quote>\\*(?:\"|'|`|\*\*))(?P<quoted>[^\n]{1,400}?)(?P=quote)"
    rf"|[\"'`*]{{0,3}}(?P<bare>[^\s\"'`]{{1,{_JUDGED}}})"
)
_BARE_END = re.compile(r"\\[nrt\"']|[,;)}\]]|&[\w.-]{1,40}=|</|<br")
_ENV_END = re.compile(r"\\[nrt\"']|[,;]$")
# Nobody types a password with the letters of Chinese, Japanese or Korean: there the sentence goes on.
_NOT_TYPED = re.compile(r"[\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff65]")
# Where other words stand between, and where the value is said first.
_AFTER = re.compile(
    rf"""\**(?:[ ][^\W\d][\w'-]{{0,20}}){{0,6}}?(?:\s?[:：=]|['’]s|[ ][—–-]|[ ]{_IS}:?)[ ]["'`“«„*]{{0,3}}
    (?P<value>[^\s"'`“”«»„]{{1,128}}+)""",
    re.IGNORECASE | re.VERBOSE,
)
_BEFORE = re.compile(
    r"""(?:
      (?<![^\s"'`“«„(*])(?P<value>[^\s"'`“”«»„]{6,64})["'`”»*]{0,3}
        (?:,|,?\s(?:is|was|as|ist|war|als|es|como|est|comme|è|é|come|jest|jako|это|как))
        (?:\s[^\s\d.,:;!?"'`()]{1,20}){0,4}?\s["'`“«„(*]{0,3}
    | (?<![!-~])(?P<typed>[!-~]{6,64})\s?[是为がは이가][^!-~]{0,8}
    )$""",
    re.IGNORECASE | re.VERBOSE,
)
_REACH = 120
_LINE_HEAD = re.compile(r"(?:(?:export|set|ENV|ARG|-|\+|\$|\d+→)\s+)*[\w.-]*")
# Names that speak of something else: the tokens of a model, of a page or of a parser.
_OTHER_TOKEN = re.compile(
    r"(?:pad|eos|bos|unk|cls|sep|mask|special|stop|start|end|next|prev|page|sync|resume|csrf)[_ -]?$", re.I
)

# What a name starts with, or what it ends with and how far back it can start: finding these first and trying a name
# only there is ten times faster than the expression over the whole text.
_STARTS = (
    "pass", "pw", "secret", "token", "kennwort", "senha", "contrase", "mot de pass", "mot_de_pass", "credential",
    "auth\"", "auth'", "mnemonic", "mdp", "palavra", "wachtwoord", "haslo",
)  # fmt: skip
_STARTS_NOT_ASCII = (
    "парол", "密码", "密碼", "口令", "パスワード", "비밀번호", "패스워드", "पासवर्ड", "كلمة", "hasł", "şifre",
)  # fmt: skip
_ENDS = ("key", "phrase")
_BACK = 14


def _names(text: str, lowered: str) -> Iterator[re.Match[str]]:
    starts = [anchor for anchor in _STARTS if anchor in lowered]
    if not text.isascii():
        starts += [anchor for anchor in _STARTS_NOT_ASCII if anchor in lowered]
    ends = [anchor for anchor in _ENDS if anchor in lowered]
    if not starts and not ends:
        return
    spots = sorted(
        [(place, 0) for place in places(lowered, starts)] + [(place, _BACK) for place in places(lowered, ends)]
    )
    end = 0
    for place, back in spots:
        if place < end:
            continue
        name = _NAME.search(text, max(end, place - back), place + 10) if back else _NAME.match(text, place)
        if name:
            end = name.end()
            yield name


def by_name(text: str, lowered: str) -> list[Span]:
    """Values that look like a secret and are given to a name that speaks of one."""
    spans: list[Span] = []
    at = 0
    for name in _names(text, lowered):
        if name.start() < at:
            continue
        sets = _SETS.match(text, name.end())
        value = sets and _VALUE.match(text, sets.end())
        if sets and value and (span := _secret_value(text, name, str(sets.lastgroup), value)):
            spans.append(span)
            at = span[1]
        elif _kind(name.group().lower()) == "password" and (span := _told(text, name, at)):
            spans.append(span)
            at = max(at, span[1])
    return spans


def _secret_value(text: str, name: re.Match[str], sets: str, value: re.Match[str]) -> Span | None:
    kind = _kind(name.group().lower())
    before = text[max(0, name.start() - 60) : name.start()]
    if before.endswith(":") or (kind == "token" and _OTHER_TOKEN.search(before)):
        return None
    if sets in ("whose", "to") and kind != "password":
        return None
    if value.group("quoted") is not None:
        start, stop = value.span("quoted")
        loose = sets == "to" or (sets == "loose" and kind != "password")
        how = "default" if sets == "default" else "loose" if loose else "quoted"
    elif sets == "default":
        return None
    else:
        start, stop = value.span("bare")
        how = {"said": "said", "whose": "said", "to": "loose", "loose": "loose"}.get(sets, "bare")
        if other := _NOT_TYPED.search(text, start, stop):
            stop = other.start()
        # A shell or env file takes everything up to the space; elsewhere a bracket or a comma ends the value.
        head = text[text.rfind("\n", max(0, name.start() - 200), name.start()) + 1 : name.start()]
        whole_line = text[stop : stop + 1] in ("", "\n", "\r") and _LINE_HEAD.fullmatch(head.lstrip())
        if sets == "set" and text[name.end() : start].strip("\"'`") == "=" and name.group().isupper():
            how = "env"
        if sets == "loose" and (
            before.endswith("--") or re.search(r"\b(?:ENV|ARG)\s\w*$|(?<![\w-])(?=[\w-]*--)[\w-]++$", before)
        ):
            how = "env"
        if end := (_ENV_END if how in ("env", "said") or whole_line else _BARE_END).search(text, start, stop):
            stop = end.start()
        if how != "env":
            stop = start + len(text[start:stop].rstrip(".,;:)"))
        # "PASS: TestLogin2", "tests pass: 12" and "1st pass: parse" come from test runs and compilers.
        printed = name.group() == "PASS" and not before.endswith(("_", "-")) and text[name.end()] == ":"
        if printed or (name.group().lower() == "pass" and not _FIELD_HEAD.search(before)):
            return None
    secret = text[start:stop]
    if kind == "phrase":
        return (start, stop, "seed-phrase") if _SEED_PHRASE.fullmatch(secret) else None
    if name.group().lower() == "auth":
        return (start, stop, "authorization") if _is_user_and_password(secret) else None
    if not is_secret(secret, kind, how):
        return None
    if stop == value.end() and len(secret) == _JUDGED:
        while stop < len(text) and (text[stop].isalnum() or text[stop] in "+/=_-."):
            stop += 1
    return (start, stop, kind)


def _told(text: str, name: re.Match[str], at: int) -> Span | None:
    """What a sentence about a password tells apart from the word for it, if it looks like one."""
    after = _AFTER.match(text, name.end())
    before = _BEFORE.search(text, max(at, name.start() - _REACH), name.start())
    for found in (after, before):
        if found:
            start = found.start(str(found.lastgroup))
            value = found[str(found.lastgroup)].rstrip(".,;:)*")
            if looks_chosen(value):
                return start, start + len(value), "password"
    return None


_FIELD_HEAD = re.compile(r"(?:^|[,;{(|\n][^\S\n]*+|[\"'_-])$")
_SEED_PHRASE = re.compile(r"[a-z]{3,8}(?: [a-z]{3,8}){11,23}")


def _kind(name: str) -> str:
    if name.startswith(("mnemonic", "seed", "recovery")):
        return "phrase"
    if "secret" in name or "credential" in name:
        return "secret"
    if "token" in name or name == "auth":
        return "token"
    return "key" if name.endswith("key") else "password"
