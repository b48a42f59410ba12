"""The service: one home with all loaded, asked by several threads at once."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acemem.memory.config import load
from acemem.memory.embedders.catalog import load as load_embedder
from acemem.memory.errors import BadInput, StoreBusy, StoreError
from acemem.memory.models import Draft
from acemem.memory.scope import Project
from acemem.memory.spool import EVENTS as SPOOLED
from acemem.memory.spool import Spool, note_from
from acemem.retrieval import cold
from acemem.retrieval.daemon.log import note
from acemem.retrieval.daemon.receipts import Receipts, absorb
from acemem.retrieval.daemon.warm_home import Loaded, RememberingEmbedder, SharedStore, WarmHome
from acemem.retrieval.hook import EVENTS, answer
from acemem.retrieval.search import Reach

if TYPE_CHECKING:
    from acemem.memory.store import Version

THREADS = 2  # numpy and the embedder let go of the interpreter, so a second one has work to do
BROKEN_FOR = 30.0  # seconds until a bullet table that could not be read is tried again
WARM = "session-start"
USUAL_AGENT, PROMPT = "claude-code", "user-prompt-submit"


@dataclass(frozen=True, slots=True)
class Question:
    """One hook call as it came in; `until` is a time of `time.monotonic` after which nobody waits for the answer."""

    agent: str
    event: str
    payload: bytes
    folder: str
    until: float


class Service:
    """Answers hooks for one home. `clock` tells UTC seconds."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self.clock = clock
        self.behind = threading.Event()  # set when the upkeep has something to do for a prompt
        self.answered = 0
        self.asked_at = time.monotonic()
        self.pool = ThreadPoolExecutor(THREADS, "answer")
        self.broken: str | None = None  # what is wrong with the bullet table
        self._retry_at = 0.0
        self._broken_table: Version | None = None
        self._here = threading.local()
        self.loaded = self._load(None)
        self.receipts = Receipts(lambda: self.make_home().ledger, self.note)

    @property
    def deadline(self) -> float:
        """How many seconds a hook may take."""
        return self.loaded.settings.hook_deadline / 1000

    def note(self, text: str) -> None:
        """Adds a line to the home's log."""
        note(self.path, text)

    def make_home(self) -> WarmHome:
        """The home for the calling thread alone, around what all threads share."""
        home = WarmHome(self.path, self.clock, self.behind)
        loaded = self.loaded
        home.settings, home.embedder, home.store = loaded.settings, loaded.embedder, loaded.store
        return home

    def reload(self) -> None:
        """Takes over changed settings. Raises UsageError or ModelError, and stays with the old ones."""
        self.loaded = self._load(self.loaded)

    def prepare(self, agent: str, folder: str) -> None:
        """Writes down what hooks left while no daemon lived, and loads what a prompt in this folder will need.

        Raises StoreError, ModelError, OSError.
        """
        home = self._home()
        absorb(str(self.path), home.ledger)
        agent = agent if PROMPT in EVENTS.get(agent, ()) else USUAL_AGENT
        self.warm(agent, folder)
        try:
            answer(home, agent, PROMPT, {"prompt": "how do the tests run"}, folder)
        except StoreError as error:
            self.mark_broken(error)
        home.embedder.embed_query("the weights are loaded, also where there is no table to compare with")

    def warm(self, agent: str, folder: str) -> None:
        """Reads the part of the bullet table that prompts in a folder look at."""
        home = self._home()
        try:
            home.freshen()
            home.store.shelf(Reach.of(Project.of(folder).scope, agent).where(None, False))
        except StoreError as error:
            self.mark_broken(error)

    def respond(self, question: Question) -> bytes | None:
        """What a hook prints; None for nothing. Raises what the agent's payload or the store has wrong with it."""
        self.asked_at = time.monotonic()
        if self.asked_at >= question.until:
            return None
        payload = json.loads(question.payload.decode("utf-8-sig", "replace"))
        if not isinstance(payload, dict):
            raise BadInput(f"the payload is no object, but {type(payload).__name__}")
        if question.event in SPOOLED:
            Spool(self.path).leave(note_from(question.agent, question.event, payload), time.time_ns())
            return None
        if question.event == WARM and WARM not in EVENTS.get(question.agent, ()):
            cwd = payload.get("cwd")
            self.warm(question.agent, cwd if isinstance(cwd, str) and cwd else question.folder)
            return None
        self.receipts.settle(cold.session_of(payload))
        output, receipt = self._answer(question, payload)
        if time.monotonic() >= question.until:
            return None  # nobody saw it, so there is nothing to write down either
        self.answered += 1
        self.receipts.keep(receipt, self.clock())
        return None if output is None else json.dumps(output, ensure_ascii=False).encode("utf-8", "replace") + b"\n"

    def is_broken(self) -> bool:
        """Whether the bullet table could not be read lately, and nobody has written it anew since."""
        if self.broken is None or time.monotonic() >= self._retry_at:
            return False
        return self._table_version() == self._broken_table

    def mark_broken(self, error: StoreError) -> None:
        """Notes that the bullet table cannot be read, so that answers go by words alone for a while."""
        if self.broken is None:
            self.note(f"daemon: answers by words alone: {error}")
        self.broken = str(error)
        self._broken_table = self._table_version()
        self._retry_at = time.monotonic() + (1.0 if isinstance(error, StoreBusy) else BROKEN_FOR)

    def close(self) -> None:
        """Ends the threads, once all receipts are written, and lets go of the store's files.

        Only when the last one lets go does SQLite tidy up, so that the ledger can be read where nothing can be written.
        """
        all_here = threading.Barrier(THREADS)
        for _ in range(THREADS):
            self.pool.submit(self._leave, all_here)
        self.pool.shutdown(wait=True)
        self.receipts.close()

    def _answer(self, question: Question, payload: Mapping[str, Any]) -> tuple[dict[str, Any] | None, Draft]:
        if not self.is_broken():
            try:
                found = answer(self._home(), question.agent, question.event, payload, question.folder)
            except StoreError as error:
                self.mark_broken(error)
                self.behind.set()
            else:
                self.broken = None
                return found.output, found.receipt
        return self._by_words(question, payload)

    def _by_words(self, question: Question, payload: Mapping[str, Any]) -> tuple[dict[str, Any] | None, Draft]:
        name = cold.PROMPTS.get((question.agent, question.event))
        words = cold.answer(str(self.path), question.agent, payload, question.folder) if name else None
        if words is None:
            raise StoreError(self.broken or "there is no snapshot to answer from")
        receipt = Draft("receipt", session=cold.session_of(payload), data=words.receipt)
        if not words.text:
            return None, receipt
        return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": words.text}}, receipt

    def _home(self) -> WarmHome:
        known: tuple[Loaded, WarmHome] | None = getattr(self._here, "home", None)
        if known is None or known[0] is not self.loaded:
            if known is not None:
                known[1].close()
            known = self._here.home = (self.loaded, self.make_home())
        return known[1]

    def _leave(self, all_here: threading.Barrier) -> None:
        with suppress(threading.BrokenBarrierError):
            all_here.wait(5)  # or one thread would do it for two
        known: tuple[Loaded, WarmHome] | None = getattr(self._here, "home", None)
        if known is not None:
            known[1].close()

    def _table_version(self) -> Version | None:
        try:
            return self.loaded.store.version()
        except StoreError:
            return None

    def _load(self, before: Loaded | None) -> Loaded:
        settings = load(self.path)
        if before is not None and before.settings.embedder == settings.embedder:
            return Loaded(settings, before.embedder, before.store)
        embedder = RememberingEmbedder(load_embedder(settings.embedder))
        return Loaded(settings, embedder, SharedStore(self.path, embedder.fingerprint))
