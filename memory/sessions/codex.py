"""OpenAI Codex: rollouts of today, rollouts of 2025, and the output of `codex exec --json`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from acemem.memory.sessions import zstandard_file
from acemem.memory.sessions.bounds import MAX_EVENTS
from acemem.memory.sessions.draft import Draft, digest, plain_text, shown
from acemem.memory.sessions.event import Session, SessionEvent
from acemem.memory.sessions.records import HEAD, Log, head_records
from acemem.memory.sessions.responses import CALLS, OUTPUTS, take_item
from acemem.memory.sessions.timestamps import seconds

agent = "codex"

_ENVELOPES = ("session_meta", "response_item", "event_msg", "turn_context")
_INJECTED = (
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<user_instructions>",
    "<environment_context>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<skills_instructions>",
    "<apps_instructions>",
    "<plugins_instructions>",
    "<personality_spec>",
    "<model_switch>",
    "<skill>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<user_shell_command>",
)
_REQUEST = "## My request for Codex:"
_COMPACTED = b'"type":"compacted"'


def detect(head: bytes, path: Path) -> bool:
    """Whether lines are envelopes with a `payload`, bare items after a head line, or the events of `codex exec`."""
    if head.startswith(zstandard_file.MAGIC):
        try:
            with zstandard_file.open_unpacked(path) as handle:
                head = handle.read1(HEAD)
        except (zstandard_file.Missing, zstandard_file.Damaged):
            return path.name.startswith("rollout-")
        if not head_records(head):  # damaged before the first record
            return path.name.startswith("rollout-")
    records = head_records(head)
    for record in records[:20]:
        kind = record.get("type")
        if kind in _ENVELOPES and isinstance(record.get("payload"), dict):
            return True
        if kind == "thread.started" and "thread_id" in record:
            return True
        if "created_at" in record and kind in (*CALLS, *OUTPUTS):
            return True
    first = records[0] if records else {}
    return {"id", "timestamp", "instructions"} <= first.keys()


def read(path: Path) -> Session:
    """The session in one rollout, packed or not."""
    packed = zstandard_file.is_packed(path)
    log = Log(path, skip=_is_compacted, opener=zstandard_file.open_unpacked if packed else None)
    reading = _Reading(path)
    try:
        for rec, record in log:
            reading.take(rec, record)
    except (zstandard_file.Missing, zstandard_file.Damaged) as error:
        log.note(0, str(error))
    session = reading.finish(log)
    if packed:
        session.consumed = path.stat().st_size
    return session


def discover(home: Path, environ: dict[str, str]) -> Iterator[Path]:
    """Rollouts below `$CODEX_HOME`, by default `~/.codex`; the packed copy only where there is no plain one."""
    root = Path(environ.get("CODEX_HOME") or home / ".codex")
    for folder in (root / "sessions", root / "archived_sessions"):
        for path in sorted(folder.rglob("rollout-*.jsonl*")):
            if path.suffix == ".jsonl" or (path.suffix == ".zst" and not path.with_suffix("").exists()):
                yield path


def _is_compacted(line: bytes) -> bool:
    # Nine tenths of large rollouts are copies of the history with images in them.
    return _COMPACTED in line[:200].replace(b'": "', b'":"')


class _Reading:
    """The session as far as its log has been read."""

    def __init__(self, path: Path) -> None:
        self.draft = Draft(agent, path, path.name.removesuffix(".zst").removesuffix(".jsonl"))
        self.known = False  # whether a head line named the session
        # Every message stands in a log twice. Which of these the log has decides at its end who is believed.
        self.typed: list[SessionEvent] = []
        self.completed: list[SessionEvent] = []
        self.sent: list[SessionEvent] = []
        self.failures: set[str] = set()
        self.calls: set[str] = set()

    def take(self, rec: int, record: dict[str, Any]) -> None:
        kind, payload = record.get("type"), record.get("payload")
        sent = record.get("timestamp") or record.get("created_at")
        if isinstance(payload, dict):
            self.draft.at(seconds(sent))
            if kind == "session_meta":
                self._meta(payload)
            elif kind == "turn_context":
                self.draft.at(None, payload.get("cwd"))
            elif kind == "response_item":
                self._item(rec, payload, sent)
            elif kind == "event_msg":
                self._event(rec, payload, sent)
        elif isinstance(kind, str) and kind.partition(".")[0] in ("thread", "turn", "item"):
            self._executed(rec, kind, record)
        elif "instructions" in record and "id" in record and not self.known:
            self._meta(record)
            self.draft.at(seconds(sent))
        elif kind in ("message", "reasoning", *CALLS, *OUTPUTS) or (kind is None and "role" in record):
            self.draft.at(seconds(sent))
            self._item(rec, record, sent)

    def finish(self, log: Log) -> Session:
        session = self.draft.finish(log)
        session.events.extend(self.typed or self.completed or self.sent)
        session.events.sort(key=lambda event: event.rec)
        return session

    def _meta(self, payload: dict[str, Any]) -> None:
        if self.known:  # a fork repeats the head lines of its ancestors after its own
            return
        self.known = True
        session, git, source = self.draft.session, payload.get("git"), payload.get("source")
        self.draft.named(payload.get("id"))
        self.draft.at(None, payload.get("cwd"), git.get("branch") if isinstance(git, dict) else None)
        parent = payload.get("forked_from_id")
        if isinstance(source, dict):
            session.interactive = False
            parent = parent or _find(source, "parent_thread_id")
        elif source == "exec" or payload.get("originator") == "codex_exec":
            session.interactive = False
        session.parent_id = parent if isinstance(parent, str) else None

    def _item(self, rec: int, item: dict[str, Any], sent: Any) -> None:
        if item.get("role") == "user" and item.get("type") in (None, "message"):
            for text in _texts(item.get("content") or item.get("message")):
                if text.lstrip().startswith(_INJECTED):
                    self.draft.add("injected", rec, digest("injected", sent, text), text, seconds(sent))
                else:
                    self._human(self.sent, rec, text, sent, item.get("id"))
            return
        if isinstance(item.get("call_id"), str) and len(self.calls) < MAX_EVENTS:
            self.calls.add(item["call_id"])
        take_item(self.draft, rec, item, sent, self.failures)

    def _event(self, rec: int, message: dict[str, Any], sent: Any) -> None:
        kind, call_id = message.get("type"), message.get("call_id")
        if kind == "user_message":
            self._human(self.typed, rec, plain_text(message.get("message")), sent, None)
        elif kind == "item_completed":
            item = message.get("item")
            if isinstance(item, dict):
                self._completed(rec, item, sent)
        elif kind == "turn_aborted" and message.get("reason") == "interrupted":
            self.draft.add("interrupt", rec, digest(kind, sent, message.get("turn_id")), "", seconds(sent))
        elif kind == "context_compacted":
            self.draft.add("meta", rec, digest(kind, sent), "", seconds(sent), args={"type": kind})
        elif kind == "error":
            text = shown(message.get("message") or message.get("error"))
            self.draft.add("meta", rec, digest(kind, sent, text), text, seconds(sent), error=True)
        elif isinstance(call_id, str):
            code = message.get("exit_code")
            failed = message.get("success") is False or (isinstance(code, int) and code != 0)
            if failed and len(self.failures) < MAX_EVENTS:
                self.failures.add(call_id)

    def _human(self, events: list[SessionEvent], rec: int, text: str, sent: Any, name: Any) -> None:
        if _REQUEST in text:  # editors put open files and selections in front
            text = text.rpartition(_REQUEST)[2]
        if text.lstrip().startswith(_INJECTED):
            return
        key = name if isinstance(name, str) and name else digest("user", sent, text)
        made = self.draft.made("human", rec, key, text, seconds(sent))
        if made is not None:
            events.append(made)

    def _completed(self, rec: int, item: dict[str, Any], sent: Any) -> None:
        """An item of the paginated history, or of `codex exec`, where names are written with underscores."""
        kind, name, ts = str(item.get("type")).replace("_", "").lower(), item.get("id"), seconds(sent)
        key = name if isinstance(name, str) and name else digest(kind, sent, item)
        if kind == "usermessage":
            self._human(self.completed, rec, plain_text(item.get("content")), sent, name)
        elif kind == "plan":
            self.draft.add("assistant", rec, key, item.get("text"), ts)
        elif kind == "error":
            self.draft.add("meta", rec, key, shown(item.get("message")), ts, error=True)
        elif key not in self.calls and kind in ("commandexecution", "filechange", "mcptoolcall"):
            # Answers and calls stand in the log as response items too, except in the output of `codex exec`.
            tool = {"commandexecution": "shell", "filechange": "apply_patch"}.get(kind) or plain_text(item.get("tool"))
            given = item.get("arguments") or {n: item[n] for n in ("command", "changes") if n in item}
            self.draft.call(rec, key, tool, given, ts, key)
            text = shown(item.get("aggregated_output") or item.get("error") or item.get("result") or item.get("stdout"))
            code = item.get("exit_code")
            error = item.get("status") == "failed" or (isinstance(code, int) and code != 0)
            self.draft.result(rec, f"{key}:result", text, ts, key, error=error)

    def _executed(self, rec: int, kind: str, record: dict[str, Any]) -> None:
        session, item = self.draft.session, record.get("item")
        session.interactive = False
        if kind == "thread.started":
            self.draft.named(record.get("thread_id"))
        elif kind == "turn.failed":
            session.success = False
            text = shown(record.get("error"))
            self.draft.add("meta", rec, digest(session.id, kind, rec), text, error=True)
        elif kind == "item.completed" and isinstance(item, dict):
            # Items are numbered within a run: item_0, item_1 ...
            named = {**item, "id": f"{session.id}:{item.get('id') or rec}"}
            if item.get("type") in ("agent_message", "assistant_message"):
                self.draft.add("assistant", rec, named["id"], item.get("text"))
            elif item.get("type") == "reasoning" and item.get("text"):
                self.draft.add("meta", rec, named["id"], item["text"], args={"type": "thinking"})
            else:
                self._completed(rec, named, None)


def _texts(content: Any) -> list[str]:
    """The texts of a message one by one: instructions and the person's words may stand side by side."""
    blocks = content if isinstance(content, list) else [content]
    return [text for block in blocks if (text := plain_text(block))]


def _find(value: dict[str, Any], name: str, depth: int = 0) -> Any:
    if name in value:
        return value[name]
    inner = (item for item in value.values() if isinstance(item, dict))
    return next((found for item in inner if depth < 5 and (found := _find(item, name, depth + 1))), None)
