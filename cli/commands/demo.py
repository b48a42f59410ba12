"""`mem demo`: the whole loop on sample logs, with nothing of the user's touched."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from acemem.cli.options import inherited
from acemem.cli.output import Output, bullet_line

SAMPLES = ("monday.jsonl", "wednesday.jsonl", "friday.jsonl")
PROJECT = "/home/dana/shop"  # where the sample sessions ran; it need not exist
PROMPT = "Run pytest: the fee test is off by a cent, some float in the money calculation. Fix it."
START = 1_793_988_000.0  # the Friday evening after the sample sessions: the demo prints the same every time
DAY = 86_400.0


@click.command("demo")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(as_json: bool) -> None:
    """Run the whole loop on sample logs, in a temporary store.

    Three short sessions of a made-up project are read, remembered, put in front of a prompt, judged, cleaned up and
    rendered. Nothing outside a temporary folder is touched.
    """
    as_json = as_json or bool(inherited("as_json"))
    out = Output(as_json)
    stages: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="mem-demo-") as folder:
        for name, title, data, lines in _stages(Path(folder)):
            stages[name] = data
            if not as_json:
                out.emit(None, [f"\n== {len(stages)}. {title}", *lines])
    if as_json:
        out.emit(stages, ())


def _stages(folder: Path) -> Iterator[tuple[str, str, Any, list[str]]]:
    from acemem.api import Memory

    now = START
    home = folder / "home"
    samples = Path(__file__).parent.parent / "demo"
    with Memory.open(home, PROJECT, lambda: now) as memory:
        report = memory.ingest(samples / name for name in SAMPLES)
        lines = [
            f"{item.verdict:<7} {bullet_line(item.bullet.id, item.bullet.score, item.bullet.kind, item.bullet.text)}"
            for item in report.admitted
        ]
        lines.append(
            f"{report.sessions} sessions, {report.insights} insights: {report.added} bullets, {report.merged} merged"
        )
        yield "ingest", "Session logs in, bullets out (mem ingest)", report.to_json(), lines

        payload = {"session_id": "demo-4", "cwd": PROJECT, "prompt": PROMPT}
        answer = memory.hook("claude-code", "user-prompt-submit", payload)
        assert answer.output is not None  # the samples are about this prompt
        receipt = memory.keep_receipt(answer.receipt)
        text = answer.output["hookSpecificOutput"]["additionalContext"]
        lines = [f"prompt: {PROMPT}", *text.split("\n"), f"receipt {receipt.data['receipt']}"]
        yield "hook", "The best of them in front of a prompt (mem hook)", answer.output, lines

        shown = [hit["id"] for hit in receipt.data["hits"]]
        wrong = memory.add(["Calculate money with float and compare it in tests with a tolerance of one cent."])[0]
        before = memory.search(PROMPT)
        events = [memory.feedback(id, True, receipt=receipt.data["receipt"]) for id in shown[:2]]
        events += [memory.feedback(wrong.id, False, session=session) for session in ("demo-4", "demo-5")]
        after = memory.search(PROMPT)
        lines = [f"{e.id}  {e.bullet}  {'helpful' if e.data['helpful'] else 'harmful'}  {e.score:+g}" for e in events]
        lines.append(f"order before  {' '.join(hit.id for hit in before)}")
        lines.append(f"order after   {' '.join(hit.id for hit in after)}")
        data = {
            "events": [event.to_json() for event in events],
            "before": [hit.id for hit in before],
            "after": [hit.id for hit in after],
        }
        yield "feedback", f"Feedback, and what it changes (mem feedback); {wrong.id} was bad advice", data, lines

        now += DAY
        plan = memory.refine()
        lines = [f"prune  {v.bullet.id}  {v.bullet.text}\n       {v.reason}" for v in plan.pruned]
        lines.append(f"plan {plan.id}: {plan.removed} of {plan.live} bullets; undo with `mem refine undo {plan.id}`")
        yield "refine", "Cleaning up what persistently harms (mem refine)", plan.to_json(), lines

        rules = [memory.promote(bullet.id) for bullet in memory.promotable()]
        lines = [bullet_line(rule.id, rule.score, rule.kind, rule.text, rule.status) for rule in rules]
        yield "promote", "What earned it becomes a rule (mem promote)", [rule.to_json() for rule in rules], lines

        target = folder / "CLAUDE.local.md"  # what a person wants everywhere does not go into the team's file
        target.write_text("# Shop\n\nThis line is Dana's own and stays as it is.\n", "utf-8")
        memory.render([target])
        document = target.read_text("utf-8")
        yield "render", "Rules in the context file (mem render)", {"document": document}, document.splitlines()
