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
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from acemem.memory.errors import BadInput
from acemem.memory.function_words import ENGLISH
from acemem.memory.scope import GLOBAL, Project
from acemem.memory.spool import EVENTS as SPOOLED
from acemem.memory.spool import Spool, note_from
from acemem.retrieval.daemon.launch import launch

SNAPSHOT = "cold.db"
RECEIPTS = "receipts"  # the folder where receipts wait for the next daemon
MOST_RECEIPTS = 1_000  # that wait: where no daemon can ever start, they must not fill the disk
FORMAT = 1
QUERY_CHARS = 4_000  # as in `search`: of a longer prompt its beginning and its end
QUERY_WORDS = 32
LEAST_SHARE = 0.4  # of the question, each word by its rarity; words alone must say more than words beside meaning
LEAST_WORDS = 2
LOOKED_AT = 20  # best bullets that are compared with the ledger
BUSY_SECONDS = 0.05
HOLDOUT_SESSIONS = 10  # as in `holdout`
PROMPTS = {("claude-code", "user-prompt-submit"): "UserPromptSubmit"}

_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u31f0-\u31ff\u3400-\u9fff\uac00-\ud7af]+")
_PIECE = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


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
    """The block for a prompt, empty when nothing is relevant, and the data of its receipt."""

    text: str
    receipt: dict[str, Any]


def respond(agent: str, event: str, home: bytes, payload: bytes, put: Callable[[bytes], None]) -> None:
    """Answers a hook without a daemon, and has one started. Raises what goes wrong, once the daemon is started."""
    place = os.path.abspath(os.fsdecode(home))
    if event not in SPOOLED:
        if not os.path.isdir(place):
            return  # nothing is remembered here, so there is nothing to have ready
        launch(place, agent, os.getcwd())
    data = json.loads(payload.decode("utf-8-sig", "replace"))
    if not isinstance(data, dict):
        raise BadInput(f"the payload is no object, but {type(data).__name__}")
    if event in SPOOLED:
        from pathlib import Path

        Spool(Path(place)).leave(note_from(agent, event, data), time.time_ns())
    elif (agent, event) in PROMPTS:
        found = answer(place, agent, data, os.getcwd())
        if found is None:
            return
        if found.text:
            inner = {"hookEventName": PROMPTS[agent, event], "additionalContext": found.text}
            output = json.dumps({"hookSpecificOutput": inner}, ensure_ascii=False)
            put(output.encode("utf-8", "replace") + b"\n")
        leave_receipt(place, data, found.receipt)


def answer(home: str, agent: str, payload: Mapping[str, Any], folder: str) -> Found | None:
    """What can be said to a prompt by words alone; None where there is no snapshot to say it from."""
    prompt = payload.get("prompt")
    if not isinstance(prompt, str):
        raise BadInput(f"the payload has no text under 'prompt', but {type(prompt).__name__}")
    session = session_of(payload)
    cwd = payload.get("cwd")
    project = Project.of(cwd if isinstance(cwd, str) and cwd else folder).scope
    try:
        snapshot = _opened(os.path.join(home, SNAPSHOT))
        ledger = _opened(os.path.join(home, "ledger.db"))
    except sqlite3.OperationalError:
        return None
    with closing(snapshot), closing(ledger):
        settings = dict(snapshot.execute("SELECT name, value FROM settings"))
        if settings.get("format") != str(FORMAT):
            return None
        best = _best(snapshot, prompt, sees(project, agent))
        barred = _recently_shown(home, ledger, session, int(settings["repeat_after"]))
        ready = [bullet for bullet in _unchanged(ledger, best, sees(project, agent)) if bullet.id not in barred]
        k = int(settings["k"])
        chosen, others = ready[:k], ready[k:]
        drawn = _withheld(ledger, session, float(settings["holdout"]), chosen)
    shown = _fitting([bullet for bullet in chosen if bullet.id not in drawn], settings)
    withheld = [bullet for bullet in chosen if bullet.id in drawn]
    frame = (settings["open"], settings["heading"], *(bullet.line for bullet in shown), settings["close"])
    receipt = _receipt(agent, session, prompt, shown, withheld, others)
    return Found("\n".join(frame) if shown else "", receipt)


def sees(project: str, agent: str) -> Callable[[str], bool]:
    """Whether an agent at work in a project may see bullets of a scope; what `Reach` says, without numpy."""
    scopes = (GLOBAL, project, f"agent:{agent}")
    return lambda scope: scope in scopes or scope.startswith("tool:")


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


def session_of(payload: Mapping[str, Any]) -> str | None:
    """The session that a payload names."""
    session = payload.get("session_id")
    return session if isinstance(session, str) else None


def leave_receipt(home: str, payload: Mapping[str, Any], data: Mapping[str, Any]) -> None:
    """Leaves a receipt for the daemon to write down. Raises OSError."""
    folder = os.path.join(home, RECEIPTS)
    os.makedirs(folder, exist_ok=True)
    if len(os.listdir(folder)) >= MOST_RECEIPTS:
        return
    at = time.time_ns()
    name = f"{at:020d}-{os.getpid()}"
    fresh = os.path.join(folder, f".{name}")
    document = {"at": at / 1e9, "session": session_of(payload), "data": data}
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


def _best(
    snapshot: sqlite3.Connection, prompt: str, visible: Callable[[str], bool]
) -> list[tuple[str, str, str, float]]:
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


def _unchanged(
    ledger: sqlite3.Connection, best: list[tuple[str, str, str, float]], visible: Callable[[str], bool]
) -> list[Shown]:
    """Those of which the ledger says the same, by share and record, best first; none that is in a conflict.

    Two that contradict each other are shown together with their records or not at all; here it is not at all.
    """
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
    return sorted(found, key=lambda bullet: (-bullet.rank_score, bullet.id))


def _recently_shown(home: str, ledger: sqlite3.Connection, session: str | None, prompts: int) -> set[str]:
    if session is None or prompts == 0:
        return set()
    query = "SELECT data FROM events WHERE type = 'receipt' AND session = ? ORDER BY seq DESC LIMIT ?"
    name = session.encode("utf-8", "replace").decode()
    receipts = [json.loads(data) for (data,) in ledger.execute(query, (name, prompts))]
    waiting = waiting_receipts(home).values()
    receipts += [receipt["data"] for receipt in waiting if receipt is not None and receipt["session"] == name]
    return {hit["id"] for receipt in receipts for hit in (*receipt["hits"], *receipt.get("withheld", ()))}


def _withheld(ledger: sqlite3.Connection, session: str | None, share: float, chosen: list[Shown]) -> set[str]:
    if session is None or not share:
        return set()
    query = "SELECT DISTINCT session FROM events WHERE type = 'receipt' AND session IS NOT NULL LIMIT ?"
    if len(ledger.execute(query, (HOLDOUT_SESSIONS,)).fetchall()) < HOLDOUT_SESSIONS:
        return set()
    return {bullet.id for bullet in chosen if is_drawn(session, bullet.id, share)}


def _fitting(ready: list[Shown], settings: Mapping[str, str]) -> list[Shown]:
    left = int(settings["budget"]) - sum(_cost(settings[name]) for name in ("open", "heading", "close"))
    shown = []
    for bullet in ready:
        if _cost(bullet.line) <= left:
            shown.append(bullet)
            left -= _cost(bullet.line)
    return shown


def _cost(line: str) -> int:
    return len(json.dumps(line, ensure_ascii=False))


def _receipt(
    agent: str, session: str | None, prompt: str, shown: list[Shown], withheld: list[Shown], others: list[Shown]
) -> dict[str, Any]:
    prompt_hash = hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest()[:16]
    name = hashlib.sha256(f"{session}\0{prompt_hash}\0{time.time_ns()}".encode("utf-8", "replace")).hexdigest()[:8]
    return {
        "receipt": f"r{name}",
        "agent": agent,
        "prompt_hash": prompt_hash,
        "arm": "holdout" if withheld else "shown",
        "cold": True,
        "hits": _ranked(shown),
        "withheld": _ranked(withheld),
        "others": _ranked(others[:10]),
    }


def _ranked(bullets: list[Shown]) -> list[dict[str, Any]]:
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
