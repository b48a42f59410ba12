"""What in a session carries no lesson: slips of a tool, interruptions, tests meant to fail, forbidden shortcuts."""

from __future__ import annotations

import re

from acemem.memory.learn.offline.command import shown
from acemem.memory.learn.offline.wording import stems
from acemem.memory.redaction.redaction import redact

_TOOL_SLIP = re.compile(
    r"<tool_use_error>"
    r"|sibling tool call errored"
    r"|file has not been read yet"
    r"|file has been (?:unexpectedly )?modified since"
    r"|(?:file|path|directory) does not exist"
    r"|string to replace (?:was )?not found"
    r"|found \d+ matches of the string"
    r"|no changes to make"
    r"|\bEISDIR\b"
    r"|no matches found"
    r"|inputvalidationerror"
    r"|did not conform to the edit format|searchreplacenoexactmatch"
    r"|request failed with status code"
    r"|exceeds maximum allowed tokens"
    r"|exit code 143\b"
    r"|shell cwd was reset"
    r"|CONFLICT \(|could not apply [0-9a-f]{6,}|after resolving the conflicts",
    re.IGNORECASE,
)
_INTERRUPTED = re.compile(r"^\s*\[request interrupted by user|^\s*<turn_aborted>|^\s*operation stopped by hook", re.I)
_MISUSED = re.compile(r"(?:unexpected|unrecogni[sz]ed|unknown|invalid|illegal) (?:argument|option|flag)", re.IGNORECASE)
_SEARCHES = re.compile(
    r"^(?:\w+=\S* )*(?:e?grep|rg|ag|diff|test|\[|ls|find|which|cmp|pgrep|cat|head|tail|wc|git diff)\b"
)

_MEANT_TO_FAIL = re.compile(
    r"\b(?:expected|supposed|meant|should|must|going) (?:to )?fail"
    r"|\bfail(?:s|ed|ing)? (?:as|like|exactly as) (?:expected|intended|planned|it should)"
    r"|\bas expected\b.{0,40}\bfail"
    r"|\bexpected (?:test )?failure"
    r"|\bfailing tests? first\b"
    r"|\b(?:tdd|red)\b[ -](?:phase|step|green)"
    r"|\bwatch (?:it|them) fail",
    re.IGNORECASE,
)

_SHORTCUT_COMMAND = re.compile(
    r"--no-verify\b|--no-gpg-sign\b|--no-check\b|--skip-(?:tests?|checks?|hooks?|lint)\b|-DskipTests\b"
    r"|\bgit push\b[^|;&]{0,400}(?:--force\b|\s-f\b)|--force-with-lease|\bcommit\.gpgsign=false"
    r"|\bHUSKY=0|\bLEFTHOOK=0|\bSKIP=\S+"
    r"|\b(?:curl|wget)\b[^\n]{0,400}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|\|\|\s*true\b"
    r"|\bchmod (?:-R )?777\b|\bgit reset --hard\b|\bsudo rm\b"
    r"|-Wno-|(?i:werror=(?:off|0|no|false)\b)|\bNODE_TLS_REJECT_UNAUTHORIZED=0"
    r"|--dangerously|--unsafe\b|--insecure\b|--exit-zero\b|--passWithNoTests\b"
    r"|\s--?(?:reruns?|retr(?:y|ies))\b",
)
# A check that is told to take what came out for what was expected.
_RECORDS = re.compile(
    r"(?:^|\s)(?:-u|--?update\w*(?:-?snapshots?)?|--bless|--accept|--record|--overwrite-\w+)(?:[\s=]|$)"
    r"|\b(?:(?:UPDATE|BLESS|RECORD|ACCEPT)(?:_\w+)?|REGEN\w*)="
    r"|\b(?:accept|approve|bless|rebaseline|update|record)[ :_-]"
    r"(?:\S{1,100}[ :_-])?(?:snapshots?|baselines?|golden\w*|references?|expect\w*)",
)
_SILENCER = re.compile(
    r"eslint-disable|biome-ignore|@ts-ignore|@ts-expect-error|@ts-nocheck|#\s*noqa|//\s*nolint|#\s*type:\s*ignore"
    r"|#\s*pylint:\s*disable|@SuppressWarnings|rubocop:disable|shellcheck disable|\bxfail\b|\.skip\(|\bt\.Skip\("
    r"|@(?:pytest\.mark\.)?skip|#\[ignore\]|#\[allow\("
    r"|@(?:Disabled|Ignore)\b|\bx(?:it|describe|test)\(|(?:continue-on-error|allow_failure):\s*true|\bnosec\b|NOSONAR"
    r"|swiftlint:disable|@phpstan-ignore|phpcs:ignore|NOLINT|#pragma warning disable|-Wno-"
)

_REDACTED = re.compile(r"\[redacted:[\w-]+\]")
_FEW_WORDS = 5  # content words without which a statement says nothing but the secret


def is_interruption(text: str) -> bool:
    """Whether the text only says that somebody or a hook stopped the agent."""
    return _INTERRUPTED.search(text[:400]) is not None


def is_slip(text: str, command: str = "") -> bool:
    """Whether a failed result is a slip of the tool itself, or a search that found nothing."""
    if is_interruption(text) or _TOOL_SLIP.search(text[:1_000]):
        return True
    return bool(command) and _SEARCHES.match(command) is not None and not _MISUSED.search(text[:600])


def is_meant_to_fail(said: str) -> bool:
    """Whether the agent says that the failure is what it wanted to see, as in a test written first."""
    return _MEANT_TO_FAIL.search(said) is not None


def is_shortcut(command: str) -> bool:
    """Whether a command gets its success by skipping a check or by force."""
    return bool(command) and _SHORTCUT_COMMAND.search(shown(command)) is not None


def records_outcomes(command: str) -> bool:
    """Whether a command makes a check pass by recording its outcome as the expected one."""
    return _RECORDS.search(command) is not None


def silences_check(old: str, new: str) -> bool:
    """Whether an edit adds a marker that turns a check or a test off."""
    return len(_SILENCER.findall(new)) > len(_SILENCER.findall(old))


def is_about_secret(text: str) -> bool:
    """Whether a secret or an address is what the text is about: little is left to learn without it.

    A text that says more is kept; what is secret in it goes when it is stored or shown.
    """
    redacted, found = redact(text)
    return found > 0 and len(stems(_REDACTED.sub(" ", redacted))) < _FEW_WORDS
