"""What an attacker found once, and must not find again."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from acemem import BadInput, Memory, UsageError
from acemem.cli.main import cli
from acemem.memory.context import block
from acemem.memory.models import iso
from acemem.memory.sessions.injected import without_injected
from acemem.memory.sessions.timestamps import seconds
from tests.logs import conversation, write_log


@pytest.mark.parametrize("odd", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"])
def test_an_odd_date_in_a_log_is_no_date(odd: str) -> None:
    """And no point in time is without a form to print."""
    assert seconds(odd) is None
    assert (iso(-1e18), iso(1e18)) == ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z")


def test_a_pasted_context_file_is_no_new_evidence() -> None:
    """Neither our block nor a single line of it is learned again; the words around it stay."""
    line = "- Use tabs. [mem:abcd1234]\n"
    text = f"look:\n<!-- mem:begin x -->\n{line}<!-- mem:end -->\nfix it\n{line}"
    assert without_injected(text) == "look:\n\nfix it\n"


def test_an_example_of_a_block_in_a_fence_is_not_the_block() -> None:
    """The real one goes to the end, and the example stays as it was."""
    document = b"# Notes\n```\n<!-- mem:begin x -->\nold\n<!-- mem:end -->\n```\n"
    after = block.put(document, "- new", Path("AGENTS.md"))
    assert after.startswith(document)
    assert block.put(after, "- new", Path("AGENTS.md")) == after


def test_a_device_is_no_context_file(tmp_path: Path) -> None:
    """What is not a regular file is refused before anything is written."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(BadInput, match="not a regular file"):
        block.read(pipe)


def test_a_default_target_that_leads_out_of_the_project_is_refused(memory: Memory, tmp_path: Path) -> None:
    """A repository cannot make us write into a file elsewhere; a person who names the target can."""
    memory.promote(memory.add("Run the tests with make test.")[0].id)
    outside = tmp_path / "rc"
    outside.write_text("mine\n", "utf-8")
    (memory.project.root / "AGENTS.md").symlink_to(outside)
    with pytest.raises(BadInput, match="leads out of the project"):
        memory.render()
    assert outside.read_text("utf-8") == "mine\n"
    assert memory.render([memory.project.root / "AGENTS.md"])[0].changed


def test_feedback_belongs_to_what_was_shown_and_counts_once(memory: Memory) -> None:
    """A receipt speaks for its own bullets, once each."""
    shown = memory.add("The parser reads the config file first.")[0]
    other = memory.add("Deploys need two approvals.")[0]
    payload = {"prompt": "The parser reads the config file first.", "session_id": "s"}
    receipt = memory.keep_receipt(memory.hook("claude-code", "user-prompt-submit", payload).receipt).data["receipt"]
    event = memory.feedback(shown.id, True, receipt=receipt)
    for id, said in ((shown.id, "already"), (other.id, "not shown")):
        with pytest.raises(UsageError, match=said):
            memory.feedback(id, True, receipt=receipt)
    memory.undo(event.id)
    assert memory.feedback(shown.id, False, receipt=receipt).score == -0.5


def test_two_statements_that_a_person_parted_stay_two(memory: Memory) -> None:
    """What `mem restore` took apart, the next refine leaves apart."""
    first, second = memory.add(["Run all tests with make test.", "Run all the tests with make test."], merge=False)
    [merge] = memory.refine(yes=True).merged
    memory.restore(merge.loser.id)
    plan = memory.refine(yes=True)
    assert (plan.merged, [pair.reason for pair in plan.kept_apart]) == ((), ["a person said that these are two"])
    assert {memory.bullet(bullet.id).status for bullet in (first, second)} == {"active"}


def test_a_limit_counts_only_logs_with_something_new(memory: Memory, tmp_path: Path) -> None:
    """So that going on reaches the last of them."""
    logs = [write_log(tmp_path / f"{n}.jsonl", conversation(session=f"s{n}", key=f"k{n}")) for n in range(3)]
    reports = [memory.ingest(logs, most=2) for _ in range(2)]
    assert [(report.sessions, report.left) for report in reports] == [(2, 1), (1, 0)]


def test_a_negative_setting_can_be_set(memory: Memory) -> None:
    """It is a value, not an option."""
    done = CliRunner().invoke(cli, ["config", "score.harmful", "-0.7", "--json", "--home", str(memory.home.path)])
    assert json.loads(done.stdout) == {"score.harmful": -0.7}


def test_a_prompt_of_megabytes_is_asked_by_its_beginning_and_its_end(memory: Memory) -> None:
    """What a person says stands around what they paste."""
    bullet = memory.add("The parser reads the config file first.")[0]
    pasted = " ".join(f"word{n}" for n in range(300_000))
    hits = memory.search(f"The parser reads the config file first. {pasted}", floor=False)
    assert hits[0].id == bullet.id
    assert hits[0].parts["bm25"] > 0


def test_a_log_with_an_impossible_name_is_reported_as_bad_input(memory: Memory) -> None:
    """And never as a fault of the store."""
    home = ["--home", str(memory.home.path)]
    ran = CliRunner().invoke(cli, ["ingest", *home, "a" * 5000])
    assert (ran.exit_code, "File name too long" in ran.stderr) == (3, True)


def test_the_doctor_looks_at_every_part_although_one_cannot_be_opened(memory: Memory) -> None:
    """A file stands where the table's folder belongs."""
    memory.add("Use tabs.")
    table = memory.home.path / "lance"
    table.rename(memory.home.path / "moved")
    table.write_text("", "utf-8")
    found = {check.name: check.ok for check in memory.examine()}
    assert found == {"settings": True, "ledger": True, "embedder": True, "table": False}
