"""`mem evolve`: skills and living documents that change by what sessions teach, on trial."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import Output
from acemem.memory.errors import UsageError

if TYPE_CHECKING:
    from acemem.memory.context.proposals import Proposal
    from acemem.memory.learn.evolution.skill import Evolved


@click.command("evolve")
@click.argument("skills", nargs=-1, metavar="[SKILL.md]...", type=click.Path(path_type=Path))
@click.option("--docs", is_flag=True, help="Refresh the living documents that sessions have read.")
@click.option("--folder", metavar="DIR", type=click.Path(path_type=Path), help="With --docs: only those in there.")
@click.option("--judge", is_flag=True, help="Keep or take back the accepted changes, by what sessions did since.")
@click.option("--dry-run", is_flag=True, help="Only say what would be proposed or done.")
@common
def command(
    memory: Memory,
    out: Output,
    skills: tuple[Path, ...],
    docs: bool,
    folder: Path | None,
    judge: bool,
    dry_run: bool,
) -> None:
    """Propose changes to a skill or a living document, and end the trials of those accepted.

    A SKILL.md is compared, section by section, with the failures and corrections in the store. --docs looks at the
    documents that begin with `# MAGIC DOC: title` and were read since the last look. What is proposed waits in
    `mem review`. A change to a skill that you accept is on trial: --judge keeps it if later sessions do better, and
    takes it out again if they do worse.

    \b
    mem evolve .claude/skills/release/SKILL.md --dry-run
    mem evolve --docs --folder docs
    mem evolve --judge
    """
    if bool(skills) + docs + judge != 1:
        raise UsageError("say one of: `mem evolve SKILL.md`, `mem evolve --docs`, `mem evolve --judge`")
    if folder is not None and not docs:
        raise UsageError("--folder says where --docs looks")
    if judge:
        _judge(memory, out, dry_run)
    elif docs:
        _docs(memory, out, folder, dry_run)
    else:
        _skills(memory, out, skills, dry_run)


def _skills(memory: Memory, out: Output, skills: tuple[Path, ...], dry_run: bool) -> None:
    from acemem.memory.learn.evolution.skill import evolve

    done = [evolve(memory.home, memory.project, path, write=not dry_run) for path in skills]
    data = {"files": [evolved.to_json() for evolved in done]}
    lines = [line for evolved in done for line in _told(evolved, dry_run)]
    for evolved in done:
        _notes(out, evolved)
    if not any(evolved.proposals for evolved in done):
        out.nothing(data, "\n".join(lines))
    out.emit(data, lines)


def _docs(memory: Memory, out: Output, folder: Path | None, dry_run: bool) -> None:
    from acemem.memory.learn.evolution.magic_docs import refresh

    where = folder or memory.project.root
    done, unread, problems = refresh(memory.home, memory.project, where, not dry_run, _reading(out))
    out.steps_done()
    data = {
        "files": [refreshed.to_json() for refreshed in done],
        "unread": [str(path) for path in unread],
        "errors": [{"path": problem.text, "reason": problem.reason} for problem in problems],
    }
    for problem in problems:
        out.note(f"mem: {problem.reason}")
    lines: list[str] = []
    for refreshed in done:
        lines += _told(refreshed, dry_run)
        lines += [f"    the repository says otherwise: {text}" for text in refreshed.flagged]
        _notes(out, refreshed)
    lines += [f"{path}: not read in a session since the last look" for path in unread]
    if not done:
        out.nothing(data, "\n".join(lines) or "no document here begins with `# MAGIC DOC: title`")
    out.emit(data, lines)


def _judge(memory: Memory, out: Output, dry_run: bool) -> None:
    from acemem.memory.learn.evolution.verdict import judge

    done = judge(memory.home, memory.project, write=not dry_run, progress=_reading(out))
    out.steps_done()
    data = {"trials": [judged.to_json() for judged in done]}
    if not done:
        out.nothing(data, "no change to a skill is on trial; `mem evolve SKILL.md` proposes some")
    lines = []
    for judged in done:
        proposal = judged.trial.proposal
        wait = judged.trial.waits_for
        rest = f"; asked again after {wait} more sessions" if judged.action == "on trial" and wait else ""
        place = f"{proposal.target_file}, {proposal.heading}"
        lines.append(f"{judged.action:<15} {proposal.id}  {place}: {judged.reason}{rest}")
        if judged.revert is not None:
            lines += _proposed([judged.revert], dry_run)
    out.emit(data, lines)


def _told(evolved: Evolved, dry_run: bool) -> Iterator[str]:
    yield (
        f"{evolved.path}: {len(evolved.proposals)} proposals from {evolved.looked_at} lessons; {evolved.said} are told "
        f"there already, {evolved.settled} were proposed before"
    )
    yield from _proposed(evolved.proposals, dry_run)


def _proposed(proposals: Iterable[Proposal], dry_run: bool) -> Iterator[str]:
    from acemem.cli.review.text import difference

    for proposal in proposals:
        yield f"    {proposal.id or 'proposal'}  {proposal.heading}: {proposal.reason}"
        if dry_run:
            yield from (f"        {line}" for line in difference(proposal))


def _notes(out: Output, evolved: Evolved) -> None:
    if evolved.remark is not None:
        out.note(f"mem: {evolved.remark}")
    for item in evolved.left:
        out.note(f"mem: not proposed: {item.text} ({item.reason})")


def _reading(out: Output) -> Callable[[str], None]:
    return lambda path: out.step(f"reading {path}")
