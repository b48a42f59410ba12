"""Shell commands as people name them: what runs, without pipes, redirections and the noise around it."""

from __future__ import annotations

import re
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
