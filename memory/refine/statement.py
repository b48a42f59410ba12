"""A statement taken apart for comparison: its words, its hard tokens (numbers, code, names), and what it negates."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from acemem.memory.refine.vocabulary import (
    ALLOWING,
    CONCORD,
    FORBIDDING,
    IDIOMS,
    LIGHT,
    NEGATORS,
    NUMBERS,
    OPENERS,
    OPPOSITES,
    PREPOSITIONS,
    SUBORDINATORS,
    SYNONYMS,
)


@dataclass(frozen=True, slots=True)
class Token:
    """One word, number, piece of code or name: as written, as compared, and what negation has to do with it."""

    text: str
    key: str
    sort: str  # "word", "light", "number", "flag", "code", "name"
    negated: bool  # a negation reaches it
    negates: bool = False  # it turns round what follows
    gap: str = ""  # what stands before it: "" or, of a kind, "," "." "/" (a joint inside a word) ">" (an arrow)


_TOKEN = re.compile(
    r"""
      (?P<url>[a-z][a-z0-9+.-]{0,30}://[^\s`"'<>)]+)
    | (?P<flag>(?<![\w-])--?[A-Za-z][\w-]*(?:=[^\s`"',;]+)?)
    | (?P<call>[A-Za-z_$][\w$]{0,99}(?:(?:\.|::|->)[A-Za-z_$][\w$]{0,99}){0,9}\([^()\n]{0,80}\))
    | (?P<path>(?:[~.@]{0,2}/)?[\w.@*{}\[\]$<>-]{1,120}+(?:/[\w.@*{}\[\]$<>-]*)+|/[\w.@*{}\[\]$-]+)
    | (?P<dotted>[\w$-]{1,120}(?:(?:\.|::|->)[\w$*-]+)+|\.[A-Za-z][\w.-]*)
    | (?P<named>[$@#%]\{?[A-Za-z_][\w-]*\}?|[A-Za-z]\w*_\w*|\w+_\w+)
    | (?P<number>\d[\d_,]*(?:\.\d+)*(?:%|[A-Za-z]{1,3}(?![A-Za-z]))?)
    | (?P<mixed>[A-Za-z]+(?:-[A-Za-z]+){0,9}-?\d[\w-]*)
    | (?P<han>[\u3040-\u30ff\u3400-\u9fff])
    | (?P<word>(?:non-)?[^\W\d_\u3040-\u30ff\u3400-\u9fff]+(?:'[^\W\d_]+)?)
    | (?P<end>[.;:!?。；：！？—–\n|]+|\s-\s|→|=>|->|[()])
    | (?P<comma>[,，、])
    """,
    re.VERBOSE,
)
_EMPHASIS = re.compile(r"\*\*(?!/)|(?<!\w)__|__(?!\w)")
_IDIOMS = tuple((re.compile(idiom, re.IGNORECASE), word) for idiom, word in IDIOMS)
_ENUMERATION = re.compile(r"\s*(?:(?:[-*•+]|\(?\d{1,2}[.)])\s+|#+\s+)+")
# "try/catch" and "CPU/memory" are words; a path is what starts like one or has more than letters in it.
_JOINED_WORDS = re.compile(r"[A-Za-z]+(?:/[A-Za-z]+)+")
_ROOTS = frozenset(
    "src lib app apps test tests docs doc packages internal cmd pkg config scripts components pages public server api "
    "bin etc usr var tmp home".split()
)
_CAMEL = re.compile(r"[a-z][a-z0-9]*[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*")
HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@lru_cache(maxsize=4_096)
def parse(text: str) -> tuple[Token, ...]:
    """Take the statement apart, in its order; equal statements up to case, form and punctuation give equal keys."""
    text = unicodedata.normalize("NFKC", text).replace("’", "'").replace("`", " ").replace('"', " ")
    text = _EMPHASIS.sub("", text)
    for idiom, word in _IDIOMS:
        text = idiom.sub(word, text)
    enumeration = _ENUMERATION.match(text)
    raws = _tokens(text[enumeration.end() :] if enumeration else text)
    return tuple(_negate(_name(raws)))


@dataclass(slots=True)
class _Raw:
    text: str
    key: str
    sort: str  # as in Token, and "end" and "comma"
    lower: str
    joined: bool = False  # by a stroke or a hyphen to the one before


def _tokens(text: str) -> list[_Raw]:
    tokens: list[_Raw] = []
    at = 0
    while found := _TOKEN.search(text, at):
        joined = at > 0 and text[at : found.start()] in ("-", "/")
        at = found.end()
        piece = found.group()
        group = str(found.lastgroup)
        read = _READERS.get(group, _read_code)(piece)
        if joined and read:
            read[0].joined = True
        tokens += read
        if group == "path" and piece.endswith("."):
            tokens.append(_Raw(".", "", "end", "."))
    return tokens


def _read_code(piece: str) -> list[_Raw]:
    piece = piece.rstrip(".,:;-")
    key = piece.casefold().strip("'\"{}<>$")
    return [_Raw(piece, key, "code", key)] if key else []


def _read_flag(piece: str) -> list[_Raw]:
    # Two short flags may differ in nothing but their case.
    return [_Raw(piece, piece if len(piece) == 2 else piece.casefold(), "flag", piece)]


def _read_call(piece: str) -> list[_Raw]:
    name, _, arguments = piece.rstrip(")").partition("(")
    if arguments in ("s", "es") or (name.isalpha() and name.islower() and " " in arguments):
        return [*_tokens(name), *_tokens(arguments)]
    inside = re.sub(r"\s+", "", arguments).casefold()
    name = name.casefold()
    key = f"{name}({inside})" if inside else stem(name) if name.isalpha() else name
    return [_Raw(piece, key, "code", key)]


def _read_path(piece: str) -> list[_Raw]:
    piece = piece.rstrip(".,:;-")
    if _JOINED_WORDS.fullmatch(piece) and piece.partition("/")[0].casefold() not in _ROOTS:
        first, *others = piece.split("/")
        return [*_read_word(first), *(replace(raw, joined=True) for word in others for raw in _read_word(word))]
    return _read_code(piece)


def _read_dotted(piece: str) -> list[_Raw]:
    if re.fullmatch(r"[vV]?\d+(?:\.\d+)+[+]?", piece):
        return [_Raw(piece, piece.casefold().lstrip("v"), "number", piece)]
    if piece.casefold() in ("e.g", "i.e", "a.k.a", "w.r.t"):
        return []
    return _read_code(piece)


def _read_number(piece: str) -> list[_Raw]:
    key = piece.replace(",", "").replace("_", "").casefold()
    return [_Raw(piece.rstrip(","), key, "number", key)]


def _read_mixed(piece: str) -> list[_Raw]:
    key = re.sub(r"^v(?=\d+$)", "", piece.casefold().rstrip("-"))
    return [_Raw(piece, key, "number", key)]


def _read_word(piece: str) -> list[_Raw]:
    lower = piece.casefold().replace("-", "")
    elided, apostrophe, _ = lower.partition("'")
    if apostrophe and elided in ("n", "l", "d", "qu", "j", "s", "c", "m"):  # French
        return [*(_read_word("ne") if elided == "n" else []), *_read_word(piece[len(elided) + 1 :])]
    lower = lower.replace("'", "") if lower.endswith("n't") else lower.removesuffix("'s")
    if lower in NUMBERS:
        return [_Raw(piece, NUMBERS[lower], "number", lower)]
    is_camel = _CAMEL.fullmatch(piece) is not None
    manner = not is_camel and _is_manner(lower)
    if lower in NEGATORS or lower in LIGHT or lower in ALLOWING or lower in FORBIDDING or manner:
        return [_Raw(piece, stem(lower), "light", lower)]
    if is_camel:
        return [_Raw(piece, stem(lower), "code" if piece[0].islower() else "name", lower)]
    return [_Raw(piece, stem(lower), "word", lower)]


def _read_end(piece: str) -> list[_Raw]:
    return [_Raw(piece, "", "end", piece)]


def _read_comma(piece: str) -> list[_Raw]:
    return [_Raw(piece, "", "comma", piece)]


_READERS = {
    "flag": _read_flag,
    "call": _read_call,
    "path": _read_path,
    "dotted": _read_dotted,
    "number": _read_number,
    "mixed": _read_mixed,
    "word": _read_word,
    "han": _read_word,
    "end": _read_end,
    "comma": _read_comma,
}


def _name(raws: list[_Raw]) -> list[_Raw]:
    """Mark as names the capitalised words inside a clause, unless the text capitalises most of its words."""
    inside = [raw for before, raw in pairwise(raws) if raw.sort == "word" and before.sort != "end"]
    title_case = len(inside) > 3 and sum(raw.text[0].isupper() for raw in inside) > 0.6 * len(inside)
    first = True
    for raw in raws:
        if raw.sort == "word" and not title_case:
            shouted = len(raw.text) > 1 and raw.text.isupper()
            if shouted or (raw.text[0].isupper() and not first):
                raw.sort = "name"
        first = raw.sort == "end" or (first and raw.sort == "comma")
    return raws


_ARROWS = ("→", "=>", "->")
_TURNS = ("but", "aber", "mais", "pero", "но", "а")
_JOINS = ("and", "or", "und", "oder", "et", "ou", "y", "o", "и")
_BESIDE = (("instead", "of"), ("rather", "than"))


def _negate(raws: list[_Raw]) -> list[Token]:
    tokens: list[Token] = []
    clause: list[Token] = []
    negated, last, beside, gap = False, -9, -1, ""

    def turn_clause() -> None:
        clause[:] = [replace(t, negated=not t.negated) for t in clause]

    def close() -> None:
        nonlocal negated, beside
        # "no any": in a clause that says nothing, a negator turns nothing round.
        empty = all(t.sort == "light" for t in clause)
        tokens.extend(replace(t, negates=False) if empty else t for t in clause)
        clause.clear()
        negated, beside = False, -1

    for at, raw in enumerate(raws):
        following = raws[at + 1].lower if at + 1 < len(raws) else ""
        previous = raws[at - 1].lower if at else ""
        joint = raw.sort == "comma" or raw.lower in _JOINS
        if (
            raw.sort == "end"
            or raw.lower in _TURNS
            or raw.lower in SUBORDINATORS
            or (joint and (following in OPENERS or following in NEGATORS))
            or (raw.sort == "comma" and clause and clause[0].text.casefold() in SUBORDINATORS)
        ):
            close()
        if raw.sort in ("end", "comma"):
            gap = ">" if raw.text in _ARROWS else "." if raw.sort == "end" or gap == "." else ","
            continue
        negates = False
        if raw.lower in FORBIDDING:
            turn_clause()
            negates = True
        elif raw.lower in ALLOWING and negated and at - last <= 3:
            turn_clause()
        elif (raw.lower, following) in _BESIDE:
            negates, beside = True, len(clause) + 2
        elif _is_negator(raw.lower, previous, following):
            completes = raw.lower in CONCORD and at - last <= 4
            negates = not completes and not (negated and raw.lower in ("neither", "nor"))
            last = at
        elif 0 <= beside < len(clause) and raw.lower in PREPOSITIONS:
            # "instead of" reaches only the thing it names, not what follows by a preposition.
            negated, beside = not negated, -1
        negated = negated != negates
        clause.append(Token(raw.text, raw.key, raw.sort, negated, negates, gap or ("/" if raw.joined else "")))
        gap = ""
    close()
    return tokens


def _is_negator(word: str, previous: str, following: str) -> bool:
    if word in ("stop", "stops"):  # "stop using", but not "stop and ask"
        return following.endswith("ing")
    return word in NEGATORS and following not in ("only", "just", "matter") and previous not in ("if", "or")


# Forms that no rule gives, and words that only look like a form.
_IRREGULAR = dict(
    pair.split(":")
    for pair in (
        "used:use uses:use using:use written:write wrote:write made:make given:give built:build kept:keep "
        "chosen:choose chose:choose ran:run sent:send done:do found:find held:hold frozen:freeze froze:freeze "
        "shown:show thrown:throw threw:throw broken:break children:child indices:index indexes:index matrices:matrix "
        "analyses:analysis bus:bus css:css https:https tls:tls dns:dns during:during string:string thing:thing "
        "need:need embed:embed feed:feed speed:speed seed:seed spring:spring bring:bring always:always"
    ).split()
)
# Ending, shortest word that loses it, what takes its place; of each row the first that fits.
_ENDINGS = (
    (("ization", 9, "ize"), ("isation", 9, "ize"), ("ation", 9, "")),
    (("ility", 10, "le"), ("ity", 8, ""), ("ness", 8, ""), ("ion", 8, "")),
    (("ment", 8, ""), ("ate", 7, ""), ("er", 7, "")),
)
_VOWEL = re.compile(r"[aeiouy]")


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Reduce an English word to what its forms share; `validate`, `validates` and `validation` give the same.

    Words that stand for each other give the stem of the first of their group. Other languages stay as they are.
    """
    return _GROUP.get(base := root(word), base)


@lru_cache(maxsize=16_384)
def root(word: str) -> str:
    """Reduce an English word to what its own forms share."""
    if word in _IRREGULAR:
        return _cut_end(_IRREGULAR[word])
    if not word.isascii() or len(word) <= 3:
        return word
    if word.endswith(("ies", "ied")) and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "xes", "ches", "shes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    if word.endswith("ly") and len(word) > 5:
        word = word[:-4] if word.endswith("ically") else word[:-3] + "y" if word.endswith("ily") else word[:-2]
    for suffix in ("ing", "ed"):
        rest = word.removesuffix(suffix)
        if rest != word and len(rest) >= 3 and _VOWEL.search(rest):
            word = rest[:-1] if rest[-1] == rest[-2] and rest[-1] not in "lsz" else rest
            word += "e" if word.endswith("at") and len(word) > 5 else ""
            break
    return _cut_end(word)


def _cut_end(word: str) -> str:
    for row in _ENDINGS:
        for ending, least, new in row:
            if word.endswith(ending) and len(word) >= least:
                word = word[: -len(ending)] + new
                break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


_GROUP = {root(word): root(first) for word, first in SYNONYMS.items()}
_OPPOSED_STEMS = frozenset(root(word) for pair in OPPOSITES for word in pair)
_NOT_MANNER = frozenset(
    "apply reply supply family assembly early daily weekly monthly friendly anomaly multiply readonly likely".split()
)


def _is_manner(word: str) -> bool:
    """Say whether the word is an adverb of manner that opposes nothing: "properly", not "manually"."""
    return len(word) > 5 and word.endswith("ly") and word not in _NOT_MANNER and root(word) not in _OPPOSED_STEMS
