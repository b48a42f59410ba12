"""Providers: a model by its name, and what it means when one cannot be had or does not answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from acemem.memory.cleantext import one_line
from acemem.memory.errors import ModelError
from acemem.memory.learn.model.answer import skip_plugins
from acemem.memory.redaction.redaction import redact

if TYPE_CHECKING:
    from pydantic_ai.models import Model

NONE = ("", "none")
CLAUDE_CLI = "claude-cli"
_OTHER = "`mem config extract.model PROVIDER:NAME` chooses another model, `claude-cli` needs no key"
_UNSET = re.compile(r"Set the `(\w+)` environment variable")
_REFUSALS = (401, 402, 403, 404)  # key, account, permission, name
_REASON = 300  # characters of what a provider says


def open_model(name: str) -> Model:
    """The model of this name: PROVIDER:NAME as pydantic-ai knows it, `claude-cli` or `claude-cli:NAME`.

    Sends nothing. Raises ModelError, naming the command that helps, for no model, an unknown one, a provider whose
    package is not installed, and a key that is not set.
    """
    chosen(name)
    skip_plugins()
    try:
        from pydantic_ai.exceptions import UserError
        from pydantic_ai.models import infer_model
    except ImportError as error:
        raise ModelError(f"{name!r} needs pydantic-ai ({error}); `pip install pydantic-ai-slim`") from error
    provider, _, model = name.partition(":")
    if provider == CLAUDE_CLI:
        from acemem.memory.learn.model.claude_cli import ClaudeCliModel

        return ClaudeCliModel(model)
    try:
        return infer_model(name)
    except ImportError as error:
        found = re.search(r"pydantic-ai-slim\[([\w,-]+)\]", str(error))
        extra = found[1] if found else provider
        raise ModelError(
            f"{name!r} needs a package that is not installed; `pip install 'pydantic-ai-slim[{extra}]'`"
        ) from error
    except (UserError, ValueError) as error:
        if unset := _UNSET.search(str(error)):
            raise ModelError(
                f"{name!r} needs {unset[1]}, which is not set; set it in the environment; {_OTHER}"
            ) from error
        raise ModelError(f"cannot use the model {name!r}: {reason(error)}; {_OTHER}") from error


def chosen(name: str) -> str:
    """The name, if it is one. Raises ModelError where no model is set."""
    if name in NONE:
        raise ModelError(
            "no model is set for reading sessions; `mem config extract.model PROVIDER:NAME` sets one, --model names "
            "one for this run, and `claude-cli` uses the `claude` command you are logged in to"
        )
    return name


def useless(name: str, why: str) -> ModelError:
    """What to raise for a model of which nothing came, with the next command unless `why` has one."""
    return ModelError(f"{name!r} read nothing: {why}" + ("" if "`" in why else f"; {_OTHER}"))


def reason(error: BaseException) -> str:
    """What went wrong with a request, on one line and without secrets: providers quote the keys they refuse."""
    from pydantic_ai.exceptions import UnexpectedModelBehavior

    said = str(getattr(error, "message", "") or error) or type(error).__name__
    body = getattr(error, "body", None)
    if body and isinstance(error, Exception) and not isinstance(error, UnexpectedModelBehavior):
        detail = body.get("message") if isinstance(body, dict) else None
        said = f"{said}: {detail}" if detail and str(detail) not in said else said
    return one_line(redact(said)[0], _REASON)


def is_hopeless(error: BaseException, answered: bool) -> bool:
    """Whether every further request would fail in the same way: keys, names, accounts, and a server that is not there.

    `answered` is whether the model has answered before; then a lost connection may come back.
    """
    from pydantic_ai import exceptions

    if getattr(error, "status_code", None) in _REFUSALS:
        return True
    if isinstance(error, exceptions.ModelConnectionError):
        return not answered and not isinstance(error, exceptions.ModelTimeoutError)
    return isinstance(
        error,
        exceptions.ModelAuthenticationError
        | exceptions.ModelNotFoundError
        | exceptions.ModelQuotaExceededError
        | exceptions.UserError
        | ModelError,
    )
