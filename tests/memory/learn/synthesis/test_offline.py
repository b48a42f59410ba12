"""The offline synthesizer: what has earned its place is proposed, what lost it is taken out, all else waits."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from acemem import Memory
from acemem.memory.context.proposals import Proposal, accept, preview, proposals_of, propose, reject
from acemem.memory.learn.synthesis import offline
from acemem.memory.learn.synthesis.ground import Ground, Synthesis
from acemem.memory.models import Bullet, Draft
from acemem.memory.scope import GLOBAL
from tests.bullets import mark, store

Synthesize = Callable[..., Synthesis]


def earned(memory: Memory, text: str, **changes: object) -> Bullet:
    """A bullet that two sessions have shown."""
    return store(memory, text, **{"seen_in": ["a", "b"], **changes})  # type: ignore[arg-type]


def only(found: Synthesis) -> Proposal:
    assert len(found.proposals) == 1, found
    return found.proposals[0]


def why(found: Synthesis) -> list[str]:
    return [dropped.reason for dropped in found.dropped]


class TestWhatIsProposed:
    """Only what has earned a rule."""

    def test_two_sessions_are_enough_and_one_is_not(self, memory: Memory, synthesize: Synthesize) -> None:
        """The proposal names both, and ends each line with the bullet's id."""
        bullet = earned(memory, "Run the linter before each commit.")
        store(memory, "Reset the database with `make db`.", seen_in=["a"])
        proposal = only(synthesize())
        assert proposal.content == f"- Run the linter before each commit. [mem:{bullet.id}]"
        assert (proposal.bullets, proposal.source_sessions) == ((bullet.id,), ("a", "b"))
        assert proposal.confidence == 0.9 and proposal.statements == (bullet.text,)

    @pytest.mark.parametrize(
        "lacks",
        [{"confidence": 0.69}, {"trust": "tool"}, {"seen_in": ["a", "a"]}],
    )
    def test_a_lack_of_anything_is_enough_to_wait(
        self, memory: Memory, synthesize: Synthesize, lacks: dict[str, object]
    ) -> None:
        """Confidence, a source besides tool output, a second session."""
        earned(memory, "Run the linter before each commit.", **lacks)
        assert synthesize().proposals == []

    def test_a_rule_is_not_proposed(self, memory: Memory, synthesize: Synthesize) -> None:
        """It stands in a managed block, or will."""
        memory.promote(earned(memory, "Run the linter before each commit.").id)
        assert synthesize().proposals == []

    def test_what_two_kinds_of_bullets_say_is_one_thing(self, memory: Memory, synthesize: Synthesize) -> None:
        """Each seen once, in two sessions together; seen in the same session it is still one sighting."""
        store(memory, "Use pnpm to install packages.", kind="preference", seen_in=["a"])
        store(memory, "Use pnpm to install packages.", kind="decision", seen_in=["b"])
        store(memory, "Keep the changelog sorted.", kind="preference", seen_in=["a"])
        store(memory, "Keep the changelog sorted.", kind="decision", seen_in=["a"])
        proposal = only(synthesize())
        assert proposal.statements == ("Use pnpm to install packages.",) and set(proposal.source_sessions) == {"a", "b"}

    def test_lines_of_one_section_are_one_proposal_best_first(self, memory: Memory, synthesize: Synthesize) -> None:
        """At most a handful; the rest is told, and comes with the next run."""
        for number, word in enumerate("alpha beta gamma delta epsilon zeta eta".split()):
            bullet = earned(memory, f"The {word} service needs {word}.toml.", id=f"s{number:07}")
            mark(memory, bullet, True, *(f"u{n}" for n in range(number)))
        proposal = only(synthesize())
        assert [text.split()[1] for text in proposal.statements] == ["eta", "zeta", "epsilon", "delta", "gamma"]
        assert all("the next run" in reason for reason in why(synthesize())) and len(why(synthesize())) == 2
        propose(memory.home, [proposal])
        assert [text.split()[1] for text in only(synthesize()).statements] == ["beta", "alpha"]

    def test_a_section_does_not_pile_up(self, memory: Memory, synthesize: Synthesize) -> None:
        """However often it is run: three proposals are enough to read."""
        for number in range(20):
            earned(memory, f"The service of room {number} needs port {8000 + number}.")
        for _ in range(5):
            propose(memory.home, synthesize().proposals)
        assert len(proposals_of(memory.home, "open")) == 3
        assert sum("wait for review already" in reason for reason in why(synthesize())) == 5

    def test_it_is_deterministic(self, memory: Memory, synthesize: Synthesize) -> None:
        """The same store and the same files, the same proposals."""
        for number in range(6):
            earned(
                memory, f"Service {number} listens on port {8000 + number}.", kind=["context", "failure"][number % 2]
            )
        assert synthesize() == synthesize()

    def test_a_focus_narrows_it(self, memory: Memory, synthesize: Synthesize) -> None:
        """To what has one of its words."""
        earned(memory, "Run the linter before each commit.")
        earned(memory, "The database is Postgres.")
        assert only(synthesize(focus="database tables")).statements == ("The database is Postgres.",)

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("Run the linter. " * 40, "too long for a line"),
            ("Log in with [redacted:token] first.", "taken out as a secret"),
        ],
    )
    def test_what_makes_no_line_waits(self, memory: Memory, synthesize: Synthesize, text: str, words: str) -> None:
        """A cut sentence, or one with a hole, tells nobody anything."""
        earned(memory, text)
        found = synthesize()
        assert found.proposals == [] and words in why(found)[0]

    def test_contested_ones_wait(self, memory: Memory, synthesize: Synthesize) -> None:
        """Until the evidence, or a person, settles it."""
        one, other = memory.add(["Indent YAML files with 2 spaces.", "Indent YAML files with 4 spaces."])
        found = synthesize()
        assert found.proposals == [] and all("contested by" in reason for reason in why(found))
        memory.resolve(one.id, other.id, one.id)
        assert only(synthesize()).bullets == (one.id,)

    def test_what_the_repository_contradicts_waits(self, memory: Memory, synthesize: Synthesize, project: Path) -> None:
        """It would be wrong on its first day."""
        (project / "Makefile").write_text("test:\n\ttrue\n")
        earned(memory, "Run the tests with `make check`.")
        earned(memory, "Run the tests with `make test`.", id="right123")
        found = synthesize()
        assert only(found).bullets == ("right123",)
        assert any("no target check" in reason for reason in why(found))


class TestWhereItGoes:
    """The file and the section."""

    def test_a_file_that_is_not_there_is_created(self, memory: Memory, synthesize: Synthesize) -> None:
        """AGENTS.md for the project."""
        earned(memory, "The database is Postgres.")
        proposal = only(synthesize())
        assert (proposal.target_file, proposal.change_type, proposal.heading) == (
            "AGENTS.md",
            "create",
            "Project facts",
        )

    @pytest.mark.parametrize(
        ("there", "target"),
        [
            (["CLAUDE.md"], "CLAUDE.md"),
            (["CLAUDE.md", "AGENTS.md"], "AGENTS.md"),
            (["GEMINI.md"], "GEMINI.md"),
            ([".claude/CLAUDE.md"], ".claude/CLAUDE.md"),
        ],
    )
    def test_one_that_is_there_is_added_to(
        self, memory: Memory, synthesize: Synthesize, project: Path, there: list[str], target: str
    ) -> None:
        """AGENTS.md where there is one, since most agents read it."""
        for name in there:
            (project / name).parent.mkdir(exist_ok=True)
            (project / name).write_text("# Shop\n")
        earned(memory, "The database is Postgres.")
        proposal = only(synthesize())
        assert (proposal.target_file, proposal.change_type) == (target, "append")

    @pytest.mark.parametrize(("there", "target"), [([], "MEMORY.md"), (["CLAUDE.md"], "CLAUDE.local.md")])
    def test_what_is_about_the_person_stays_with_them(
        self, memory: Memory, synthesize: Synthesize, project: Path, there: list[str], target: str
    ) -> None:
        """Never in a file that the team shares with CLAUDE.md."""
        for name in there:
            (project / name).write_text("# Shop\n")
        earned(memory, "Answer in German.", kind="preference", scope=GLOBAL)
        proposal = only(synthesize())
        assert (proposal.target_file, proposal.scope, proposal.heading) == (target, GLOBAL, "Preferences")

    def test_a_link_to_agents_md_counts_as_claude_md(
        self, memory: Memory, synthesize: Synthesize, project: Path
    ) -> None:
        """CLAUDE.local.md is read beside it."""
        (project / "AGENTS.md").write_text("# Shop\n")
        os.symlink("AGENTS.md", project / "CLAUDE.md")
        earned(memory, "Answer in German.", kind="preference", scope=GLOBAL)
        assert only(synthesize()).target_file == "CLAUDE.local.md"

    def test_a_section_of_the_files_own_takes_it(self, memory: Memory, synthesize: Synthesize, project: Path) -> None:
        """Under its own name, rather than a second one beside it."""
        (project / "AGENTS.md").write_text("# Shop\n\n## Gotchas\n\n- one\n\n## Build & Test\n\nx\n")
        earned(memory, "The port is taken after a crash.", kind="failure")
        earned(memory, "Run the tests with `tox -e py`.", kind="agent_learning")
        assert {p.heading for p in synthesize().proposals} == {"Gotchas", "Build & Test"}

    def test_a_file_that_leads_out_is_left_alone(
        self, memory: Memory, synthesize: Synthesize, project: Path, tmp_path: Path
    ) -> None:
        """And the rest is proposed."""
        (tmp_path / "shared.md").write_text("# Shared\n")
        os.symlink(tmp_path / "shared.md", project / "AGENTS.md")
        earned(memory, "The database is Postgres.")
        earned(memory, "Answer in German.", kind="preference", scope=GLOBAL)
        found = synthesize()
        assert only(found).target_file == "MEMORY.md" and "leads out" in why(found)[0]


class TestWhatStandsAlready:
    """Nothing is said twice."""

    def test_by_its_id(self, memory: Memory, synthesize: Synthesize, project: Path) -> None:
        """Whatever a person made of the words."""
        bullet = earned(memory, "The database is Postgres.")
        (project / "CLAUDE.md").write_text(f"- We store everything in PG. [mem:{bullet.id}]\n")
        assert synthesize().proposals == []

    @pytest.mark.parametrize(
        "line",
        [
            "- The database is Postgres.",
            "It is a shop. The database is Postgres. It is fast.",
            "* The database is Postgres",
        ],
    )
    def test_by_its_meaning(self, memory: Memory, synthesize: Synthesize, project: Path, line: str) -> None:
        """As a line of any file, or a sentence of one."""
        earned(memory, "The database is Postgres.")
        (project / ".claude" / "rules").mkdir(parents=True)
        (project / ".claude" / "rules" / "db.md").write_text(f"---\npaths: x\n---\n{line}\n")
        found = synthesize()
        assert found.proposals == [] and why(found) == ["stands in .claude/rules/db.md already"]

    def test_another_word_is_another_statement(self, memory: Memory, synthesize: Synthesize, project: Path) -> None:
        """Near is not the same."""
        (project / "AGENTS.md").write_text("- The cache of pictures holds 200 entries of each user.\n")
        bullet = earned(memory, "The cache of prices holds 200 entries of each user.")
        assert only(synthesize()).bullets == (bullet.id,)

    def test_what_was_decided_does_not_come_back(self, memory: Memory, synthesize: Synthesize, project: Path) -> None:
        """By meaning: in other words, from another bullet, also when the line was deleted since."""
        earned(memory, "Run the linter before each commit.")
        kept = propose(memory.home, synthesize().proposals)[0]
        assert "waits for review" in why(synthesize())[0]
        reject(memory.home, kept)
        store(memory, "run the linter before each commit", kind="pattern", seen_in=["c", "d", "e"])
        found = synthesize()
        assert found.proposals == [] and f"was rejected as {kept.id}" in why(found)[0]

    def test_an_accepted_line_that_was_deleted_stays_away(
        self, memory: Memory, synthesize: Synthesize, project: Path
    ) -> None:
        """The person took it out."""
        earned(memory, "Run the linter before each commit.")
        accept(memory.home, propose(memory.home, synthesize().proposals)[0])
        assert synthesize() == Synthesis()
        (project / "AGENTS.md").unlink()
        assert "was accepted" in why(synthesize())[0]

    @pytest.mark.parametrize(
        "other",
        ["Never run the linter before each commit.", "Run 3 linters before each commit."],
    )
    def test_the_opposite_and_another_number_are_new(self, memory: Memory, synthesize: Synthesize, other: str) -> None:
        """A rejection of one thing says nothing of another."""
        bullet = earned(memory, "Run the linter before each commit.")
        reject(memory.home, propose(memory.home, synthesize().proposals)[0])
        memory.forget(bullet.id)
        earned(memory, other)
        assert only(synthesize()).statements == (other,)

    def test_a_rejection_holds_in_its_project(
        self, open_memory: Callable[..., Memory], memory: Memory, synthesize: Synthesize, tmp_path: Path
    ) -> None:
        """What is about the person is rejected everywhere."""
        earned(memory, "Answer in German.", kind="preference", scope=GLOBAL)
        earned(memory, "The database is Postgres.")
        for proposal in propose(memory.home, synthesize().proposals):
            reject(memory.home, proposal)
        (tmp_path / "other" / ".git").mkdir(parents=True)
        there = open_memory(tmp_path / "other")
        earned(there, "The database is Postgres.")
        found = offline.synthesize(Ground(there.home, there.project))
        assert only(found).statements == ("The database is Postgres.",) and "was rejected" in why(found)[0]

    def test_many_rejections_ask_for_more_confidence(self, memory: Memory, synthesize: Synthesize) -> None:
        """Of their kind, not of others."""
        for number in range(12):
            proposal = replace(
                propose(memory.home, [_of_kind(memory, "context", f"- Fact {number} about {number * 7}.")])[0]
            )
            reject(memory.home, proposal)
        earned(memory, "The database is Postgres.", confidence=0.8)
        earned(memory, "The port is taken after a crash.", kind="failure", confidence=0.8)
        found = synthesize()
        assert only(found).kind == "failure" and "is below the 0.8" in why(found)[0]


def _of_kind(memory: Memory, kind: str, content: str) -> Proposal:
    root = str(memory.project.root)
    return Proposal("AGENTS.md", "append", content, "r", 0.8, kind, memory.project.scope, root, ("s", "t"), "Facts")


class TestWhatIsTakenOut:
    """A line leaves when it stops earning its place."""

    def accepted(self, memory: Memory, synthesize: Synthesize, *texts: str) -> list[Bullet]:
        bullets = [earned(memory, text) for text in texts]
        for proposal in propose(memory.home, synthesize().proposals):
            accept(memory.home, proposal)
        return bullets

    def test_one_that_fails_in_half_of_its_uses(self, memory: Memory, synthesize: Synthesize, project: Path) -> None:
        """The others of its section stay byte for byte."""
        good, bad = self.accepted(memory, synthesize, "The database is Postgres.", "Restart the proxy after a change.")
        mark(memory, bad, True, *(f"g{n}" for n in range(4)))
        mark(memory, bad, False, *(f"h{n}" for n in range(6)), explicit=False)
        proposal = only(synthesize())
        assert (proposal.change_type, proposal.withdraws, proposal.bullets) == ("update", (bad.id,), ())
        assert "helped in 4 of its last 10" in proposal.reason and proposal.confidence >= 0.7
        before, after = preview(proposal)
        assert after == before.replace(f"- {bad.text} [mem:{bad.id}]\n".encode(), b"")
        accept(memory.home, propose(memory.home, [proposal])[0])
        assert good.id in (project / "AGENTS.md").read_text() and synthesize() == Synthesis()

    def test_one_that_was_archived_and_its_section_with_it(
        self, memory: Memory, synthesize: Synthesize, project: Path
    ) -> None:
        """Where nothing is left below the heading."""
        [bullet] = self.accepted(memory, synthesize, "The database is Postgres.")
        memory.forget(bullet.id)
        accept(memory.home, propose(memory.home, [only(synthesize())])[0])
        assert (project / "AGENTS.md").read_text() == ""

    def test_one_that_was_merged_stays(self, memory: Memory, synthesize: Synthesize) -> None:
        """It stands for its survivor."""
        [bullet] = self.accepted(memory, synthesize, "The database is Postgres.")
        store(memory, "The database is Postgres.", seen_in=["c", "d", "e"], trust="user")
        memory.refine(yes=True)
        assert memory.bullet(bullet.id).merged_into is not None
        assert synthesize() == Synthesis()

    def test_a_rejected_withdrawal_does_not_come_back(self, memory: Memory, synthesize: Synthesize) -> None:
        """The person wants the line."""
        [bullet] = self.accepted(memory, synthesize, "The database is Postgres.")
        memory.forget(bullet.id)
        reject(memory.home, propose(memory.home, [only(synthesize())])[0])
        found = synthesize()
        assert found.proposals == [] and "was rejected" in why(found)[0]

    def test_what_a_person_wrote_beside_it_is_not_lost(
        self, memory: Memory, synthesize: Synthesize, project: Path
    ) -> None:
        """A section with a comment is not written anew, since the comment would not survive it."""
        [bullet] = self.accepted(memory, synthesize, "The database is Postgres.")
        path = project / "AGENTS.md"
        path.write_text(path.read_text() + "- mine <!-- keep -->\n")
        memory.forget(bullet.id)
        found = synthesize()
        assert found.proposals == [] and "holds a comment" in why(found)[0]

    def test_lines_of_the_managed_block_are_the_renders(
        self, memory: Memory, synthesize: Synthesize, project: Path
    ) -> None:
        """It takes them out itself."""
        memory.promote(earned(memory, "The database is Postgres.", id="rule1234").id)
        memory.render()
        memory.forget("rule1234")
        assert "rule1234" in (project / "AGENTS.md").read_text() and synthesize() == Synthesis()

    def test_ids_of_another_store_are_nobodys(self, memory: Memory, synthesize: Synthesize, project: Path) -> None:
        """A colleague's."""
        (project / "AGENTS.md").write_text("## Facts\n\n- The database is Postgres. [mem:zzzzzzzz]\n")
        assert synthesize() == Synthesis()


class TestWhatIsReplaced:
    """A line that sessions prove wrong."""

    FILE = "# Shop\n\n## Style\n\n* Indent YAML files with 4 spaces.\n* Sort imports.\n\n## More\n\nx\n".replace(
        "\n", "\r\n"
    )

    def test_a_persons_words_replace_an_older_line(self, memory: Memory, synthesize: Synthesize, project: Path) -> None:
        """In its place, with its mark, and nothing else of the section changes."""
        (project / "AGENTS.md").write_bytes(self.FILE.encode())
        bullet = earned(memory, "Indent YAML files with 2 spaces.")
        proposal = only(synthesize())
        assert proposal.change_type == "update" and "Indent YAML files with 4 spaces." in proposal.reason
        line = f"* Indent YAML files with 2 spaces. [mem:{bullet.id}]"
        assert preview(proposal)[1] == self.FILE.replace("* Indent YAML files with 4 spaces.", line).encode()

    def test_what_only_agents_said_does_not(self, memory: Memory, synthesize: Synthesize, project: Path) -> None:
        """The file is the person's word."""
        (project / "AGENTS.md").write_bytes(self.FILE.encode())
        earned(memory, "Indent YAML files with 2 spaces.", trust="agent")
        found = synthesize()
        assert found.proposals == [] and "says otherwise" in why(found)[0]

    def test_the_winner_of_a_conflict_replaces_the_loser(
        self, memory: Memory, synthesize: Synthesize, project: Path
    ) -> None:
        """And what is added to the section comes with the same update."""
        old = earned(memory, "Indent YAML files with 4 spaces.", section="Style")
        accept(memory.home, propose(memory.home, synthesize().proposals)[0])
        [new] = memory.add(["Indent YAML files with 2 spaces."], section="Style")
        mark(memory, new, True, *(f"g{n}" for n in range(20)))
        mark(memory, old, False, *(f"g{n}" for n in range(8)), explicit=False)
        third = earned(memory, "Sort the imports.", section="Style")
        proposal = only(synthesize())
        assert proposal.withdraws == (old.id,) and proposal.bullets == (new.id, third.id)
        accept(memory.home, propose(memory.home, [proposal])[0])
        said = (project / "AGENTS.md").read_text()
        assert new.id in said and third.id in said and old.id not in said


def test_quotations_are_the_records_own_words(
    memory: Memory, synthesize: Synthesize, said: Callable[..., Path]
) -> None:
    """Where their logs still lie there, without secrets; else there are none."""
    token = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"
    words = [f"Never push to the release branch, open a pull request instead.\n\nThe log said: {token}"]
    logs = [said("one", words), said("two", words)]
    memory.ingest(logs)
    [bullet] = memory.bullets()
    text = "Open a pull request for the release branch."  # as a person put it, without the token
    memory.home.ledger.append([Draft("edit", bullet.id, data={"text": text})], memory.home.clock())
    proposal = only(synthesize())
    assert {quote.session for quote in proposal.evidence} == {"one", "two"}
    assert all("Never push to the release branch" in quote.text for quote in proposal.evidence)
    assert "ghp_0" not in str(proposal.evidence)
    for log in logs:
        log.unlink()
    assert all(p.evidence == () for p in synthesize().proposals) and proposals_of(memory.home) == []
