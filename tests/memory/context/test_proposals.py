"""Proposals: kept, decided, taken back; the file says exactly what stands."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acemem import Memory
from acemem.memory.context import block, proposals
from acemem.memory.context.block import BEGIN, END
from acemem.memory.context.proposals import (
    Proposal,
    accept,
    find_proposal,
    lapse,
    preview,
    preview_diff,
    proposals_of,
    propose,
    reject,
    section_digest,
    take_back,
)
from acemem.memory.errors import AcememError, BadInput, NotFound, StoreError, UsageError
from acemem.memory.models import Draft
from tests.bullets import store
from tests.suggestions import suggestion


def kept(memory: Memory, proposal: Proposal | None = None) -> Proposal:
    return propose(memory.home, [proposal or suggestion(memory)])[0]


def now(memory: Memory, proposal: Proposal) -> Proposal:
    return find_proposal(memory.home, proposal.id)


class TestPropose:
    """What is kept for review."""

    def test_it_is_kept_whole_and_writes_nothing(self, memory: Memory, project: Path) -> None:
        """Until somebody decides."""
        whole = replace(
            suggestion(memory), bullets=("aaaa1111",), statements=("One thing.",), withdraws=("bbbb2222",), base=""
        )
        proposal = kept(memory, whole)
        assert now(memory, proposal) == proposal
        assert replace(proposal, id="", at=0.0) == whole
        assert not (project / "AGENTS.md").exists()

    def test_the_same_is_kept_once(self, memory: Memory) -> None:
        """While it is open; a decided one may be made again, and then it is open again."""
        first = kept(memory)
        assert kept(memory) == first and len(memory.home.ledger.events("proposal")) == 1
        reject(memory.home, first)
        assert now(memory, first).standing == "rejected"
        assert kept(memory).standing == "open" and now(memory, first).standing == "open"

    @pytest.mark.parametrize(
        ("wrong", "words"),
        [
            ({"confidence": 0.69}, "not enough"),
            ({"confidence": 1.1}, "not enough"),
            ({"source_sessions": ()}, "needs the sessions"),
            ({"target_file": "src/main.py"}, "no context file"),
            ({"target_file": "../AGENTS.md"}, "no context file"),
            ({"change_type": "delete"}, "no change"),
            ({"change_type": "update", "heading": None}, "needs the heading"),
            ({"content": " "}, "needs some text"),
            ({"heading": "## "}, "no heading"),
        ],
    )
    def test_one_that_may_not_be_made_is_refused(self, memory: Memory, wrong: dict[str, object], words: str) -> None:
        """Whoever asks for it, and with it all others of the same call."""
        with pytest.raises(UsageError, match=words):
            propose(memory.home, [suggestion(memory), replace(suggestion(memory), **wrong)])  # type: ignore[arg-type]
        assert proposals_of(memory.home) == []

    def test_secrets_and_markers_are_not_kept(self, memory: Memory) -> None:
        """In none of its words."""
        proposal = kept(
            memory,
            replace(
                suggestion(memory, "- Use ghp_0123456789abcdefghijklmnopqrstuvwxyzAB. <!-- mem:end -->"),
                heading="Keys\n<!-- mem:begin -->",
                reason="ghp_0123456789abcdefghijklmnopqrstuvwxyzAB",
            ),
        )
        stored = str(memory.home.ledger.events("proposal")[0].data)
        assert "ghp_0" not in stored and "<!--" not in stored and "\n" not in (proposal.heading or "")


class TestFind:
    """By id or its beginning."""

    def test_a_beginning_is_enough_where_it_is_the_only_one(self, memory: Memory) -> None:
        """Else the ids are told."""
        proposal = kept(memory)
        assert find_proposal(memory.home, proposal.id[:4]).id == proposal.id
        with pytest.raises(NotFound):
            find_proposal(memory.home, "zzz")
        kept(memory, suggestion(memory, "- Another."))
        with pytest.raises(UsageError, match="several"):
            find_proposal(memory.home, "c")


class TestAccept:
    """The file gets it, and the ledger notes it."""

    def test_the_file_is_as_the_preview_said(self, memory: Memory, project: Path) -> None:
        """Also by its diff."""
        proposal = kept(memory)
        assert "+- Run the tests with `make test`." in preview_diff(proposal)
        after = preview(proposal)[1]
        accept(memory.home, proposal, note="yes")
        assert (project / "AGENTS.md").read_bytes() == after == b"## Commands\n\n- Run the tests with `make test`.\n"
        assert now(memory, proposal).standing == "accepted"

    def test_other_words_are_written_instead(self, memory: Memory, project: Path) -> None:
        """Those of the person."""
        accept(memory.home, kept(memory), "- Run `make check`.")
        assert (
            "make check" in (project / "AGENTS.md").read_text()
            and "make test" not in (project / "AGENTS.md").read_text()
        )
        with pytest.raises(UsageError, match="needs some text"):
            accept(memory.home, kept(memory, suggestion(memory, "- Another.")), " ")

    def test_a_decided_one_is_refused(self, memory: Memory) -> None:
        """Also one that was decided by somebody else meanwhile."""
        proposal = kept(memory)
        reject(memory.home, proposal)
        for decide in (accept, reject):
            with pytest.raises(UsageError, match="rejected already"):
                decide(memory.home, proposal)

    def test_mode_and_link_of_the_file_stay(self, memory: Memory, project: Path) -> None:
        """CLAUDE.md is often a link."""
        (project / "AGENTS.md").write_text("# Shop\n")
        os.chmod(project / "AGENTS.md", 0o600)
        os.symlink("AGENTS.md", project / "CLAUDE.md")
        accept(memory.home, kept(memory, suggestion(memory, file="CLAUDE.md")))
        assert (project / "CLAUDE.md").is_symlink() and "make test" in (project / "AGENTS.md").read_text()
        assert stat.S_IMODE((project / "AGENTS.md").stat().st_mode) == 0o600

    def test_an_update_of_a_section_that_changed_is_refused(self, memory: Memory, project: Path) -> None:
        """What a person wrote since would be lost."""
        (project / "AGENTS.md").write_text("## Commands\n\n- old\n\n## More\n\nx\n")
        base = section_digest((project / "AGENTS.md").read_bytes(), "Commands")
        proposal = kept(memory, replace(suggestion(memory, "- new", change="update"), base=base))
        (project / "AGENTS.md").write_text("## Commands\n\n- old\n- mine\n\n## More\n\nx\n")
        with pytest.raises(BadInput, match="has changed since"):
            accept(memory.home, proposal)
        (project / "AGENTS.md").write_text("## Commands\n\n- old\n\n## More\n\nanother\n")
        accept(memory.home, proposal)
        assert (project / "AGENTS.md").read_text() == "## Commands\n\n- new\n\n## More\n\nanother\n"

    def test_a_project_that_is_not_here_is_left_alone(self, memory: Memory, tmp_path: Path) -> None:
        """Its log may come from another machine."""
        proposal = kept(memory, replace(suggestion(memory), root=str(tmp_path / "gone")))
        with pytest.raises(BadInput, match="not on this machine"):
            accept(memory.home, proposal)
        assert not (tmp_path / "gone").exists() and now(memory, proposal).standing == "open"

    @pytest.mark.parametrize("file", ["CLAUDE.local.md", "MEMORY.md"])
    def test_what_is_the_persons_own_is_kept_from_git(
        self, open_memory: Callable[..., Memory], tmp_path: Path, file: str
    ) -> None:
        """By the list of this checkout, not by the team's .gitignore."""
        root = tmp_path / "repository"
        root.mkdir()
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        memory = open_memory(root)
        accept(memory.home, kept(memory, replace(suggestion(memory, file=file), scope="global")))
        asked = subprocess.run(["git", "-C", str(root), "status", "--porcelain"], capture_output=True, check=True)
        assert asked.stdout == b""


class TestTakeBack:
    """The proposal is open again, and the file as it was."""

    BEFORE = st.one_of(
        st.none(),
        st.sampled_from(
            [
                "",
                "# Shop",
                "# Shop\r\n\r\n## Commands\r\n\r\n- a\r\n",
                "\ufeff## Commands\n- ünï\n\n### Inner\n",
                "## Commands\r\r- a\r",
            ]
        ),
    )

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25)
    @given(before=BEFORE, change=st.sampled_from(["append", "create", "update"]))
    def test_the_exact_bytes_come_back(self, memory: Memory, project: Path, before: str | None, change: str) -> None:
        """Of a file that was there, was empty, or was made."""
        path = project / "AGENTS.md"
        path.unlink(missing_ok=True)
        if before is not None:
            path.write_bytes(before.encode())
        proposal = kept(memory, suggestion(memory, f"- {change} {before!r}", change=change))  # type: ignore[arg-type]
        try:
            event = accept(memory.home, proposal)
        except AcememError:
            reject(memory.home, proposal)
            return
        memory.undo(event.id)
        assert (path.read_bytes().decode() if path.exists() else None) == before
        assert now(memory, proposal).standing == "open"
        reject(memory.home, now(memory, proposal))

    def test_what_others_wrote_around_it_stays(self, memory: Memory, project: Path) -> None:
        """A render that put our block below it, and a person's lines above and below, keep nobody from undoing it."""
        path = project / "AGENTS.md"
        path.write_text("# Shop\n\n## Commands\n\n- Build with make.\n\n## More\n\nx", "utf-8")
        accept(memory.home, kept(memory))
        memory.promote(store(memory, "Run the tests with `make test`.", id="rule1234").id, force=True)
        memory.render()
        path.write_text("Mine.\n\n" + path.read_text("utf-8").replace("x\n", "x\ny\n"), "utf-8")
        rendered = path.read_text("utf-8")
        assert rendered.count("make test") == 2
        take_back(memory.home, now(memory, find_proposal(memory.home, "c")))
        assert path.read_text("utf-8") == rendered.replace("- Run the tests with `make test`.\n\n", "\n")

    @pytest.mark.parametrize(
        "change",
        [
            lambda text: text.replace("make test", "make check"),  # other words in its place
            lambda text: text + text,  # twice, and nobody can tell which
            lambda text: text.replace("`.\n", "`. Always.\n"),
            lambda text: text.replace("- Run", "  - Run"),
            lambda text: text.replace("\n", "\r\n"),
            lambda text: f"{BEGIN.decode()}\n{text}{END.decode()}\n",
        ],
    )
    def test_its_own_lines_changed_since_are_left_alone(
        self, memory: Memory, project: Path, change: Callable[[str], str]
    ) -> None:
        """To the byte."""
        accept(memory.home, kept(memory))
        path = project / "AGENTS.md"
        path.write_bytes(change(path.read_text("utf-8")).encode())
        before = path.read_bytes()
        with pytest.raises(BadInput, match="changed since"):
            take_back(memory.home, now(memory, find_proposal(memory.home, "c")))
        assert path.read_bytes() == before

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        old=st.text("a\n\r# -", max_size=12),
        head=st.text("b\n", max_size=6),
        tail=st.text("c\n", max_size=6),
        heading=st.sampled_from([None, "Commands"]),
    )
    def test_only_its_lines_go(
        self, memory: Memory, project: Path, old: str, head: str, tail: str, heading: str | None
    ) -> None:
        """Whatever stood there before, and was written around it since."""
        path = project / "AGENTS.md"
        path.write_bytes(old.encode())
        proposal = kept(memory, suggestion(memory, heading=heading))
        try:
            accept(memory.home, proposal)
        except AcememError:
            reject(memory.home, proposal)
            return
        written = path.read_bytes().decode()
        path.write_bytes(f"{head}{written}{tail}".encode())
        try:
            take_back(memory.home, now(memory, proposal))
        except BadInput:
            assert path.read_bytes().decode() == f"{head}{written}{tail}"
            memory.home.ledger.append([Draft("decision", data={"proposal": proposal.id, "standing": "rejected"})], 0.0)
            return
        assert (path.read_bytes().decode() if path.exists() else "").strip("\r\n") == f"{head}{old}{tail}".strip("\r\n")
        reject(memory.home, now(memory, proposal))

    def test_a_decision_that_names_another_file_takes_nothing_back(self, memory: Memory, project: Path) -> None:
        """An import may have brought it, and could else remove any file."""
        proposal = kept(memory)
        accept(memory.home, proposal)
        [decision] = memory.home.ledger.events("decision")
        memory.home.ledger.undo([decision], 0.0)
        other = project / "notes.md"
        other.write_bytes((project / "AGENTS.md").read_bytes())
        memory.home.ledger.append([Draft("decision", data={**decision.data, "file": str(other)})], 0.0)
        with pytest.raises(BadInput, match="is not where"):
            take_back(memory.home, now(memory, proposal))
        assert other.exists()

    def test_a_file_changed_since_is_left_alone(self, memory: Memory, project: Path) -> None:
        """Only a person can say what is to stay."""
        accept(memory.home, kept(memory))
        (project / "AGENTS.md").write_text("mine\n")
        with pytest.raises(BadInput, match="changed since"):
            take_back(memory.home, proposals_of(memory.home)[0])
        assert (project / "AGENTS.md").read_text() == "mine\n" and proposals_of(memory.home, "accepted")

    def test_an_undo_is_not_undone(self, memory: Memory, project: Path) -> None:
        """It would say accepted of a file that does not hold it."""
        proposal = kept(memory)
        undo = memory.undo(accept(memory.home, proposal).id)
        with pytest.raises(UsageError, match="mem review"):
            memory.undo(undo.id)
        accept(memory.home, now(memory, proposal))
        assert "make test" in (project / "AGENTS.md").read_text()

    def test_a_rejected_one_is_open_again(self, memory: Memory) -> None:
        """Nothing was written, so nothing is taken out."""
        proposal = kept(memory)
        reject(memory.home, proposal)
        take_back(memory.home, now(memory, proposal))
        assert now(memory, proposal).standing == "open"
        with pytest.raises(UsageError, match="no decision"):
            take_back(memory.home, now(memory, proposal))


class TestKilled:
    """Between the file and the ledger."""

    def killed_after_the_file(self, memory: Memory, proposal: Proposal, monkeypatch: pytest.MonkeyPatch) -> None:
        with monkeypatch.context() as patch:

            def die(*_: object) -> None:
                raise KeyboardInterrupt

            patch.setattr(proposals, "_decide", die)
            with pytest.raises(KeyboardInterrupt):
                accept(memory.home, proposal)

    @pytest.mark.parametrize("before", [None, "# Shop\n"])
    @pytest.mark.parametrize("then", ["accept", "reject", "accept another"])
    def test_the_next_decision_makes_it_whole(
        self,
        memory: Memory,
        project: Path,
        monkeypatch: pytest.MonkeyPatch,
        before: str | None,
        then: str,
    ) -> None:
        """The file says what is decided and nothing else, and taking that back gives the first bytes."""
        path = project / "AGENTS.md"
        if before is not None:
            path.write_text(before)
        proposal, other = kept(memory), kept(memory, suggestion(memory, "- Something else."))
        self.killed_after_the_file(memory, proposal, monkeypatch)
        assert "make test" in path.read_text() and now(memory, proposal).standing == "open"
        if then == "reject":
            reject(memory.home, proposal)
            assert (path.read_text() if path.exists() else None) == before
            return
        chosen = proposal if then == "accept" else other
        accept(memory.home, chosen)
        assert path.read_text().count("make test") == (1 if chosen is proposal else 0)
        take_back(memory.home, now(memory, chosen))
        assert (path.read_text() if path.exists() else None) == before

    def test_what_a_person_wrote_after_it_stays(
        self, memory: Memory, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Their file is theirs."""
        proposal = kept(memory)
        self.killed_after_the_file(memory, proposal, monkeypatch)
        with (project / "AGENTS.md").open("a") as file:
            file.write("mine\n")
        reject(memory.home, proposal)
        assert (project / "AGENTS.md").read_text().endswith("mine\n")

    def test_a_file_that_changes_meanwhile_is_not_overwritten(
        self, memory: Memory, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Between looking and writing."""
        proposal = kept(memory)
        real = block.replace_file

        def late(path: Path, before: bytes, after: bytes) -> None:
            path.write_text("quicker\n")
            real(path, before, after)

        monkeypatch.setattr(block, "replace_file", late)
        with pytest.raises(StoreError, match="changed by someone else"):
            accept(memory.home, proposal)
        assert (project / "AGENTS.md").read_text() == "quicker\n" and now(memory, proposal).standing == "open"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=20)
@given(deeds=st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["accept", "reject", "back", "again", "lapse"]))))
def test_standing_is_the_fold_of_the_events(memory: Memory, project: Path, deeds: list[tuple[int, str]]) -> None:
    """After any sequence of decisions: the file holds exactly what is accepted, in a new process too."""
    texts = [f"- Statement {number}, {len(memory.home.ledger.events('proposal'))}." for number in range(3)]
    (project / "AGENTS.md").unlink(missing_ok=True)
    made = [kept(memory, suggestion(memory, text)) for text in texts]
    expected = ["open"] * 3
    for which, deed in deeds:
        proposal = now(memory, made[which])
        try:
            if deed == "accept":
                accept(memory.home, proposal)
                expected[which] = "accepted"
            elif deed == "reject":
                reject(memory.home, proposal)
                expected[which] = "rejected"
            elif deed == "lapse":
                lapse(memory.home, proposal, "outdated")
                expected[which] = "reverted"
            elif deed == "back":
                take_back(memory.home, proposal)
                expected[which] = "open"
            elif proposal.standing != "accepted":
                kept(memory, made[which])
                expected[which] = "open"
        except (UsageError, BadInput):
            pass  # decided already, nothing to take back, or another came into the file since
        path = project / "AGENTS.md"
        said = path.read_text() if path.exists() else ""
        assert [text in said for text in texts] == [standing == "accepted" for standing in expected]
    with Memory.open(memory.home.path, project, memory.home.clock) as other:
        assert [now(other, proposal).standing for proposal in made] == expected


def test_a_proposal_of_an_earlier_version_is_read(memory: Memory) -> None:
    """Without the fields that came later."""
    data = {
        "proposal": "c1",
        "target_file": "AGENTS.md",
        "change_type": "append",
        "content": "- a",
        "reason": "r",
        "confidence": 0.8,
        "kind": "context",
        "scope": "global",
        "root": "/work/shop",
        "source_sessions": ["s"],
        "heading": None,
        "evidence": [],
        "bullets": [],
        "made_by": "offline",
    }
    memory.home.ledger.append([Draft("proposal", data=data)], memory.home.clock())
    assert now(memory, replace(suggestion(memory), id="c1")).statements == ()
