"""Claude Code: JSON-lines logs of a session and of its subagents, and the web version's exports."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from acemem.memory.sessions.bounds import bounded
from acemem.memory.sessions.claude_edits import changed_by_person
from acemem.memory.sessions.claude_queue import Queue
from acemem.memory.sessions.claude_texts import answers, plain_text, refusal, said
from acemem.memory.sessions.draft import Draft, digest
from acemem.memory.sessions.event import EventKind, Session
from acemem.memory.sessions.injected import without_injected
from acemem.memory.sessions.records import Log, head_document, head_records
from acemem.memory.sessions.timestamps import seconds

agent = "claude-code"

# Tuples, for what is looked up in them comes from a log and need not be hashable.
_STATE = ("queue-operation", "summary", "custom-title", "mode", "file-history-snapshot", "permission-mode")
_TALK = ("user", "assistant")
_EXIT = re.compile(r"\s*Exit code (\d{1,9})\b")
_APPROVED = "User has approved your plan"
_REDACTED = "REDACTED"


def detect(head: bytes, path: Path) -> bool:
    """Whether records carry a `sessionId` and a `uuid`, or the file is an export of such records."""
    for record in head_records(head):
        kind = record.get("type")
        if "sessionId" in record and ("uuid" in record or kind in _STATE):
            message = record.get("message")
            return not (isinstance(message, dict) and "parts" in message)  # Qwen Code's envelope is the same
        if kind in ("summary", "file-history-snapshot") and ("leafUuid" in record or "messageId" in record):
            return True
    if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return False
    document = head_document(head)
    if not isinstance(document, dict):
        return False
    if isinstance(document.get("loglines"), list):
        return True
    messages = document.get("messages")
    return isinstance(messages, list) and any(
        isinstance(item, dict) and "sessionId" in item and "uuid" in item for item in messages[:5]
    )


def read(path: Path) -> Session:
    """The session in one file; a subagent's file is a session of its own with `parent_id`."""
    log = Log(path, inside=("loglines", "messages"))
    reading = _Reading(path)
    for rec, record in log:
        reading.take(rec, record)
    return reading.finish(log)


def discover(home: Path, environ: dict[str, str]) -> Iterator[Path]:
    """Every session and subagent log below `$CLAUDE_CONFIG_DIR/projects`, by default `~/.claude/projects`."""
    root = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects"
    yield from sorted(root.glob("*/*.jsonl"))
    yield from sorted(root.glob("*/*/subagents/**/*.jsonl"))


class _Reading:
    """The session as far as its log has been read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.draft = Draft(agent, path)
        self.session = self.draft.session
        self.queue = Queue(self.draft)
        self.first_id: str | None = None
        self.named_by_file = False  # whether a record carries the file's name as its session
        self.agent_id: str | None = None
        self.sidechain: bool | None = None  # whether the first record of the conversation is a subagent's
        self.redacted: deque[str] = deque()
        self.redactions = 0
        self.retracted: set[str] = set()
        self.programmed = False  # a mark of the SDK was seen
        self.present = False  # a mark of a person was seen

    def take(self, rec: int, record: dict[str, Any]) -> None:
        kind = record.get("type")
        session_id = record.get("sessionId")
        if type(session_id) is str and session_id.strip():
            self.first_id = self.first_id or session_id
            self.named_by_file = self.named_by_file or session_id == self.path.stem
        ts = seconds(record.get("timestamp"))
        self.draft.at(ts, record.get("cwd"), record.get("gitBranch"))
        if kind in _TALK:
            if self.sidechain is None:
                self.sidechain = record.get("isSidechain") is True
                self.agent_id = record["agentId"] if type(record.get("agentId")) is str else None
            self._programmed(record)
            message = record.get("message")
            if isinstance(message, dict):
                content = message.get("content")
                if kind == "assistant":
                    self._assistant(rec, record, message, content, ts)
                else:
                    self._user(rec, record, content, ts)
        elif kind == "queue-operation":
            self.queue.operate(rec, record)
        elif kind == "attachment":
            self._attachment(rec, record, ts)
        elif kind == "system":
            self._system(rec, record, ts)
        elif kind in ("summary", "custom-title", "ai-title"):
            title = record.get({"summary": "summary", "custom-title": "customTitle", "ai-title": "aiTitle"}[kind])
            self.draft.add("meta", rec, _key(record), title, ts, args={"type": kind})
        elif kind == "pr-link":
            self.draft.add("meta", rec, _key(record), record.get("prUrl"), ts, args={"type": kind})
        elif kind in ("tool_use", "tool_result"):  # top-level in some old and exported logs
            block = {**record, "id": record.get("id"), "content": record.get("content") or record.get("output")}
            if kind == "tool_use":
                self._call(rec, block, _key(record), ts)
            else:
                self._result(rec, record, block, _key(record), ts)

    def finish(self, log: Log) -> Session:
        """The whole session, its queued messages at their places."""
        session, stem = self.draft.finish(log), self.path.stem
        steering = self.queue.steering(session.events)
        if steering:
            self.present = True
            session.events.extend(steering)
            session.events.sort(key=lambda event: event.rec)
        if self.retracted:
            session.events = [event for event in session.events if event.key.partition(":")[0] not in self.retracted]
        first = self.first_id
        if self.sidechain and (self.agent_id or stem.startswith("agent-")):
            self.draft.named(f"agent-{self.agent_id}" if self.agent_id else stem)
            folder = next((p for p in self.path.parents if p.name == "subagents"), None)
            parent = first if first != session.id else folder.parent.name if folder else None
            session.parent_id = parent
            session.interactive = False
        else:
            self.draft.named(stem if self.named_by_file else first)
            session.interactive = self.present or not self.programmed
        return session

    def _programmed(self, record: dict[str, Any]) -> None:
        entry, source = record.get("entrypoint"), record.get("promptSource")
        if source == "sdk" or (type(entry) is str and entry.startswith("sdk")):
            self.programmed = True
        elif type(source) is str and source not in ("system", "hook"):
            self.present = True

    def _assistant(
        self, rec: int, record: dict[str, Any], message: dict[str, Any], content: Any, ts: float | None
    ) -> None:
        machine = message.get("model") == "<synthetic>" or record.get("isApiErrorMessage") is True
        for block, key in _blocks(record, content):
            if isinstance(block, str):
                text = without_injected(block, by_agent=True).strip()
                if text and text != "No response requested.":
                    self.draft.add("meta" if machine else "assistant", rec, key, text, ts)
            elif block.get("type") == "tool_use":
                self._call(rec, block, key, ts)
            elif block.get("thinking"):
                self.draft.add("meta", rec, key, block["thinking"], ts, args={"type": "thinking"})

    def _call(self, rec: int, block: dict[str, Any], key: str, ts: float | None) -> None:
        call_id = block.get("id")
        if call_id == _REDACTED:
            # Exporters blank the ids; calls and results still come in the same order.
            self.redactions += 1
            call_id = f"{_REDACTED}#{self.redactions}"
            self.redacted.append(call_id)
        self.draft.call(rec, key, block.get("name"), block.get("input"), ts, call_id)

    def _user(self, rec: int, record: dict[str, Any], content: Any, ts: float | None) -> None:
        author = _author(record)
        for block, key in _blocks(record, content):
            if isinstance(block, dict):
                if block.get("type") == "tool_result":
                    self._result(rec, record, block, key, ts)
                continue
            words = said(block)
            if words is None:
                continue
            kind = words.kind if author is None or words.kind in ("interrupt", "summary") else author
            text, args = words.text, words.args
            if kind == "human":
                self.present |= bool(args)
            elif kind == "interrupt":
                self.present = True
            elif kind == "plan" and type(record.get("planContent")) is str:
                text = record["planContent"]
            self.draft.add(kind, rec, key, text, ts, args=args)

    def _result(self, rec: int, record: dict[str, Any], block: dict[str, Any], key: str, ts: float | None) -> None:
        call_id = block.get("tool_use_id")
        if call_id == _REDACTED and self.redacted:
            call_id = self.redacted.popleft()
        tool, given = self.draft.called(call_id)
        structured = record.get("toolUseResult")
        text = without_injected(plain_text(block.get("content"))).strip()
        kind: EventKind = "result"
        args: dict[str, Any] | None = None
        error = block.get("is_error") is True or text.startswith("<tool_use_error>")
        if error:
            words = refusal(text)
            if words is None and record.get("toolDenialKind") == "user-rejected":
                words = ""
            if words is not None:
                kind, text = "reject", words
            elif text.startswith("[Request interrupted by user"):
                kind, text = "interrupt", ""
        elif tool == "AskUserQuestion" or (isinstance(structured, dict) and "answers" in structured):
            chosen = answers(text, structured)
            if chosen is not None:
                kind, text, args = "answer", chosen.text, bounded(chosen.args)
        elif text.startswith(_APPROVED) and not record.get("isSidechain"):
            plan = structured.get("plan") if isinstance(structured, dict) else None
            plan = plan or given.get("plan")
            if isinstance(plan, str) and plan.strip():
                kind, text = "plan", plan
        if kind != "result":
            self.present = True
        elif args := changed_by_person(structured, given, self.draft.room.limit):
            self.present = True
        if not error and kind == "result" and (code := _EXIT.match(text)):
            error = int(code[1]) != 0
        tool = block["name"] if tool is None and type(block.get("name")) is str else tool
        self.draft.result(rec, key, text, ts, call_id, kind=kind, tool=tool, args=args, error=error)

    def _attachment(self, rec: int, record: dict[str, Any], ts: float | None) -> None:
        attachment = record.get("attachment")
        if not isinstance(attachment, dict):
            return
        kind, key = attachment.get("type"), _key(record)
        if kind == "queued_command":
            origin = attachment.get("origin")
            origin = origin.get("kind") if isinstance(origin, dict) else None
            words = said(plain_text(attachment.get("prompt")))
            if words is None:
                return
            machine = origin not in (None, "human") or attachment.get("commandMode") == "task-notification"
            if machine or _author(record) is not None:
                self.draft.add("meta", rec, key, words.text, ts)
                return
            self.draft.add(words.kind, rec, key, words.text, ts, args={**words.args, "queued": True})
        elif kind in ("hook_additional_context", "hook_system_message"):
            self.draft.add("injected", rec, key, plain_text(attachment.get("content")), ts)
        elif kind == "nested_memory":
            content = attachment.get("content")
            content = content.get("content") if isinstance(content, dict) else content
            self.draft.add("injected", rec, key, content, ts, args={"path": str(attachment.get("path", ""))[:500]})
        elif kind == "edited_text_file":
            args = {"type": kind, "filename": str(attachment.get("filename", ""))[:500]}
            self.draft.add("meta", rec, key, attachment.get("snippet"), ts, args=args)

    def _system(self, rec: int, record: dict[str, Any], ts: float | None) -> None:
        retracted = record.get("retractedMessageUuids")
        if isinstance(retracted, list):
            self.retracted.update(item for item in retracted if isinstance(item, str))
        kind = record.get("subtype")
        if kind in ("compact_boundary", "microcompact_boundary"):
            self.draft.add("meta", rec, _key(record), "", ts, args={"type": kind})
        elif kind == "local_command" and type(record.get("content")) is str:
            words = said(record["content"])
            if words is not None and "command" in words.args:
                self.present = True
                self.draft.add("meta", rec, _key(record), words.text, ts, args=words.args)


def _author(record: dict[str, Any]) -> EventKind | None:
    """What the record's own marks make of its texts; None where a person may have written them."""
    if record.get("isCompactSummary"):
        return "summary"
    if record.get("isMeta"):
        return "injected"
    if record.get("isSidechain") or record.get("teamName"):
        return "meta"
    origin = record.get("origin")
    if isinstance(origin, dict) and origin.get("kind") not in (None, "human"):
        return "meta"
    return None


def _blocks(record: dict[str, Any], content: Any) -> Iterator[tuple[str | dict[str, Any], str]]:
    """The texts and tool blocks of a message, each with its key: the uuid, with the block's place if there are more."""
    key = _key(record)
    if type(content) is str:
        yield content, key
    elif type(content) is list:
        several = len(content) > 1
        for place, block in enumerate(content):
            if type(block) is dict:
                text = block.get("text") if block.get("type") == "text" else None
                yield (text if type(text) is str else block), (f"{key}:{place}" if several else key)


def _key(record: dict[str, Any]) -> str:
    uuid = record.get("uuid")
    if type(uuid) is str and uuid:
        return uuid
    return digest(record.get("type"), record.get("timestamp"), record.get("message") or record.get("summary"))
