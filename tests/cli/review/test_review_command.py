"""`mem review`: every step as a plain command."""

from __future__ import annotations

from pathlib import Path

from acemem import Memory
from acemem.memory.context.proposals import propose
from tests.cli.conftest import Mem
from tests.suggestions import suggestion


def test_nothing_to_review_is_exit_code_1_and_says_where_proposals_come_from(mem: Mem) -> None:
    """An empty list is an answer, too."""
    result = mem("review")
    assert result.exit_code == 1
    assert "mem improve" in result.stderr


def test_without_a_terminal_the_open_proposals_are_listed(mem: Mem, memory: Memory) -> None:
    """A script, or an agent, sees what a person would."""
    [proposal] = propose(memory.home, [suggestion(memory)])
    listed = mem("review").stdout
    assert proposal.id in listed and "AGENTS.md" in listed


def test_one_proposal_is_shown_with_its_records_and_the_diff_of_its_file(
    mem: Mem, memory: Memory, project: Path
) -> None:
    """What speaks for it, word for word, and what would change, line for line."""
    (project / "AGENTS.md").write_text("# Shop\n\n## Commands\n\n- Lint with ruff.\n", "utf-8")
    [proposal] = propose(memory.home, [suggestion(memory)])
    shown = mem("review", proposal.id[:4]).stdout
    assert "no, use make test" in shown
    assert "+- Run the tests with `make test`." in shown
    assert " - Lint with ruff." in shown


def test_nothing_is_written_before_acceptance_and_all_of_it_after(mem: Mem, memory: Memory, project: Path) -> None:
    """Listing and showing touch no file."""
    [proposal] = propose(memory.home, [suggestion(memory)])
    mem("review")
    mem("review", proposal.id)
    assert not (project / "AGENTS.md").exists()
    assert mem("review", proposal.id, "--accept").exit_code == 0
    assert (project / "AGENTS.md").read_text("utf-8") == "## Commands\n\n- Run the tests with `make test`.\n"


def test_other_words_can_be_accepted(mem: Mem, memory: Memory, project: Path, tmp_path: Path) -> None:
    """From a file, or from standard input."""
    [first, second] = propose(memory.home, [suggestion(memory), suggestion(memory, "- Commit in small steps.")])
    (tmp_path / "better.md").write_text("- Run `make test`, nothing else.\n", "utf-8")
    mem("review", first.id, "--accept", "--text", tmp_path / "better.md")
    mem("review", second.id, "--accept", "--text", "-", input="- Commit often.\n")
    text = (project / "AGENTS.md").read_text("utf-8")
    assert text == "## Commands\n\n- Run `make test`, nothing else.\n- Commit often.\n"


def test_a_rejected_one_is_listed_no_more_and_changes_nothing(mem: Mem, memory: Memory, project: Path) -> None:
    """Its reason stays in the ledger."""
    [proposal] = propose(memory.home, [suggestion(memory)])
    assert mem.json("review", proposal.id, "--reject", "--note", "we use just")["standing"] == "rejected"
    assert mem("review").exit_code == 1
    assert mem.json("review", "--all")[0]["standing"] == "rejected"
    assert not list(project.glob("*.md"))


def test_a_decision_taken_back_restores_the_file_and_opens_the_proposal(
    mem: Mem, memory: Memory, project: Path
) -> None:
    """A file that the change made is gone again."""
    [proposal] = propose(memory.home, [suggestion(memory)])
    mem("review", proposal.id, "--accept")
    assert mem.json("review", proposal.id, "--undo")["standing"] == "open"
    assert not (project / "AGENTS.md").exists()


def test_a_file_changed_since_is_left_as_it_is(mem: Mem, memory: Memory, project: Path) -> None:
    """What a person wrote there meanwhile is worth more than our order."""
    [proposal] = propose(memory.home, [suggestion(memory)])
    mem("review", proposal.id, "--accept")
    file = project / "AGENTS.md"
    file.write_text(file.read_text("utf-8").replace("make test", "make test, please"), "utf-8")
    result = mem("review", proposal.id, "--undo")
    assert result.exit_code == 3
    assert "was changed since" in result.stderr
    assert "make test, please" in file.read_text("utf-8")
    assert mem.json("review", proposal.id)["standing"] == "accepted"


def test_what_is_decided_cannot_be_decided_again(mem: Mem, memory: Memory) -> None:
    """And the message names the way back."""
    [proposal] = propose(memory.home, [suggestion(memory)])
    mem("review", proposal.id, "--reject")
    result = mem("review", proposal.id, "--accept")
    assert result.exit_code == 2
    assert f"mem review {proposal.id} --undo" in result.stderr


def test_one_decision_at_a_time(mem: Mem, memory: Memory) -> None:
    """Contradicting options are wrong usage, and so is a decision about nothing."""
    [proposal] = propose(memory.home, [suggestion(memory)])
    assert mem("review", proposal.id, "--accept", "--reject").exit_code == 2
    assert mem("review", "--accept").exit_code == 2
    assert mem("review", proposal.id, "--text", "x").exit_code == 2
    assert mem("review", "cnothing").exit_code == 1


def test_commands_to_a_terminal_within_a_proposal_do_not_reach_it(mem: Mem, memory: Memory) -> None:
    """Text from logs is printed, never obeyed."""
    [proposal] = propose(memory.home, [suggestion(memory, "- Run \x1b[31mred\x1b[0m\u202e tests.")])
    for shown in (mem("review"), mem("review", proposal.id), mem("review", proposal.id, "--json")):
        assert "\x1b[31m" not in shown.stdout and "\u202e" not in shown.stdout
