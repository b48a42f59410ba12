"""Which language a person writes, told from its script or from its function words."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from acemem.memory.function_words import BY_LANGUAGE, ENGLISH

_SCRIPTS = (
    ("Japanese", re.compile(r"[\u3040-\u30ff]")),
    ("Korean", re.compile(r"[\uac00-\ud7af]")),
    ("Chinese", re.compile(r"[\u4e00-\u9fff]")),
    ("Arabic", re.compile(r"[\u0600-\u06ff]")),
    ("Ukrainian", re.compile(r"[іїєґ]", re.IGNORECASE)),
    ("Russian", re.compile(r"[а-яё]", re.IGNORECASE)),
)
_FOREIGN = re.compile(r"[\u0370-\u1fff\u3040-\ud7af]")
# Letters that tell apart languages which share most of their short words.
_LETTERS = {
    "polish": re.compile(r"[ąęłńśźż]"),
    "german": re.compile(r"[äöüß]"),
    "french": re.compile(r"[çêèœù]"),
    "spanish": re.compile(r"[¿¡ñ]"),
    "portuguese": re.compile(r"[ãõ]"),
    "turkish": re.compile(r"[ğışİ]"),
}
_WORD = re.compile(r"(?<![\w./-])[^\W\d_]+(?![\w/-]|\.\w)")  # in prose: no part of a path or an identifier
_CONTRACTION = re.compile(r"\w(?:n['’]t|['’](?:s|re|ve|ll|d|m))\b", re.IGNORECASE)
_SHARED = ENGLISH | {"no"}  # words that tell nothing where English is one of the languages
_LANGUAGES_OF: dict[str, list[str]] = {}
for _language, _words in BY_LANGUAGE.items():
    for _each in _words - _SHARED:
        _LANGUAGES_OF.setdefault(_each, []).append(_language)
_READ = 600
_FEWEST = 2  # function words that tell a language


def foreign_language(words: str) -> str:
    """The language of a person's words if it is clearly not English; otherwise empty."""
    words = words[:_READ]
    if not words.isascii():
        letters = sum(map(str.isalpha, words))
        foreign = len(_FOREIGN.findall(words))
        # A sentence in an ideographic script has few letters: identifiers may outnumber them.
        if foreign and (2 * foreign >= letters or (4 * foreign >= letters and not _counted(words)[0])):
            return next((name for name, pattern in _SCRIPTS if pattern.search(words)), "")
    english, counts = _counted(words)
    (best, most), (_, second) = [*counts.most_common(2), ("", 0), ("", 0)][:2]
    return best.capitalize() if most >= _FEWEST and english < most > second else ""


def is_foreign(words: str) -> bool:
    """Whether words are not English, though they may be too few to tell which language they are."""
    if foreign_language(words):
        return True
    english, counts = _counted(words[:_READ])
    return english == 0 and bool(counts)


@lru_cache(maxsize=256)
def _counted(words: str) -> tuple[int, Counter[str]]:
    """The function words of English, and the signs of each other language, in a text."""
    said = [word.lower() for word in _WORD.findall(words)]
    english = sum(word in ENGLISH for word in said) + len(_CONTRACTION.findall(words))
    counts = Counter(language for word in said for language in _LANGUAGES_OF.get(word, ()))
    if not words.isascii():
        letters = " ".join(said)
        for language, pattern in _LETTERS.items():
            if counts[language] or not english:
                counts[language] += len(pattern.findall(letters))
    return english, +counts
