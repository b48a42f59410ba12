"""`mem hook`: an agent's hook, stdin to stdout; it never blocks and never breaks a prompt."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime

import click

from acemem.cli.options import inherited
from acemem.cli.output import abandon_stdout
from acemem.memory.errors import AcememError
from acemem.memory.scope import home_directory, make_home

LOG_NAME = "hook.log"
LOG_BYTES = 200_000  # then it becomes hook.log.1, and that of before goes
LINE_LIMIT = 1_000


@click.command("hook", context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("agent", default="")
@click.argument("event", default="")
@click.option("--home", metavar="DIR", help="The store's home.")
@click.option("--project", metavar="DIR", help="The project's folder, where the payload does not say.")
def command(agent: str, event: str, home: str | None, project: str | None) -> None:
    """Answer an agent's hook (stdin to stdout).

    Reads the agent's JSON from standard input and prints its answer, or nothing: the daemon's where one runs (see
    `mem daemon`), else its own, which takes seconds; `mem-hook` takes the same words and is made for an agent's
    settings. Agents are claude-code, codex, gemini, cursor and opencode, each with the events that it has itself. The
    start of a session, a prompt and a failed tool may be answered; the end of a turn or a session, a compaction and a
    failed tool leave a note for the next `mem ingest`, which then reads the session's log. Ends with 0 whatever
    happens; what went wrong stands in `hook.log` in the store's home.

    \b
    mem hook claude-code user-prompt-submit
    mem hook codex stop
    """
    home, project = home or inherited("home"), project or inherited("project")
    try:
        _answer(agent, event, home, project)
    except BaseException as error:  # noqa: BLE001 - a hook may never break a prompt; the log names what happened
        _log(home, f"{agent} {event}: {type(error).__name__}: {error}")


def _answer(agent: str, event: str, home: str | None, project: str | None) -> None:
    from acemem.retrieval.cold import leave_note
    from acemem.retrieval.protocols import ANSWERED, caller_of, printed, read

    raw = sys.stdin.buffer.read()
    warm = _from_daemon(agent, event, home, raw) if project is None else None
    if warm is not None:
        if warm:
            _print(warm)
        return
    call = read(agent, event, raw, project or os.getcwd(), caller_of(os.environ))
    leave_note(str(home_directory(home, os.environ)), call)
    if call.moment not in ANSWERED or (call.moment == "tool-failure" and call.failure is None):
        return
    from acemem.api import Memory
    from acemem.retrieval.hook import respond

    with Memory.open(home, project) as memory:
        answer = respond(memory.home, call)
        if answer.output is not None:
            _print(printed(answer.output))
        if answer.counts:
            memory.keep_receipt(answer.receipt)  # only now: writing it down must not delay the answer


def _from_daemon(agent: str, event: str, home: str | None, raw: bytes) -> bytes | None:
    """What the warm daemon says, empty when it has nothing; None where there is none, and to do without it costs time.

    Unlike `mem-hook` it starts none: this command answers in full by itself.
    """
    from acemem.retrieval import call

    where = os.fsencode(home_directory(home, os.environ))
    address, deadline = call.find(where)
    if not address:
        return None
    try:
        return call.ask(address, call.request(agent, event, where, raw, deadline), deadline)
    except TimeoutError:
        return None


def _print(answer: bytes) -> None:
    try:
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
    except OSError:
        abandon_stdout()
        raise


def _log(home: str | None, line: str) -> None:
    from acemem.memory.cleantext import clean, one_line
    from acemem.memory.redaction.redaction import redact

    try:
        log = home_directory(home, os.environ) / LOG_NAME
        make_home(log.parent)
        if log.is_file() and log.stat().st_size > LOG_BYTES:
            os.replace(log, log.with_suffix(".log.1"))
        at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        with log.open("a", encoding="utf-8", errors="replace") as file:
            file.write(f"{at} {one_line(redact(clean(line))[0], LINE_LIMIT)}\n")
    except (OSError, AcememError):
        return  # a home that cannot be written has no place for a log either
