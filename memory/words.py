"""Words: what a text is found by besides its meaning, for bullets and for questions.

Identifiers count whole and by their parts, whatever joins these: `use_effect`, `useEffect` and `use-effect` are one
word and share "use" and "effect". A whole is rarer than its parts, so the exact name weighs most. Words are cut to
their stems in the text's own language, function words are left out, accents do not matter, and scripts without spaces
are cut into pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from threading import Lock
from typing import Any

from acemem.memory.function_words import BY_LANGUAGE, ENGLISH
from acemem.memory.learn.offline.language import foreign_language

LONGEST = 80  # in characters; what is longer is data, not a word

_JOINTS = r"[._/\\:@+-]+"
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_OF_CODE = re.compile(r"(?<!\w)[A-Za-z](?:\+\+|#)(?!\w)")  # languages whose name ends in a sign
_APOSTROPHE = re.compile(r"['\u2019](?:s\b)?")
# Thai, Lao, Burmese, Khmer, kana, hangul, Han: there words are not, or not reliably, set apart by spaces.
_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+)"
)
_stemming = Lock()  # a stemmer holds the word it is at


def words(text: str) -> list[str]:
    """The words of a bullet, as often as they occur; none of them holds a space."""
    language = _language(text)
    return [form for word in _content(text, language) for form in _forms(word, language)]


def asked(text: str) -> list[tuple[str, ...]]:
    """The distinct words of a question in order, each with the forms under which a bullet may hold it.

    A question is often too short to tell its language. So besides the stem in English, and in the language it seems to
    be in, there is the word as it stands, which bullets in other languages than English hold too.
    """
    language = _language(text)
    found = ((_stem(word, "english"), _plain(word), *_forms(word, language)) for word in _content(text, language))
    return list(dict.fromkeys(tuple(dict.fromkeys(forms)) for forms in found))


def _language(text: str) -> str:
    """Snowball's name of a text's language; empty for English, and for what there are no stems for."""
    language = foreign_language(text).lower()
    return language if language in BY_LANGUAGE else ""


def _content(text: str, language: str) -> Iterator[str]:
    left_out = BY_LANGUAGE[language] if language else ENGLISH
    return (word for word in _split(text) if word not in left_out and len(word) <= LONGEST)


def _split(text: str) -> Iterator[str]:
    """Lower-case words; identifiers in parts and whole."""
    text = _APOSTROPHE.sub("", unicodedata.normalize("NFKC", text))
    for run in _runs(text.isascii()).findall(text):
        for piece in (run,) if run.isascii() else _UNSPACED.split(run):
            if _UNSPACED.match(piece):
                yield from (piece[at : at + 2] for at in range(max(1, len(piece) - 1)))
            else:
                yield from _identifier(piece)
    for name in _OF_CODE.findall(text):
        yield name.casefold()


def _identifier(run: str) -> Iterator[str]:
    parts = _parts(run)
    yield from parts
    if len(parts) > 1:
        yield _whole(parts)
        name = _parts(re.split(r"[/\\]", run)[-1])  # a file is also known without its folders
        if 1 < len(name) < len(parts):
            yield _whole(name)


def _parts(run: str) -> list[str]:
    return [part.casefold() for segment in re.split(_JOINTS, run) for part in _CAMEL.split(segment) if part]


def _whole(parts: list[str]) -> str:
    """An identifier as one word: its parts without what joins them, but numbers with a point, as versions have."""
    return ("." if all(part.isdigit() for part in parts) else "").join(parts)


@cache
def _runs(ascii_only: bool) -> re.Pattern[str]:
    """Words and what joins them; elsewhere than in ASCII a word goes on over the marks above and below its letters."""
    marks = (
        "" if ascii_only else "".join(c for c in map(chr, range(0x300, 0x1D00)) if unicodedata.category(c)[0] == "M")
    )
    return re.compile(rf"\w[\w{marks}]*(?:{_JOINTS}\w[\w{marks}]*)*")


def _forms(word: str, language: str) -> tuple[str, ...]:
    """What a bullet in this language is found by: in English the stem, else also the word as it stands."""
    if not language:
        return (_stem(word, "english"),)
    return tuple(dict.fromkeys((_plain(word), _stem(word, language))))


@lru_cache(maxsize=65_536)
def _stem(word: str, language: str) -> str:
    if len(word) < 3 or not word.isalpha():
        return _plain(word)
    stemmer = _stemmer(language)
    if stemmer is None:
        return _plain(word)
    with _stemming:
        return _plain(stemmer.stemWord(word))


@cache
def _stemmer(language: str) -> Any:
    """Snowball's stemmer for a language, None where the installed version has none."""
    import snowballstemmer

    return snowballstemmer.stemmer(language) if language in snowballstemmer.algorithms() else None


def _plain(word: str) -> str:
    """A word without its accents."""
    if word.isascii():
        return word
    return unicodedata.normalize(
        "NFC", "".join(c for c in unicodedata.normalize("NFD", word) if not "\u0300" <= c <= "\u036f")
    )
