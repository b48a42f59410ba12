"""Changes: text goes into a document where it belongs, and every byte outside stays as it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem.memory.context import block
from acemem.memory.context.changes import Change, applied, diff, safe_content, target_path
from acemem.memory.context.sections import find_section, has_section, own_end, sections
from acemem.memory.errors import AcememError, BadInput, NotFound, UsageError
from acemem.memory.scope import Project

PATH = Path("/work/shop/AGENTS.md")
_LINES = st.sampled_from(
    [
        "Text.",
        "- item",
        "* other [mem:aaaa1111]",
        "1. one",
        "  - inner",
        "> ## quoted",
        "```",
        "````",
        "    # code",
        "<!-- a comment -->",
        "<!--",
        "-->",
        "<pre>",
        "---",
        "===",
        "Title",
        "# One",
        "## Two",
        "## Two ##",
        "### Three",
        "#### Four #",
        "## Zwölf Ü",
        "",
        "",
        "\t",
        "trailing  ",
        "a\u2028b",
    ]
)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Markdown as people leave it."""
    newline = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    start = draw(st.sampled_from(["", "", "\ufeff", "---\nname: x\n---\n", "---\n# no\n...\n"])).replace("\n", newline)
    text = start + newline.join(draw(st.lists(_LINES, max_size=25)))
    return text + draw(st.sampled_from(["", newline, newline * 3]))


CONTENTS = (
    st.lists(
        st.sampled_from(
            [
                "- Run `make test`.",
                "- Never push.",
                "Plain.",
                "",
                "### Four",
                "#### Five",
                "```\n# x\n```",
                "- [mem:b1] x",
            ]
        ),
        min_size=1,
        max_size=4,
    )
    .map("\n".join)
    .filter(str.strip)
)  # an update to nothing takes the section away, see below
HEADINGS = st.sampled_from(["One", "Two", "## Two", "Three", "Zwölf Ü", "Title", "New one", "#### Newer"])


class TestAnyDocument:
    """Whatever stands in it."""

    @given(documents(), CONTENTS, HEADINGS, st.sampled_from(["append", "update"]))
    def test_nothing_outside_the_section_changes(self, text: str, content: str, heading: str, kind: str) -> None:
        """Line ends between the section and the next apart, which belong to the section."""
        old = text.encode()
        try:
            new = applied(old, Change("append" if kind == "append" else "update", content, heading), PATH).decode()
        except AcememError:
            return
        if not has_section(text, heading):
            assert new.startswith(text), "a new section comes at the end"
            return
        section = find_section(text, heading)
        end = own_end(text, section) if kind == "append" else section.end
        before, after = text[: section.body], text[end:]
        assert new.startswith(before.rstrip("\r\n")), "what stands before it"
        assert new.endswith(after), "what stands behind it"
        assert content.strip().splitlines()[0] in new
        inside = text[section.body : end].strip("\r\n")
        assert kind == "update" or inside in new

    @given(documents(), CONTENTS, st.none() | HEADINGS, st.sampled_from(["append", "update", "create"]))
    def test_a_second_time_changes_nothing(self, text: str, content: str, heading: str | None, kind: str) -> None:
        """So a review that is killed can be done again."""
        change = Change(kind, content, heading)  # type: ignore[arg-type]
        try:
            once = applied(text.encode(), change, PATH)
        except AcememError:
            return
        assert applied(once, change, PATH) == once

    @given(documents(), CONTENTS, HEADINGS, st.sampled_from(["append", "update"]))
    def test_the_other_sections_stay_sections(self, text: str, content: str, heading: str, kind: str) -> None:
        """None is swallowed by what was put in front of it, and what was put is found under its heading."""
        change = Change("append" if kind == "append" else "update", content, heading)
        try:
            new = applied(text.encode(), change, PATH).decode()
        except AcememError:
            return
        outside = list(sections(text))
        if kind == "update":
            section = find_section(text, heading)
            outside = [s for s in outside if not section.start < s.start < section.end]
        left = [(s.heading, s.level) for s in sections(new)]
        for found in ((s.heading, s.level) for s in outside):
            assert found in left
            left.remove(found)
        assert has_section(new, heading)

    @given(documents(), CONTENTS, HEADINGS)
    def test_line_ends_are_the_documents_own(self, text: str, content: str, heading: str) -> None:
        """No bare line feed comes into a file of Windows."""
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n") + "\r\n"
        try:
            new = applied(text.encode(), Change("append", content, heading), PATH).decode()
        except AcememError:
            return
        assert "\n" not in new.replace("\r\n", "")


class TestAppend:
    """At the end of the file, or of a section."""

    def test_a_list_goes_on_without_a_gap(self) -> None:
        """An item joins the items that are there."""
        new = applied(b"## Notes\n\n- one\n\n## More\n", Change("append", "- two", "Notes"), PATH)
        assert new == b"## Notes\n\n- one\n- two\n\n## More\n"

    def test_it_comes_before_inner_sections(self) -> None:
        """Else it would be theirs."""
        new = applied(b"## Commands\n\n- a\n\n### Slow\n\n- b\n", Change("append", "- c", "Commands"), PATH)
        assert new == b"## Commands\n\n- a\n- c\n\n### Slow\n\n- b\n"

    def test_a_section_that_is_not_there_is_made(self) -> None:
        """At the end, also of a file without a last line end, or of none."""
        assert applied(b"# A", Change("append", "- c", "Notes"), PATH) == b"# A\n\n## Notes\n\n- c\n"
        assert applied(b"", Change("append", "- c", "### Notes"), PATH) == b"### Notes\n\n- c\n"

    def test_the_managed_block_is_not_touched(self) -> None:
        """What the render writes is the render's."""
        document = block.put(b"## Notes\n\nmine\n", "- a rule [mem:aaaa1111]", PATH)
        new = applied(document, Change("append", "- c", "Notes"), PATH)
        assert block.split(new, PATH)[1] == block.split(document, PATH)[1]
        with pytest.raises(BadInput, match="mem render"):
            applied(document, Change("update", "- c", "Notes"), PATH)


class TestUpdate:
    """What stands below a heading is replaced."""

    def test_inner_sections_go_with_it(self) -> None:
        """Up to the next heading of equal or higher level."""
        new = applied(b"# T\n\n## A\n\nx\n\n### B\n\ny\n\n## C\n\nz\n", Change("update", "- n", "A"), PATH)
        assert new == b"# T\n\n## A\n\n- n\n\n## C\n\nz\n"

    def test_without_content_the_section_goes(self) -> None:
        """A heading with nothing below it says nothing."""
        assert applied(b"# T\n\nx\n\n## A\n\n- a\n", Change("update", "", "A"), PATH) == b"# T\n\nx\n"
        assert applied(b"## A\n\n- a\n\n## B\n\nb\n", Change("update", "", "A"), PATH) == b"## B\n\nb\n"

    def test_it_needs_a_section_that_can_be_told(self) -> None:
        """Named once, and there."""
        with pytest.raises(UsageError, match="needs the heading"):
            applied(b"# T\n", Change("update", "x"), PATH)
        with pytest.raises(NotFound):
            applied(b"# T\n", Change("update", "x", "A"), PATH)
        with pytest.raises(BadInput, match="2 sections"):
            applied(b"## A\n\n## A\n", Change("update", "x", "A"), PATH)


class TestCreate:
    """A file that is not there."""

    def test_it_is_made(self) -> None:
        """With its heading, if it has one."""
        assert applied(b"", Change("create", "# Soul"), PATH) == b"# Soul\n"
        assert applied(b"", Change("create", "- a", "Notes"), PATH) == b"## Notes\n\n- a\n"

    def test_one_made_meanwhile_is_added_to_or_left_alone(self) -> None:
        """Never replaced."""
        assert applied(b"mine\n", Change("create", "- a", "Notes"), PATH) == b"mine\n\n## Notes\n\n- a\n"
        with pytest.raises(BadInput, match="exists already"):
            applied(b"mine\n", Change("create", "# Soul"), PATH)


class TestContent:
    """What may be put into a file."""

    def test_it_holds_no_marker_no_secret_and_nothing_invisible(self) -> None:
        """It may come from a model, or from a log."""
        said = safe_content("<!-- mem:end -->\u200b token ghp_0123456789abcdefghijklmnopqrstuvwxyzAB </mem>")
        assert "<!--" not in said and "</mem>" not in said and "ghp_0" not in said and "\u200b" not in said

    def test_one_that_would_break_out_of_its_section_is_refused(self) -> None:
        """By a heading, or by hiding all that follows."""
        with pytest.raises(UsageError, match="would end the section"):
            applied(b"## A\n\nx\n", Change("append", "# Mine", "A"), PATH)
        with pytest.raises(BadInput, match="does not close"):
            applied(b"## A\n\nx\n", Change("append", "```sh\nmake", "A"), PATH)
        with pytest.raises(BadInput, match="not closed"):
            applied(b"## A\n\n```\n", Change("append", "x", "New"), PATH)

    def test_empty_and_endless_ones_are_refused(self) -> None:
        """An update apart, which takes its section away."""
        with pytest.raises(UsageError, match="needs some text"):
            applied(b"", Change("append", " \n"), PATH)
        with pytest.raises(UsageError, match="too long"):
            applied(b"", Change("append", "x" * 30_000), PATH)

    def test_a_document_that_is_no_text_is_not_written_to(self) -> None:
        """Nor one whose markers are damaged."""
        with pytest.raises(BadInput, match="UTF-8"):
            applied(b"\xff", Change("append", "x"), PATH)
        with pytest.raises(BadInput, match="markers"):
            applied(block.BEGIN + b"\n", Change("append", "x"), PATH)


class TestTargets:
    """Which files a proposal may name."""

    @pytest.mark.parametrize(
        "name",
        [
            "AGENTS.md",
            "CLAUDE.local.md",
            ".claude/rules/a b.md",
            ".claude/skills/x/SKILL.md",
            "ünï/CLAUDE.md",
            "SOUL.md",
        ],
    )
    def test_context_files_of_the_project(self, name: str, project: Path) -> None:
        """Also deeper in it."""
        assert target_path(Project(project), name) == project / name

    @pytest.mark.parametrize(
        "name",
        [
            "../AGENTS.md",
            "a/../../AGENTS.md",
            "/etc/AGENTS.md",
            ".git/AGENTS.md",
            ".git/SKILL.md",
            ".GIT/AGENTS.md",
            "a\x1b[31m/AGENTS.md",
            "\u202e/AGENTS.md",
            "a\0b/AGENTS.md",
            "a\nb/AGENTS.md",
            "README.md",
            "src/main.py",
            ".claude/rules/../settings.json",
            ".claude/settings.json",
            "AGENTS.md/x",
            "~/AGENTS.md",
            "~/.ssh/SKILL.md",
            "~/.claude/../.ssh/CLAUDE.md",
            "",
            ".",
        ],
    )
    def test_nothing_else(self, name: str, project: Path) -> None:
        """No code, no settings, nothing outside, nothing of git's."""
        with pytest.raises(UsageError, match="no context file"):
            target_path(Project(project), name)

    def test_a_link_that_leads_out_is_refused(self, project: Path, tmp_path: Path) -> None:
        """A repository may hold one; a link within the project is as good as the file."""
        (tmp_path / "elsewhere.md").write_text("x")
        os.symlink(tmp_path / "elsewhere.md", project / "AGENTS.md")
        with pytest.raises(UsageError, match="leads out"):
            target_path(Project(project), "AGENTS.md")
        os.symlink(project / "AGENTS.txt", project / "CLAUDE.md")
        assert target_path(Project(project), "CLAUDE.md") == project / "CLAUDE.md"

    def test_files_of_the_person(self, project: Path, fresh_surroundings: Path) -> None:
        """In the folders of their agents."""
        assert target_path(Project(project), "~/.claude/CLAUDE.md") == fresh_surroundings / ".claude" / "CLAUDE.md"


def test_a_diff_says_what_changes() -> None:
    """And that a file is new, or lacks its last line end."""
    assert diff(b"", b"a\n", "X.md").splitlines()[:2] == ["--- /dev/null", "+++ b/X.md"]
    assert diff(b"a\n", b"a\n", "X.md") == ""
    assert "\\ No newline at end of file" in diff(b"a", b"a\nb\n", "X.md")
