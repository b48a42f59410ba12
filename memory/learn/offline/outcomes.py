"""How a tool call ended: whether it failed, and the one line of its output that says why."""

from __future__ import annotations

import re
from functools import lru_cache

from acemem.memory.learn.offline.command import bare, parts
from acemem.memory.learn.offline.excerpt import beginning, ending
from acemem.memory.sessions.event import SessionEvent

_HEAD = 6_000  # of an output of any size, what the start and the end say decides
_TAIL = 3_000

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|(?<![\w\[])\[\d{1,3}(?:;\d{1,3})*[mK]")
_REMINDER = re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)", re.DOTALL)

# What harnesses write around the output of a command: the command itself, times, and an exit code they also flag.
_ENVELOPE = re.compile(
    r"\A(?:(?:<untrusted_context>\n)?(?:Command: [^\0]*?\nDirectory: .*\n)?Output: "
    r"|(?:Chunk ID: .*\n)?(?:[A-Z][\w ]+: .*\n|Process exited .*\n)+Output:\n)"
)
_ENVELOPE_END = re.compile(
    r"\n(?:Error: \(none\)|Exit Code: \d+|Signal: \S+|(?:Background PIDs|Process Group PGID): .*"
    r"|</untrusted_context>)(?=\n|\Z)"
)

_FAILED_HEAD = re.compile(
    r"^[^\S\n]*+(?:<error>[^\S\n]*+)?(?:error:|fatal:|exit code:? [1-9]|file \".+\", line \d+$|traceback \(most recent"
    r"|usage error|failed:"
    r"|e999\b|bash: |zsh: )"
    r"|<returncode>[1-9]|process exited with code [1-9]|\"exit_code\":\s*[1-9]"
    r"|your proposed edit has introduced new syntax error",
    re.IGNORECASE | re.MULTILINE,
)
_FAILED_TAIL = re.compile(
    r"exited with (?:code|status) [1-9]|command not found|ERROR task failed|^npm ERR!|^FAILED: |^make: \*\*\*"
    r"|returned non-zero exit status|script failed \(code [1-9]|^Traceback \(most recent call last\)",
    re.MULTILINE,
)
_CHECK_FAILED = re.compile(
    r"^(?:---\s)?FAIL(?:ED)?\b|^\W{0,6}[1-9]\d* (?:failed|failing|failures?|fail|errors?|problems?)\b"
    r"|\b[1-9]\d* (?:failed|failures?)\b"
    r"|Found [1-9]\d* errors?\b|\bNOT OK\b|^[^\n]{0,200}error TS\d+:",
    re.MULTILINE,
)
_CHECK_PASSED = re.compile(r"\b0 (?:fail(?:ed|ures?|ing)?|errors?|issues|problems)\b|^(?:PASS|OK)$", re.MULTILINE)
# What compilers and build tools print; it decides only where a pipe hides how the command ended.
_BUILD_FAILED = re.compile(
    r"^[^\n]{0,200}?\b(?:fatal )?error(?:\[\w+\])?: "
    r"|undefined reference to|build stopped|\bBUILD FAILED|ld returned [1-9]",
    re.MULTILINE,
)
_VERDICT = 1_200  # a check says at its end how it came out; what it printed before may be the tested errors themselves

_NOT_SAYING_WHY = re.compile(
    r"^(?:exit code:? \d+|error:?|failed|fail|traceback \(most recent call last\):?|error task failed"
    r"|.*\berror task failed"
    r"|errors?:|stderr:?|\d+ issues?:?|found \d+ errors?\.?|error: script .* exited with code \d+"
    r"|error: process completed with exit code \d+\.?|.*exited with (?:code|status) \d+\.?|code e[a-z]+|errno -?\d+"
    r"|.*some errors were emitted.*|.*command failed.*|error: failed to push some refs.*|hint:.*|usage:.*"
    r"|a complete log of this run.*"
    r"|try .*--help.*"
    r"|file \".*\", line \d.*|run [\w-]+ .*|[>$] .*|step \d+/\d.*|(?:i|tip|help|note|hint):? .*)$",
    re.IGNORECASE,
)
_WHY = re.compile(
    r"(?:error|exception)\b\s*[:(]|\berror(?:\[\w+\])?:|\berror TS\d+|^fatal:|command not found|not found"
    r"|cannot\b|can't\b"
    r"|unrecogni[sz]ed|unknown|undefined|no such|missing|invalid|unexpected|not allowed|denied|refused|conflict"
    r"|duplicate|(?:is|are) not\b|not (?:assignable|checked|defined|installed|supported)|could not|unable to"
    r"|deprecated|already"
    r"|must be|expected\b|unused|unlisted|\bE\d{3}\b|\bSA\d{4}\b|\(\w+\)$",
    re.IGNORECASE,
)
_NAMES_ERROR = re.compile(r"(?:\w+\.)*\w*(?:Error|Exception)\b|error\b|fatal:|- ?E\d{3}\b|E\d{3}\b", re.IGNORECASE)
_COMPILER = re.compile(
    r"error TS\d+|error\[E\d+\]|SyntaxError|ModuleNotFoundError|ImportError|cannot find module"
    r"|unrecogni[sz]ed|validation error",
    re.I,
)
_FRAME = r"[\s│┃|─━═╮╯]"
_ORNAMENT = re.compile(
    rf"^(?:E\s{{2,}}|(?:p?npm|yarn) (?:ERR!|error)\s*)(?:{_FRAME}+$)?"
    rf"|^[\s│┃|╭╰─━═╮╯>•×✖✗!┌└·*-]+|(?<!{_FRAME}){_FRAME}+$"
)
_PLACE = re.compile(
    r"^(?:/|\./|\.\./|~/|[A-Za-z]:\\)?[\w@.+-]+(?:[/\\][\w@.+-]+)*\.\w{1,5}(?::\d+(?::\d+)?"
    r"|\(\d+,\d+\)):?\s*(?:-\s*)?"
)
_LABELLED_PLACE = re.compile(r"^[A-Za-z ]{3,24}:\s++\S[^\s/.]*+[/.]\S+:\d+(?::\d+)?$")  # "Error Trace: a_test.go:11"


@lru_cache(maxsize=128)
def clean(text: str) -> str:
    """The text of an output without colours, reminders of the harness, and its endless middle."""
    if len(text) > _HEAD + _TAIL:
        text = beginning(text, _HEAD) + "\n" + ending(text, _TAIL)
    if "<system-reminder>" in text:
        text = _REMINDER.sub("", text)
    if "\x1b" in text or "[0m" in text or "[K" in text:
        text = _ANSI.sub("", text)
    if "Output:" in text[:_HEAD]:
        text = _ENVELOPE_END.sub("", _ENVELOPE.sub("", text, count=1))
    return text.replace("\r", "\n")


def failed(result: SessionEvent, command: str) -> bool:
    """Whether a result reports failure, by its flag or, for a command, by what it printed."""
    if result.error:
        return True
    if not command:
        return False
    text = clean(result.text)
    tail = text[-_VERDICT:]
    if _FAILED_TAIL.search(tail):
        return True
    check = is_check(command)
    if check and _CHECK_PASSED.search(tail):
        return False
    if _FAILED_HEAD.search(text[:300]) or (check and _CHECK_FAILED.search(tail)):
        return True
    return check and "|" in command and _BUILD_FAILED.search(tail) is not None


_CHECK = re.compile(
    r"(?:^|[:._-])(?:tests?|pytest|lint(?:er)?|check|checks|typecheck|build|vet|clippy|tsc|mypy|pyright|ruff"
    r"|eslint|biome|fmt|format"
    r"|jest|vitest|mocha|rspec|phpunit|tox|nox|compile|verify|validate|ci|audit|golangci|commit|unittest"
    r"|xcodebuild|ctest|knip)(?:$|[:._-])",
    re.IGNORECASE,
)
_NO_CHECK = frozenset(
    "test [ rm ls cat mkdir echo git gh grep cp mv cd head tail find sed awk curl chmod touch kill docker open"
    " code".split()
)

_ADDS = frozenset("add install i remove uninstall update upgrade new create init generate get".split())


@lru_cache(maxsize=256)
def looks_failed(text: str) -> bool:
    """Whether a text that somebody pasted is the output of something that failed."""
    text = clean(text)
    return any(pattern.search(text) for pattern in (_FAILED_HEAD, _FAILED_TAIL, _CHECK_FAILED)) or bool(
        error_line(text)
    )


def judges_code(step_command: str, text: str) -> bool:
    """Whether a failed check ran its course and found fault with the code, not with how it was called."""
    return is_check(step_command) and _CHECK_FAILED.search(clean(text)[-_VERDICT:]) is not None


def is_check(command: str) -> bool:
    """Whether a command tests, lints, type-checks, formats or builds."""
    return any(map(_part_checks, parts(command)))


def _part_checks(part: str) -> bool:
    tokens = bare(part).split()[:5]
    if not tokens or tokens[0] in _NO_CHECK:
        return False
    if tokens[1:2] and tokens[1] in _ADDS:
        return False
    if tokens[1:2] in (["--build"], ["--check"]):
        return True
    names = [tokens[0].rsplit("/", 1)[-1], *(token for token in tokens[1:] if re.fullmatch(r"[A-Za-z][\w:-]*", token))]
    return any(_CHECK.search(name) for name in names)


@lru_cache(maxsize=256)
def error_line(text: str) -> str:
    """The line of a failed output that says why, without its place in a file; empty if none does.

    Of equally telling lines the first counts, but in a traceback the last, which names what was raised.
    """
    text = clean(text)
    last = "Traceback (most recent call last)" in text
    best, best_rank = "", 0
    for raw in text.split("\n"):
        if "rror" not in raw and "xception" not in raw and not _WHY.search(raw):
            continue
        line = _ORNAMENT.sub("", raw).strip()
        if not 6 <= len(line) <= 400 or line.startswith("$ "):
            continue
        if _LABELLED_PLACE.match(line) or _NOT_SAYING_WHY.match(line):
            continue
        bare = _PLACE.sub("", line)
        rank = 0
        if _WHY.search(bare):
            rank = 2
        if _NAMES_ERROR.match(bare):
            rank = 4 if _COMPILER.search(bare) else 3
        if rank > best_rank or (last and rank == best_rank > 2):
            best, best_rank = bare, rank
    return best.strip()
