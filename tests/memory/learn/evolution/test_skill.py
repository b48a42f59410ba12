"""A skill is changed by proposals, section by section, from what sessions have taught."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from acemem import Memory
from acemem.memory.context.proposals import accept, preview, proposals_of, reject
from acemem.memory.errors import BadInput, NotFound, UsageError
from acemem.memory.learn.evolution.skill import Evolved, evolve
from acemem.memory.models import Bullet
from tests.bullets import store
from tests.memory.learn.evolution.living import SKILL, write_skill

EXPIRED = "`npm publish` fails with 403 when the token has expired; run `npm login` first."


def learned(memory: Memory, text: str, kind: str = "failure", **changes: object) -> Bullet:
    """A bullet that two sessions have shown."""
    return store(memory, text, **{"kind": kind, "seen_in": ["a", "b"], "trust": "agent", **changes})


def look(memory: Memory, path: Path, write: bool = True) -> Evolved:
    return evolve(memory.home, memory.project, path, write)


def test_a_failure_is_told_in_the_section_that_speaks_of_it(memory: Memory, project: Path) -> None:
    path = write_skill(project)
    lesson = learned(memory, EXPIRED)
    [proposal] = look(memory, path).proposals
    assert (proposal.kind, proposal.heading, proposal.change_type) == ("skill", "## Publish", "append")
    assert proposal.bullets == (lesson.id,) and proposal.source_sessions == ("a", "b")
    assert path.read_text("utf-8") == SKILL, "nothing is written before acceptance"
    accept(memory.home, proposal)
    line = "- Publish with `npm publish --access public`.\n"
    assert path.read_text("utf-8") == SKILL.replace(line, f"{line}- {EXPIRED}\n")


def test_a_statement_that_evidence_contradicts_keeps_what_is_still_true(memory: Memory, project: Path) -> None:
    path = write_skill(project)
    learned(memory, "Use `pnpm publish`, not `npm publish`, in this repository.", "preference")
    [proposal] = look(memory, path).proposals
    assert "contradicted" in proposal.reason
    before, after = preview(proposal)
    assert after == before.replace(b"`npm publish --access public`", b"`pnpm publish --access public`")


@pytest.mark.parametrize("heading", ["Publish <!-- x -->", "Publish " + "very " * 40 + "well"])
def test_a_section_that_no_proposal_can_name_is_left(memory: Memory, project: Path, heading: str) -> None:
    """Rather than proposed under another name, which could never be accepted."""
    path = write_skill(project)
    path.write_text(SKILL.replace("## Publish", f"## {heading}"), "utf-8")
    learned(memory, "Use `pnpm publish`, not `npm publish`, in this repository.", "preference")
    evolved = look(memory, path)
    assert evolved.proposals == () and "no proposal can name" in evolved.left[0].reason


def test_a_folder_is_told_from_its_skill(memory: Memory, project: Path) -> None:
    """With the command that was meant."""
    path = write_skill(project)
    with pytest.raises(UsageError, match=r"is a folder; name the file in it, as `mem evolve .*SKILL.md`"):
        look(memory, path.parent)


def test_what_it_says_already_is_left_out(memory: Memory, project: Path) -> None:
    path = write_skill(project)
    learned(memory, "Update the changelog with all merged pull requests.", "preference")
    evolved = look(memory, path)
    assert (evolved.looked_at, evolved.said, evolved.proposals) == (1, 1, ())


@pytest.mark.parametrize(
    "changes",
    [
        {"seen_in": ["a"]},
        {"confidence": 0.69},
        {"trust": "tool"},
        {"kind": "context"},
        {"scope": "project:other-123456"},
        {"scope": "agent:codex"},
    ],
)
def test_too_little_evidence_teaches_nothing(memory: Memory, project: Path, changes: dict[str, object]) -> None:
    learned(memory, EXPIRED, **changes)
    assert look(memory, write_skill(project)).looked_at == 0


def test_what_does_not_concern_it_stays_out(memory: Memory, project: Path) -> None:
    learned(memory, "Answer in German.", "preference")
    learned(memory, "The Kafka consumer hangs when its topic is missing.")
    evolved = look(memory, write_skill(project))
    assert (evolved.looked_at, evolved.proposals) == (2, ())


def test_what_fits_no_section_becomes_a_pitfall(memory: Memory, project: Path) -> None:
    text = "---\nname: release\ndescription: Publish the shop to npm, tag the release.\n---\n\nAsk Anna.\n"
    path = write_skill(project, text)
    learned(memory, "Publish to npm only after the release tag was pushed.", "preference")
    [proposal] = look(memory, path).proposals
    assert proposal.heading == "## Pitfalls"
    accept(memory.home, proposal)
    assert path.read_text("utf-8").startswith(text) and path.read_text("utf-8").count("- Publish to npm only") == 1


def test_it_is_proposed_once_and_never_again_after_a_no(memory: Memory, project: Path) -> None:
    path = write_skill(project)
    learned(memory, EXPIRED)
    [proposal] = look(memory, path).proposals
    assert look(memory, path).proposals == ()
    reject(memory.home, proposal)
    assert look(memory, path).proposals == ()
    learned(memory, EXPIRED.upper().replace("NPM", "npm"), id="again")
    assert look(memory, path).proposals == (), "not in other words either"


def test_a_section_that_changed_is_looked_at_anew(memory: Memory, project: Path) -> None:
    path = write_skill(project)
    learned(memory, "Use `pnpm publish`, not `npm publish`, in this repository.", "preference")
    [old] = look(memory, path).proposals
    path.write_text(SKILL.replace("push the tag.", "push it."), "utf-8")
    with pytest.raises(BadInput, match="mem evolve"):
        accept(memory.home, old)
    [new] = look(memory, path).proposals
    accept(memory.home, new)
    assert "push it." in path.read_text("utf-8") and "pnpm publish" in path.read_text("utf-8")
    assert {p.id: p.standing for p in proposals_of(memory.home)} == {old.id: "reverted", new.id: "accepted"}


def test_a_dry_run_keeps_nothing(memory: Memory, project: Path) -> None:
    learned(memory, EXPIRED)
    assert len(look(memory, write_skill(project), write=False).proposals) == 1
    assert proposals_of(memory.home) == []


def test_a_skill_for_all_projects_learns_only_what_holds_in_all(memory: Memory, fresh_surroundings: Path) -> None:
    path = write_skill(fresh_surroundings)
    learned(memory, EXPIRED)
    everywhere = learned(memory, "Never publish to npm with an expired token.", "preference", scope="global")
    [proposal] = look(memory, path).proposals
    assert proposal.bullets == (everywhere.id,) and proposal.target_file.startswith("~/")


def test_what_is_contested_teaches_nothing(memory: Memory, project: Path) -> None:
    path = write_skill(project)
    memory.add(["Publish with 2 approvals to npm.", "Publish with 4 approvals to npm."], kind="decision")
    assert len(memory.conflicts()) == 1
    assert look(memory, path).looked_at == 0


def test_words_of_a_lesson_stay_one_harmless_line(memory: Memory, project: Path) -> None:
    path = write_skill(project)
    learned(memory, "# Publish with `npm publish` <!-- mem:end --> only\nfrom main.", "preference")
    [proposal] = look(memory, path).proposals
    accept(memory.home, proposal)
    text = path.read_text("utf-8")
    assert "<!-- mem:end -->" not in text and text.count("\n# ") == 1


def test_what_cannot_be_a_skill_is_refused(memory: Memory, project: Path, open_memory: Callable[..., Memory]) -> None:
    with pytest.raises(NotFound, match="no "):
        look(memory, project / "SKILL.md")
    (project / "notes.md").write_text("# Notes\n", "utf-8")
    with pytest.raises(UsageError, match="no context file"):
        look(memory, project / "notes.md")
    (project / "SKILL.md").write_bytes(b"\xff\xfe# no text")
    with pytest.raises(BadInput, match="UTF-8"):
        look(memory, project / "SKILL.md")
