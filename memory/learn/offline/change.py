"""What an edit changed, whatever tool made it, and how it is told in words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from acemem.memory.learn.offline.conversation import Step
from acemem.memory.learn.offline.excerpt import beginning
from acemem.memory.learn.offline.wording import alike, code, near_paths, stems
from acemem.memory.redaction.redaction import redact

_READ = 20_000  # characters of an edit
_MOST_LINES = 200  # of an edit, to be compared
_SHORT = 160
_FEW = 3  # lines that an edit adds, to be told as a line and not by names
_IDENTIFIER = re.compile(r"(?<![\w.])(?:[^\WA-Za-z_]|\.)*+([A-Za-z_][\w.]*[A-Z_.]\w+|[A-Z]\w{3,})")
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)
_OPENED = re.compile(r"\[File: (\S+) \(")
_PATCH_KEYS = ("input", "patch", "diff")
_CONFIGURES = re.compile(
    r"\.(?:ya?ml|toml|json5?|jsonc|ini|cfg|conf|properties|xml|gradle|kts"
    r"|cmake|tf|tfvars|nix|env|lock|sql|plist|csproj|mod)$"
    r"|(?:^|/)(?:(?=\w*Dockerfile)\w++|Makefile|justfile|CMakeLists\.txt|Gemfile|Procfile|Podfile"
    r"|BUILD(?:\.bazel)?|\.[\w.]+rc)$"
)
_IMPORTS = re.compile(
    r"^\s{0,200}+(?:import|from|use|using|#include|require|export \* from|@import|extern crate)\b.*$", re.MULTILINE
)
_COMMENT = re.compile(r"//|#|\*|/\*|--|<!--")
_VALUE = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|(?<![\w.+-])[\w.+-]*\d[\w.+-]*|\s+")
_TEST = re.compile(r"(?:^|[/_.-])(?:tests?|specs?|__tests__|snapshots?|expected|golden|fixtures?)(?:[/_.-]|$)|Tests?\.")


@dataclass(frozen=True, slots=True)
class Change:
    """One place of one file with its text before and after; `path` may be unknown."""

    path: str
    old: str
    new: str


def changes(step: Step) -> list[Change]:
    """The changes that an edit made, in the order in which it names them."""
    patch = next((text for key in _PATCH_KEYS if isinstance(text := step.args.get(key), str)), "")
    if not step.command and "*** Begin Patch" in patch[:_READ]:
        return list(_patched(patch))
    several = step.args.get("edits")
    if not step.command and isinstance(several, list):
        return [Change(step.path, *_texts(edit)) for edit in several if isinstance(edit, dict)]
    # An editor that has a file open names it only in what it prints.
    opened = _OPENED.search(step.text[:_READ]) if step.command and not step.path else None
    return [Change(opened[1] if opened else step.path, *step.change)]


def _texts(edit: dict[str, Any]) -> tuple[str, str]:
    found = [edit.get(f"{name}_string", edit.get(f"{name}_str", "")) for name in ("old", "new")]
    old, new = (text if isinstance(text, str) else "" for text in found)
    return old, new


@lru_cache(maxsize=64)
def _patched(patch: str) -> tuple[Change, ...]:
    found: list[Change] = []
    pieces = _PATCHED.split(beginning(patch, _READ))
    for path, body in zip(pieces[1::2], pieces[2::2], strict=True):
        for hunk in re.split(r"^@@.*$", body, flags=re.MULTILINE):
            lines = hunk.split("\n")
            old, new = ("\n".join(line[1:] for line in lines if line.startswith(sign)) for sign in "-+")
            if old or new:
                found.append(Change(path.strip(), old, new))
    return tuple(found)


def in_words(edits: list[Step], cwd: str | None) -> str:
    """What the edits changed: the line that one of them replaced or added, or the names that it exchanged."""
    return told([change for edit in edits for change in changes(edit)], cwd)


def told(made: list[Change], cwd: str | None) -> str:
    """The last of the changes that can be told in a sentence, a line rather than names; empty if none can."""
    for describe in (_line_in_words, _names_in_words):
        for change in reversed(made):
            where = f" in {code(near_paths(change.path, cwd))}" if change.path else ""
            # Before the edit is taken apart: a name or a line out of a secret no longer looks like one.
            if what := describe(*(redact(beginning(text, _READ))[0] for text in (change.old, change.new))):
                return what + where
    return ""


def _line_in_words(old: str, new: str) -> str:
    before, after = (list(filter(None, map(str.strip, text.split("\n")[:_MOST_LINES]))) for text in (old, new))
    gone, come = [line for line in before if line not in after], [line for line in after if line not in before]
    if not old and len(come) == 1 and len(come[0]) <= _SHORT:
        return f"Write {code(come[0])}"
    if not old or not 0 < len(come) <= _FEW or len(gone) > 1:
        return ""
    line = max(come, key=lambda added: alike(stems(added), stems(gone[0]))) if gone else come[0]
    if len(line) + len("".join(gone)) > _SHORT or (not gone and len("".join(come)) > _SHORT):
        return ""
    come = [added for added in come if not _COMMENT.match(added)] if len(come) > 1 else come
    if gone:
        return f"Write {code(line)} instead of {code(gone[0])}"
    return f"Add {' and '.join(map(code, come))}"


def _names_in_words(old: str, new: str) -> str:
    before, after = (dict.fromkeys(_IDENTIFIER.findall(text)) for text in (old, new))
    gone = [code(name) for name in before if name not in after][:2]
    come = [code(name) for name in after if name not in before][:2]
    return f"Use {' and '.join(come)} instead of {' and '.join(gone)}" if gone and come else ""


def is_test(path: str) -> bool:
    """Whether a file holds tests, or what they expect."""
    return _TEST.search(path) is not None


def teaches(edit: Step) -> bool:
    """Whether an edit changes what comes from outside the code: a configuration, or what is imported."""
    return any(
        _CONFIGURES.search(change.path)
        or set(_IMPORTS.findall(change.old[:_READ])) != set(_IMPORTS.findall(change.new[:_READ]))
        for change in changes(edit)
    )


def records_outcome(edit: Step) -> bool:
    """Whether an edit of a test changes nothing but values: what is expected, or how exactly."""
    return all(
        is_test(change.path) and change.old and _VALUE.sub("", change.old[:_READ]) == _VALUE.sub("", change.new[:_READ])
        for change in changes(edit)
    )
