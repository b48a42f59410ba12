"""What was decided: answers to choices, plans the person sent on, work they confirmed, requirements they set."""

from __future__ import annotations

import re
from collections.abc import Iterator

from acemem.memory.insight import DecisionInsight, Insight, InsightScope
from acemem.memory.learn.offline.confirmation import approves
from acemem.memory.learn.offline.conversation import Conversation, Finding, Turn
from acemem.memory.learn.offline.excerpt import beginning
from acemem.memory.learn.offline.explanation import boasts, done
from acemem.memory.learn.offline.instruction import instruction, unfilled
from acemem.memory.learn.offline.proposal import accepted, picked
from acemem.memory.learn.offline.wording import capital, clipped, joined, near_paths, plain, sentences, stems
from acemem.memory.sessions.event import SessionEvent

_TOPIC = re.compile(
    r"^(?:which|what|how) (.*?) ?(?:do you want|would you like|do you prefer|would you prefer|should (?:we"
    r"|i|it)|shall (?:we|i))(?: me| us)?(?: to)?(?: use| have)?\b ?(.*?)\??$",
    re.IGNORECASE | re.DOTALL,
)
_ADVICE = re.compile(r"\s?\((?:recommended|default|current)[^)]*\)", re.IGNORECASE)
_YES_NO = re.compile(r"^(?:yes|no|yeah|nope|skip|neither|none|other|cancel|both)\b", re.IGNORECASE)
# A choice with its reason between dashes, or behind one.
_GLUED = re.compile(r"(.{3,}?),? (?:--?|–|—) (.{12,}?)(?: (?:--?|–|—) ((?:then|and|but|or)\b.+))?$", re.DOTALL)
_HEADING = re.compile(r"^#{1,4}\s++(.*)$")
_PLAN_WORD = re.compile(
    r"^(?:implementation )?plan\b(?: for)?\s*[:—–-]\s*|^(?:fix|feature|feat|task)\s*:\s*", re.IGNORECASE
)
_OPENING = re.compile(
    r"^(?:(?:goal|summary|target|overview|context|objective|approach|problem|decision|background|what)s?"
    r"|(?:the )?change)\b",
    re.IGNORECASE,
)
_WHY = re.compile(r"^(?:context|why|background|problem|current issue|motivation|rationale)\b", re.IGNORECASE)
_REQUIRES = re.compile(
    r"^(?:please )?(?:ensure|make sure|be sure)\b|\b(?:must|should always|should never|must not|(?:needs?|has"
    r"|have) to be)\b",
    re.IGNORECASE,
)
_NAMES = re.compile(r"`[^`]+`|[./_][\w-]|[a-z][A-Z]|--\w")  # a file, a setting or an identifier
_OPTION = re.compile(
    r"^(?:(?:ok(?:ay)?|yes|yeah|so|let'?s|i(?:'d| would)?|go|do|take|use|try|choose|pick|prefer|want|like"
    r"|with|for|think)[\s,.]+)*"
    r"(?:(?:option|choice|number|approach|variant|plan|#)\s*)?(?:([a-e])|#?([1-6]))\s*+(?:please|then|it is"
    r"|sounds good|is (?:good|fine|best))?[\s.!]*$",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"^(?:[-*•]\s*)?(?:(?:option|choice|approach|variant|plan)\s*)?\(?([A-Ea-e]"
    r"|[1-6])[).:]\s*+(?:[-–—:]\s*+)?(.+)$"
)
_SAYS_IT = 4  # content words of a title that is a decision by itself
_MANY = 4  # options from which on naming the others says little
_TURNS_BACK = 2  # turns in which the person may have looked at the work before they confirm it
_CHANGED_BACK = 40  # steps of the agent to look back for the change a person confirms


def decisions(talk: Conversation) -> Iterator[Finding]:
    """The decisions of a session, in the order in which they were made."""
    yield from _answers(talk)
    yield from _plans(talk)
    for turn in talk.turns:
        if turn.event.kind == "human":
            yield from _chosen(talk, turn)
            yield from _picked(talk, turn)
            yield from _accepted(talk, turn)
            yield from _confirmed(talk, turn)
            yield from _required(talk, turn)


def _answers(talk: Conversation) -> Iterator[Finding]:
    made: list[tuple[frozenset[str], Finding]] = []
    for position, event in enumerate(talk.events):
        if event.kind != "answer":
            continue
        for question, header, answer, options in _choices(event):
            decision, reason = _choice_in_words(question, header, answer, options)
            if not decision:
                continue
            chosen = stems(_ADVICE.sub("", answer))
            earlier = next((i for i, (words, _) in enumerate(made) if words and words <= chosen), None)
            finding = _decision(talk, decision, reason, [event], position, 0.9)
            if earlier is not None:
                # A later answer that narrows an earlier one is the same decision.
                known = made[earlier][1]
                sources = tuple(dict.fromkeys([*known.insight.sources, *finding.insight.sources]))
                merged = Insight(known.insight.detail, known.insight.text, sources, 0.9, "project", "explicit", "user")
                made[earlier] = (made[earlier][0], Finding(merged, known.known_at))
            else:
                made.append((chosen, finding))
    for _, finding in made:
        yield finding


def _choices(event: SessionEvent) -> Iterator[tuple[str, str, str, list[dict[str, str]]]]:
    answers = event.args.get("answers")
    options: dict[str, list[dict[str, str]]] = {}
    headers: dict[str, str] = {}
    questions = event.args.get("questions")
    for item in questions if isinstance(questions, list) else []:
        if isinstance(item, dict) and isinstance(item.get("options"), list):
            listed = [option for option in item["options"] if isinstance(option, dict)]
            headers[str(item.get("question"))] = str(item.get("header") or "")
            options[str(item.get("question"))] = [{k: str(v) for k, v in option.items()} for option in listed]
    pairs: list[tuple[str, str]] = []
    if isinstance(answers, dict):
        pairs = [(str(q), ", ".join(map(str, a)) if isinstance(a, list) else str(a or "")) for q, a in answers.items()]
    if not any(answer for _, answer in pairs):
        pairs = [(q, a) for line in event.text.split("\n") for q, arrow, a in [line.partition(" → ")] if arrow]
    for question, answer in pairs:
        if answer.strip():
            yield question.strip(), headers.get(question, ""), answer.strip(), options.get(question, [])


def _choice_in_words(question: str, header: str, answer: str, options: list[dict[str, str]]) -> tuple[str, str]:
    chosen = _ADVICE.sub("", plain(answer)).strip()
    reason = next((o.get("description", "") for o in options if _ADVICE.sub("", o.get("label", "")) == chosen), "")
    others = [_ADVICE.sub("", o.get("label", "")) for o in options]
    others = [label for label in others if label and label != chosen and label not in chosen]
    question = plain(question)
    if _YES_NO.match(chosen) and len(chosen) < 30:
        asked = re.sub(
            r"^(?:do you want me to|should (?:i|we)|shall (?:i|we)|would you like(?: me)? to"
            r"|do you want to)\s+",
            "",
            question,
            flags=re.I,
        )
        if asked == question or not re.match(r"(?i)(?:yes|yeah)\b", chosen):
            return joined(f"{question} {chosen}"), reason
        return joined(asked.rstrip("?")), reason
    match = _TOPIC.match(question)
    topic = " ".join(part for part in (match[1], match[2]) if part).strip() if match else ""
    topic = re.sub(r"\b(?:your|my|our)\b", "the", topic)
    listed = any(_ADVICE.sub("", o.get("label", "")) in chosen for o in options)
    against = f", not {' or '.join(others)}" if listed and 0 < len(others) < _MANY else ""
    if glued := _GLUED.match(chosen):
        # "retry for a day - carriers sleep at night - then park it": the reason is a sentence of its own.
        chosen, reason = joined(", ".join(filter(None, (glued[1], glued[3]))) + against, glued[2]), glued[2]
    else:
        chosen += against
    asked = next(iter(sentences(question)[-1:]), question).rstrip("? ")
    if not topic:
        topic = f"{header} ({asked[:1].lower()}{asked[1:]})" if header else asked
    return joined(f"{capital(topic)}: {chosen}"), reason


def _chosen(talk: Conversation, turn: Turn) -> Iterator[Finding]:
    """An option of the agent's list that the person named by its letter or number."""
    match = _OPTION.match(turn.words)
    before = talk.last_said(turn.position)
    if match is None or before is None:
        return
    label = (match[1] or match[2]).upper()
    for line in before.text.split("\n"):
        listed = _LISTED.match(plain(line))
        if listed and listed[1].upper() == label and len(listed[2]) > 12:
            text = near_paths(joined(listed[2]), talk.session.cwd)
            asked = next((plain(s) for s in reversed(sentences(before.text)) if s.rstrip().endswith("?")), "")
            yield _decision(talk, text, asked, [before, turn.event], turn.position, 0.85)
            return


def _picked(talk: Conversation, turn: Turn) -> Iterator[Finding]:
    """One of two ways between which the agent asked."""
    if (found := picked(talk, turn)) is not None:
        question, answer, offer, work = found
        text, _ = _choice_in_words(question, "", answer, [])
        text = near_paths(text, talk.session.cwd)
        yield _decision(talk, text, "", [offer, turn.event, work.call], turn.position, 0.85)


def _plans(talk: Conversation) -> Iterator[Finding]:
    seen: dict[str, Finding] = {}
    for position, event in enumerate(talk.events):
        if event.kind != "plan":
            continue
        title, gist, reason = _plan_in_words(event.text)
        if not gist and len(stems(title)) < _SAYS_IT:
            continue  # a list of steps under a name: what was done, not what holds
        finding = _decision(
            talk, near_paths(joined(title, gist, limit=260), talk.session.cwd), reason, [event], position, 0.85
        )
        if title in seen:
            known = seen[title].insight
            sources = tuple(dict.fromkeys([*known.sources, *finding.insight.sources]))
            finding = Finding(
                Insight(known.detail, known.text, sources, 0.85, known.scope, "explicit", "user"), seen[title].known_at
            )
        seen[title] = finding
    yield from seen.values()


def _plan_in_words(text: str) -> tuple[str, str, str]:
    """The title of a plan, the first lines of its goal, and the first sentence of its reasons."""
    title = section = ""
    gist: list[str] = []
    reason = ""
    for line in re.sub(r"```.*?(?:```|\Z)", "", beginning(text, 8_000), flags=re.DOTALL).split("\n"):
        if heading := _HEADING.match(line):
            name = plain(heading[1])
            if not title:
                title = _PLAN_WORD.sub("", name)
            section = name
            continue
        body = plain(re.sub(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+", "", line))
        if len(body) < 8 or body.startswith("|") or re.match(r"(?i)files?\b.{0,12}:", body):
            continue
        if _WHY.match(section) and not reason:
            reason = next(iter(sentences(body)), "")
        if not title:
            title = body
        elif _OPENING.match(section) and not _WHY.match(section) and sum(map(len, gist)) < 300:
            gist.append(body)
    return (
        clipped(title, 120),
        " ".join(part if part[-1] in ".:!?" else part + "." for part in gist[:6]),
        clipped(reason, 200),
    )


def _accepted(talk: Conversation, turn: Turn) -> Iterator[Finding]:
    """A way that the agent proposed among others and the person took."""
    if (found := accepted(talk, turn)) is not None:
        text, offer, work = found
        reason = f"the user agreed: {clipped(plain(turn.words), 80)}"
        yield _decision(talk, text, reason, [offer, turn.event, work.call], turn.position, 0.85)


def _confirmed(talk: Conversation, turn: Turn) -> Iterator[Finding]:
    """Work that the person looked at and called right."""
    if turn.first or not turn.words or not approves(turn.words):
        return
    edits = [step for step in talk.steps_before(turn.position, _CHANGED_BACK) if step.edits and step.succeeded]
    if not edits:
        return
    last = edits[-1]
    if sum(1 for other in talk.turns if last.called < other.position < turn.position) > _TURNS_BACK:
        return  # what they call right is newer than the edit
    reports = [talk.events[p] for p in talk.said_between(last.ended, turn.position)]
    report = next((event for event in reports if _result_in_words(event.text)), None)
    if report is None:
        return
    kept = next((s for s in sentences(turn.words) if re.search(r"(?i)\bkeep\b", s)), "")
    text = joined(near_paths(_result_in_words(report.text), talk.session.cwd), unfilled(kept))
    yield _decision(
        talk,
        text,
        f"the user confirmed it: {clipped(plain(turn.words), 80)}",
        [last.call, report, turn.event],
        turn.position,
        0.85,
    )


def _result_in_words(text: str) -> str:
    """What the agent says it made: its first report of a change, with the first points of its list."""
    first = done(text)
    points = [
        plain(re.sub(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+", "", line))
        for line in text.split("\n")
        if re.match(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+\S", line)
    ]
    lead = next((plain(line) for line in text.split("\n") if line.rstrip().endswith(":") and len(line) < 160), "")
    lead = re.sub(r"^(?:done|fixed|great|perfect|all set)[.!:,]*\s*", "", lead, flags=re.IGNORECASE)
    points = [point for point in points if not boasts(point)]
    lead = "" if boasts(lead) or re.search(r"(?i)\b(?:issue|problem|fail|error)", lead) else lead
    if points and lead:
        return joined(f"{lead.rstrip(':')}: {'; '.join(points[:3])}", limit=280)
    return first


def _required(talk: Conversation, turn: Turn) -> Iterator[Finding]:
    """What the person demands of the work in so many words: ensure, make sure, must."""
    if not turn.words or len(turn.words) > 600:
        return
    for sentence in sentences(turn.words):
        order = instruction(sentence) if _REQUIRES.search(sentence) else None
        if order is None or not _REQUIRES.search(order.text) or not _NAMES.search(order.text):
            continue
        ahead = talk.steps_between(turn.position, talk.next_human(turn.position))
        edit = next((step for step in ahead if step.edits and step.succeeded), None)
        yield _decision(
            talk,
            near_paths(joined(order.text), talk.session.cwd),
            "",
            [turn.event, edit.call if edit else None],
            turn.position,
            0.8,
            confirmed=True,
        )
        return


def _decision(
    talk: Conversation,
    text: str,
    reason: str,
    events: list[SessionEvent | None],
    known_at: int,
    confidence: float,
    confirmed: bool = True,
) -> Finding:
    scope: InsightScope = "project"
    return Finding(
        Insight(
            detail=DecisionInsight(decision=text, reasoning=clipped(plain(reason), 200), confirmed=confirmed),
            text=text,
            sources=talk.sources(events),
            confidence=confidence,
            scope=scope,
            strength="explicit",
            trust="user",
        ),
        known_at,
    )
