"""The cold answer: what a hook does when no daemon answers it. Standard library only.

It starts a daemon for the next prompt, and answers this one by words alone, from the snapshot that the last daemon
left in the home. What the snapshot says is compared with the ledger, bullet by bullet: what was archived, moved or
worded anew since then is not shown.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import sqlite3
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from acemem.memory.fingerprint import fingerprint
from acemem.memory.function_words import ENGLISH
from acemem.memory.scope import GLOBAL, Project
from acemem.retrieval import frame, recent
from acemem.retrieval.daemon.launch import launch
from acemem.retrieval.protocols import ANSWERED, Call, caller_of, printed, protocol_of, read

SNAPSHOT = "cold.db"
RECEIPTS = "receipts"  # the folder where receipts wait for the next daemon
MOST_RECEIPTS = 1_000  # that wait: where no daemon can ever start, they must not fill the disk
FORMAT = 2
QUERY_CHARS = 4_000  # as in `search`: of a longer prompt its beginning and its end
QUERY_WORDS = 32
LEAST_SHARE = 0.4  # of the question, each word by its rarity; words alone must say more than words beside meaning
LEAST_WORDS = 2
LOOKED_AT = 20  # best bullets that are compared with the ledger
BUSY_SECONDS = 0.05
HOLDOUT_SESSIONS = 10  # as in `holdout`
PER_PROMPT = 2  # receipts for each prompt that counts

_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u31f0-\u31ff\u3400-\u9fff\uac00-\ud7af]+")
_PIECE = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


Candidate = tuple[str, str, str, float]  # a bullet's id, face, line, and how much of the question it has, 0..1


@dataclass(frozen=True, slots=True)
class Shown:
    """A bullet as it is put in front of a prompt, and how much it is about it, 0..1."""

    id: str
    line: str
    share: float
    helpful: float
    harmful: float

    @property
    def record(self) -> float:
        """By what its marks raise or lower it, as a warm answer's evidence does; 1 for none."""
        return 2 * (self.helpful + 1) / (self.helpful + self.harmful + 2)

    @property
    def rank_score(self) -> float:
        """What the order goes by."""
        return self.share * self.record


@dataclass(frozen=True, slots=True)
class Found:
    """The block that is shown, empty when nothing is relevant, and the data of its receipt."""

    text: str
    receipt: dict[str, Any]

    @property
    def counts(self) -> bool:
        """Whether the receipt is worth keeping."""
        return recent.counts(self.receipt)


def respond(agent: str, event: str, home: bytes, payload: bytes, put: Callable[[bytes], None]) -> None:
    """Answers a hook without a daemon, and has one started. Raises what goes wrong, once the daemon is started."""
    place, folder = os.path.abspath(os.fsdecode(home)), os.getcwd()
    protocol = protocol_of(agent)
    if protocol.event(event)[1].moment in ANSWERED:
        if not os.path.isdir(place):
            return  # nothing is remembered here, so there is nothing to have ready
        launch(place, protocol.agent, folder)
    call = read(agent, event, payload, folder, caller_of(os.environ))
    leave_note(place, call)
    found = answer(place, call)
    if found is None:
        return
    if found.text:
        put(printed(call.output(found.text)))
    if found.counts:
        leave_receipt(place, call.session, found.receipt)


def leave_note(home: str, call: Call) -> None:
    """Leaves a note of the session's log, where that has something worth reading. Raises OSError."""
    if call.note is not None:
        from pathlib import Path

        from acemem.memory.spool import Spool

        Spool(Path(home)).leave(call.note, time.time_ns())


def answer(home: str, call: Call) -> Found | None:
    """What can be said by words alone; None where there is nothing to say, or no snapshot to say it from."""
    if call.moment not in ANSWERED or (call.moment == "tool-failure" and call.failure is None):
        return None
    try:
        snapshot = _opened(os.path.join(home, SNAPSHOT))
        ledger = _opened(os.path.join(home, "ledger.db"))
    except sqlite3.OperationalError:
        return None
    with closing(snapshot), closing(ledger):
        settings = dict(snapshot.execute("SELECT name, value FROM settings"))
        if settings.get("format") != str(FORMAT):
            return None
        asked = _Asked(home, call, snapshot, ledger, settings)
        if asked.was_answered():
            return None
        return {"session-start": _opening, "prompt": _injection, "tool-failure": _remedy}[call.moment](asked)


def sees(project: str, names: Sequence[str]) -> Callable[[str], bool]:
    """Whether an agent at work in a project may see bullets of a scope; what `Reach` says, without numpy."""
    scopes = (GLOBAL, project, *(f"agent:{name}" for name in names))
    return lambda scope: scope in scopes or scope.startswith("tool:")


class _Asked:
    """One question to the snapshot and the ledger of a home."""

    def __init__(
        self,
        home: str,
        call: Call,
        snapshot: sqlite3.Connection,
        ledger: sqlite3.Connection,
        settings: Mapping[str, str],
    ) -> None:
        self.home, self.call, self.snapshot, self.ledger, self.settings = home, call, snapshot, ledger, settings
        self.visible = sees(Project.of(call.folder).scope, call.protocol.names)
        self.session = None if call.session is None else call.session.encode("utf-8", "replace").decode()
        self.receipts = self._receipts()

    def was_answered(self) -> bool:
        """Whether another hook has been answered for the same thing."""
        turn, moment = self.call.turn, self.call.moment
        return turn is not None and any(
            receipt.get("turn") == turn and recent.moment_of(receipt) == moment for receipt in self.receipts
        )

    def _receipts(self) -> list[dict[str, Any]]:
        """The data of the session's receipts, newest first, also those that wait to be written down."""
        if self.session is None:
            return []
        waiting = [r for r in waiting_receipts(self.home).values() if r is not None and r["session"] == self.session]
        query = "SELECT data FROM events WHERE type = 'receipt' AND session = ? ORDER BY seq DESC LIMIT ?"
        most = PER_PROMPT * max(int(self.settings["repeat_after"]), frame.AGAIN)
        rows = self.ledger.execute(query, (self.session, most))
        return [*(receipt["data"] for receipt in reversed(waiting)), *(json.loads(data) for (data,) in rows)]


def _injection(asked: _Asked) -> Found:
    """What stands in front of a prompt."""
    call, settings = asked.call, asked.settings
    best = _best(asked.snapshot, call.prompt, asked.visible)
    known = recent.recent(asked.receipts, int(settings["repeat_after"]))
    standing = _unchanged(asked.ledger, best, asked.visible)
    ready = [bullet for rank, bullet in enumerate(standing, start=1) if not known.bars(bullet.id, rank)]
    k = int(settings["k"])
    chosen, others = ready[:k], ready[k:]
    drawn = _withheld(asked.ledger, call.session, float(settings["holdout"]), chosen)
    withheld = [bullet for bullet in chosen if bullet.id in drawn]
    shown = [bullet for bullet in chosen if bullet.id not in drawn]
    return _found(call, call.prompt, shown, frame.HEADING, int(settings["budget"]), withheld=withheld, others=others)


def _opening(asked: _Asked) -> Found:
    """The best rules that hold here, or what was shown before a compaction."""
    call = asked.call
    held = recent.shown_before(asked.receipts)
    if call.source == "compact":
        note = frame.note_lines(
            asked.home, call.session, int(frame.NOTE_SHARE * call.protocol.limit), call.protocol.size
        )
        again = _unchanged(asked.ledger, _kept(asked.snapshot, held[: frame.AGAIN]), asked.visible, ordered=False)
        ahead = [*note, frame.SHOWN] if note and again else note
        found = _found(call, call.source, again, frame.AGAIN_HEADING, call.protocol.limit, ahead=ahead)
        if found.text:
            return found
    from acemem.retrieval.context_files import rules_read

    known = rules_read(call.agent, str(Project.of(call.folder).checkout), call.folder)
    known |= set() if call.source in recent.RESETS else set(held)
    rules = asked.snapshot.execute("SELECT id, scope, face, line FROM bullets WHERE worth IS NOT NULL ORDER BY worth")
    mine = [(id, face, line, 1.0) for id, scope, face, line in rules if asked.visible(scope) and id not in known]
    shown = _unchanged(asked.ledger, mine[: 2 * frame.RULES], asked.visible, ordered=False)[: frame.RULES]
    return _found(call, call.source, shown, frame.START_HEADING, frame.OPENING_CHARS)


def _remedy(asked: _Asked) -> Found | None:
    """What is known of a failure."""
    from acemem.retrieval.signature import signature

    call = asked.call
    assert call.failure is not None
    failure = signature(call.failure)
    if failure is None:
        return None
    known = recent.failures(asked.receipts, frame.NOT_AGAIN)
    found = _unchanged(asked.ledger, _best(asked.snapshot, failure.question, asked.visible), asked.visible)
    # By words alone, what is found has many of the question's; some must be of what was printed.
    near = [bullet for bullet in found if failure.shared(bullet.line) >= LEAST_WORDS and bullet.id not in known]
    return _found(
        call, call.failure.on_one_line, near[: frame.REMEDIES], frame.REMEDY_HEADING, int(asked.settings["budget"])
    )


def _found(
    call: Call,
    asked: str,
    ready: Sequence[Shown],
    heading: str,
    budget: int,
    *,
    ahead: Sequence[str] = (),
    withheld: Sequence[Shown] = (),
    others: Sequence[Shown] = (),
) -> Found:
    """What fits into a budget, framed, with its receipt."""
    size = call.protocol.size
    left = frame.left_within(min(budget, call.protocol.limit), heading, size) - sum(map(size, ahead))
    shown = [ready[at] for at in frame.fitting([[bullet.line] for bullet in ready], left, size)]
    text = frame.framed(heading, [*ahead, *(bullet.line for bullet in shown)]) if ahead or shown else ""
    return Found(text, _receipt(call, asked, shown, withheld, others))


def tokens(text: str) -> Iterator[str]:
    """The words by which the snapshot is searched; the parts of identifiers, and pairs in scripts without spaces."""
    for piece in _PIECE.findall(unicodedata.normalize("NFKC", text)):
        if _UNSPACED.search(piece):
            yield from (piece[at : at + 2] for at in range(max(1, len(piece) - 1)))
        else:
            yield from (part.casefold() for part in _CAMEL.split(piece) if part)


def is_drawn(session: str, bullet: str, share: float) -> bool:
    """Whether the lot withholds a bullet from a session; what `holdout` draws, without the store."""
    drawn = hashlib.sha256(f"holdout\0{session}\0{bullet}".encode("utf-8", "replace")).digest()
    return int.from_bytes(drawn[:8], "big") < share * 2**64


def leave_receipt(home: str, session: str | None, data: Mapping[str, Any]) -> None:
    """Leaves a receipt for the daemon to write down. Raises OSError."""
    folder = os.path.join(home, RECEIPTS)
    os.makedirs(folder, exist_ok=True)
    if len(os.listdir(folder)) >= MOST_RECEIPTS:
        return
    at = time.time_ns()
    name = f"{at:020d}-{os.getpid()}"
    fresh = os.path.join(folder, f".{name}")
    document = {"at": at / 1e9, "session": session, "data": data}
    try:
        with open(fresh, "w", encoding="utf-8", errors="replace") as file:
            json.dump(document, file, ensure_ascii=False)
        os.rename(fresh, os.path.join(folder, f"{name}.json"))
    except OSError:
        os.unlink(fresh)
        raise


def waiting_receipts(home: str) -> dict[str, dict[str, Any] | None]:
    """The receipts that wait, oldest first, by their files; None for a file that holds none."""
    folder = os.path.join(home, RECEIPTS)
    found: dict[str, dict[str, Any] | None] = {}
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    except OSError:
        return {}
    for name in names:
        path = os.path.join(folder, name)
        try:
            with open(path, encoding="utf-8") as file:
                document = json.load(file)
            found[path] = {key: document[key] for key in ("at", "session", "data")}
        except (OSError, ValueError, TypeError, KeyError):
            found[path] = None
    return found


def _opened(path: str) -> sqlite3.Connection:
    """A database that is only read. Raises sqlite3.OperationalError where there is none."""
    from urllib.parse import quote

    address = f"file:{quote(os.fsencode(path))}?mode=ro"
    database = sqlite3.connect(address, timeout=BUSY_SECONDS, uri=True)
    try:
        database.execute("SELECT 1 FROM sqlite_master LIMIT 1")
    except sqlite3.OperationalError:
        database.close()
        if os.path.exists(f"{path}-wal") and os.path.getsize(f"{path}-wal"):
            raise
        # Even who only reads makes a file beside a ledger that nobody has open; where no file can be made, nobody can
        # write to it meanwhile either.
        database = sqlite3.connect(f"{address}&immutable=1", timeout=BUSY_SECONDS, uri=True)
    return database


def _best(snapshot: sqlite3.Connection, prompt: str, visible: Callable[[str], bool]) -> list[Candidate]:
    """Id, face, line and share of the visible bullets that have most of what is asked, best first."""
    scopes = [scope for (scope,) in snapshot.execute("SELECT DISTINCT scope FROM bullets") if visible(scope)]
    marks = ",".join("?" * len(scopes))
    rows = {row for (row,) in snapshot.execute(f"SELECT rowid FROM bullets WHERE scope IN ({marks})", scopes)}
    if len(prompt) > QUERY_CHARS:
        prompt = f"{prompt[: QUERY_CHARS // 2]}\n{prompt[-QUERY_CHARS // 2 :]}"
    asked = dict.fromkeys(word for word in tokens(prompt) if word not in ENGLISH)
    shares: dict[int, float] = {}
    words: dict[int, int] = {}
    whole = 0.0
    for word in list(asked)[:QUERY_WORDS]:
        having = snapshot.execute("SELECT rowid FROM words WHERE words MATCH ?", (f'"{word}"',))
        found = rows.intersection(row for (row,) in having)
        rarity = math.log1p((len(rows) - len(found) + 0.5) / (len(found) + 0.5))
        whole += rarity
        for row in found:
            shares[row] = shares.get(row, 0.0) + rarity
            words[row] = words.get(row, 0) + 1
    least = LEAST_SHARE * whole
    near = [row for row, share in shares.items() if share >= least and words[row] >= LEAST_WORDS]
    near.sort(key=lambda row: (-shares[row], row))
    near = near[:LOOKED_AT]
    marks = ",".join("?" * len(near))
    kept = {
        row: (id, face, line, shares[row] / whole)
        for row, id, face, line in snapshot.execute(
            f"SELECT rowid, id, face, line FROM bullets WHERE rowid IN ({marks})", near
        )
    }
    return [kept[row] for row in near]


def _kept(snapshot: sqlite3.Connection, ids: Sequence[str]) -> list[Candidate]:
    """The bullets with these ids, as far as the snapshot has them."""
    marks = ",".join("?" * len(ids))
    rows = snapshot.execute(f"SELECT id, face, line FROM bullets WHERE id IN ({marks})", list(ids))
    kept = {id: (id, face, line, 1.0) for id, face, line in rows}
    return [kept[id] for id in ids if id in kept]


def _unchanged(
    ledger: sqlite3.Connection, best: Iterable[Candidate], visible: Callable[[str], bool], ordered: bool = True
) -> list[Shown]:
    """Those of which the ledger says the same, by share and record, best first; none that is in a conflict.

    With `ordered=False` they stay in the order in which they come.

    Two that contradict each other are shown together with their records or not at all; here it is not at all.
    """
    best = list(best)
    ids = [id for id, _, _, _ in best]
    marks = ",".join("?" * len(ids))
    query = f"SELECT id, scope, face, helpful, harmful FROM bullets WHERE status != 'archived' AND id IN ({marks})"
    live = {id: rest for id, *rest in ledger.execute(query, ids)}
    opposed = set()
    for pair in ledger.execute("SELECT bullet, other FROM events WHERE type = 'conflict'"):
        opposed.update(pair)
    found = []
    for id, face, line, share in best:
        if id not in live or id in opposed:
            continue
        scope, now, helpful, harmful = live[id]
        if now == face and visible(scope):
            found.append(Shown(id, line, share, helpful, harmful))
    return sorted(found, key=lambda bullet: (-bullet.rank_score, bullet.id)) if ordered else found


def _withheld(ledger: sqlite3.Connection, session: str | None, share: float, chosen: list[Shown]) -> set[str]:
    if session is None or not share:
        return set()
    query = "SELECT DISTINCT session FROM events WHERE type = 'receipt' AND session IS NOT NULL LIMIT ?"
    if len(ledger.execute(query, (HOLDOUT_SESSIONS,)).fetchall()) < HOLDOUT_SESSIONS:
        return set()
    return {bullet.id for bullet in chosen if is_drawn(session, bullet.id, share)}


def _receipt(
    call: Call, asked: str, shown: Sequence[Shown], withheld: Sequence[Shown], others: Sequence[Shown]
) -> dict[str, Any]:
    asked_hash = fingerprint(asked)
    named = f"{call.session}\0{asked_hash}\0{call.moment}\0{time.time_ns()}".encode("utf-8", "replace")
    data = {
        "receipt": f"r{hashlib.sha256(named).hexdigest()[:8]}",
        "agent": call.agent,
        "moment": call.moment,
        "prompt_hash": asked_hash,
        "arm": "holdout" if withheld else "shown",
        "cold": True,
        "hits": _ranked(shown),
        "withheld": _ranked(withheld),
        "others": _ranked(others[:10]),
    }
    further = {"turn": call.turn, "source": call.source if call.moment == "session-start" and call.source else None}
    return data | {name: value for name, value in further.items() if value is not None}


def _ranked(bullets: Sequence[Shown]) -> list[dict[str, Any]]:
    return [
        {"id": b.id, "rank": rank, "rank_score": b.rank_score, "relevance": b.share, "parts": _parts(b)}
        for rank, b in enumerate(bullets, start=1)
    ]


def _parts(bullet: Shown) -> dict[str, float]:
    """Under the names of a warm answer's parts, since receipts are read for them; meaning counts as the words do."""
    return {
        "semantic": bullet.share,
        "lexical": bullet.share,
        "evidence": bullet.record,
        "helpful": bullet.helpful,
        "harmful": bullet.harmful,
        "base": 0.5,
        "freshness": 1.0,
        "recency": 1.0,
    }
