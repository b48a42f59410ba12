"""What a person says of themselves and of the project, and the language they write."""

from __future__ import annotations

import re
from collections.abc import Iterator

from acemem.memory.insight import ContextInsight, Insight, Strength, UserFactCategory, UserFactInsight
from acemem.memory.learn.offline.conversation import Conversation, Finding, Turn
from acemem.memory.learn.offline.excerpt import beginning
from acemem.memory.learn.offline.instruction import unfilled
from acemem.memory.learn.offline.language import foreign_language
from acemem.memory.learn.offline.moment import passes
from acemem.memory.learn.offline.person import from_user
from acemem.memory.learn.offline.wording import capital, joined, near_paths, plain, reports_speech, sentences, stems

_OWNS = re.compile(
    r"\b(?:(?:use|using|with|on|from|have|own|got|bought|via) my|i (?:do |already |only |also )*(?:have|own"
    r"|got|bought|pay for) (?:a|an|my|the)?) ?"
    r"((?:[\w.+#-]+ ){1,3}?(?:pro|plus|premium|enterprise|max|license|licence|subscription|account|laptop"
    r"|macbook|mac|thinkpad|server|nas|raspberry pi|gpu|iphone|ipad|pixel))\b",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"\b(?:i(?:'|’)?m|i am|as) (?:(?:only|just|mostly|mainly|still) )*(?:an? |the )"
    r"((?:[\w/+#-]+ ){0,4}(?:developer|engineer|programmer|designer"
    r"|scientist|researcher|student|teacher|manager"
    r"|founder|cto|lead|architect|analyst|admin|administrator|maintainer|beginner|freelancer|consultant"
    r"|devops|sre|dba))\b",
    re.IGNORECASE,
)
_EXPERTISE = re.compile(
    r"\bi(?:'|’)?(?:m| am) (?:really |quite |very |not (?:that |very |so )?)*(?:new to|familiar with"
    r"|unfamiliar with|experienced (?:with|in)|an expert (?:in|at)|good (?:at|with)|fluent in)"
    r" [\w.+#/ -]{2,40}|\bi(?:'|’)?ve never (?:used|touched|written|done|worked with) [\w.+#/ -]{2,40}"
    r"|\bi (?:do(?:n't|nt|n’t| not)|never) (?:really )?(?:know|understand|learned"
    r"|learnt) (?:much |anything )?(?:about |of )?(?!how\b|what\b|if\b|why\b|where\b|whether\b|th\w+\b|it\b"
    r"|for sure)[\w.+#/ -]{2,40}",
    re.IGNORECASE,
)
# A reason that lies in the person: their health, their equipment, what they may and can do.
_CIRCUMSTANCE = re.compile(
    r"^i(?:'|’)?(?:m| am|ve| have)? (?!get|see|try|work|look|build|want|need).{3,120}?\b(?:because|since|as|cause)"
    r" (?:of )?(?:my\b|i(?:'|’)?(?:m| am) (?:not )?(?:an?|in|on|at)\b|i (?:only |just )?(?:have|own) (?:an?"
    r"|only|no)\b)",
    re.IGNORECASE,
)
_WORKS_WITH = re.compile(
    r"^i(?:'|’)?(?: (?:only|mostly|mainly))? ?(?:use|run|m on|am on|m using|am using|work on|work with"
    r"|write in|code in) (?!my\b|it\b|this\b|that\b|the\b|a\b|an\b)"
    r"([\w.+#-]+(?: [\w.+#-]+){0,2})[.!]?$"
    r"|^i (?:only|mostly|mainly|usually|normally) (?:use|work with|write|code in)"
    r" ([\w+#-]+(?: [\w+#-]+)?)(?=[.!,;]| so\b| and\b| but\b)",
    re.IGNORECASE,
)
_PROJECT = re.compile(
    r"^(?:we(?:'|’)?(?:re)?|this (?:repo|repository|project|codebase|app|service|package)"
    r"|our [\w-]+(?: [\w-]+)?) (?:(?:only|always|currently|already|now|do|also|still|are|is) )*"
    r"(?:use|uses|using|run|runs|running|in|on|deploy|deploys|deployed|target|targets|support|supports|have"
    r"|has|don't have|dont have|do not have|don't use|dont use|do not use|host|hosted)\b (?!to\b|been\b"
    r"|a new\b|any\b).{4,140}$",
    re.IGNORECASE,
)
_ACCESS = re.compile(
    r"\byou (?:do(?:n't|nt|n’t| not)|ca(?:n't|nt|n’t|nnot)) (?:have |get |use |run |reach "
    r"|access )+(?:access to )?[\w`./-]+.{0,80}",
    re.I,
)
_LEAST_WORDS = 3  # content words


def facts(talk: Conversation) -> Iterator[Finding]:
    """Facts the person stated, and the language they wrote if it is not English."""
    told: set[str] = set()
    for turn in talk.turns:
        for sentence in sentences(beginning(turn.words, 2_000)):
            bare = unfilled(sentence)
            if len(bare) < 8 or bare.endswith("?"):
                continue
            for finding in (_about_user(talk, turn, bare), _about_project(talk, turn, bare)):
                if finding is None or passes(bare, states=True) or reports_speech(sentence):
                    continue
                if finding.insight.text not in told:
                    told.add(finding.insight.text)
                    yield finding
    yield from _language(talk)


def states_fact(sentence: str) -> bool:
    """Whether a sentence says what the project uses or has."""
    return _PROJECT.match(sentence) is not None


def _about_user(talk: Conversation, turn: Turn, sentence: str) -> Finding | None:
    category: UserFactCategory
    if match := _OWNS.search(sentence):
        text, category = f"The user has {match[1].strip()}", "identity"
    elif match := _ROLE.search(sentence):
        role = re.sub(r"^(?:(?:only|just|mostly|mainly|really|still|bit of a) )+", "", match[1].strip(), flags=re.I)
        text, category = f"The user is {'an' if role[:1].lower() in 'aeiou' else 'a'} {role}", "role"
    elif _CIRCUMSTANCE.match(sentence):
        text, category = capital(from_user(plain(sentence))), "identity"
    elif match := _EXPERTISE.search(sentence):
        text, category = capital(from_user(match[0].strip())), "expertise"
    elif match := _WORKS_WITH.match(sentence):
        text, category = f"The user works with {(match[1] or match[2]).strip()}", "expertise"
    else:
        return None
    text = joined(text)
    return _user_fact(talk, [turn], text, category, 0.8, "explicit")


def _about_project(talk: Conversation, turn: Turn, sentence: str) -> Finding | None:
    limit = _ACCESS.search(sentence)
    if not (_PROJECT.match(sentence) or limit) or len(stems(sentence)) < _LEAST_WORDS:
        return None
    if limit:
        sentence = limit[0]
    if turn.first and not re.match(r"(?i)(?:this|our)\b", sentence):
        return None  # a first prompt tells what is wanted; what "we use" there belongs to the task
    text = joined(near_paths(capital(from_user(plain(sentence))), talk.session.cwd))
    return Finding(
        Insight(
            detail=ContextInsight(fact=text, confidence=0.8),
            text=text,
            sources=talk.sources([turn.event]),
            confidence=0.8,
            scope="project",
            strength="explicit",
            trust="user",
        ),
        turn.position,
    )


def _language(talk: Conversation) -> Iterator[Finding]:
    spoken: dict[str, list[Turn]] = {}
    for turn in talk.turns:
        language = foreign_language(turn.words)
        if language:
            spoken.setdefault(language, []).append(turn)
    for language, turns in spoken.items():
        if len(turns) < 2 and not turns[0].first:
            continue  # one foreign text among others may be quoted
        shown = turns[:1] if turns[0].first else turns[:2]
        yield _user_fact(talk, shown, f"The user writes requests in {language}.", "language", 0.6, "inferred")


def _user_fact(
    talk: Conversation, turns: list[Turn], text: str, category: UserFactCategory, confidence: float, strength: Strength
) -> Finding:
    return Finding(
        Insight(
            detail=UserFactInsight(fact=text, category=category, confidence=confidence),
            text=text,
            sources=talk.sources([turn.event for turn in turns]),
            confidence=confidence,
            scope="user",
            strength=strength,
            trust="user",
        ),
        turns[-1].position,
    )
