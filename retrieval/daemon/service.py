"""The service: one home with all loaded, asked by several threads at once."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from acemem.memory.config import load
from acemem.memory.embedders.catalog import load as load_embedder
from acemem.memory.errors import StoreBusy, StoreError
from acemem.memory.models import Draft
from acemem.retrieval import cold
from acemem.retrieval.daemon.log import note
from acemem.retrieval.daemon.receipts import Receipts, absorb
from acemem.retrieval.daemon.warm_home import Loaded, RememberingEmbedder, SharedStore, WarmHome
from acemem.retrieval.hook import Answer, reach_of, respond
from acemem.retrieval.protocols import ANSWERED, PROTOCOLS, Call, from_payload, printed, read

if TYPE_CHECKING:
    from acemem.memory.store import Version

THREADS = 2  # numpy and the embedder let go of the interpreter, so a second one has work to do
BROKEN_FOR = 30.0  # seconds until a bullet table that could not be read is tried again
REMEMBERED = 1_000  # calls that have been answered, of which a second one may come
USUAL_AGENT = "claude-code"
TRIAL = {"prompt": "how do the tests run"}


@dataclass(frozen=True, slots=True)
class Question:
    """One hook call as it came in; `until` is a time of `time.monotonic` after which nobody waits for the answer.

    `caller` is the agent that really calls, where that is known. The payload is emptied when it is read.
    """

    agent: str
    event: str
    payload: bytearray
    folder: str
    until: float
    caller: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a hook prints, None for nothing, and the receipt that is worth keeping once somebody has taken it."""

    output: bytes | None
    receipt: Draft | None


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
        self._answered: OrderedDict[tuple[str | None, str, str], None] = OrderedDict()
        self._answering = threading.Lock()
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
        protocol = PROTOCOLS.get(agent, PROTOCOLS[USUAL_AGENT])
        trial = from_payload(protocol, *protocol.event("prompt"), TRIAL, folder)
        self.warm(trial)
        table = self.table()
        try:
            respond(home, trial)
        except StoreError as error:
            self.mark_broken(error, table)
        home.embedder.embed_query("the weights are loaded, also where there is no table to compare with")

    def warm(self, call: Call) -> None:
        """Reads the part of the bullet table that an agent's prompts in a folder look at."""
        home, table = self._home(), self.table()
        try:
            home.freshen()
            home.store.shelf(reach_of(call).where(None, False))
        except StoreError as error:
            self.mark_broken(error, table)

    def respond(self, question: Question) -> Reply | None:
        """The reply to a hook, None where there is none to give.

        Raises what the agent's payload or the store has wrong with it.
        """
        self.asked_at = time.monotonic()
        if self.asked_at >= question.until:
            return None
        call = read(question.agent, question.event, question.payload, question.folder, question.caller)
        cold.leave_note(str(self.path), call)
        if call.moment == "pre-compact":
            self.behind.set()  # the session's note is due, before its context is gone
        if call.moment not in ANSWERED or (call.moment == "tool-failure" and call.failure is None):
            return None
        if self._is_repeated(call):
            return None
        self.receipts.settle(call.session)
        found = self._answer(call)
        if time.monotonic() >= question.until:
            return None  # nobody saw it, so there is nothing to write down either
        if call.moment == "session-start":
            with suppress(RuntimeError):  # the daemon is about to end
                self.pool.submit(self.warm, call)  # so that the first prompt need not wait for it
        output = None if found.output is None else printed(found.output)
        return Reply(output, found.receipt if found.counts else None)

    def taken(self, reply: Reply) -> None:
        """Has it written down that a reply is on its way to who asked for it."""
        self.answered += 1
        if reply.receipt is not None:
            self.receipts.keep(reply.receipt, self.clock())

    def is_broken(self) -> bool:
        """Whether the bullet table could not be read lately, and nobody has written it anew since."""
        if self.broken is None or time.monotonic() >= self._retry_at:
            return False
        return self.table() == self._broken_table

    def mark_broken(self, error: StoreError, table: Version | None) -> None:
        """Notes that the bullet table cannot be read, so that answers go by words alone for a while.

        `table` is what there was before it was read: another one, that was put in place meanwhile, is not broken.
        """
        if self.broken is None:
            self.note(f"daemon: answers by words alone: {error}")
        self.broken = str(error)
        self._broken_table = table
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

    def _is_repeated(self, call: Call) -> bool:
        """Whether another hook has been called for the same thing: one agent may run what two have installed."""
        if call.turn is None:
            return False
        key = (call.session, call.moment, call.turn)
        with self._answering:
            known = key in self._answered
            self._answered[key] = None
            while len(self._answered) > REMEMBERED:
                self._answered.popitem(last=False)
        return known

    def _answer(self, call: Call) -> Answer:
        if not self.is_broken():
            table = self.table()
            try:
                found = respond(self._home(), call)
            except StoreError as error:
                self.mark_broken(error, table)
                self.behind.set()
            else:
                self.broken = None
                return found
        words = cold.answer(str(self.path), call)
        if words is None:
            raise StoreError(self.broken or "there is no snapshot to answer from")
        receipt = Draft("receipt", session=call.session, data=words.receipt)
        return Answer(call.output(words.text) if words.text else None, receipt)

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

    def table(self) -> Version | None:
        """Which state of the bullet table there is; None where there is none, or it cannot be told."""
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
