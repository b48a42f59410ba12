"""`mem hook`: an agent's hook, stdin to stdout; it never blocks and never breaks a prompt."""

from __future__ import annotations

import json
import logging
import sys
from logging.handlers import RotatingFileHandler
from pathlib import Path

import click

LOG_BYTES = 200_000


@click.command("hook", context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("agent", default="")
@click.argument("event", default="")
@click.option("--home", metavar="DIR", help="The store's home.")
@click.option("--project", metavar="DIR", help="The project's folder, where the payload does not say.")
def command(agent: str, event: str, home: str | None, project: str | None) -> None:
    """Answer an agent's hook (stdin to stdout).

    Reads the agent's JSON from standard input and prints its answer, or nothing. Ends with 0 whatever happens; what
    went wrong stands in `hook.log` in the store's home.

    \b
    mem hook claude-code user-prompt-submit
    """
    root = click.get_current_context().find_root().params
    try:
        _answer(agent, event, home or root.get("home"), project or root.get("project"))
    except Exception as error:  # noqa: BLE001 - a hook may never break a prompt; the log names what happened
        _log(home or root.get("home"), f"{agent} {event}: {type(error).__name__}: {error}")


def _answer(agent: str, event: str, home: str | None, project: str | None) -> None:
    from acemem.api import Memory

    payload = json.loads(sys.stdin.buffer.read().decode("utf-8-sig", "replace"))
    with Memory.open(home, project) as memory:
        answer = memory.hook(agent, event, payload if isinstance(payload, dict) else {})
        if answer.output is None:
            return
        sys.stdout.buffer.write(json.dumps(answer.output, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        sys.stdout.buffer.flush()
        if answer.receipt is not None:  # only now: writing it down must not delay the answer
            memory.keep_receipt(answer.receipt)


def _log(home: str | None, line: str) -> None:
    import os

    from acemem.memory.scope import home_directory

    try:
        folder = home_directory(home, os.environ)
        folder.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(Path(folder, "hook.log"), maxBytes=LOG_BYTES, backupCount=1, encoding="utf-8")
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        handler.handle(logging.makeLogRecord({"msg": line.replace("\n", " ")}))
        handler.close()
    except OSError:
        return  # a home that cannot be written has no place for a log either
