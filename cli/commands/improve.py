"""`mem improve`: discovery, extraction, raw traces, synthesis; ends in proposals for a person to decide on."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import Output

if TYPE_CHECKING:
    from acemem.memory.learn.synthesis.acceptance import State
    from acemem.memory.learn.synthesis.improve import Improvement

ALL_FAILED = 3
NO_MODEL = 5


@click.command("improve")
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path(path_type=Path))
@click.option("--agent", metavar="A", help="Only this agent's logs.")
@click.option("--since", metavar="AGE", help="Only logs changed within this time: 7d, 12h, 30m.")
@click.option("--max-sessions", type=click.IntRange(1), help="How many sessions to look at, newest first.")
@click.option("--focus", metavar="T", help="Only what speaks of one of these words.")
@click.option(
    "--synthesizer", type=click.Choice(["offline", "llm"]), default="offline", show_default=True, help="Who compares."
)
@click.option("--model", metavar="M", help="The model for --synthesizer llm; default synthesis.model.")
@click.option("--dry-run", is_flag=True, help="Keep nothing, neither bullets nor proposals.")
@click.option("--state", is_flag=True, help="Only say what was done so far, and what was accepted.")
@common
def command(
    memory: Memory,
    out: Output,
    files: tuple[Path, ...],
    agent: str | None,
    since: str | None,
    max_sessions: int | None,
    focus: str | None,
    synthesizer: str,
    model: str | None,
    dry_run: bool,
    state: bool,
) -> None:
    """Propose changes to this project's context files, from what sessions showed.

    Session logs are read as by `mem ingest`. What was seen in several sessions and stands in no context file yet
    becomes a proposal, as does taking out a line that stopped helping. No context file is written: `mem review`
    decides. With --synthesizer llm a model compares the sessions that none has compared yet.

    \b
    mem improve --since 7d
    mem improve --synthesizer llm --model anthropic:claude-opus-4-5
    mem improve --state
    """
    from acemem.memory.errors import UsageError
    from acemem.memory.learn.synthesis.acceptance import State
    from acemem.memory.learn.synthesis.improve import improve, rehearsal
    from acemem.memory.sessions import catalog
    from acemem.memory.sessions.discovery import found_logs

    if state:
        now = State.of(memory.home)
        out.emit(now.to_json(), _state_lines(now))
        return
    if files and (agent or since):
        raise UsageError("--agent and --since choose among discovered logs; they mean nothing with FILE")
    if model is not None and synthesizer == "offline":
        raise UsageError("--model is asked by --synthesizer llm; say that with it")
    if files:
        paths = [log for file in files for log in catalog.logs_in(file)]
        most = max_sessions
    else:
        paths = [path for _, path in found_logs(agent, since, memory.home.clock())]
        most = max_sessions or memory.home.settings.ingest_max_sessions
    with ExitStack() as stack:
        home = stack.enter_context(rehearsal(memory.home)) if dry_run else memory.home
        reader = None
        if synthesizer == "llm":
            model = _named(model or home.settings.synthesis_model)
            if home.settings.extract_model != "none":
                from acemem.memory.learn.model.run import ModelExtractor

                reader = stack.enter_context(ModelExtractor.of(home, None, focus, lambda step: out.step(str(step))))
        done = improve(
            home, paths, memory.project, focus=focus, most=most, model=model, reader=reader, progress=out.step
        )
    out.steps_done()
    for problem in done.errors:
        out.note(f"mem: {problem}")
    if done.left:
        out.note(f"{done.left} more have something new: run `mem improve` again, or raise --max-sessions")
    for scope, count in done.elsewhere.items():
        out.note(f"{count} statements of {scope} have earned a rule: run `mem improve` with --project there")
    if done.failure is not None:
        if out.as_json:
            out.emit(done.to_json(), ())
        out.note(f"mem: nothing was proposed: {done.failure}; what was read from the logs is kept")
        raise click.exceptions.Exit(NO_MODEL)
    if not paths and not done.proposals:
        out.nothing(done.to_json(), "no session logs found and nothing new to propose; `mem improve FILE...`")
    out.emit(done.to_json(), _lines(done, dry_run))
    if paths and done.read.failed == len(paths):
        raise click.exceptions.Exit(ALL_FAILED)


def _named(model: str) -> str:
    from acemem.memory.errors import ModelError

    if model in ("", "none"):
        raise ModelError(
            "no model is set for comparing sessions; `mem config synthesis.model PROVIDER:NAME` sets one, --model "
            "names one for this run, and `claude-cli` uses the `claude` command you are logged in to"
        )
    return model


def _lines(done: Improvement, dry_run: bool) -> list[str]:
    from acemem.cli.review.text import headline

    lines: list[str] = []
    for proposal in done.proposals:
        lines += [headline(proposal), f"    {proposal.reason}"]
        lines += [f"    {line}" for line in proposal.content.splitlines() if line.strip()]
    lines += [f"lapsed {proposal.id}: {why}" for proposal, why in done.lapsed]
    read = done.read
    lines.append(
        f"{read.sessions} sessions read, {read.insights} insights, {read.added} bullets added; "
        f"{len(done.proposals)} proposals, {len(done.dropped)} statements left out"
    )
    if done.proposals:
        lines.append("nothing was kept: --dry-run" if dry_run else "`mem review` decides on them")
    return lines


def _state_lines(state: State) -> list[str]:
    lines = [
        f"{state.runs} runs over {state.sessions} sessions, {state.by_model} of them compared by a model",
        f"{state.proposed} proposals: {state.open} open, {state.accepted} accepted, {state.rejected} rejected",
    ]
    for kind, (yes, no) in state.kinds.items():
        least = state.threshold(kind)
        lines.append(f"  {kind:<14} {yes} accepted, {no} rejected; a proposal takes a confidence of {least:.2f}")
    return lines
