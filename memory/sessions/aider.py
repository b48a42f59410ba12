"""Aider: the chat history of a repository, one Markdown file for all its sessions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path

from acemem.memory.sessions.bounds import MAX_TEXT, Room
from acemem.memory.sessions.draft import Draft, digest, failed
from acemem.memory.sessions.event import Session
from acemem.memory.sessions.records import encodable
from acemem.memory.sessions.timestamps import seconds_here

agent = "aider"

MAX_LINE = 1 << 20  # bytes; the history is prose, a longer line is cut in pieces
_KEPT = 40 * MAX_TEXT  # characters of one block before it is shortened

_START = "# aider chat started at "
_USER, _TOOL = "#### ", "> "
_RUNS = ("/run", "/test", "/git", "/lint", "!")
_TALKS = ("/ask", "/code", "/architect", "/context")
_TO_CHAT = re.compile(r"Add .{1,80} to the chat\?")
_THINKING = re.compile(r"<thinking-content-\w+>.*?(?:</thinking-content-\w+>|\Z)", re.DOTALL)
_FAILURE = re.compile(r"^(?:FAILED|E  |Traceback \(most recent|.*\b[Ee]rror:|.*- exit code: [1-9])", re.MULTILINE)
_ROUTINE = re.compile(
    r"^(?:Aider v|Model:|Main model|Weak model|Editor model|Git repo|Repo-map|Tokens:|Cost:|Use /help|Added |Removed |"
    r"Restored previous|\^C|You can use /undo|Newer aider|Dropping |All chat history|Attempt to fix|/\S+$|https?://)"
)
# What aider itself sends in the person's place.
_LINT = re.compile(r"# Fix any errors below|I ran this command:")
_FORMAT = re.compile(r"The LLM did not conform|# \d+ SEARCH/REPLACE block|SearchReplaceNoExactMatch")


def detect(head: bytes, path: Path) -> bool:
    """Whether a chat's head line stands here, or lines of a person and of tools as aider ends them."""
    if re.search(rb"^# aider chat started at \d", head, re.MULTILINE):
        return True
    return bool(re.search(rb"^#### .*  \r?$", head, re.MULTILINE) and re.search(rb"^> .*  \r?$", head, re.MULTILINE))


def read(path: Path) -> Session:
    """The first session of a history; see `read_all`."""
    return read_all(path)[0]


def read_all(path: Path) -> list[Session]:
    """Every session of a history in which something was said; `rec` is the line at which a block begins."""
    sessions: list[Session] = []
    room = Room()
    reading = _Reading(path, None, 0, room)
    consumed, number, ended = 0, 0, True
    with path.open("rb") as handle:
        for line in _lines(handle):
            number += ended  # a long line comes in pieces
            ended = line.endswith(b"\n")
            if not ended and len(line) < MAX_LINE:
                reading.lines = []  # prose does not tell whether it is whole, and half a statement would be another one
                break
            consumed += len(line)
            text = encodable(line.decode("utf-8", "replace").replace("\0", "").lstrip("\ufeff").rstrip("\r\n"))
            if text.startswith(_START):
                sessions.append(reading.finish())
                if not sessions[-1].events:
                    sessions.pop()
                reading = _Reading(path, text.removeprefix(_START).strip(), number, room)
            else:
                reading.take(number, text)
    sessions.append(reading.finish())
    spoken = [session for session in sessions if session.events] or sessions[-1:]
    spoken[0].consumed = consumed
    spoken[0].problems.extend(room.problems(path))
    return spoken


def discover(home: Path, environ: dict[str, str]) -> Iterator[Path]:
    """The history that `$AIDER_CHAT_HISTORY_FILE` names, else those of the working folder and the home folder."""
    named = environ.get("AIDER_CHAT_HISTORY_FILE")
    if named:
        paths = [Path(named)]
    else:
        folders = [Path(environ["PWD"])] if environ.get("PWD") else []
        paths = [folder / ".aider.chat.history.md" for folder in (*folders, home)]
    yield from (path for path in dict.fromkeys(paths) if path.is_file())


def _lines(handle: BufferedReader) -> Iterator[bytes]:
    while line := handle.readline(MAX_LINE):
        yield line


class _Reading:
    """One session of a history: blocks of a person's, of tools' and of the assistant's lines."""

    def __init__(self, path: Path, started: str | None, first: int, room: Room) -> None:
        name = re.sub(r"\W+", "-", started).strip("-") if started else path.stem.lstrip(".")
        self.draft = Draft(agent, path, f"aider-{name}" if started else name, room)
        self.started, self.first = started, first
        self.draft.at(seconds_here(started))  # aider names no zone
        self.draft.session.cwd = str(path.parent) if path.name == ".aider.chat.history.md" else None
        self.kind = ""
        self.lines: list[str] = []
        self.size = self.begun = 0
        self.running: str | None = None  # the call of a command whose output comes next

    def take(self, number: int, text: str) -> None:
        if text.startswith(_USER) or text.rstrip() == "####":
            kind, text = "user", text[len(_USER) :]
        else:
            kind, text = self._others(text)
        if kind != self.kind:
            self._close()
            self.kind, self.begun = kind, number
        self.lines.append(text.rstrip())
        self.size += len(text)
        if self.size > _KEPT:  # a block without end is kept in pieces
            self._close()
            self.kind, self.begun = kind, number
        elif kind == "output" and _TO_CHAT.search(text):
            self._close()

    def _others(self, text: str) -> tuple[str, str]:
        """Which block a line belongs to that is not the person's, and its text."""
        if self.kind == "user":
            self._close()  # only now it is known whether a command was run
        if self.running is not None:
            return "output", text.removeprefix(_TOOL)
        if text.startswith(_TOOL) or text.rstrip() == ">":
            return "tool", text[len(_TOOL) :]
        # A blank line ends a tool's block, and is part of what the assistant says.
        return ("assistant" if text.strip() or self.kind == "assistant" else ""), text

    def finish(self) -> Session:
        self._close()
        return self.draft.session

    def _close(self) -> None:
        text, kind, begun = "\n".join(self.lines).strip(), self.kind, self.begun
        self.kind, self.lines, self.size = "", [], 0
        key = digest(agent, self.started, begun - self.first, kind, text)
        if kind == "output":
            error = failed(text) or bool(_FAILURE.search(text))
            self.draft.result(begun, key, text, None, self.running, error=error)
            self.running = None
        elif kind == "user" and text and text != "<blank>":
            self._user(begun, key, text)
        elif kind == "assistant":
            self.draft.add("assistant", begun, key, _THINKING.sub("", text))
        elif kind == "tool":
            told = [line for line in text.split("\n") if line.strip() and not _ROUTINE.match(line)]
            self.draft.add("meta", begun, key, "\n".join(told))

    def _user(self, rec: int, key: str, text: str) -> None:
        command, _, rest = text.partition(" ")
        if command == "/undo":
            self.draft.add("reject", rec, key, "", tool="edit", args={"command": text})
        elif command in _RUNS or text.startswith("!"):
            shell = rest if command in _RUNS else text[1:]
            self.running = key
            self.draft.call(rec, key, "shell", {"command": shell.strip(), "typed": text}, None, key)
        elif command in _TALKS:
            self.draft.add("human", rec, key, rest, args={"command": command})
        elif re.match(r"/[a-z-]+(?:\s|$)", text):
            self.draft.add("meta", rec, key, text, args={"command": command})
        elif _LINT.match(text):
            self.draft.add("result", rec, key, text, tool="lint", error=True)
        elif _FORMAT.search(text):
            self.draft.add("meta", rec, key, text, error=True)
        else:
            self.draft.add("human", rec, key, text)
