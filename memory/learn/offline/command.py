"""Shell commands as people name them: what runs, without pipes, redirections and the noise around it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from acemem.memory.learn.offline.excerpt import beginning

_LONG = 20_000  # characters of a command that are looked at for an edit
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?.*?(?:^[^\S\n]*+\1\b|\Z)", re.DOTALL | re.MULTILINE)
_SUBSTITUTION = re.compile(r"\"?\$\(cat\s*\)?\"?\)?\"?")
_MESSAGE = re.compile(
    r"\s(?:-m|-am|--message|--title|--body|-F)(?:=|\s+)(?:\"(?:[^\"\\]|\\.)*(?:\"|\Z)|'[^']*(?:'|\Z)|\S+)"
)
_REDIRECT = re.compile(r"(?<!\s)\s*+(?:\d?>&\d|&?\d?>>?\s*+/dev/null|2>\s*+\S+)")
_PAGER = re.compile(
    r"(?:(?<!\s)\s++)?\|\s*+(?:head|tail|less|cat|tee|grep|egrep|rg|sed|awk|wc|sort|jq|cut|tr)\b(?:\"[^\"]*\"|'[^']*'"
    r"|[^|&;\"'])*"
)
_LEAD = re.compile(r"^(?:cd\s+(?:\"[^\"]*\"|'[^']*'|\S+)\s*(?:&&|;)\s*)+")
_ECHO = re.compile(r"(?<!\s)\s*+(?:&&|;|\|\|)\s*+echo\b.*$", re.DOTALL)
_PART = re.compile(r"(?:\"(?:[^\"\\]|\\.)*\"|'[^']*'|\\.|(?<!&)&(?!&)|(?<!\|)\|(?!\|)|[^\"'&|;\\]|[\"'\\])+", re.DOTALL)
_LOOP = re.compile(r"(?:do|then|else|\{|\()\s+")
_EDITOR = re.compile(r"(edit|create|insert) (.*)")
_FLAG = re.compile(r"--(old_str|new_str|file_text)[ =]('(?:[^'\\]|\\.|'\\'')*'|\"(?:[^\"\\]|\\.)*\"|\S+)", re.DOTALL)
_SED = re.compile(
    r"^(?:cd \S+ && )?sed -i\S*(?: -e)? ['\"](?:[\d,]+)?s([/|#])(.{1,1000}?)\1(.{0,1000}?)\1\w*['\"] ([^\s;&]+)",
    re.MULTILINE,
)
_WRITES = re.compile(
    r"^(?:cd \S+ && )?(?:cat|tee)\b(?:|[^|&]*?(?<![\w./~-]))([\w./~-]+\.\w+)\s*(?:<<|$)"
    r"|^cat <<.*> ?([\w./~-]+)$"
)
_PREPARES = re.compile(
    r"^(?:cd|source|\.|export|echo|set|mkdir|sleep|pwd|git add|for|while|until|if|done|fi|true|exit)\b"
)
_SETTING = re.compile(r"^(?:\w+=(?:\"[^\"]*\"|'[^']*'|\S*)\s+)+")
_LAUNCHER = re.compile(
    r"^(?:(?:sudo|env|timeout(?: -\S+)* \S+|time|nice|exec|command|rtk|npx|bunx|pnpx|bundle exec"
    r"|(?:uv|poetry|pipenv|pdm|hatch|rye) run|(?:npm|pnpm|yarn) (?:exec|dlx)|python3? -m"
    r"|(?:micromamba|mamba|conda) run(?: -\S+ \S+)*|docker(?:[ -]compose)? exec(?: -\S+)* \S+"
    r"|docker[ -]compose run(?: -\S+)* \S+)\s+(?:--\s+|-[yq]\s+)?)+"
)
_NO_MATTER = re.compile(r"-|[A-Z][A-Z_]*=|\d+$|\.{1,3}(?:/(?:\.\.\.)?)?$|[|&;<>]")
_LOOKS = re.compile(
    r"(?:ls|ll|cat|bat|head|tail|less|more|e?grep|rg|ag|find|fd|wc|tree|stat|file|which|type|whereis|pwd|echo|printf"
    r"|printenv|env|ps|top|df|du|diff|cmp|date|whoami|id|uname|hostname|jq|yq|sort|uniq|cut|tr|awk|sed -n|man|test"
    r"|\[+|lsof|pgrep|dig|ping|nslookup|strings|nm|objdump|readelf|xxd|hexdump|journalctl|curl|wget|tldr|history)"
    r"(?:\s|$)"
)
# Sub-commands and options by which tools of every kind show what there is.
_ASKS_ABOUT = re.compile(
    r"^[\w./-]+ (?:-\S+ (?!-)\S+ |[a-z]+ )?(?:get|list|ls|show|status|logs?|diff|describe|inspect|view|info|ps|version"
    r"|help|cat|events|search|explain|why|outdated|tree|blame|rev-parse|ls-files|grep|checks|watch|top|doctor)(?:\s|$)"
    r"|\s(?:--version|-V|-version|--help|-h)(?:\s|$)"
)
_NO_DEED = re.compile(
    r"(?:cd|pushd|popd|source|\.|echo|export|set|sleep|wait|pwd|true|exit|for|while|until|if|done|fi"
    r"|git (?!submodule|lfs|config|clean)\S*|gh|glab)(?:\s|$)"
)
_INLINE = re.compile(r"<<|\s-[ce]\s|^(?:python3?|node|ruby|perl|bash|sh) -(?:\s|$)|\n.*\n")
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
    found = (_LOOP.sub("", match[0].strip(), count=1) for match in _PART.finditer(shown(command)))
    return tuple(part for part in found if part)


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
        flags = dict(_FLAG.findall(beginning(command, _LONG)))
        path = next((word for word in first.split()[2:3]), "")
        return ShellEdit(path, _unquoted(flags.get("old_str", "")), _unquoted(flags.get("new_str", "")))
    if match := _SED.search(beginning(command, _LONG)):
        return ShellEdit(match[4], match[2].strip("^$").replace("\\", ""), match[3].replace("\\", ""))
    if (match := _WRITES.search(first)) and _HEREDOC.search(command):
        return ShellEdit(match[1] or match[2], "", body)
    return None


def _unquoted(text: str) -> str:
    return text[1:-1] if text[:1] in "'\"" else text


@lru_cache(maxsize=1024)
def bare(part: str) -> str:
    """A command of a chain without the settings and launchers in front of it."""
    return _LAUNCHER.sub("", _SETTING.sub("", part))


@lru_cache(maxsize=1024)
def core(command: str) -> tuple[str, ...]:
    """What the goal of a chain is about: its words without launchers, settings, options and counts.

    Two runs with the same core are runs of the same thing, however they were called.
    """
    tokens = [token.strip("'\"") for token in bare(goal(command)).split()]
    if tokens[:1] in (["git"], ["gh"], ["glab"], ["hg"]):
        tokens = tokens[:2]  # what is committed or pushed differs every time
    if tokens:
        # The same program, wherever it lies and whatever version its name carries.
        tokens[0] = tokens[0].rsplit("/", 1)[-1].rstrip("0123456789.") or tokens[0]
    return tuple(token for token in tokens if token and not _NO_MATTER.match(token))


def same_end(failed: str, done: str) -> bool:
    """Whether a command does what an earlier one was to do, or more of it: all tests after some of them."""
    wanted, got = core(failed), core(done)
    return bool(got) and (wanted == got or (len(got) > 1 and wanted[: len(got)] == got))


@lru_cache(maxsize=1024)
def only_looks(part: str) -> bool:
    """Whether a command of a chain shows something and changes nothing."""
    line = bare(part)
    return _LOOKS.match(line) is not None or _ASKS_ABOUT.search(line) is not None


@lru_cache(maxsize=1024)
def deeds(command: str) -> tuple[str, ...]:
    """The commands of a chain that change something outside the history of the work."""
    return tuple(part for part in parts(command) if not only_looks(part) and not _NO_DEED.match(part))


def is_inline(command: str) -> bool:
    """Whether a command carries its own program, so that its name says nothing."""
    return _INLINE.search(command[:400]) is not None


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
