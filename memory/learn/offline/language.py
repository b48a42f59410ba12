"""Which language a person writes, told from their own words."""

from __future__ import annotations

import re

_LANGUAGES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "Polish",
        re.compile(r"[ąęłńśźż]|\b(?:proszę|jest|nie|tylko|żeby|który|dodaj|zrób|uruchom|popraw|zamiast)\b", re.I),
    ),
    ("German", re.compile(r"\b(?:bitte|nicht|und|ist|das|kannst|mach|eine[nr]?|noch|auch|warum|nein|statt)\b", re.I)),
    (
        "French",
        re.compile(r"\b(?:est|les|des|pas|pour|avec|dans|peux|faut|je|tu|une|merci|stp|plutôt|au lieu)\b", re.I),
    ),
    (
        "Spanish",
        re.compile(
            r"[¿¡ñ]|\b(?:por|para|que|está|puedes|haz|también|pero|gracias|los|las|una|en lugar|en vez)\b", re.I
        ),
    ),
    ("Portuguese", re.compile(r"[ãõ]|\b(?:não|você|para|está|fazer|obrigado|uma|isso|também)\b", re.I)),
    ("Italian", re.compile(r"\b(?:che|non|per|questo|grazie|puoi|anche|della|sono|perché|una|invece)\b", re.I)),
    ("Dutch", re.compile(r"\b(?:het|een|niet|maar|graag|kun|deze|ook|voor|waarom)\b", re.I)),
    ("Turkish", re.compile(r"[ğışİ]|\b(?:için|değil|lütfen|bir|olarak)\b")),
    ("Ukrainian", re.compile(r"[іїєґ]", re.I)),
    ("Russian", re.compile(r"[а-яё]", re.I)),
    ("Japanese", re.compile(r"[\u3040-\u30ff]")),
    ("Korean", re.compile(r"[\uac00-\ud7af]")),
    ("Chinese", re.compile(r"[\u4e00-\u9fff]")),
    ("Arabic", re.compile(r"[\u0600-\u06ff]")),
)
_ENGLISH = re.compile(
    r"\b(?:the|and|is|are|to|of|it|this|that|you|we|please|can|do|not|with|for|in|on|what|how|why)\b", re.I
)
_READ = 600
_FEWEST_LETTERS = 6


def foreign_language(words: str) -> str:
    """The language of a person's words if it is clearly not English; otherwise empty."""
    words = words[:_READ]
    if sum(1 for char in words if char.isalpha()) < _FEWEST_LETTERS:
        return ""
    english = len(_ENGLISH.findall(words))
    if english > 2 and words.isascii():
        return ""
    best, most = "", 0
    for language, pattern in _LANGUAGES:
        count = len(pattern.findall(words))
        if count > most:
            best, most = language, count
    latin = re.search(r"[A-Za-z]", words) is not None
    needed = 1 if not latin or re.search(r"[^\W\d_a-zA-Z]", words) else 3
    return best if most >= needed and most > 2 * english else ""
