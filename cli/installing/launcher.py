"""The launcher: with which words an agent starts us, and how such words are known again in a settings file."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import acemem
from acemem.memory.errors import UsageError
from acemem.memory.scope import home_directory
from acemem.retrieval.protocols import PROTOCOLS

# Python ends with 2 where the file that it is to run is gone, and to most agents 2 means: refuse this prompt, do not
# stop yet. An uninstalled package must not do that, nor one that is being upgraded. In one line, without a quotation
# mark, a dollar or a backslash: what every shell, and every agent that fills in variables, leaves as it is.
_START = "import sys;__file__=f=sys.argv.pop(1);sys.meta_path[-1].find_spec(f[-9:-3],[f[:-10]])and exec(open(f).read())"
_FLAGS = ["-I", "-S"]
_CLIENT = re.compile(r"(?:^|[\\/])acemem[\\/]+retrieval[\\/]+client\.py$")
_PORTABLE = re.compile(r"(?:^|[\\/])mem-hook(?:\.exe)?$")
_SHORT = re.compile(r"(?:^|[\\/])mem(?:\.exe)?$")
_NAMES = sorted({name for protocol in PROTOCOLS.values() for name in protocol.names}, key=len, reverse=True)
_CALL = re.compile(
    r"(?:acemem[\\/]+retrieval[\\/]+client\.py|(?<![\w.-])mem-hook(?:\.exe|\.sh)?|(?<![\w.-])mem(?:\.exe)?[\"']?\s+hook)"
    rf"[\"']?\s+[\"']?(?:{'|'.join(map(re.escape, _NAMES))})(?![\w.-])"
)
_OPERATORS = "();<>|&`\n"


@dataclass(frozen=True, slots=True)
class Launcher:
    """How this installation is started.

    `home` only where the store is not the platform's own place, which needs no telling. The words stay the same from
    version to version: Codex trusts a hook by the hash of them.
    """

    python: str
    client: str
    server: tuple[str, ...]
    home: str | None

    @classmethod
    def of(cls, home: Path) -> Launcher:
        """The one that runs now, for the store in `home`. Raises UsageError where a path of it is no text."""
        python = Path(os.path.abspath(sys.executable))
        plain = python.with_name("python3")  # whatever name it was called by today
        if plain.exists() and plain.samefile(python):
            python = plain
        script = python.with_name("mem.exe" if sys.platform == "win32" else "mem")
        server = (str(script),) if script.is_file() else (str(python), "-m", "acemem")
        client = Path(acemem.__file__).parent / "retrieval" / "client.py"
        found = cls(str(python), str(client), server, None if home == home_directory(None, {}) else str(home))
        try:
            " ".join([*found.hook("", ""), *found.mcp()]).encode("utf-8")
        except UnicodeEncodeError as error:
            raise UsageError(f"a path in {found.mcp()!r} is no text, and no settings file can hold it") from error
        return found

    def hook(self, agent: str, event: str) -> list[str]:
        """The command line of a hook."""
        return [self.python, *_FLAGS, "-c", _START, self.client, agent, event, *([self.home] if self.home else [])]

    def mcp(self) -> list[str]:
        """The command line of the MCP server."""
        return [*self.server, *(["--home", self.home] if self.home else []), "mcp"]


def shell_line(words: Sequence[str]) -> str:
    """A command line as one text for the system's shell."""
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


def words_of(command: object, arguments: object = None) -> list[str]:
    """The words of a command as a settings file has it: one text, or a program with its arguments; [] for neither."""
    rest = [str(word) for word in arguments] if isinstance(arguments, list) else None
    if isinstance(command, list):
        return [str(word) for word in command]
    if not isinstance(command, str):
        return []
    if rest is not None:
        return [command, *rest]
    try:
        if sys.platform == "win32":
            return [word.strip('"') for word in shlex.split(command, posix=False)]
        return shlex.split(command)
    except ValueError:  # a quotation that does not end
        return command.split()


def line_of(command: object, arguments: object) -> str:
    """A command as one text, as a person reads it in a settings file; "" for what is no command."""
    if isinstance(command, list):
        return " ".join(map(str, command))
    if not isinstance(command, str):
        return ""
    return " ".join([command, *map(str, arguments)]) if isinstance(arguments, list) else command


def is_hook(command: object, arguments: object = None) -> bool:
    """Whether a settings file's command is a hook of ours and nothing else, in any form ever written or advised."""
    words = words_of(command, arguments)
    return 0 < _agent(words) < len(words) and (arguments is not None or not _is_compound(command))


def calls_us(command: object, arguments: object = None) -> bool:
    """Whether a command calls our hook, be it in the middle of what a person made of it."""
    return is_hook(command, arguments) or _CALL.search(line_of(command, arguments)) is not None


def store_of(words: Sequence[str]) -> str | None:
    """The store that a command line of ours names, None where it leaves that to the machine."""
    if is_server(words):
        return words[words.index("--home") + 1] if "--home" in words else None
    at = _agent(words)
    return next(iter(words[at + 2 :]), None) if at else None


def is_server(command: object, arguments: object = None) -> bool:
    """Whether it is our MCP server."""
    words = words_of(command, arguments)
    program = re.split(r"[\\/]", words[0])[-1] if words else ""
    return words[-1:] == ["mcp"] and (program in ("mem", "mem.exe") or "acemem" in words)


def missing(words: Sequence[str]) -> list[str]:
    """The files that a command line names by absolute path and that are not there: its program, and our client."""
    named = [word for at, word in enumerate(words) if at == 0 or word.endswith("client.py")]
    return [word for word in named if os.path.isabs(word) and not os.path.exists(word)]


def _agent(words: Sequence[str]) -> int:
    """Where in a hook's words the agent is named, 0 where that is no hook of ours."""
    at = 0
    if words[1:3] == _FLAGS:
        at = next((n + 1 for n, word in enumerate(words) if _CLIENT.search(word)), 0)
    elif words and _PORTABLE.search(words[0]):
        at = 1
    elif words and _SHORT.search(words[0]) and "hook" in words:
        at = words.index("hook") + 1
    return at if at < len(words) and words[at] in _NAMES else 0


def _is_compound(command: object) -> bool:
    """Whether a shell would do more with a text than to start one program."""
    if not isinstance(command, str) or sys.platform == "win32":
        return False
    lexer = shlex.shlex(command, posix=True, punctuation_chars=_OPERATORS)
    lexer.whitespace, lexer.commenters, lexer.whitespace_split = " \t\r", "", True
    try:
        return any(word and set(word) <= set(_OPERATORS) for word in lexer)
    except ValueError:  # a quotation that does not end
        return True
