"""Attribution: the verdicts on sessions as events of the ledger, written when a log is read, or by hand, and undone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acemem.memory.attribution.judgement import BY_HAND, judge
from acemem.memory.errors import BadInput, NotFound, UsageError
from acemem.memory.fold import undone
from acemem.memory.home import Home
from acemem.memory.models import Draft, Event
from acemem.memory.sessions.event import Session
from acemem.memory.showings import shown_in

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_DISTINCT = 16  # characters from which two agents do not give the same name to two sessions by chance
_LOOKED_AT = 500  # newest receipts among which the session is looked for that a person means
_LEAST = 4  # letters of a session's name that are enough to name it


@dataclass(slots=True)
class Tally:
    """How many bullets were credited, and how many were blamed."""

    credited: int = 0
    blamed: int = 0


def attribute(home: Home, sessions: Sequence[Session]) -> Tally:
    """Judges the sessions of one log that have receipts, and writes down what has changed since the last time.

    A session has one standing verdict. Where it is another than before, the one before is taken back with all it
    gave. One that a person set by hand stays, and only what it is shared among follows the log; one of ours that a
    person took back does not come again. Call it inside a ledger transaction.
    """
    tally = Tally()
    for session in sessions:
        told = home.ledger.about_session(*names_of(session, alone=len(sessions) == 1))
        receipts = [event for event in told if event.type == "receipt" and _is_for(event, session)]
        if not receipts:
            continue
        case = _Case(told, receipts)
        if case.refused or case.has_read_more_than(session):
            continue
        data = _judged(home, case, session, case.said)
        if case.stands_already(data):
            continue
        replaced = [case.standing] if case.standing is not None else []
        if case.by_hand is not None:  # what a person said stays said; only the marks it gave make way for others
            data["said"] = case.by_hand.id
        for event in _write(home, case, data, replaced, keep=case.by_hand):
            tally.credited += event.data["helpful"] is True
            tally.blamed += event.data["helpful"] is False
    return tally


def names_of(session: Session, *, alone: bool) -> list[str]:
    """The names under which a hook may have known the session: its own, its file's, and what is unique in that.

    `alone` says that the log holds no other session, so that the file's name is the session's.
    """
    names = [session.id]
    if alone:
        stem = Path(session.path).stem
        names += [stem, *_UUID.findall(stem)]
    return list(dict.fromkeys(name.strip() for name in names if name.strip()))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict that stands on a session, and the marks that it gave."""

    outcome: Event
    marks: tuple[Event, ...]
    unchanged: bool = False  # it stood before


def set_by_hand(home: Home, success: bool, session: str) -> Verdict:
    """Writes down what a person says of a session, and credits or blames what was used in it.

    What was used is told by its log, where one is known and can be read; else by what was found in it before.
    Raises NotFound for a session without a receipt.
    """
    with home.ledger.transaction():
        told = home.ledger.about_session(session)
        case = _Case(told, [event for event in told if event.type == "receipt"])
        if not case.receipts:
            raise NotFound(
                f"no receipt of session {session!r} in this store, so nothing is known to have been shown to it; "
                "receipts are written by the agents' hooks, and `mem why ID` lists those of a bullet"
            )
        log = _log_of(home, session)
        if log is not None:
            data = _judged(home, case, log, success)
        else:
            data = _by_hand(case.standing.data if case.standing is not None else {}, success)
        unchanged = case.said is success and case.stands_already(data)
        if not unchanged:
            _write(home, case, data, case.live)
            case = _Case(home.ledger.about_session(session), case.receipts)
        assert case.standing is not None
        return Verdict(case.by_hand or case.standing, tuple(case.given_by(case.standing)), unchanged)


def session_meant(home: Home, project_scope: str, name: str | None) -> str:
    """The session with this name, or that alone begins so; without a name the one last shown something here.

    Here is where no bullet of another project was shown. Raises NotFound, or UsageError if several begin so.
    """
    if name is not None and home.ledger.about_session(name):
        return name
    receipts = [event for event in reversed(home.ledger.events("receipt", last=_LOOKED_AT)) if event.session]
    if name is not None:
        found = dict.fromkeys(e.session for e in receipts if len(name) >= _LEAST and str(e.session).startswith(name))
        if len(found) > 1:
            raise UsageError(f"{name!r} begins the names of {len(found)} sessions; give more letters")
        return str(next(iter(found), name))
    for receipt in receipts:
        ids = [*shown_in(receipt), *(str(hit["id"]) for hit in receipt.data.get("withheld", ()))]
        scopes = {bullet.scope for bullet in home.ledger.get_many(ids).values()}
        if ids and all(scope == project_scope or not scope.startswith("project:") for scope in scopes):
            return str(receipt.session)
    raise NotFound(
        "no receipt of this project with a session: nothing was put in front of a prompt here yet; "
        "`mem install AGENT` sets up the hook that does, and --session names a session of another project"
    )


def standing_verdict(home: Home, session: str) -> Event | None:
    """The verdict that stands on a session, if it has been judged."""
    return _Case(home.ledger.about_session(session), []).standing


def undo(home: Home, outcome: Event) -> list[Event]:
    """Takes back a verdict with every mark that it gave; the last undo returned is the verdict's own.

    Raises UsageError when it is undone already.
    """
    with home.ledger.transaction():
        told = home.ledger.about_session(outcome.session) if outcome.session else [outcome]
        case = _Case(told, [])
        if outcome.seq in case.dead:
            return home.ledger.undo([outcome], home.clock())  # says so
        follows = [event for event in case.live if event.data.get("said") == outcome.id]
        return _take_back(home, [*follows, outcome], case)


class _Case:
    """What the ledger tells of one session."""

    def __init__(self, told: Sequence[Event], receipts: Sequence[Event]) -> None:
        self.receipts = receipts
        self.dead = undone(told)
        self.outcomes = [event for event in told if event.type == "outcome"]
        self.marks = [event for event in told if event.type == "feedback" and event.seq not in self.dead]
        self.live = [event for event in self.outcomes if event.seq not in self.dead]
        self.standing = self.live[-1] if self.live else None
        by_hand = [event for event in self.live if event.data.get("source") == "person" and "said" not in event.data]
        self.by_hand = by_hand[-1] if by_hand else None

    @property
    def said(self) -> bool | None:
        """What a person said of the session by hand."""
        return None if self.by_hand is None else bool(self.by_hand.data["success"])

    @property
    def refused(self) -> bool:
        """Whether a person took back our own last verdict."""
        last = self.outcomes[-1] if self.outcomes else None
        return last is not None and last.seq in self.dead and last.data.get("source") != "person"

    def has_read_more_than(self, session: Session) -> bool:
        """Whether the verdict that stands rests on a longer copy of the session."""
        return self.standing is not None and self.standing.data.get("records", 0) > len(session.events)

    def stands_already(self, data: dict[str, Any]) -> bool:
        """Whether the standing verdict says the same."""
        return self.standing is not None and _verdict_in(data) == _verdict_in(self.standing.data)

    def given_by(self, outcome: Event) -> list[Event]:
        """The standing marks that a verdict gave."""
        return [mark for mark in self.marks if mark.data.get("outcome") == outcome.id]

    @property
    def marked_by_hand(self) -> set[str | None]:
        """The bullets that a person marked for this session: their word is enough."""
        return {mark.bullet for mark in self.marks if mark.data.get("source", "explicit") == "explicit"}


def _is_for(receipt: Event, session: Session) -> bool:
    """Whether a receipt of this name is the session's, and not that of another agent which counts from one too."""
    return len(receipt.session or "") >= _DISTINCT or receipt.data.get("agent") == session.agent


def _judged(home: Home, case: _Case, session: Session, said: bool | None) -> dict[str, Any]:
    ids = {id for receipt in case.receipts for id in shown_in(receipt)}
    return judge(session, case.receipts, home.ledger.get_many(ids), said).to_data()


def _verdict_in(data: Any) -> tuple[Any, ...]:
    """What makes two verdicts the same; more records alone do not make another."""
    uses = sorted((u["id"], u["how"], u["success"], u["source"] or "", u["weight"]) for u in data.get("used", ()))
    return data["success"], data["source"], uses, sorted(data.get("ignored", ()))


def _write(
    home: Home, case: _Case, data: dict[str, Any], replaced: Sequence[Event], keep: Event | None = None
) -> list[Event]:
    """Puts a verdict in the place of others, all but one to `keep`, and gives its marks; returns the marks."""
    _take_back(home, replaced, case, keep)
    name = case.receipts[-1].session
    [outcome] = home.ledger.append([Draft("outcome", session=name, data=data)], home.clock())
    drafts = [
        Draft("feedback", use["id"], session=name, data=_mark(use, outcome.id))
        for use in data["used"]
        if use["weight"] > 0 and use["id"] not in case.marked_by_hand
    ]
    return home.ledger.append(drafts, home.clock())


def _mark(use: dict[str, Any], outcome: str) -> dict[str, Any]:
    return {
        "helpful": use["success"],
        "weight": use["weight"],
        "source": use["source"],
        "outcome": outcome,
        "how": use["how"],
        "record": use["record"],
        "what": use["what"],
        "because": use["because"],
    }


def _take_back(home: Home, outcomes: Iterable[Event], case: _Case, keep: Event | None = None) -> list[Event]:
    events: list[Event] = []
    for outcome in outcomes:
        events += case.given_by(outcome)
        if keep is None or outcome.seq != keep.seq:
            events.append(outcome)
    return home.ledger.undo(events, home.clock())


def _by_hand(before: Any, success: bool) -> dict[str, Any]:
    """A person's verdict on the uses that were found before."""
    from acemem.scoring.credit import Outcome, Use, credits

    uses = [dict(use) for use in before.get("used", ())]
    earned = {
        credit.bullet: credit
        for credit in credits([Use(use["id"], use["how"]) for use in uses], Outcome(success, "person"))
    }
    for use in uses:
        weight = round(earned[use["id"]].weight, 4) if use["id"] in earned else 0.0
        use.update(success=success, source="person", because=BY_HAND, weight=weight)
    return {
        "success": success,
        "source": "person",
        "because": BY_HAND,
        "used": uses,
        "ignored": list(before.get("ignored", ())),
        "records": before.get("records", 0),
    }


def _log_of(home: Home, name: str) -> Session | None:
    """The session as its log has it now: a log that was read before, or of which a hook has left a note."""
    from acemem.memory.sessions import catalog
    from acemem.memory.spool import Spool

    notes = [note.log for note in Spool(home.path).waiting().values() if note is not None and note.session == name]
    for path in dict.fromkeys([*reversed(notes), *home.ledger.logs_of(name)]):
        try:
            sessions = catalog.read(Path(path))
        except BadInput:  # gone since, or never there
            continue
        for session in sessions:
            if name in names_of(session, alone=len(sessions) == 1):
                return session
    return None
