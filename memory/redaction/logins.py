"""Passwords that a sentence gives away without a name for them: beside their user, or as what to use on a machine."""

from __future__ import annotations

import re
from functools import cache

from acemem.memory.redaction.spans import Span, apart, places
from acemem.memory.redaction.values import has_both, has_four_kinds, is_secret, looks_chosen

__all__ = ["logins"]

# Where a word may begin: not within another, but after the letter of an escaped line end.
_BEGIN = r"(?:(?<![^\W_])|(?<=\\[nrt]))"
_OPEN, _CLOSE = r"[\"'`“«„「*]{0,3}", r"[\"'`”“»」*]{0,3}"
_USER = rf"{_OPEN}[\w.@+-]{{1,40}}{_CLOSE}"
# Nobody types a password with the letters of Chinese, Japanese or Korean: there the sentence goes on.
_SIGN = r"[^\s\"'`“”«»„「」\\\u3000-\u9fff\uac00-\ud7a3\uff01-\uff65]"
_VALUE = rf"{_OPEN}(?P<%s>{_SIGN}{{6,128}}+)(?!{_SIGN})"
_PASSWORD = (
    r"(?:(?:the|das|la|le|el|il|de|het)\s)?(?:pass(?:word|wort|phrase)?|pwd?|kennwort|contrase[ñn]a|clave|mot\sde\spasse"
    r"|mdp|senha|wachtwoord|has[łl]o|пароль|密[码碼]|パスワード|비밀번호)\s?(?:is|ist|es|est|é|è|=|[:：]|は|是|는)?\s?"
)
_BESIDE = (
    rf"(?:\s?[/|,:;、，]\s?|\s(?:and|with|und|mit|y|con|et|avec|e|com|en|met|i|z|и|с|&|\+)\s|\s?[と和]\s?"
    rf"|\s(?={_PASSWORD}))(?:{_PASSWORD})?"
)
_PAIR = rf"{_USER}{_BESIDE}{_VALUE}"
_IS = (
    r"(?:\s(?:is|are|was|were|ist|sind|lauten|es|son|est|sont|é|são|è|sono|zijn|to|هي)\s|\s?(?:[:=：—–→]|[-=]>)\s?"
    r"|\s?[はが是为은는]\s?)"
)
_FILLER = r"(?:[ ][^\s\d:=.,;!?\"'`()/]{1,24}){0,6}?"
_OWNER = r"(?:(?:the\s)?(?:user(?:name)?|account|login|benutzer|usuario|usuário|utilisateur|utente)\s?:?\s?)?"
_SAID_TO_BE = (
    r"(?:cred(?:ential)?s|credenciales|credenciais|credenziali|(?:zugangs|anmelde|login)-?daten|identifiants"
    r"|inloggegevens|уч[её]тные[ ]данные|ログイン情報|로그인[ ]정보|账号密码)"
)
_LOGIN = r"(?:log-?ins?(?:[ ](?:data|details|info))?)"
_NAMED_USER = (
    r"(?:user(?:name|[ ]name|id)?|account|benutzer(?:name)?|usuario|usuário|utilisateur|utente|gebruiker(?:snaam)?"
    r"|логин|пользователь|用户名?|账号|帐号|ユーザー名?|아이디|계정)"
)
_COMES_IN = (
    r"(?:log(?:ged|ging)?[ -]?(?:in|on)(?:to)?|sign(?:ed|ing)?[ -]?in(?:to)?|loggen?|melden?"
    r"|(?:se[ ])?connecte[rz]?(?:[ -](?:toi|vous))?|inici[ae]r?[ ]sesión|entr[ae]r?|acced[ie](?:re)?|loguj(?:[ ]się)?"
    r"|войти|войди(?:те)?|зайди(?:те)?)"
)
_WITH = r"[ ](?:with|as|using|via|mit|als|con|como|avec|comme|com|come|met|jako|с|под|как)[ ]"

# The anchors of an expression are what it can begin with; some only for a text with other letters than Latin ones.
_SAID = rf"{_BEGIN}{_SAID_TO_BE}(?:{_FILLER}{_IS}|\s){_OWNER}{_PAIR % 'value'}"
_SAID_ANCHORS = ("cred", "zugangs", "anmelde", "logindaten", "identifiants", "inloggegevens")
_SAID_ANCHORS_NOT_LATIN = ("учётн", "учетн", "ログイン情", "로그인", "账号密")
_TOLD = rf"""(?:
      {_BEGIN}(?:{_LOGIN}{_FILLER}{_IS}{_OWNER}|{_NAMED_USER}(?:{_IS}|\s)){_PAIR % "value"}
    | (?:{_BEGIN}|(?<=ein)|(?<=an)|(?<=in)|(?<=za)){_COMES_IN}{_FILLER}{_WITH}{_OWNER}
      (?:{_PAIR % "beside"}|{_VALUE % "alone"})
    )"""
_TOLD_ANCHORS = (
    "log", "sign", "user", "account", "benutzer", "melde", "usu", "utilisateur", "utente", "gebruiker", "connecte",
    "inici", "entr", "acced",
)  # fmt: skip
_TOLD_ANCHORS_NOT_LATIN = (
    "войти", "войди", "зайди", "логин", "пользователь", "用户", "账号", "帐号", "ユーザ", "아이디", "계정",
)  # fmt: skip
_USED = rf"""{_BEGIN}(?:use|using|nimm|verwende|utili[sz][ae]|usa|используй)[ ]{_VALUE % "value"}{_CLOSE}
    [ ](?:for|on|as|to|at|für|auf|para|pour|en|per|для|на)[ ](?:[\w'-]{{1,20}}[ ]){{0,4}}?
    (?:db|databases?|accounts?|admin|root|servers?|box|host|log-?in|vpn|wi-?fi|router|console|panel|portal|dashboard
      |registry|keystore|s?ftp|ssh|staging|production|cluster|user|machine|datenbank|konto|base|cuenta|servidor|compte
      |serveur|conta|banco|сервера?|базы)\b"""
_USED_ANCHORS = ("use ", "using ", "nimm ", "verwende ", "utili", "usa ")
_USED_ANCHORS_NOT_LATIN = ("используй ",)
_DIGIT = re.compile(r"\d")
_OTHER_LETTERS = re.compile("[\u0400-\u04ff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]")


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    # Only now: a hook has less time than these take to compile, and most statements have none of the words.
    return re.compile(expression, re.IGNORECASE | re.VERBOSE)


def logins(text: str, lowered: str) -> list[Span]:
    """Passwords that are told with their user, or for use on something that asks for one."""
    spans: list[Span] = []
    if not _DIGIT.search(text):  # without one a word cannot be told from a password
        return spans
    plain = text.isascii() or not _OTHER_LETTERS.search(text)
    for expression, anchors, others in (
        (_SAID, _SAID_ANCHORS, _SAID_ANCHORS_NOT_LATIN),
        (_TOLD, _TOLD_ANCHORS, _TOLD_ANCHORS_NOT_LATIN),
        (_USED, _USED_ANCHORS, _USED_ANCHORS_NOT_LATIN),
    ):
        for place in places(lowered, anchors if plain else (*anchors, *others)):
            if found := _compiled(expression).match(text, place):
                name = str(found.lastgroup)
                value = found[name].rstrip(".,;:)*")
                if _is_password(value, expression):
                    start = found.start(name)
                    spans.append((start, start + len(value), "password"))
    return apart(spans)


def _is_password(value: str, expression: str) -> bool:
    if expression is _USED:  # nothing but its look speaks for it
        return looks_chosen(value) and has_four_kinds(value)
    return looks_chosen(value) or (expression is _SAID and has_both(value) and is_secret(value, "password", "said"))
