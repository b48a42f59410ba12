"""Drift: statements that name what the repository no longer has.

Only what is clearly so is told: a path that is nowhere in the project, a script or a target that no manifest defines,
a version that a manifest rules out. A statement that speaks of what is gone, to come, or not to be used is left alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from acemem.memory.context.repository import Repository
from acemem.memory.home import Home
from acemem.memory.models import Bullet
from acemem.memory.scope import Project

Version = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Contradiction:
    """One thing that a statement names, and what was found in its place; `looked_at` says where."""

    sort: Literal["path", "script", "target", "version"]
    named: str
    looked_at: str
    found: str


@dataclass(frozen=True, slots=True)
class Drifted:
    """A bullet that the repository contradicts, and in what."""

    bullet: Bullet
    contradictions: tuple[Contradiction, ...]

    @property
    def remark(self) -> str:
        """All of it in a few words, as it may stand behind a rule."""
        return "outdated? " + "; ".join(c.found for c in self.contradictions)

    def to_json(self) -> dict[str, Any]:
        """As `mem drift --json` prints it."""
        bullet = self.bullet
        return {
            "id": bullet.id,
            "text": bullet.text,
            "kind": bullet.kind,
            "status": bullet.status,
            "contradictions": [asdict(c) for c in self.contradictions],
        }


def drifted(home: Home, project: Project) -> tuple[list[Drifted], int]:
    """The live bullets of a project that its folder contradicts, rules first, and how many were looked at.

    Those that hold everywhere speak of no project. Nothing is marked, here or in the store.
    """
    bullets = home.ledger.bullets(scope=project.scope)
    repository = Repository(project.checkout)
    found = [Drifted(bullet, tuple(contradictions(bullet.text, repository))) for bullet in bullets]
    told = [item for item in found if item.contradictions]
    return sorted(told, key=lambda item: (item.bullet.status != "rule", item.bullet.id)), len(bullets)


def contradictions(text: str, repository: Repository) -> list[Contradiction]:
    """What a statement names and the repository does not have, in the order of the text."""
    found = [*_paths(text, repository), *_commands(text, repository), *_versions(text, repository)]
    return list(dict.fromkeys(found))


# Said of what is not, or not to be.
_NEGATIVE = re.compile(
    r"\b(?:not|never|no|none|avoid|without|instead of|rather than|remov\w+|delet\w+|dropp?(?:ed)?|gone|was|were"
    r"|used to|old|former\w*|legacy|deprecated|obsolete|missing|renamed?|moved?|replac\w+|migrat\w+|upgrad\w+|e\.g"
    r"|example|such as|temporary|optional|nie|nicht|kein\w*|ohne|statt|entfernt|gelöscht)\b|n't\b|[<>≥≤]",
    re.IGNORECASE,
)
# Of what is to be, or comes and goes.
_TO_COME = re.compile(
    r"\b(?:creat\w+|generat\w+|writ\w+|adds?|will|would|should be|new|produces?|outputs?|emits?|saves?|if|ignor\w+)\b",
    re.IGNORECASE,
)
# Of another time, or of a bound.
_RELATIVE = re.compile(
    r"\b(?:until|before|after|since|from|older|newer|later|earlier|least|most|above|below|between|minimum|maximum|new"
    r"|will|would|should|can|supports?)\b|\+",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"(?<=[;:!?])\s+|(?<=[.,])\s+|\s[–—]\s")
_CODE = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(
    r"(?<![\w/.@~$%{<*:\\-])(?:\./)?((?:[\w.-]+/)+[\w-]+(?:\.[\w-]+)*\.[A-Za-z][A-Za-z0-9]{0,7})(?![\w/*<{$(:%@\\])"
)
_MADE = frozenset("build dist out target obj coverage tmp temp log logs .cache cache node_modules vendor".split())
_USUAL = frozenset(
    "src lib app apps scripts script bin tools docs doc tests test cmd internal pkg packages config".split()
)
_SCRIPT = re.compile(r"\b(?:npm run|npm run-script|pnpm run|yarn run|bun run)\s+([A-Za-z][\w:.-]*)")
_ASKED = re.compile(r"^(?:\$ )?(make|just)\s+([A-Za-z][\w.-]*)$")
_ASKED_IN_TEXT = re.compile(r"\b(?:[Rr]un|with|use|via|using|through)\s+(make|just)\s+([a-z][\w-]*)(?=[,.;:]?(?:\s|$))")
_VERSION = re.compile(
    r"(?<![\w.])([A-Za-z][\w.-]{0,99}?)(?:\s+|@|==)(?:version\s+)?v?(\d+(?:\.\d+){0,2})(?!\w|\.\w|%|\s*(?:\+|or\b|and\b|to\b))"
)


def _clauses(text: str, *unless: re.Pattern[str]) -> Iterator[str]:
    """The parts of a statement that say what is so; none of which any of these is found."""
    for clause in _CLAUSE.split(text):
        words = _CODE.sub("``", clause)
        if not any(pattern.search(words) for pattern in (_NEGATIVE, *unless)):
            yield clause


def _paths(text: str, repository: Repository) -> Iterator[Contradiction]:
    for clause in _clauses(text, _TO_COME):
        for match in _PATH.finditer(clause):
            path = match[1]
            first = path.split("/")[0]
            # Elsewhere a first part may be a domain, a package, or a folder of another machine.
            if first in _MADE or ".." in path or not (first in _USUAL or first in repository.files):
                continue
            if repository.is_known and path not in repository.endings and repository.lacks(path):
                yield Contradiction("path", path, str(repository.root), f"no file {path}")


def _commands(text: str, repository: Repository) -> Iterator[Contradiction]:
    for clause in _clauses(text):
        for name in _SCRIPT.findall(clause):
            yield from _lacking("script", name.rstrip(".:-"), repository.scripts(), repository, "package.json")
        asked = [found.groups() for code in _CODE.findall(clause) if (found := _ASKED.match(code.strip()))]
        for tool, name in [*asked, *_ASKED_IN_TEXT.findall(_CODE.sub(r"\1", clause))]:
            manifest = "Makefile" if tool == "make" else "justfile"
            yield from _lacking("target", name, repository.targets(tool), repository, manifest)


def _lacking(
    sort: Literal["script", "target"],
    name: str,
    defined: tuple[frozenset[str], list[str]] | None,
    repository: Repository,
    manifest: str,
) -> Iterator[Contradiction]:
    if defined is None or not repository.is_known or name in defined[0]:
        return
    places = defined[1]
    if not places:
        yield Contradiction(sort, name, str(repository.root), f"no {manifest}, so no {sort} {name}")
    else:
        where = places[0] if len(places) == 1 else f"{len(places)} files called {manifest}"
        yield Contradiction(sort, name, ", ".join(places[:5]), f"no {sort} {name} in {where}")


def _versions(text: str, repository: Repository) -> Iterator[Contradiction]:
    for clause in _clauses(text, _RELATIVE):
        for name, stated in _VERSION.findall(clause):
            pins = repository.pins(name)
            spans = [span for pin in pins if (span := span_of(pin.spec)) is not None]
            if not pins or len(spans) < len(pins):
                continue
            low, high = _exactly(stated)
            if all(high <= start or end <= low for start, end in spans):
                said = "; ".join(dict.fromkeys(f"{pin.manifest} says {name} {pin.spec.strip()}" for pin in pins))
                places = ", ".join(dict.fromkeys(pin.manifest for pin in pins))
                yield Contradiction("version", f"{name} {stated}", places, said)


_TERM = re.compile(r"\s*+(?:(\^|~=|~>|~|===?|>=|<=|>|<|=)\s*+)?v?(\d+(?:\.\d+)*)(?:\.[*xX])?\s*(?:,|\s|$)")
_NEVER = (math.inf,)


def span_of(spec: str) -> tuple[Version, Version] | None:
    """Which versions a manifest allows, from the first to the one after the last; None where that is not plain.

    Understands what npm, Python and Cargo have in common: `^1.2`, `~1.2`, `~=1.2`, `1.2.3`, `==1.2.*`, `>=1, <3`.
    """
    low: Version = (0.0,)
    high: Version = _NEVER
    at, spec = 0, spec.strip().strip("()")
    if not spec:
        return None
    while at < len(spec):
        found = _TERM.match(spec, at)
        if found is None:
            return None
        start, end = _term(found[1] or "", found[2])
        low, high = max(low, start), min(high, end)
        at = found.end()
    return low, high


def _term(operator: str, stated: str) -> tuple[Version, Version]:
    version = tuple(float(part) for part in stated.split("."))
    exact = _exactly(stated)
    match operator:
        case "^":
            at = next((at for at, part in enumerate(version) if part), len(version) - 1)
            return version, _after(version[: at + 1])
        case "~" | "~>" | "~=":
            keep = len(version) - 1 if operator != "~" or len(version) > 2 else min(len(version), 2)
            return version, _after(version[: max(1, keep)])
        case ">=":
            return version, _NEVER
        case ">":
            return version, _NEVER
        case "<":
            return (0.0,), version
        case "<=":
            return (0.0,), exact[1]
        case _:
            return exact


def _exactly(stated: str) -> tuple[Version, Version]:
    version = tuple(float(part) for part in stated.split("."))
    return version, _after(version)


def _after(version: Sequence[float]) -> Version:
    return (*version[:-1], version[-1] + 1)


def remarks(found: Iterable[Drifted]) -> dict[str, str]:
    """What may stand behind each of these in a context file, by id."""
    return {item.bullet.id: item.remark for item in found}
