"""Context files by the command line: from a rule to its line, and from its failures to the line's end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from acemem import Memory
from tests.bullets import mark, store
from tests.cli.conftest import Mem


def text(path: Path) -> str:
    return path.read_bytes().decode("utf-8")


def test_a_rule_that_stops_helping_leaves_the_file(mem: Mem, memory: Memory, project: Path) -> None:
    """Under 50 % over its last 10 applications; the person's text and the other rules stay to the byte."""
    agents = project / "AGENTS.md"
    agents.write_bytes(b"# Mine\r\n\r\ncaf\xc3\xa9\r\n")
    failing = mem.json("add", "Clear the cache before each build.")["id"]
    for word in ("Run the linter before the tests.", "Deploy from the release branch."):
        mem.json("promote", mem.json("add", word)["id"])
    mem.json("promote", failing)
    mem.json("render")
    before = text(agents)
    line = f"- Clear the cache before each build. [mem:{failing}]\r\n"
    assert line in before
    for n in range(10):
        mem.json("feedback", "helpful" if n % 5 < 2 else "harmful", failing)
    mem.json("refine", "--yes")
    assert mem("render", "--check").exit_code == 1
    mem.json("render")
    assert text(agents) == before.replace(line, "")
    assert mem("render", "--check").exit_code == 0


def test_a_file_with_damaged_markers_is_refused(mem: Mem, memory: Memory, project: Path) -> None:
    """Nothing is written, neither there nor anywhere else."""
    mem.json("promote", mem.json("add", "Run the linter before the tests.")["id"])
    mem.json("render")
    whole = text(project / "AGENTS.md")
    damaged = whole.replace("<!-- mem:end -->", "")
    (project / "AGENTS.md").write_text(damaged, "utf-8")
    (project / "CLAUDE.md").write_bytes(b"mine\n")
    result = mem("render")
    assert result.exit_code == 3
    assert "do not form one block" in result.stderr
    assert (text(project / "AGENTS.md"), text(project / "CLAUDE.md")) == (damaged, "mine\n")


def test_what_drifted_is_listed_and_marked_when_asked(mem: Mem, memory: Memory, project: Path) -> None:
    """`mem drift` ends with 1 as long as there is something; a plain render marks nothing."""
    (project / "src").mkdir()
    (project / "src" / "parser.py").write_bytes(b"")
    id = mem.json("add", "The parser lives in src/parser.py.")["id"]
    mem.json("promote", id)
    assert mem.json("drift") == {"checked": 1, "drifted": []}
    (project / "src" / "parser.py").unlink()
    result = mem("drift", "--json")
    assert result.exit_code == 1
    [row] = json.loads(result.stdout)["drifted"]
    assert (row["id"], row["contradictions"][0]["found"]) == (id, "no file src/parser.py")
    mem.json("render")
    assert "outdated" not in text(project / "AGENTS.md")
    mem.json("render", "--drift")
    assert f"(outdated? no file src/parser.py) [mem:{id}]" in text(project / "AGENTS.md")


def test_rules_about_the_person_are_named_and_kept_apart(mem: Mem, memory: Memory, project: Path) -> None:
    """The note says how to get them into a file of one's own."""
    id = mem.json("add", "Answer in French.", "--kind", "preference", "--scope", "global")["id"]
    mem.json("promote", id)
    result = mem("render")
    assert result.exit_code == 0
    assert "1 rules about you stay out of files that a team shares" in result.stderr
    assert not (project / "AGENTS.md").exists()
    mem("render", "--personal")
    assert "Answer in French" in text(project / "CLAUDE.local.md")


@pytest.mark.parametrize("form", ["jsonl", "playbook", "markdown"])
def test_a_memory_moves_to_another_home(mem: Mem, memory: Memory, tmp_path: Path, form: str) -> None:
    """By each of the three forms, through a file or a pipe; a bundle with everything, the others with what they say."""
    bullet = store(memory, "Run the linter before the tests — 日本語.", scope="global")
    mark(memory, bullet, True, "a", "b")
    mark(memory, bullet, False, "c")
    exported = mem("export", "--format", form)
    assert exported.exit_code == 0
    other = tmp_path / "other"
    other.mkdir()
    (other / "config.toml").write_text('embedder = "hashing"\n', "utf-8")
    done = mem.json("--home", other, "import", "-", "--scope", "global", input=exported.stdout)
    assert (done["added"], done["marks"]) == (1, 3)
    [moved] = mem.json("--home", other, "list")
    assert (moved["text"], moved["score"]) == (bullet.text, 0.1)
    assert (moved["id"] == bullet.id) is (form == "jsonl")
    undone = mem.json("--home", other, "import", "--undo", done["import"])
    assert undone["import"] == done["import"]
    assert mem("--home", other, "list").exit_code == 1


def test_counts_on_standard_output_need_another_place_for_the_memory(mem: Mem, memory: Memory) -> None:
    """One JSON document, not two."""
    result = mem("export", "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--output" in result.stderr
