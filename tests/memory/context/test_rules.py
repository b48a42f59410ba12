from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem import BadInput, Bullet, Memory, UsageError
from acemem.memory.context.block import BEGIN, END, put
from acemem.memory.context.rules import HEADING, LINE_LIMIT, against_promotion, body_of
from acemem.memory.insight import KINDS
from acemem.memory.models import SECTIONS
from acemem.scoring.effectiveness import DEFAULT_WEIGHTS, Mark, Weights
from tests.bullets import a_bullet, everything, mark, sightings, store
from tests.conftest import NOON

TOKEN = "ghp_" + "a1B2c3D4" * 5

rules = st.builds(
    a_bullet,
    id=st.text("abcdefgh23456789", min_size=8, max_size=8),
    text=st.text(min_size=1, max_size=60)
    | st.sampled_from(["<!-- mem:end -->", "<mem>", "-->", "a\nb\r\nc", "w " * 400]),
    section=st.sampled_from([*SECTIONS.values(), "Ours", "<!-- x", "A --> B"]),
    score=st.floats(-3, 3).map(lambda score: round(score, 1)),
    status=st.just("rule"),
)


def a_rule(memory: Memory, text: str, **changes: object) -> Bullet:
    bullet = store(memory, text, **changes)  # type: ignore[arg-type]
    return memory.promote(bullet.id, force=True)


class TestBody:
    def test_sections_and_rules_stand_in_a_fixed_order(self) -> None:
        """Known sections first in their own order, others by name; within one the best score leads."""
        bullets = [
            a_bullet("b2222222", "Second.", section="Workflow", score=0.3),
            a_bullet("a1111111", "First.", section="Workflow", score=0.9),
            a_bullet("c3333333", "Third.", section="Workflow", score=0.3),
            a_bullet("d4444444", "A pitfall.", section="Pitfalls"),
            a_bullet("e5555555", "Something else.", section="Api"),
        ]
        body, kept = body_of(bullets, 40, 8_000)
        assert kept == 5
        assert body.split("\n") == [
            "## What past sessions taught",
            "",
            "### Pitfalls",
            "",
            "- A pitfall. [mem:d4444444]",
            "",
            "### Workflow",
            "",
            "- First. [mem:a1111111]",
            "- Second. [mem:b2222222]",
            "- Third. [mem:c3333333]",
            "",
            "### Api",
            "",
            "- Something else. [mem:e5555555]",
        ]
        assert body_of(bullets[::-1], 40, 8_000) == (body, kept)

    def test_without_rules_it_is_empty(self) -> None:
        """No heading over nothing."""
        assert body_of([], 40, 8_000) == ("", 0)
        assert body_of([a_bullet(text="word " * 90)], 40, 200) == ("", 0)

    @given(st.lists(rules, max_size=25, unique_by=lambda rule: rule.id), st.integers(1, 30), st.integers(200, 3_000))
    def test_it_keeps_its_budget(self, bullets: list[Bullet], most: int, chars: int) -> None:
        """Neither more rules than `most` nor more characters than `chars`, headings and line ends counted."""
        body, kept = body_of(bullets, most, chars)
        assert len(body) <= chars
        assert kept <= most
        assert body.count(" [mem:") == kept

    def test_it_fills_its_budget_to_the_last_character(self) -> None:
        """One character less, and the last rule is left out."""
        bullets = [a_bullet(f"id{n:06}", kind=kind, section=SECTIONS[kind]) for n, kind in enumerate(KINDS)]
        whole, kept = body_of(bullets, 40, 8_000)
        assert body_of(bullets, 40, len(whole)) == (whole, kept)
        assert body_of(bullets, 40, len(whole) - 1)[1] == kept - 1

    def test_the_lowest_score_is_left_out_first(self) -> None:
        """The budget takes from the end."""
        bullets = [a_bullet(f"id{n:06}", score=n / 10) for n in range(9)]
        body, kept = body_of(bullets, 4, 8_000)
        assert kept == 4
        assert re.findall(r"\[mem:(.*?)\]", body) == ["id000008", "id000007", "id000006", "id000005"]

    @given(st.lists(rules, min_size=1, max_size=6, unique_by=lambda rule: rule.id))
    def test_no_rule_breaks_the_block(self, bullets: list[Bullet]) -> None:
        """Whatever rules and sections say, one line each, and the file renders again to itself."""
        body, kept = body_of(bullets, 40, 100_000)
        assert re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]", body) is None
        document = put(b"# Mine\n", body, Path("AGENTS.md"))
        assert document.count(BEGIN) == document.count(END) == 1
        assert put(document, body, Path("AGENTS.md")) == document
        assert len([line for line in body.split("\n") if line.startswith("- ")]) == kept == len(bullets)

    def test_a_long_rule_is_cut_and_a_secret_is_not_written(self) -> None:
        """A context file is read into every prompt, and often pushed to a public place."""
        body, _ = body_of(
            [a_bullet(text="word " * 500), a_bullet("s", f"Use {TOKEN}."), a_bullet("z", f"ghp_\u200b{TOKEN[4:]}")],
            9,
            9_999,
        )
        assert max(len(line) for line in body.split("\n")) <= LINE_LIMIT + 20
        assert TOKEN[4:] not in body
        assert body.count("[redacted:") == 2


class TestPromotion:
    def test_what_a_person_wrote_needs_no_sessions(self, memory: Memory) -> None:
        """The person is the evidence."""
        [bullet] = memory.add("Never push to main on Fridays.")
        assert memory.promote(bullet.id).status == "rule"

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"confidence": 0.6, "seen_in": ["a", "b"]}, "Its confidence is 0.6; a rule needs 0.7."),
            ({"seen_in": ["a", "a", "a"]}, "Distinct sessions it was seen in: 1; a rule needs 2."),
            ({"seen_in": ["a", "b", "c"], "trust": "tool"}, "It comes from untrusted tool output alone"),
            ({"seen_in": ["a"], "kind": "failure"}, "a rule needs 3 times or 2 sessions"),
        ],
        ids=["unsure", "one session", "tool output", "a failure seen once"],
    )
    def test_what_has_not_earned_it_is_refused_with_the_reason(
        self, memory: Memory, changes: dict[str, object], reason: str
    ) -> None:
        """Nothing changes, and the message says what is missing and how to insist."""
        bullet = store(memory, "Run the linter before the tests.", **changes)  # type: ignore[arg-type]
        before = everything(memory), memory.home.ledger.head()
        with pytest.raises(UsageError, match=f"has not earned promotion: .*{re.escape(reason)}.*--force"):
            memory.promote(bullet.id)
        assert (everything(memory), memory.home.ledger.head()) == before
        assert bullet not in memory.promotable()

    def test_a_person_who_insists_is_written_down(self, memory: Memory) -> None:
        """The ledger keeps what stood against it; without anything against it the list is empty."""
        bullet = store(memory, "Run the linter before the tests.", confidence=0.2, seen_in=["a"])
        assert memory.promote(bullet.id, force=True).status == "rule"
        [event] = [event for event in memory.history(bullet.id) if event.type == "promote"]
        assert event.data["against"] == [
            "Its confidence is 0.2; a rule needs 0.7.",
            "Distinct sessions it was seen in: 1; a rule needs 2.",
        ]
        earned = store(memory, "Deploy from the release branch.", seen_in=["a", "b"])
        memory.promote(earned.id, force=True)
        assert memory.history(earned.id)[-1].data["against"] == []

    def test_a_rule_or_an_archived_bullet_is_not_promoted(self, memory: Memory) -> None:
        """Each refusal names the next command."""
        [bullet] = memory.add("Never push to main on Fridays.")
        memory.promote(bullet.id)
        with pytest.raises(UsageError, match="is a rule already; `mem render`"):
            memory.promote(bullet.id)
        memory.forget(bullet.id)
        with pytest.raises(UsageError, match=r"is archived \(forgotten by hand\); bring it back with `mem restore`"):
            memory.promote(bullet.id, force=True)

    def test_only_a_rule_is_demoted(self, memory: Memory) -> None:
        """And the reason is in the ledger."""
        [bullet] = memory.add("Never push to main on Fridays.")
        with pytest.raises(UsageError, match="is not a rule but active"):
            memory.demote(bullet.id)
        memory.promote(bullet.id)
        assert memory.demote(bullet.id).status == "active"
        assert memory.history(bullet.id)[-1].data == {"reason": "by hand"}

    def test_the_score_it_is_judged_by_is_the_score_that_is_shown(self) -> None:
        """With weights of its own a store promotes by those."""
        marks = (Mark(NOON, helpful=True), Mark(NOON, helpful=False))
        bullet = a_bullet(sources=sightings("a", "b"), marks=marks)
        assert against_promotion(bullet, DEFAULT_WEIGHTS) == ["Its score is -0.2, below zero."]
        assert against_promotion(bullet, Weights(1.0, -0.5)) == []

    def test_the_earned_are_listed_best_first(self, memory: Memory) -> None:
        """Those of this project and the global ones, no rules, no archived, no other project's."""
        good = store(memory, "Run the linter before the tests.", seen_in=["a", "b"])
        better = store(memory, "Deploy from the release branch.", seen_in=["a", "b"], scope="global")
        mark(memory, better, True, "x")
        store(memory, "Use the staging cluster first.", seen_in=["a", "b"], scope="project:other")
        store(memory, "Seen once.", seen_in=["a"])
        memory.forget(store(memory, "Was good once.", seen_in=["a", "b"]).id)
        memory.promote(store(memory, "A rule by now.", seen_in=["a", "b"]).id)
        assert [bullet.id for bullet in memory.promotable()] == [better.id, good.id]


class TestRender:
    def test_the_rules_of_a_project_and_the_global_ones(self, memory: Memory, project: Path) -> None:
        """AGENTS.md is made; ordinary bullets, archived rules and other projects' rules are not in it."""
        a_rule(memory, "Run the linter before the tests.")
        a_rule(memory, "Write commit messages in the imperative.", scope="global", kind="preference")
        a_rule(memory, "Use the staging cluster first.", scope="project:other")
        store(memory, "Only a bullet.")
        memory.forget(a_rule(memory, "Was a rule once.").id)
        [result] = memory.render()
        assert (result.path, result.rules, result.left_out, result.changed) == (project / "AGENTS.md", 2, 0, True)
        text = (project / "AGENTS.md").read_text("utf-8")
        assert text.startswith(BEGIN.decode())
        assert HEADING in text
        assert re.findall(r"^- (.*) \[", text, re.MULTILINE) == [
            "Write commit messages in the imperative.",
            "Run the linter before the tests.",
        ]

    def test_rendering_twice_changes_nothing(self, memory: Memory, project: Path) -> None:
        """Not even the file's time."""
        a_rule(memory, "Run the linter before the tests.")
        memory.render()
        before = (project / "AGENTS.md").stat()
        assert [result.changed for result in memory.render()] == [False]
        assert (project / "AGENTS.md").stat() == before

    def test_check_writes_nothing(self, memory: Memory, project: Path) -> None:
        """It only says which files are out of date."""
        a_rule(memory, "Run the linter before the tests.")
        assert [result.changed for result in memory.render(write=False)] == [True]
        assert not (project / "AGENTS.md").exists()

    def test_claude_md_is_written_where_there_is_one(self, memory: Memory, project: Path) -> None:
        """It is never made unasked."""
        a_rule(memory, "Run the linter before the tests.")
        memory.render()
        assert not (project / "CLAUDE.md").exists()
        (project / "CLAUDE.md").write_bytes(b"# Mine\n")
        assert [result.path.name for result in memory.render()] == ["AGENTS.md", "CLAUDE.md"]
        assert b"Run the linter" in (project / "CLAUDE.md").read_bytes()

    def test_two_names_of_one_file_are_written_once(self, memory: Memory, project: Path) -> None:
        """CLAUDE.md is often a link to AGENTS.md."""
        (project / "AGENTS.md").write_bytes(b"# Mine\n")
        (project / "CLAUDE.md").symlink_to("AGENTS.md")
        a_rule(memory, "Run the linter before the tests.")
        assert [result.changed for result in memory.render()] == [True, True]
        assert (project / "CLAUDE.md").is_symlink()
        assert (project / "AGENTS.md").read_bytes().count(BEGIN) == 1
        assert [result.changed for result in memory.render()] == [False, False]
        target = project / "docs.md"
        assert len(memory.render([target, target, project / "x" / ".." / "docs.md"])) == 3
        assert target.read_bytes().count(BEGIN) == 1

    def test_all_targets_are_checked_before_the_first_is_written(self, memory: Memory, project: Path) -> None:
        """One bad file, and no file changes."""
        a_rule(memory, "Run the linter before the tests.")
        good, bad = project / "good.md", project / "bad.md"
        bad.write_bytes(BEGIN)
        with pytest.raises(BadInput, match="bad.md do not form one block"):
            memory.render([good, bad])
        assert not good.exists()
        assert bad.read_bytes() == BEGIN

    def test_the_settings_are_the_budget(self, open_memory: Callable[..., Memory]) -> None:
        """`render.bullets` and `render.chars`; what is left out is counted."""
        memory = open_memory()
        settings = 'embedder = "hashing"\nrender.bullets = 3\nrender.chars = 300\n'
        (memory.home.path / "config.toml").write_text(settings, "utf-8")
        for n in range(5):
            a_rule(memory, f"Rule number {n}.")
        [result] = memory.render()
        assert (result.rules, result.left_out) == (3, 2)

    def test_the_last_demotion_empties_the_block(self, memory: Memory, project: Path) -> None:
        """A person's text around it stays."""
        (project / "AGENTS.md").write_bytes(b"# Mine\n")
        rule = a_rule(memory, "Run the linter before the tests.")
        memory.render()
        memory.demote(rule.id)
        memory.render()
        assert (project / "AGENTS.md").read_bytes() == b"# Mine\n\n" + BEGIN + b"\n" + END + b"\n"
