"""claude-cli: the command-line agent that the user is logged in to, as a model for pydantic-ai; it needs no API key.

Imported only by what is about to call a model: it needs pydantic-ai.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from shutil import which
from typing import Any

from pydantic_ai.exceptions import ModelAPIError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    TextPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, check_allow_model_requests
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from acemem.memory.cleantext import clean, one_line
from acemem.memory.errors import ModelError
from acemem.memory.learn.model.agents import as_task, is_marked
from acemem.memory.redaction.redaction import redact

PROGRAM = "claude"
TIMEOUT = 600.0  # seconds for one answer
_SYSTEM = "You turn documents into data. Answer with one JSON object and nothing else. Use no tools."

# What keeps the run from acting, from reading the user's settings, hooks and servers, and from writing a log of its
# own. Older programs do not know all of these; one that is refused is left out.
_RESTRAINTS: tuple[tuple[str, ...], ...] = (
    ("--tools", ""),
    ("--disallowedTools", "Bash,Edit,Glob,Grep,LS,NotebookEdit,Read,Task,WebFetch,WebSearch,Write"),
    ("--max-turns", "1"),
    ("--setting-sources", ""),
    ("--strict-mcp-config",),
    ("--no-session-persistence",),
    ("--system-prompt", _SYSTEM),
)
_UNKNOWN_OPTION = re.compile(r"unknown option '?(--[\w-]+)")
_NOT_LOGGED_IN = re.compile(r"/login|log ?in|invalid api key|authenticat|oauth token|credit balance", re.IGNORECASE)
_FENCED = re.compile(r"\A\s*+```(?:json)?(?>\s*\n)(.*?)\n?```\s*\Z", re.DOTALL)
# Set inside an agent's session; the program refuses to run in another one of itself.
_OF_ANOTHER_SESSION = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT")


class ClaudeCliModel(Model):
    """Asks `claude -p`, one process for each request, with the prompt on its standard input.

    `name` is what its `--model` takes; empty is its own default. The output's schema is part of the prompt.
    Raises ModelError where the program is missing or nobody is logged in, ModelAPIError for a request that failed.
    """

    def __init__(self, name: str = "", *, program: str = PROGRAM, timeout: float = TIMEOUT) -> None:
        super().__init__(profile=ModelProfile(default_structured_output_mode="prompted"))
        self._name = name
        self._program = program
        self._timeout = timeout
        self._refused: set[str] = set()

    @property
    def model_name(self) -> str:
        """What was asked for, for logs and prices."""
        return self._name or "default"

    @property
    def system(self) -> str:
        """Who provides it."""
        return "claude-cli"

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Runs the program once and reads its answer."""
        check_allow_model_requests()
        _, parameters = self.prepare_request(model_settings, model_request_parameters)
        told = [message.instructions for message in messages if isinstance(message, ModelRequest)]
        instructions = [text for text in (told[-1] if told else None, parameters.prompted_output_instructions) if text]
        result = await self._ask(_as_text(instructions, messages))
        return ModelResponse(
            parts=[TextPart(_unfenced(str(result.get("result") or "")))],
            usage=_usage(result),
            model_name=self.model_name,
            provider_name=self.system,
        )

    async def _ask(self, text: str) -> dict[str, Any]:
        while True:
            code, out, err = await self._run(self._command(), text)
            refused = _UNKNOWN_OPTION.search(err)
            if code == 0 or not refused or refused[1] in self._refused:
                return self._result(code, out, err)
            self._refused.add(refused[1])

    def _command(self) -> list[str]:
        program = which(self._program)
        if program is None:
            raise ModelError(
                f"there is no {self._program!r} on PATH; install Claude Code and log in with it once, or "
                "`mem config extract.model PROVIDER:NAME` chooses another model"
            )
        command = [program, "-p", "--output-format", "json"]
        if self._name:
            command += ["--model", self._name]
        for restraint in _RESTRAINTS:
            if restraint[0] not in self._refused:
                command += restraint
        return command

    async def _run(self, command: Sequence[str], text: str) -> tuple[int, str, str]:
        environment = {name: value for name, value in os.environ.items() if name not in _OF_ANOTHER_SESSION}
        # In an empty folder there is no project whose files or settings the program could pick up.
        with tempfile.TemporaryDirectory(prefix="acemem-") as folder:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=folder,
                env=environment,
                start_new_session=True,
            )
            try:
                out, err = await asyncio.wait_for(process.communicate(text.encode("utf-8", "replace")), self._timeout)
            except TimeoutError:
                raise ModelAPIError(
                    self.model_name, f"{self._program} gave no answer within {self._timeout:g} s"
                ) from None
            finally:
                await _end(process)
        return process.returncode or 0, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")

    def _result(self, code: int, out: str, err: str) -> dict[str, Any]:
        result = _document(out)
        said = str(result.get("result") or "") if result else ""
        failed = code != 0 or result is None or bool(result.get("is_error"))
        if not failed and result is not None:
            return result
        words = said.strip() or err.strip() or out.strip() or f"exit code {code}"
        told = one_line(redact(clean(words))[0], 300)
        if _NOT_LOGGED_IN.search(words):
            raise ModelError(f"{self._program} cannot answer ({told}); run `{self._program}` once and log in")
        raise ModelAPIError(self.model_name, f"{self._program} failed: {told}")


async def _end(process: asyncio.subprocess.Process) -> None:
    """Ends a process that still runs, with everything it started."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def _as_text(instructions: Sequence[str], messages: Sequence[ModelMessage]) -> str:
    """The conversation as one text. All of our own words are marked as such, whoever writes a log of them."""
    blocks = [as_task("\n\n".join(instructions))] if instructions else []
    for message in messages:
        if isinstance(message, ModelRequest):
            for part in message.parts:
                told = part.model_response() if isinstance(part, RetryPromptPart) else getattr(part, "content", "")
                if text := str(told):
                    blocks.append(text if is_marked(text) else as_task(text))
        else:
            said = "\n".join(part.content for part in message.parts if isinstance(part, TextPart))
            blocks.append(as_task(f"Your answer was:\n{said}"))
    return "\n\n".join(blocks)


def _document(out: str) -> dict[str, Any] | None:
    """The result among what the program printed: one object, or the last of a list when its settings ask for more."""
    try:
        document = json.loads(out)
    except ValueError:
        return None
    if isinstance(document, list):
        document = next((item for item in reversed(document) if isinstance(item, dict) and "result" in item), None)
    return document if isinstance(document, dict) else None


def _unfenced(text: str) -> str:
    found = _FENCED.match(text)
    return found[1] if found else text


def _usage(result: dict[str, Any]) -> RequestUsage:
    """What the program says it used; its cost is the list price, whatever the user's plan makes of it."""
    told = result.get("usage")
    counts = {name: value for name, value in told.items() if isinstance(value, int)} if isinstance(told, dict) else {}
    written, read = counts.get("cache_creation_input_tokens", 0), counts.get("cache_read_input_tokens", 0)
    cost = result.get("total_cost_usd")
    return RequestUsage(
        input_tokens=counts.get("input_tokens", 0) + written + read,
        cache_write_tokens=written,
        cache_read_tokens=read,
        output_tokens=counts.get("output_tokens", 0),
        cost=Decimal(str(cost)) if isinstance(cost, int | float) else None,
    )
