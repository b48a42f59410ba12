"""Untrusted text made safe to keep, to show in a terminal and to put in a prompt.

`clean` takes out what a reader cannot see, `one_line` fits a text into a table, `escape_markers` keeps a text from
ending or opening the spans that acemem itself writes. The order for text on its way out is
`escape_markers(clean(text))`: a zero-width character inside a marker would hide it from `escape_markers`.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["clean", "escape_markers", "one_line"]

# A terminal reads these as commands. The string kinds (OSC, DCS, SOS, PM, APC) end at BEL or ST; one that never ends
# would swallow the rest of the text, so there only its line goes. Their one-character C1 forms also turn up in wrongly
# decoded UTF-8, so those count only when they end in their line. Possessive repeats keep a hostile text linear.
_ESCAPES = re.compile(
    r"\x1b[\]PX^_](?:[^\x07\x1b\x9c]*+(?:\x07|\x1b\\|\x9c)|[^\n\r\x07\x1b\x9c]*+)"
    r"|[\x90\x98\x9d-\x9f][^\n\r\x07\x1b\x80-\x9f]*+(?:\x07|\x1b\\|\x9c)"
    r"|(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]?"
    r"|\x1b[ -/]*+[0-~]?"
)

_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")

# No glyph and no effect on spelling. Soft hyphen, fillers and direction marks are in the list since strings of them
# can carry a hidden message; the variation selectors other than 15 and 16 (see _EMOJI_STYLE) for the same reason, at
# the price of a glyph variant. Tag characters go even from the three flags that use them: a plain black flag remains.
_INVISIBLE = (
    "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"  # C0 and C1
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\ufdd0-\ufdef\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_INVISIBLES = re.compile(f"[{_INVISIBLE}]")

# Joiners decide the spelling in Arabic, Persian, Syriac, Indic, Khmer, Myanmar and Mongolian words and build composed
# emoji, so a single one stays between two characters of these; anywhere else, and in runs, it only hides something.
_JOINED_SCRIPTS = (
    "\u0600-\u06ef\u06fa-\u0fff\u1000-\u109f\u1780-\u18af\u1b00-\u1bff\ua840-\uabff"
    "\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"
)
_PICTOGRAMS = "\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff"
_JOINERS = re.compile(
    f"(?<![{_JOINED_SCRIPTS}{_PICTOGRAMS}])[\u200c\u200d]"
    f"|(?<=[{_JOINED_SCRIPTS}])[\u200c\u200d](?![{_JOINED_SCRIPTS}])"
    f"|(?<=[{_PICTOGRAMS}])(?:\u200c|\u200d(?![{_PICTOGRAMS}]))"
)
# Variation selectors 15 and 16 choose between text and emoji style, on a pictogram or a keycap.
_EMOJI_STYLE = re.compile(
    "(?<![#*0-9\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d"
    "\u3297\u3299\U0001f000-\U0001faff])[\ufe0e\ufe0f]|(?<=[#*0-9])(?:\ufe0e|\ufe0f(?!\u20e3))"
)
_SELECTORS_AND_JOINERS = re.compile("[\u200c\u200d\ufe0e\ufe0f]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_SUSPECT = re.compile(f"[{_INVISIBLE}\r\x0b\x0c\x85\u2028\u2029\u200c\u200d\ufe0e\ufe0f\ud800-\udfff]")

_MARKERS = re.compile(r"<(?=\s*/?\s*mem\b)|<(?=!--)|(?<=--)(!?)>", re.IGNORECASE)


def clean(text: str) -> str:
    """Give the text as a reader sees it: no control or escape sequences, nothing invisible, in NFC.

    Newline and tab stay, every other line end becomes a newline, a lone surrogate becomes U+FFFD. Cleaning twice
    changes nothing.
    """
    if _SUSPECT.search(text):
        if _SURROGATES.search(text):
            # Halves that belong together become their character first, so that a tag character cannot hide in two.
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        text = _ESCAPES.sub("", text)
        text = _LINE_ENDS.sub("\n", text)
        text = _INVISIBLES.sub("", text)
        if _SELECTORS_AND_JOINERS.search(text):
            text = _JOINERS.sub("", _EMOJI_STYLE.sub("", text))
    return unicodedata.normalize("NFC", text)


def one_line(text: str, limit: int) -> str:
    """Fit the cleaned text into one line of at most `limit` characters, cut at a word and ended with an ellipsis."""
    line = " ".join(clean(text).split())
    if len(line) <= limit:
        return line
    if limit < 1:
        return ""
    head = line[: limit - 1]
    if not line[limit - 1].isspace():
        at_word = head.rfind(" ")
        # A word longer than half the line is cut inside: the alternative would show almost nothing.
        if at_word >= limit // 2:
            head = head[:at_word]
        else:
            while head and unicodedata.combining(line[len(head)]):
                head = head[:-1]
    return head.rstrip(" ,;:-") + "…"


def escape_markers(text: str) -> str:
    """Write our own markers inside the text as HTML entities, so that it cannot open or close a span of ours.

    The spans are `<mem …>` … `</mem>` in a prompt and the HTML comments that enclose a managed block in a context
    file; any HTML comment is escaped, since an open one would hide the end of the block. Escaping twice changes
    nothing.
    """
    if "<" not in text and "--" not in text:
        return text
    return _MARKERS.sub(lambda found: "&lt;" if found.group() == "<" else f"{found.group(1)}&gt;", text)
