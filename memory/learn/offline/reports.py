"""Problems that a person reported, with the cause that a later success or their own word confirmed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from acemem.memory.insight import DecisionInsight, FailureInsight, Insight
from acemem.memory.learn.offline import command as shell
from acemem.memory.learn.offline.cause import account
from acemem.memory.learn.offline.confirmation import solved
from acemem.memory.learn.offline.conversation import Conversation, Finding, Step, Turn
from acemem.memory.learn.offline.excerpt import beginning
from acemem.memory.learn.offline.explanation import claim, concedes, done, remedy
from acemem.memory.learn.offline.instruction import unfilled
from acemem.memory.learn.offline.noise import is_shortcut, is_slip, silences_check
from acemem.memory.learn.offline.outcomes import error_line, is_check, looks_failed
from acemem.memory.learn.offline.person import from_user
from acemem.memory.learn.offline.wording import addresses, clipped, joined, near_paths, plain, sentences
from acemem.memory.sessions.event import SessionEvent

_LONG = 4_000  # characters of a review
_READ = 2_000  # characters of what the person typed
_SHORT = 300  # characters of a turn in which a quoted error is what the person saw
_STEPS_BACK = 200
_LOOK_BACK = 20  # statements of the agent
_MOST_TURNS = 4  # that tell of one problem
_PATIENCE = 8  # turns after which nobody waits for a report's answer any more

_PROBLEM = re.compile(
    r"\b(?:fail(?:s|ing|ed|ures?)?|broken?|breaks|crash(?:es|ed|ing)|stack ?trace|something wrong|what(?:'s| is) wrong"
    r"|(?:is|are|does|(?:(?<=s )|(?<=they ))do|did|was|can)(?:n't|nt| not) (?:work|start|run|show|load|build|compile"
    r"|mak|appear"
    r"|render|find|open|updat|trigger)\w*"
    r"|not (?:working|starting|running|showing|loading|building|compiling|making|triggering|updating)"
    r"|stopped working|hangs?|regression|(?:seg|hard |bus |page )?fault(?:s|ed|ing)"
    r"|(?:get|getting|gets|got|see|seeing|saw|have|having|hit|hitting|throws?|shows?|reports?"
    r"|following) (?:(?:an?|the|this|these|some|still|same|another) )*(?:[\w-]+ ){0,2}"
    r"(?:errors?|issues?|problems?|bugs?|exceptions?|warnings?)\b"
    r"|there(?:'s| is| are| seems to be) (?:an?|some|still) (?:\w+ )?(?:errors?|issues?|problems?|bugs?)\b"
    r"|(?:fix|address|resolve|solve|debug|investigate)\b.{0,40}\b(?:errors?|issues?|problems?|bugs?|failures?"
    r"|warnings?|tests?|lint|build|ci)\b)"
    r"|^(?:please )?fix(?: this| the following)?\s*:",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“„«`]([^\"“”„«»`\n]{6,160})[\"”“»`]")
# Who is relieved, or says what it does now, takes the problem as settled.
_SETTLED = re.compile(
    r"^\W*+(?:[\w'’]+ ){1,3}(?:now|again|jetzt|wieder|ahora|maintenant|adesso|agora|teraz)\b(?!.{0,30}\?)"
    r"|^[^.!?\n]{0,40}[👌👍🎉✅🙌💯]"
    r"|^\W*(?:y+e+s{2,}|yay|hurra\w*|woo\w*+|nice|perfect|prima|super|genial|parfait|perfetto|perfeito"
    r"|świetnie|отлично)\b[.!,]",
    re.IGNORECASE,
)
_STILL = re.compile(
    r"^\W*(?:\w+ ){0,2}(?:not?|n't|still|only|but|why|fails?|broken|worse|noch|immer|nicht|sigue|no|toujours)\b", re.I
)
_BUILDS = re.compile(r"build|compile|format|fmt|tsc|typecheck", re.IGNORECASE)
_FAULT = re.compile(
    r"\b(?:fail(?:s|ure|ures|ing)?|break(?:s|ing)?|broken|crash|error|undefined|leaks?|unhandled|bug|race"
    r"|untested|never executes|brittle|incorrect|wrong|missing|will cause|critical)\b",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[^\W\d_]| ")
_PROSE_LENGTH = 160
_ASKING = re.compile(
    r"^(?:is|are) there (?:an? |any )?(?:\w+ )?(?:fix|way|solution|workaround) (?:for|to)\s+"
    r"|^(?:please )?(?:fix|solve|address)(?: this)?\s*:\s*",
    re.I,
)
_BIDDING = re.compile(r"^(?:please )?(?:fix|address|resolve|solve|debug|investigate|look)\b", re.IGNORECASE)
_COMMITS = re.compile(r"(?:\w+ )?(?:git (?:commit|push)|gh pr create|glab mr create)\b")
_CHECKING_TOOL = re.compile(r"diagnostic|lint|check|validat|run_?tests?|typecheck", re.IGNORECASE)
_CLEAN = re.compile(
    r"\"diagnostics\":\s*\[\s*\]|no (?:errors|problems|issues|diagnostics)|\b0 (?:errors|issues|problems)\b", re.I
)


@dataclass(slots=True)
class _Thread:
    """A reported problem and what has been said and done about it."""

    turns: list[Turn]
    review: bool
    why: str = ""
    rank: int = 0
    fix: str = ""
    told: SessionEvent | None = None
    told_at: int = -1
    edits: list[Step] = field(default_factory=list)
    deeds: list[Step] = field(default_factory=list)
    failing: set[str] = field(default_factory=set)
    waited: int = 0

    @property
    def explained(self) -> bool:
        """Whether a cause or a remedy is known, and no check was turned off instead of satisfied."""
        return bool(self.why or self.fix) and not any(silences_check(*edit.change) for edit in self.edits)

    def forget(self) -> None:
        """Drops the explanation given so far."""
        self.why, self.rank, self.fix, self.told, self.told_at = "", 0, "", None, -1

    def hear(self, talk: Conversation, positions: list[int]) -> None:
        """Takes in what the agent says of the cause and announces to do; the last of the strongest counts."""
        about = "\n".join(turn.event.text[:_READ] for turn in self.turns)
        pasted = not self.review and any(map(brings_paste, self.turns))
        for position in positions:
            heard = account(talk, [position], about, strict=pasted)
            if heard.rank and heard.rank >= self.rank:
                self.why, self.rank = heard.why, heard.rank
                self._told(talk.events[position], position)
            if heard.fix and (not self.fix or self.told is talk.events[position]):
                self.fix = heard.fix
                if self.told is None:
                    self._told(talk.events[position], position)

    def hear_result(self, talk: Conversation, positions: list[int]) -> None:
        """Takes in what the agent reports to have changed, where it explained nothing before."""
        for position in positions:
            self.fix = done(talk.events[position].text)
            if self.fix:
                self._told(talk.events[position], position)

    def _told(self, event: SessionEvent, position: int) -> None:
        self.told, self.told_at = event, position


def reported_problems(talk: Conversation) -> Iterator[Finding]:
    """The reported problems that came to a confirmed end, each once."""
    thread: _Thread | None = None
    told_until = -1
    humans = [turn for turn in talk.turns if turn.event.kind == "human"]
    for place, turn in enumerate(humans):
        end = humans[place + 1].position if place + 1 < len(humans) else len(talk.events)
        gone = solved(turn.words)
        if gone or _settled(turn.words):
            thread = thread or (_unreported(talk, turn, told_until) if gone else None)
            if thread is not None and thread.explained and (thread.edits or thread.deeds or (gone and thread.rank > 1)):
                yield _closed(talk, thread, turn.event, turn.position)
            thread, told_until = None, turn.position
        reports = is_report(turn)
        if reports and (thread is None or thread.edits or len(thread.turns) >= _MOST_TURNS):
            thread = _Thread([turn], review=_is_review(turn))
        elif reports and thread is not None:
            thread.turns.append(turn)
            thread.forget()
        elif thread is not None:
            thread.waited += 1
            if thread.waited > _PATIENCE:
                thread = None
        if thread is None:
            continue
        closer, heard_to = _follow(talk, thread, turn.position, end)
        said = talk.said_between(turn.position, heard_to)
        if not reports and (turn.interrupts or any(concedes(talk.events[position].text) for position in said[:3])):
            thread.forget()  # the person objected: what was said so far was not the cause
            reports = True
        if reports:
            thread.hear(talk, said)
        if closer is None:
            continue
        if not thread.told and not thread.failing:
            thread.hear_result(talk, talk.said_before_next_step(closer.ended)[:1])
        if thread.explained:
            yield _closed(talk, thread, closer.outcome, max(closer.ended, thread.told_at))
            told_until = closer.ended
        thread = None


def _settled(words: str) -> bool:
    """Whether the person shows by being pleased that the problem is gone."""
    return _SETTLED.search(words[:200]) is not None and _STILL.search(words) is None


def _unreported(talk: Conversation, turn: Turn, since: int) -> _Thread | None:
    """A problem that the agent explained and repaired before the person, who never reported it, says that it works."""
    # What was said before something failed again has been tried and was not it.
    before = talk.steps_before(turn.position, _STEPS_BACK)
    since = max([since, *(step.ended for step in before if step.failed and not is_slip(step.text))])
    for position in reversed(talk.said_between(since, turn.position)[-_LOOK_BACK:]):
        event = talk.events[position]
        found = claim(event.text)
        if found is None or found.rank < 3:
            continue
        edits = [step for step in talk.finished_between(position, turn.position) if step.edits and step.succeeded]
        edits = [edit for edit in edits if edit.ended < turn.position]
        if edits and not any(silences_check(*edit.change) for edit in edits[:1]):
            fix = remedy(event.text)
            return _Thread(
                [],
                review=False,
                why=found.text,
                rank=found.rank,
                fix=fix,
                told=event,
                told_at=position,
                edits=edits[:1],
            )
    return None


def is_report(turn: Turn) -> bool:
    """Whether the turn brings a problem: a pasted error or review, or the person's own account of one."""
    text = turn.event.text
    if turn.refused is not None or len(text) < 12:
        return False
    if _is_review(turn):
        return True
    if turn.after_work and len(text) < _SHORT and any(map(error_line, _QUOTED.findall(text))):
        return True
    if brings_paste(turn) and (looks_failed(text) or _PROBLEM.search(text[:2_000])):
        return True
    return bool(turn.words) and len(turn.words) < 600 and _PROBLEM.search(turn.words) is not None


def tells_problem(words: str) -> bool:
    """Whether words tell of something that does not work."""
    return _PROBLEM.search(words) is not None


def brings_paste(turn: Turn) -> bool:
    """Whether a good part of the turn is not the person's own words."""
    return len(turn.event.text) - len(turn.words) > 60


def _is_review(turn: Turn) -> bool:
    """Prose that addresses nobody, as reviewers and their tools write it."""
    text = turn.event.text
    if len(turn.words) > 60 or len(text) < _PROSE_LENGTH or "❯" in text:
        return False
    if addresses(text[:160]) or turn.words.endswith("?"):
        return False
    lines = [line for line in text[:2_000].split("\n") if line.strip()]
    if sum(map(len, lines)) < 45 * len(lines):
        return False  # output and code have short lines
    if sum(1 for s in sentences(plain_lines(text)) if len(s) > 60 and s[-1] in ".!:)") < 2:
        return False
    letters = len(_LETTER.findall(text[:2_000]))
    return letters > 0.75 * min(len(text), 2_000)


def _follow(talk: Conversation, thread: _Thread, start: int, end: int) -> tuple[Step | None, int]:
    """The success that ends the thread between two turns, if one does, and up to where the talk is about the report.

    From the first failure on, the failure itself is the story, and another rule tells it.
    """
    about = end
    for step in talk.finished_between(start, end):
        if step.failed:
            thread.failing.add(shell.goal(step.command))
            about = min(about, step.called)
        elif step.edits:
            thread.edits.append(step)
        elif (thread.edits or thread.deeds) and not is_shortcut(step.command) and _verifies(step, thread):
            return step, min(about, step.called)
        elif step.command and not is_check(step.command) and shell.deeds(step.command):
            thread.deeds.append(step)
    return None, about


def _verifies(step: Step, thread: _Thread) -> bool:
    if step.command:
        if thread.waited and _COMMITS.match(shell.goal(step.command)):
            return True  # the person came back without an objection and the work was accepted
        goal = shell.goal(step.command)
        told_by_check = any(brings_paste(turn) or _is_review(turn) for turn in thread.turns)
        return goal in thread.failing or (is_check(goal) and (told_by_check or not _BUILDS.search(goal)))
    return bool(_CHECKING_TOOL.search(step.event.tool or "")) and bool(_CLEAN.search(step.text))


def _closed(talk: Conversation, thread: _Thread, closer: SessionEvent | None, known_at: int) -> Finding:
    cwd = talk.session.cwd
    head = near_paths(_problem_in_words(thread.turns[0]), cwd) if thread.turns else ""
    why = near_paths(thread.why, cwd)
    fix = near_paths(thread.fix, cwd)
    events: list[SessionEvent | None] = [turn.event for turn in thread.turns]
    events += [thread.told, *(edit.call for edit in thread.edits[-3:]), closer]
    detail: FailureInsight | DecisionInsight
    if (
        thread.review
        and not why.startswith("The agent made")
        and not _FAULT.search(" ".join(sentences(thread.turns[0].event.text)[:2]))
    ):
        text = joined(why, fix, head)
        detail = DecisionInsight(decision=text, reasoning=clipped(head, 200), confirmed=True)
    else:
        text = joined(why, fix, head) if thread.review and why else joined(clipped(head, 140), why, fix)
        detail = FailureInsight(
            description=head or why,
            root_cause=why,
            resolution=fix,
            tool_calls=[f"{edit.event.tool} {edit.path}" for edit in thread.edits[-3:]],
        )
    return Finding(
        Insight(
            detail=detail,
            text=text,
            sources=talk.sources(events),
            confidence=0.7 if closer is None or closer.kind != "human" else 0.75,
            scope="project",
            strength="resolved",
            trust="agent",
        ),
        known_at,
    )


def _problem_in_words(turn: Turn) -> str:
    """The problem as one statement: the error, or the sentence that tells of it; empty if that is only "fix it"."""
    text = turn.event.text
    if _is_review(turn):
        told_of = [s for s in sentences(plain_lines(text)) if len(s) > 40]
        return clipped(plain(next((s for s in told_of if _FAULT.search(s)), told_of[0] if told_of else "")), 200)
    quoted = next((quote for quote in _QUOTED.findall(beginning(text, _READ)) if error_line(quote)), "")
    error = quoted or (error_line(text) if brings_paste(turn) or ":" in text else "")
    told = next((s for s in sentences(turn.words) if _PROBLEM.search(s)), "")
    for words in (error, from_user(unfilled(told)).rstrip("?:. ")):
        words = _ASKING.sub("", plain(words))
        if len(words) > 12 and not _BIDDING.match(words):
            return clipped(words, 200)
    return ""


def plain_lines(text: str) -> str:
    """The text with each paragraph on one line, since reviews are wrapped."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", beginning(text, _LONG))
