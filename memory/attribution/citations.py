"""Citations: whether the agent, where it names a bullet, says that it goes by it or that it does not.

There are endless ways to say that a note was of no use, and few to go by one. So a citation counts where its place in
the sentence shows that it was gone by, and says nothing where it does not; that it was set aside is known only of the
ways that are known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from acemem.memory.learn.offline.wording import alike, stems

_THIS, _OTHER = "\u2460", "\u2461"  # stand for the id that is looked for, and for any other, while a sentence is read
_CITATION = re.compile(r"\[?\(?\bmem:\s?([0-9a-z]{8})\b\)?\]?")
# A citation after the full stop belongs before it, unless it begins a sentence of its own.
_END = re.compile(r"(?<=[.!?。！？;；])\s+(?!(?:[\[(]{0,2}mem:\s?\w{8}[\])]{0,2}[\s,]*)+(?:$|[.;!?]))")
_LIST_ITEM = re.compile(r"(?:(?<!\s)\s++)?(?:[-*•+]|\d{1,2}[.)])\s++")
_TO_GO_BY = (
    r"(?:follow|us|appl|rel[iy]|need|consider|act|heed|adopt|honou?r|obey|tak|go by|going by|went by|stick|stuck"
    r"|comply|match|befolg|verwend|berücksichtig|beacht)\w*"
)
_REST = rf"[^{_OTHER}{_THIS}]{{0,60}}?"
_OF_IT = (
    rf"(?:(?!\b(?:I|we|you|they|ich|wir)\b)[^{_OTHER}{_THIS}]){{0,60}}?"  # what follows, of which it is the subject
)
_SET_ASIDE = re.compile(
    rf"(?:\b(?:not|never|without|cannot|nor|neither|none|nicht|kein\w*)\b|n't\b)[^,;:{_OTHER}{_THIS}]{{0,30}}?"
    rf"\b{_TO_GO_BY}\b[^,;{_OTHER}{_THIS}]{{0,60}}?{_THIS}"
    rf"|\b(?:not|without|nor|nicht)\s+(?:on |by |from |per |via )?(?:the note |note )?{_THIS}"
    r"|\b(?:ignor|skipp?|disregard|reject|dismiss|overrul|overrid|deviat|depart|discard|unused|irrelevant|outdated"
    r"|inapplicable|unrelated|contradict|violat|bypass|übergeh|unlike\b|despite\b|against\b|contrary to\b"
    r"|instead of\b|rather than\b|other than\b|entgegen\b|trotz\b|ohne\b"
    rf"|no (?:need|use|reason) (?:for|of|to)\b|set(?:ting)? aside\b|left out\b|leav(?:e|ing) out\b)\w*{_REST}{_THIS}"
    rf"|{_THIS},? (?:(?:which|that) (?:I|we) (?:did|do|have|had|could|will)(?: not|n't)|habe ich nicht)"
    rf" (?:been )?{_TO_GO_BY}"
    rf"|{_THIS}{_OF_IT}\b(?:(?:does|do|did|is|was|are|were|has|have|will|would|could|can)"
    rf"(?: not|n't)|cannot|not|never) (?:really |quite |been |be |seem (?:to )?|look |directly )*(?:{_TO_GO_BY}|relevan"
    r"|help|hold|fit|true|work|matter|concern|correct|right|the case|about|valid|current|up to date)"
    rf"|{_THIS}{_OF_IT}\b(?:no longer|irrelevant|unrelated|outdated|obsolete|stale|inapplicable|wrong|incorrect"
    r"|mistaken|is (?:about|for) (?:another|a different|some other|something else)|trifft nicht|gilt nicht|passt nicht)"
    rf"|{_THIS}[^{_OTHER}]{{0,80}}?\b(?:but|however|though|yet|aber)\b[^{_OTHER}]{{0,60}}?"
    rf"(?:\binstead\b|\bdifferent|\bnot\b(?! {_OTHER})|n't\b|\bno longer\b|\bnow\b|\banyway\b|\botherwise\b"
    r"|\bnicht\b)",
    re.IGNORECASE,
)
# What stands right before a source that one goes by.
_BY = (
    r"(?:per|following|follow(?:s|ed)?|accord\w+ to|in accord\w+ with|based (?:\w+ )?on|rest(?:s|ing)? on|rel(?:y|ies"
    r"|ied"
    r"|ying) on|go(?:es|ing)? by|went by|going with|in line with|as|as in|like in|keep(?:s|ing)? (?:\w+ )?to"
    r"|kept (?:\w+ )?to"
    r"|stick(?:s|ing)? to|stuck to|thanks to|because of|due to|owing to|given|see|cf\.?|refs?:?|references?:?"
    r"|sources?:?"
    r"|noted (?:in|by)|recorded (?:in|by)|described (?:in|by)|said (?:in|by)|told by|advised by|required by|from|via|by"
    r"|us(?:e[sd]?|ing)|appl(?:y|ies|ied|ying)|act(?:s|ed|ing)? on|obey\w*|adher\w+ to|compl(?:y|ies|ied|ying) with"
    r"|respect(?:s|ed|ing)?|honou?r(?:s|ed|ing)?|followed|applied|used:?|halte mich an|gemäß|laut|nach|wie in|folge"
    r"|selon"
    r"|suivant|dans|según|como en|secondo|conforme|согласно|根据|按照)"
)
_GONE_BY = re.compile(
    rf"\b{_BY}\W{{0,4}}(?:(?:the|this|that|my|our|earlier|kept|stored|project|saved) )*(?:notes?|memor\w+|records?"
    rf"|rules?"
    rf"|bullets?|hints?|entry|advice|lessons?)?\W{{0,4}}(?:{_OTHER}\W{{0,3}}(?:and|or|,|&)\W{{0,3}})*{_THIS}",
    re.IGNORECASE,
)
# What a source does that one goes by.
_TELLS = re.compile(
    rf"{_THIS}\W{{0,4}}(?:also |clearly |already |explicitly |here )*(?:says|say|tells|told|asks|asked|requires?"
    rf"|demands"
    r"|wants|recommends|recommended|advises|suggests|suggested|warns|warned|states|notes|appl(?:y|ies)|covers|explains"
    r"|explained|forbids|does(?: not|n't) allow|allows|gives|gave|describes|points|pointed|confirms|confirmed|helped"
    r"|saved|led|prescribes|mandates|reminds|reminded|made me|calls for|verlangt|sagt|besagt"
    r"|(?:is|was) (?:\w+ )?(?:relevant|helpful|useful|right|correct|clear)|(?:I|we) (?:follow|apply|use|keep|do|go))\b",
    re.IGNORECASE,
)
# A sentence that is whole without the citation has it as a mark of its source. It is not, where the last word before
# it wants an object, or is a verb that has it for one.
_MARK = re.compile(
    rf"(?P<before>(?:[^{_THIS}]*[^\W{_THIS}])?+)\W*+{_THIS}"
    rf"(?:\s*[,;]|\W*(?:{_OTHER}\W*)*(?:$|(?:so|and|then|which is why|therefore)\b))"
)
_WANTS_MORE = frozenset(
    "a an the that's of in on at to with for about into over under than and or but not no nor is are was were be been"
    " has have had also only even both either note notes memory rule bullet entry called named the like unlike toward"
    " towards than against despite without beyond behind beside next maybe perhaps".split()
)
_BEFORE_A_VERB = frozenset(
    "to not i we you they will won't would can can't cannot could couldn't should shouldn't may might must did didn't"
    " do"
    " don't does doesn't let's please just also then i'll we'll i've we've i'd".split()
)
_TAKES_BACK = re.compile(
    r"\b(?:decided|went|am going|chose) (?:against (?:it|that|this)|otherwise|differently)\b"
    r"|\bI (?:did|do|have|will|am)(?: not|n't) (?:follow\w*|us\w+|appl\w+|do\w*) (?:it|that|this|so)\b",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(rf"\([^\w(]*+{_THIS}[^\w)]*+\)")
_SUPPOSES = re.compile(
    r"\b(?:if|unless|whether|had (?:I|we)|were (?:I|we)|(?:would|could|might|should) have|hätte|wenn|falls)\b",
    re.IGNORECASE,
)
_COLON = re.compile(rf":\W{{0,3}}{_THIS}")  # what stands before is said of it
_LEAST_WORDS = 3  # before a mark
_GOES_BY = re.compile(
    rf"\b(?<!the )(?:{_TO_GO_BY}|per|according to|based on|keeping to|kept to|in line with|adher\w+|thanks to"
    r"|references?|sources?|gemäß|laut)\b",
    re.IGNORECASE,
)
_ALIKE = 0.7  # share of words from which a line repeats the words of a bullet
_LONGEST = 600  # characters of a sentence that are looked at on either side of an id


def citations(text: str, texts: Mapping[str, str]) -> dict[str, bool | None]:
    """The bullets that a text of the agent names: True for one that it goes by, False for one that it sets aside.

    `texts` are the words of the bullets that may be named, by id. None is for one that it names without saying either,
    asks about, or reads out as it was shown. Of several mentions the last that says something counts. A later text can
    take back what an earlier one says.
    """
    if "mem:" not in text:
        return {}
    found: dict[str, bool | None] = {}
    heading = ""
    for line in text.split("\n"):
        item = _LIST_ITEM.match(line) is not None
        if line.strip() and not item:
            heading = line.strip() if line.rstrip().endswith(":") else ""
        parts = _END.split(line)
        for sentence, after in zip(parts, (*parts[1:], ""), strict=True):
            for id in dict.fromkeys(_CITATION.findall(sentence)):
                if id not in texts:
                    continue
                if _TAKES_BACK.search(after):
                    found[id] = False
                    continue
                read_out = item and alike(stems(_CITATION.sub("", line)), stems(texts[id])) >= _ALIKE
                said = _said(sentence, id, heading if item else "", read_out)
                found[id] = found.get(id) if said is None else said
    return found


def _said(sentence: str, id: str, heading: str, read_out: bool) -> bool | None:
    marked = _CITATION.sub(lambda named: _THIS if named[1] == id else _OTHER, sentence)
    at = marked.find(_THIS)
    marked = marked[max(0, at - _LONGEST) : at + _LONGEST].replace("’", "'").replace("`", "").replace("*", "")
    if _SET_ASIDE.search(f"{heading} {marked}"):
        return False
    if marked.rstrip(" \"')_").endswith(("?", "？")) or _SUPPOSES.search(marked):
        return None
    if heading and _GOES_BY.search(heading):
        return True
    if read_out:
        return None
    if (
        _GONE_BY.search(marked)
        or _TELLS.search(marked)
        or _IN_BRACKETS.search(marked)
        or _is_mark(_LIST_ITEM.sub("", marked))
    ):
        return True
    return None


def _is_mark(sentence: str) -> bool:
    found = _MARK.match(sentence)
    if found is None or _COLON.search(sentence):
        return False
    words = re.findall(r"[^\s,;:()\[\]\"]+", found["before"].replace(_OTHER, "").rstrip(" .!"))
    if len(words) < _LEAST_WORDS:
        return False
    last, before = words[-1].casefold(), words[-2].casefold()
    return last not in _WANTS_MORE and before not in _BEFORE_A_VERB and not last.endswith(("ing", "ed"))
