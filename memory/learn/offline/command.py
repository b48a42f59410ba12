"""Shell commands as people name them: what runs, without pipes, redirections and the noise around it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?.*?(?:^\s*\1\b|\Z)", re.DOTALL | re.MULTILINE)
_SUBSTITUTION = re.compile(r"\"?\$\(cat\s*\)?\"?\)?\"?")
_MESSAGE = re.compile(
    r"\s(?:-m|-am|--message|--title|--body|-F)(?:=|\s+)(?:\"(?:[^\"\\]|\\.)*(?:\"|\Z)|'[^']*(?:'|\Z)|\S+)"
)
_REDIRECT = re.compile(r"\s*\d?>&\d|\s*&?\d?>>?\s*/dev/null|\s*2>\s*\S+")
_PAGER = re.compile(
    r"\s*\|\s*(?:head|tail|less|cat|tee|grep|egrep|rg|sed|awk|wc|sort|jq|cut|tr)\b(?:\"[^\"]*\"|'[^']*'"
    r"|[^|&;\"'])*"
)
_LEAD = re.compile(r"^(?:cd\s+(?:\"[^\"]*\"|'[^']*'|\S+)\s*(?:&&|;)\s*)+")
_ECHO = re.compile(r"\s*(?:&&|;|\|\|)\s*echo\b.*$", re.DOTALL)
_CHAIN = re.compile(r"\s*(?:&&|;|\|\|)\s*")
_EDITOR = re.compile(r"(edit|create|insert) (.*)")
_FLAG = re.compile(r"--(old_str|new_str|file_text)[ =]('(?:[^'\\]|\\.|'\\'')*'|\"(?:[^\"\\]|\\.)*\"|\S+)", re.DOTALL)
_SED = re.compile(
    r"^(?:cd \S+ && )?sed -i\S*(?: -e)? ['\"](?:[\d,]+)?s([/|#])(.+?)\1(.*?)\1\w*['\"] ([^\s;&]+)", re.MULTILINE
)
_WRITES = re.compile(r"^(?:cd \S+ && )?(?:cat|tee)\b[^|&]*?>?\s*([\w./~-]+\.\w+)\s*(?:<<|$)|^cat <<.*> ?([\w./~-]+)$")
_PREPARES = re.compile(r"^(?:cd|source|\.|export|echo|set|mkdir|sleep|pwd|git add)\b")
_TIMEOUT = re.compile(r"^(?:timeout\s+\S+\s+|time\s+)")


@lru_cache(maxsize=1024)
def shown(command: str) -> str:
    """The command on one line without its message, its here-documents, pipes into pagers and redirections."""
    text = _HEREDOC.sub("", command)
    if re.search(r"\b(?:git|gh|rtk|hub|glab)\b", text):
        text = _MESSAGE.sub("", " " + text).strip()
    text = _SUBSTITUTION.sub("", text)
    text = _ECHO.sub("", _PAGER.sub("", _REDIRECT.sub("", text)))
    text = _TIMEOUT.sub("", _LEAD.sub("", text.strip()))
    return re.sub(r"\s+", " ", text).strip(" \\;&|")


@lru_cache(maxsize=1024)
def parts(command: str) -> tuple[str, ...]:
    """The commands of a chain, in order, as shown."""
    return tuple(part.strip() for part in _CHAIN.split(shown(command)) if part.strip())


@lru_cache(maxsize=1024)
def goal(command: str) -> str:
    """The last command of a chain that is more than preparation: what the chain was for."""
    chain = [part for part in parts(command) if not _PREPARES.match(part)]
    return chain[-1] if chain else shown(command)


@dataclass(frozen=True, slots=True)
class ShellEdit:
    """A change of a file made by a command."""

    path: str
    old: str
    new: str


@lru_cache(maxsize=1024)
def edit_of(command: str) -> ShellEdit | None:
    """The change that a command is for: an editor's own command, `sed -i`, or text written into a file."""
    first, _, body = command.strip().partition("\n")
    if match := _EDITOR.match(first):
        return ShellEdit("" if match[1] == "edit" else match[2].strip(), "", body.removesuffix("end_of_edit"))
    if first.startswith("str_replace_editor ") and not first.startswith("str_replace_editor view"):
        flags = dict(_FLAG.findall(command[:20_000]))
        path = next((word for word in first.split()[2:3]), "")
        return ShellEdit(path, _unquoted(flags.get("old_str", "")), _unquoted(flags.get("new_str", "")))
    if match := _SED.search(command[:4_000]):
        return ShellEdit(match[4], match[2].strip("^$").replace("\\", ""), match[3].replace("\\", ""))
    if (match := _WRITES.search(first)) and _HEREDOC.search(command):
        return ShellEdit(match[1] or match[2], "", body)
    return None


def _unquoted(text: str) -> str:
    return text[1:-1] if text[:1] in "'\"" else text


def words(command: str) -> frozenset[str]:
    """The words of a command by which another way to the same end is recognised."""
    return frozenset(word for word in re.findall(r"[\w@.:/+-]+", goal(command).lower()) if not word.startswith("-"))


def program(command: str) -> str:
    """The program and, for tools with sub-commands, the sub-command that the goal of a chain runs."""
    tokens = [token for token in goal(command).split() if "=" not in token.split("/")[0]]
    if not tokens:
        return ""
    if len(tokens) > 1 and re.fullmatch(r"[a-z][\w:-]*", tokens[1]):
        return f"{tokens[0]} {tokens[1]}"
    return tokens[0]
