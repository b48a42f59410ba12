"""Settings: one table of names, defaults and meanings; values live in `config.toml` in the store's home."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from acemem.memory.errors import StoreError, UsageError
from acemem.memory.scope import make_home

FILE_NAME = "config.toml"
_TRUTHS = {"true": True, "false": False}


def _setting(default: Any, meaning: str, low: float | None = None, high: float | None = None) -> Any:
    return field(default=default, metadata={"meaning": meaning, "low": low, "high": high})


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set. The field `score_helpful` is the setting `score.helpful`."""

    embedder: str = _setting("minilm", "what turns text into vectors: minilm, hashing, sentence-transformers:NAME")
    score_helpful: float = _setting(0.3, "what one helpful mark adds to a score", 0.001, 100)
    score_harmful: float = _setting(-0.5, "what one harmful mark adds to a score", -100, -0.001)
    search_k: int = _setting(7, "how many hits `mem search` returns", 1, 1000)
    search_floor: float = _setting(-1.0, "how much to the point the best hits must be; -1 as measured", -1, 1)
    search_per_entity: int = _setting(7, "hits about one tool, file or identifier at most", 1, 1000)
    search_reranker: str = _setting("none", "a second look at the best hits: none, cross-encoder:NAME")
    hook_k: int = _setting(5, "how many bullets a hook puts in front of a prompt at most", 1, 50)
    hook_tokens: int = _setting(1200, "the size of an injection at most, in tokens of four characters", 50, 2300)
    hook_repeat_after: int = _setting(20, "prompts until the same bullet may be shown again in a session", 0, 1000)
    hook_explore: float = _setting(1.0, "failures that leading with the worse of a contested pair may cost", 0, 100)
    hook_holdout: float = _setting(0.05, "share of relevant bullets withheld by lot, to see if they help", 0, 0.5)
    hook_deadline: int = _setting(400, "how long a hook may take, in milliseconds", 50, 10_000)
    daemon_idle: float = _setting(7200, "seconds without a question after which the daemon ends", 1, 1e7)
    daemon_port: int = _setting(0, "port of 127.0.0.1 at which the daemon answers over HTTP, too; 0 for none", 0, 65535)
    daemon_background: bool = _setting(True, "whether the daemon reads logs and refines while nobody asks")
    ingest_max_sessions: int = _setting(20, "how many discovered sessions one `mem ingest` reads, newest first", 1, 1e6)
    extract_model: str = _setting("none", "the model that reads one session, as PROVIDER:NAME; none is offline only")
    synthesis_model: str = _setting("none", "the model that compares sessions, as PROVIDER:NAME; none is offline only")
    extract_window: int = _setting(140_000, "how much of a session a model reads at once, in tokens", 1000, 2_000_000)
    extract_overlap: int = _setting(5, "messages at the end of one window that begin the next", 0, 50)
    extract_chars_per_token: float = _setting(4.0, "how many characters a token is taken for", 1, 16)
    extract_output: int = _setting(4000, "characters a model sees of one tool output: its beginning and end", 200, 1e5)
    extract_max_requests: int = _setting(200, "requests one run may send to a model", 1, 1e6)
    extract_max_tokens: int = _setting(5_000_000, "tokens one run may use, in and out", 1000, 1e12)
    extract_max_dollars: float = _setting(5.0, "dollars one run may cost, by the list price", 0.01, 1e6)
    extract_concurrency: int = _setting(4, "requests to a model at the same time", 1, 64)
    refine_duplicate: float = _setting(0.85, "MiniLM cosine from which two bullets are looked at as duplicates", 0.5, 1)
    refine_conflict: float = _setting(0.62, "MiniLM cosine from which two bullets may advise opposites", 0.3, 1)
    refine_guard: float = _setting(0.2, "share of live bullets a plan may remove without --yes", 0, 1)
    refine_per_section: int = _setting(40, "bullets of one scope under one heading at most", 1, 1_000_000)
    refine_per_entity: int = _setting(7, "bullets of one scope about one tool, file or identifier", 1, 1_000_000)
    refine_judge: str = _setting("none", "the model that judges near pairs in doubt, as PROVIDER:NAME; none asks none")
    render_bullets: int = _setting(40, "how many rules a context file gets at most", 1, 500)
    render_lines: int = _setting(60, "how many lines a managed block may have, markers counted", 10, 2000)
    render_chars: int = _setting(8000, "how long a managed block may be; a letter beyond ASCII counts 2 to 4", 200, 1e5)
    render_cite: bool = _setting(True, "whether agents see the ids of rules, to cite them; else in comments")
    render_personal: bool = _setting(False, "whether rules about you may stand in files that a team shares")


NAMES: tuple[str, ...] = tuple(f.name.replace("_", ".", 1) for f in fields(Settings))


def meaning(name: str) -> str:
    """What a setting is for, in one line."""
    return str(_field(name).metadata["meaning"])


def default(name: str) -> Any:
    """What a setting is when nobody has set it."""
    return _field(name).default


def shown(value: Any) -> str:
    """A value as it is written in the file, without quotation marks."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def load(home: Path) -> Settings:
    """The settings of a store; defaults where nothing is set.

    Raises UsageError naming the file, the setting, and what was expected.
    """
    path = home / FILE_NAME
    try:
        document = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):  # a home that cannot be is the ledger's to refuse
        return Settings()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:  # also what Python's own limits say of absurd numbers and nesting
        raise UsageError(f"{path} is not valid TOML: {error}; correct it, or remove it to use the defaults") from error
    values = {}
    for name, value in _flat(document).items():
        try:
            values[name.replace(".", "_", 1)] = check(name, value)
        except UsageError as error:
            raise UsageError(f"{path}: {error}") from error
    return Settings(**values)


def check(name: str, value: Any) -> Any:
    """The value as the setting's type. Raises UsageError for an unknown name or a value out of range."""
    spec = _field(name)
    kind = type(spec.default)
    if isinstance(value, str) and kind is not str:
        try:
            value = _TRUTHS[value.lower()] if kind is bool else kind(value)
        except (ValueError, KeyError):
            raise UsageError(f"{name} = {value!r}: expected {_expected(spec)}") from None
    low, high = spec.metadata["low"], spec.metadata["high"]
    fits = type(value) is kind or (kind is float and type(value) is int)
    if not fits or (low is not None and not low <= value <= high) or (value == "" and spec.default != "none"):
        raise UsageError(f"{name} = {value!r}: expected {_expected(spec)}")
    return kind(value)


def save(home: Path, name: str, value: Any) -> Any:
    """Sets one setting in the store's file, keeping its comments and order; returns the value as stored.

    Raises UsageError for a value that holds a secret, without repeating it.
    """
    import tomlkit

    from acemem.memory.redaction.redaction import redact

    if isinstance(value, str) and redact(value)[1]:
        raise UsageError(f"{name} is not the place for a secret; a provider's key belongs in its environment variable")
    value = check(name, value)
    path = home / FILE_NAME
    load(home)  # refuse to edit what cannot be read
    document = tomlkit.parse(path.read_text("utf-8-sig") if path.exists() else "")
    table, _, key = name.rpartition(".")
    target: Any = document
    if table:
        if table not in document:
            document.add(table, tomlkit.table())
        target = document[table]
    target[key] = value
    fresh = path.with_suffix(f".{os.getpid()}.new")
    try:
        make_home(home)
        fresh.write_text(tomlkit.dumps(document), "utf-8")
        os.replace(fresh, path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}; see who may write there") from error
    finally:
        with suppress(OSError):  # where it could not be written, it need not be there either
            fresh.unlink(missing_ok=True)
    return value


def _field(name: str) -> Any:
    for spec in fields(Settings):
        if spec.name.replace("_", ".", 1) == name:
            return spec
    raise UsageError(f"no setting {name!r}; the settings are {', '.join(NAMES)}")


def _expected(spec: Any) -> str:
    kind = {int: "a whole number", float: "a number", str: "a name", bool: "true or false"}[type(spec.default)]
    low, high = spec.metadata["low"], spec.metadata["high"]
    return kind if low is None else f"{kind} from {low:g} to {high:g}"


def _flat(document: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in document.items():
        if isinstance(value, Mapping):
            flat.update({f"{key}.{inner}": leaf for inner, leaf in value.items()})
        else:
            flat[key] = value
    return flat
