"""Plain statements: a person's words without what they pasted, and texts cut to what a colleague would write."""

from __future__ import annotations

import re

from acemem.memory.learn.offline.excerpt import beginning, ending
from acemem.memory.redaction.redaction import redact

LONGEST = 300  # characters of a statement
_OWN_LIMIT = 400  # a longer turn usually holds pasted material between its first and last paragraph
_READ_LIMIT = 40_000
_LONGEST_SECRET = 4_000  # characters of a private key

_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_TRIPLE = re.compile(r'("""|\'\'\')(?:.*?)(?:\1|\Z)', re.DOTALL)
_TAG_BLOCK = re.compile(r"<([a-z][\w-]*)>[^<]*</\1>")
_MACHINE_LINE = re.compile(
    r"^\s*+(?:"
    r"(?<=  )\d+(?:\.\d+)?ms$"
    r"|E\s{2,}\S|make(?:\[\d+\])?: |at \S.*[:(]|File \".*\", line|Traceback \(most|[\w.]*(?:Error"
    r"|Exception): |\[\w+\]\s"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:"
    r"|[$>❯%#┃│╭╰─━*|+]\s*\S|npm (?:ERR|WARN)|warning:|error(?:\[\w+\])?:|fatal:|(?:FAIL|PASS|---)\s"
    r"|ok\s+\S+/\S+|[×✗✖✓✔]|\d+[:→|]\s?|@@|diff --git"
    r"|(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b[\s:\]]"
    r"|\S+:\d+:\d+|[{}\[\]();<]+|import \S|from \S+ import|(?:public|private|export|const|let|var|func|def"
    r"|class) \w.*[{(:=]"
    r"|Running \[|Run \S+[/@]\S+|Step \d+/\d+|\d+(?:\.\d+)?s$|.*\.\.\.$|[\w ]+ \d+(?:\.\d+)?m?s$"
    r")"
)
_PERSONAL_WORD = re.compile(
    r"\b(?:i|i'm|i'd|i've|i'll|im|we|we're|let's|lets|my|our|me|us|you|your|please|pls|can you|could you)\b",
    re.IGNORECASE,
)
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|approx|no|Mr|Dr|St)\.$", re.IGNORECASE)
_LONGEST_ABBREVIATION = 12  # characters, with what stands before it
_SENTENCE_END = re.compile(r"(?<=[.!?。！？…])[\"')\]]*\s+")
_SMILE = re.compile("(?<=\\S) ?[\U0001f000-\U0001faff]{1,20}+ ")  # between two sentences, where others put a full stop
_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_MARKUP = re.compile(r"\*\*|__|^#{1,6}\s+", re.MULTILINE)
_PICTURE = re.compile("[\u2190-\u21ff\u2300-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff\ufe0f]+")
_QUOTED = re.compile(r"^[ \t]*([\"“„«「])[^\n]{12,}[\"”“»」][ \t.,]*$", re.MULTILINE)
# A line that hands over to the words of somebody else, and the list or the lines that they wrote.
_REPORTED = re.compile(
    r"^(?=[^\n]*\b(?:wrote|writes|said|says|sent|posted|asked|commented|comments?|feedback|review\w*|from|mail"
    r"|message|ticket"
    r"|schrieb|schreibt|sagt|kommentar\w*|escribió|dice|dijo|comentario\w*|écrit|dit|scrive|napisał\w*|пишет"
    r"|написал\w*)\b)"
    r"[^\n]*:[ \t]*\n+((?:[ \t]*(?:[-*•>]|\d{1,2}[.)])[^\n]*\n?)+)",
    re.IGNORECASE | re.MULTILINE,
)
_SPEECH = re.compile(
    r"\b(?:wrote|writes|said|says|told|asks?|commented|schrieb|sagt\w*|escribió|dijo|dice|écrit|dit|scrive"
    r"|napisał\w*|написал\w*"
    r"|сказал\w*)\b[^\"“„«]{0,30}[\"“„«][^\"”“»]{8}",
    re.IGNORECASE,
)
_QUOTE = re.compile(r":[ \t]*[\"“„«][^\"”“»\n]{16,}[\"”“»]")  # what follows a colon in quotation marks
# What a line names, behind which somebody else's words stand in a paragraph of their own.
_SOURCE = re.compile(
    r"\b(?:logs?|output|console|terminal|readme|docs?|manual|wiki|changelog|says?|said|wrote|writes|show(?:s|ed)?"
    r"|print(?:s|ed)?|report(?:s|ed)?|complain(?:s|ed)?|mail"
    r"|message|warning|ticket|bot|review(?:er)?)\b",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i'd|i've|i'll|we|we're|let's|my|our|me|us|please|pls)\b", re.IGNORECASE)
_LINK = re.compile(r"\[([^\]]{1,1000})\]\([^)]{0,2000}\)")
_SPACE = re.compile(r"\s+")


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text, without list marks."""
    found: list[str] = []
    if not text.isascii():
        text = _SMILE.sub("\n", text)
    lines = (_LIST_MARK.sub("", line) for line in text.split("\n"))
    for part in (part.strip() for line in lines for part in _SENTENCE_END.split(line)):
        if not part:
            continue
        if found and _ABBREVIATION.search(found[-1][-_LONGEST_ABBREVIATION:]):
            found[-1] = f"{found[-1]} {part}"
        else:
            found.append(part)
    return found


def own_words(text: str) -> str:
    """What the person typed of a turn, without pasted code, output and foreign text; may be empty.

    Of a long turn only the first and the last paragraph count; a long paragraph that addresses nobody does not.
    """
    if len(text) > _READ_LIMIT:
        text = beginning(text, _READ_LIMIT // 2) + "\n\n" + ending(text, _READ_LIMIT // 2)
    text = _TAG_BLOCK.sub(" ", _TRIPLE.sub(" ", _FENCE.sub("\n\n", text)))
    text = _REPORTED.sub(_without_report, _QUOTE.sub(":", _QUOTED.sub("", text)))
    if len(text) > 1.5 * _OWN_LIMIT and text.count("\n") > 8:
        return _around_paste(text)
    paragraphs: list[str] = []
    blocks = re.split(r"\n\s*\n", text)
    for number, block in enumerate(blocks):
        if number and _SOURCE.search(blocks[number - 1].rsplit("\n", 1)[-1]) and not _FIRST_PERSON.search(block):
            continue
        lines = [line.rstrip() for line in block.split("\n")]
        kept = [line for line in lines if line.strip() and not _is_machine(line)]
        # A block of which the larger part is machine output was pasted whole; its stray prose lines belong to it.
        if kept and len(kept) * 2 >= sum(1 for line in lines if line.strip()):
            paragraphs.append("\n".join(kept))
        elif kept and lines[0] == kept[0] and not paragraphs and _PERSONAL_WORD.search(kept[0]):
            paragraphs.append(kept[0])
    if sum(map(len, paragraphs)) > _OWN_LIMIT and len(paragraphs) > 2:
        paragraphs = [paragraphs[0], paragraphs[-1]]
    return "\n".join(part for part in map(_spoken, paragraphs) if part).strip()


def _without_report(match: re.Match[str]) -> str:
    return match[0].removesuffix(match[1])


def reports_speech(sentence: str) -> bool:
    """Whether a sentence hands on in quotation marks what somebody else said."""
    return _SPEECH.search(sentence) is not None


def _around_paste(text: str) -> str:
    """The person's words before and after a long paste."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    lead: list[str] = []
    for line in lines[:4]:
        if _is_machine(line) or (lead and not addresses(line)):
            break
        lead.append(line)
    tail: list[str] = []
    for line in reversed(lines[len(lead) :][-3:]):
        if _is_machine(line) or not addresses(line):
            break
        tail.insert(0, line)
    return "\n".join(part for part in map(_spoken, [*lead, *tail]) if part)


def _spoken(paragraph: str) -> str:
    if len(paragraph) <= 220:
        return paragraph.strip()
    said = sentences(paragraph)
    spoken = [sentence for sentence in said if addresses(sentence)]
    if len(paragraph) <= 2 * _OWN_LIMIT and (len(spoken) * 3 >= len(said) or any(map(addresses, said[:2]))):
        return paragraph.strip()
    return " ".join(spoken[:3]) if len(spoken) * 3 >= len(said) else ""


def addresses(text: str) -> bool:
    """Whether a person speaks in the text of themselves or to somebody."""
    return _PERSONAL_WORD.search(text) is not None


def _is_machine(line: str) -> bool:
    if _MACHINE_LINE.match(line):
        return True
    body = line.strip()
    letters = sum(1 for char in body if char.isalpha() or char == " ")
    return len(body) > 12 and letters < 0.6 * len(body)


def plain(text: str) -> str:
    """A text without Markdown emphasis, headings, links and pictures, on one line."""
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    if "*" in text or "#" in text or "__" in text:
        text = _MARKUP.sub("", text)
    if not text.isascii():
        text = _PICTURE.sub(" ", text)
    return _SPACE.sub(" ", text).strip(" \t\n-–—:")


def near_paths(text: str, cwd: str | None) -> str:
    """The text with paths below the session's directory made relative, and homes written as `~`."""
    if cwd and len(cwd) > 3:
        root = cwd.rstrip("/\\")
        text = text.replace(root + "/", "").replace(root + "\\", "")
        text = re.sub(re.escape(root) + r"(?![\w.-])", ".", text)
    text = re.sub(r"(?:/Users|/home)/[\w.-]+(?=/|\b)", "~", text)
    return re.sub(r"[A-Za-z]:\\Users\\[\w.-]+", "~", text)


def capital(text: str) -> str:
    """The text with a capital first letter, unless it starts with code: a path, a file or an identifier."""
    first = text.split(maxsplit=1)[0].rstrip(".,;:!?") if text.strip() else ""
    if not text[:1].islower() or re.search(r"[/._\\()=$]|[a-z][A-Z]", first):
        return text
    return text[:1].upper() + text[1:]


def ended(text: str) -> str:
    """The text closed with a full stop."""
    text = text.strip(" \t\n,;:")
    return text if not text or text[-1] in ".!?。！？" else text + "."


def joined(*texts: str, limit: int = LONGEST) -> str:
    """The texts as sentences of one statement; what does not fit is cut, or left out where little would remain."""
    text = ""
    for part in texts:
        part = ended(capital(_SPACE.sub(" ", part)))
        if not part:
            continue
        room = limit - len(text) - 1
        if not text:
            text = clipped(part, limit)
        elif room >= min(len(part), 60):
            text = f"{text} {clipped(part, room)}"
    return text


def clipped(text: str, limit: int = LONGEST) -> str:
    """The text, cut at a word so that it has at most `limit` characters."""
    text = _SPACE.sub(" ", text).strip()
    if len(text) > limit:  # first, since nobody can tell half a secret from a word
        text = redact(text[: limit + _LONGEST_SECRET])[0]
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit // 2 else cut).rstrip(" ,;:(") + "…"


def code(text: str) -> str:
    """A command or a name as Markdown code."""
    text = _SPACE.sub(" ", text).strip()
    return f"`{text}`" if "`" not in text else text


_STOP = frozenset(
    "a an the and or but if then so of to in on at by for from with without into is are was were be been it its this"
    " that these those as not no do does did use used using must should can may will would have has had you your we our"
    " they he she i my when where which who what how all any only also very more most than there here up down same"
    " such".split()
)
_WORD = re.compile(r"[^\W_]+")


def stems(text: str) -> frozenset[str]:
    """The content words of a text, without endings: what two statements are compared by."""
    words = (re.sub(r"(?:ing|ed|es|s)$", "", word) for word in _WORD.findall(text.lower()) if word not in _STOP)
    return frozenset(word for word in words if len(word) > 1)


def alike(first: frozenset[str], second: frozenset[str]) -> float:
    """The share of words that two stem sets have in common, 0..1."""
    if not first or not second:
        return 0.0
    return len(first & second) / len(first | second)
