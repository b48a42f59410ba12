from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem import BadInput, StoreError
from acemem.memory.context.block import BEGIN, END, UNFINISHED, put, read, replace_file

PATH = Path("AGENTS.md")
BLOCK = BEGIN + b"\n- a rule\n" + END

pieces = st.sampled_from(
    ["\n", "\r\n", "\r", "\t", "# Title", "<!-- mine -->", "-->", "<mem>", "mem:begin", "\ufeff", "\0"]
)
texts = st.lists(pieces | st.text(max_size=10), max_size=10).map("".join)
documents = texts.map(lambda text: text.encode("utf-8", "replace"))
bodies = st.lists(st.text("abc -[]:#", max_size=12), max_size=5).map("\n".join)


class TestBytes:
    @given(documents, bodies, documents)
    def test_every_byte_around_the_block_stays(self, before: bytes, body: str, after: bytes) -> None:
        """Whatever a person wrote in front of it and behind it, in whatever line ends."""
        written = put(before + BLOCK + after, body, PATH)
        assert written.startswith(before + BEGIN)
        assert written.endswith(END + after)
        assert written.count(b"mem:begin managed") == 1

    @given(documents, bodies)
    def test_a_new_block_goes_to_the_end(self, document: bytes, body: str) -> None:
        """What was there stays whole in front of it; without rules nothing is added."""
        written = put(document, body, PATH)
        assert written.startswith(document)
        assert (written == document) == (body.splitlines() in ([], [""]))

    @given(documents, bodies, documents)
    def test_a_second_render_changes_nothing(self, before: bytes, body: str, after: bytes) -> None:
        """In a file that had a block and in one that had none."""
        for document in (before, before + BLOCK + after):
            once = put(document, body, PATH)
            assert put(once, body, PATH) == once

    @given(documents, bodies, bodies)
    def test_the_last_render_is_the_one_that_counts(self, document: bytes, first: str, second: str) -> None:
        """Nothing of an earlier body is left."""
        assert put(put(document + BLOCK, first, PATH), second, PATH) == put(document + BLOCK, second, PATH)

    @pytest.mark.parametrize(
        ("document", "expected"),
        [
            (b"", BLOCK + b"\n"),
            (b"# Mine\n", b"# Mine\n\n" + BLOCK + b"\n"),
            (b"# Mine", b"# Mine\n\n" + BLOCK + b"\n"),
            (b"# Mine\r\n", (b"# Mine\n\n" + BLOCK + b"\n").replace(b"\n", b"\r\n")),
            (b"\xef\xbb\xbf# Mine\n", b"\xef\xbb\xbf# Mine\n\n" + BLOCK + b"\n"),
        ],
        ids=["empty", "text", "no final newline", "CRLF", "BOM"],
    )
    def test_where_a_new_block_stands(self, document: bytes, expected: bytes) -> None:
        """An empty line apart, in the line ends of the file; a byte order mark stays first."""
        assert put(document, "- a rule", PATH) == expected

    def test_a_block_of_windows_lines_stays_one(self) -> None:
        """A block that was written with CRLF is found again and written with CRLF."""
        document = b"# Mine\r\n\r\n" + BLOCK.replace(b"\n", b"\r\n") + b"\r\nmore\r\n"
        written = put(document, "- a rule\n- another", PATH)
        assert written == document.replace(b"- a rule", b"- a rule\r\n- another")
        assert b"\n" not in written.replace(b"\r\n", b"")

    def test_no_rules_left_leave_an_empty_block(self) -> None:
        """The markers stay, so that the next rule comes back to the same place."""
        assert put(b"a\n" + BLOCK + b"\nb\n", "", PATH) == b"a\n" + BEGIN + b"\n" + END + b"\nb\n"

    def test_a_block_of_an_older_wording_is_ours(self) -> None:
        """What counts in the first marker is its beginning."""
        assert put(b"<!-- mem:begin -->\nold\n" + END + b"\n", "- a rule", PATH) == BLOCK + b"\n"


class TestRefusals:
    @pytest.mark.parametrize(
        "document",
        [
            BEGIN,
            END,
            END + b"\n" + BEGIN,
            BLOCK + b"\n" + BLOCK,
            BEGIN + b"\n" + BLOCK,
            BLOCK + b"\n" + END,
            b"<!-- mem:begin\n" + END,
            BEGIN + b"\n<!-- mem:end",
            BEGIN + b"\n<!-- mem:end of it -->",
        ],
        ids=[
            *("no end", "no begin", "wrong way round", "two blocks", "two begins", "two ends"),
            *("half a begin", "half an end", "another end"),
        ],
    )
    def test_markers_that_form_no_block_are_refused(self, document: bytes) -> None:
        """Rather than guess where a person's text ends, nothing is written, and the message says what to do."""
        with pytest.raises(BadInput, match="AGENTS.md do not form one block, so nothing was written; restore"):
            put(b"# Mine\n" + document, "- a rule", PATH)

    @pytest.mark.parametrize("document", [b"caf\xe9\n", "né".encode("utf-16"), b"\xff\xfe", b"a" * 9 + b"\x80"])
    def test_what_is_not_utf_8_is_refused(self, document: bytes) -> None:
        """Another encoding would come out mixed; the message names the byte."""
        with pytest.raises(BadInput, match=r"AGENTS.md is not UTF-8 text \(byte \d+\), so nothing was written"):
            put(document, "- a rule", PATH)


class TestFiles:
    def test_a_missing_file_is_empty(self, tmp_path: Path) -> None:
        """The first render makes it, with its folder."""
        path = tmp_path / "docs" / "AGENTS.md"
        assert read(path) == b""
        replace_file(path, b"", b"new\n")
        assert path.read_bytes() == b"new\n"

    @pytest.mark.parametrize("kind", ["folder", "below a file", "loop"])
    def test_what_cannot_be_read_is_bad_input(self, tmp_path: Path, kind: str) -> None:
        """The message names the path and the reason."""
        path = tmp_path / "x"
        if kind == "folder":
            path.mkdir()
        elif kind == "below a file":
            path.write_bytes(b"")
            path = path / "AGENTS.md"
        else:
            path.symlink_to(path)
        with pytest.raises(BadInput, match=f"cannot read {path}: |is not a regular file"):
            read(path)

    def test_a_link_stays_a_link(self, tmp_path: Path) -> None:
        """The file that it leads to is written, also over two links and into another folder."""
        real = tmp_path / "real" / "rules.md"
        real.parent.mkdir()
        real.write_bytes(b"old\n")
        middle, link = tmp_path / "middle.md", tmp_path / "AGENTS.md"
        middle.symlink_to("real/rules.md")
        link.symlink_to(middle)
        replace_file(link, b"old\n", b"new\n")
        assert link.is_symlink()
        assert middle.is_symlink()
        assert real.read_bytes() == b"new\n"

    @pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o664])
    def test_permissions_stay(self, tmp_path: Path, mode: int) -> None:
        """Who could read and run the file still can, and nobody else."""
        path = tmp_path / "AGENTS.md"
        path.write_bytes(b"old\n")
        path.chmod(mode)
        replace_file(path, b"old\n", b"new\n")
        assert stat.S_IMODE(path.stat().st_mode) == mode

    @pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give a file away")
    def test_the_owner_stays(self, tmp_path: Path) -> None:
        """What root writes into a person's file is still that person's."""
        path = tmp_path / "AGENTS.md"
        path.write_bytes(b"old\n")
        os.chown(path, 1234, 1234)
        replace_file(path, b"old\n", b"new\n")
        assert (path.stat().st_uid, path.stat().st_gid) == (1234, 1234)

    @pytest.mark.parametrize("now", [b"edited\n", b"", None])
    def test_a_change_in_between_is_refused(self, tmp_path: Path, now: bytes | None) -> None:
        """Whoever edits the file while it is being rendered keeps that edit, and no rest of ours lies around."""
        folder = tmp_path / "docs"
        folder.mkdir()
        path = folder / "AGENTS.md"
        if now is not None:
            path.write_bytes(now)
        with pytest.raises(StoreError, match="was changed by someone else just now, so nothing was written"):
            replace_file(path, b"old\n", b"new\n")
        assert (path.read_bytes() if path.exists() else None) == now
        assert os.listdir(folder) == ([] if now is None else ["AGENTS.md"])

    def test_a_folder_that_cannot_be_written_is_a_store_problem(self, tmp_path: Path) -> None:
        """One sentence, and the file is as it was."""
        (tmp_path / "file").write_bytes(b"")
        with pytest.raises(StoreError, match="cannot write .*AGENTS.md: "):
            replace_file(tmp_path / "file" / "AGENTS.md", b"", b"new\n")
        assert (tmp_path / "file").read_bytes() == b""

    def test_a_crash_leaves_the_old_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Until the last step the old bytes are in place, and the temporary file does not stay."""
        folder = tmp_path / "docs"
        folder.mkdir()
        path = folder / "AGENTS.md"
        path.write_bytes(b"old\n")

        def fails(*where: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "replace", fails)
        with pytest.raises(StoreError, match="No space left on device"):
            replace_file(path, b"old\n", b"new\n")
        assert path.read_bytes() == b"old\n"
        assert os.listdir(folder) == ["AGENTS.md"]

    def test_what_a_killed_write_left_is_cleared_away(self, tmp_path: Path) -> None:
        """Once it is old; one that may still be under way stays, and so does every other file."""
        folder = tmp_path / "docs"
        folder.mkdir()
        path = folder / "AGENTS.md"
        path.write_bytes(b"old\n")
        names = [f".AGENTS.md.old{UNFINISHED}", f".AGENTS.md.new{UNFINISHED}", ".AGENTS.md.swp"]
        for name in names:
            (folder / name).write_bytes(b"")
        for name in (names[0], names[2]):
            os.utime(folder / name, (1e9, 1e9))
        replace_file(path, b"old\n", b"new\n")
        assert sorted(os.listdir(folder)) == sorted([*names[1:], "AGENTS.md"])

    def test_what_a_process_that_has_ended_left_is_cleared_away_at_once(self, tmp_path: Path) -> None:
        """Its number stands in the name; that of a living one stays."""
        ended = subprocess.Popen([sys.executable, "-S", "-c", "pass"])
        ended.wait()
        folder = tmp_path / "docs"
        folder.mkdir()
        path = folder / "AGENTS.md"
        path.write_bytes(b"old\n")
        living = f".AGENTS.md.{os.getpid()}-abc{UNFINISHED}"
        for name in (f".AGENTS.md.{ended.pid}-abc{UNFINISHED}", living):
            (folder / name).write_bytes(b"")
        replace_file(path, b"old\n", b"new\n")
        assert sorted(os.listdir(folder)) == sorted([living, "AGENTS.md"])


class TestMentions:
    @pytest.mark.parametrize(
        "text",
        [
            b"Between `<!-- mem:begin ... -->` and `<!-- mem:end -->` edits are lost.\n",
            b"It begins with `<!-- mem:begin`.\n",
            b"`x` and ``a `<!-- mem:end -->` b`` and more\r\n",
        ],
    )
    def test_markers_in_the_code_of_a_sentence_are_its_words(self, text: bytes) -> None:
        """With and without a block beside them."""
        assert put(text, "- a rule", PATH).startswith(text)
        assert put(text + BLOCK + b"\n" + text, "- another", PATH) == (text + BLOCK + b"\n" + text).replace(
            b"- a rule", b"- another"
        )

    @pytest.mark.parametrize("before", [b"`", b"a ` b ", b"```"])
    def test_backticks_around_our_block_do_not_hide_it(self, before: bytes) -> None:
        """A person may write right in front of a marker and right behind one."""
        document = before + BLOCK + before + b"\n"
        assert put(document, "- another", PATH) == document.replace(b"- a rule", b"- another")


class TestFences:
    OPEN = b"text\n```\ncode\n"

    @pytest.mark.parametrize("before", [OPEN, b"~~~ js\n", b"```code``` in a line\n", b"   ````\n```\n"])
    def test_a_fence_that_is_never_closed_hides_nothing(self, before: bytes) -> None:
        """It is a slip of the pen, and a second block would be one too many."""
        document = before + BLOCK + b"\nmore\n"
        assert put(document, "- another", PATH) == document.replace(b"- a rule", b"- another")

    def test_a_fence_put_around_our_block_does_not_lose_it(self) -> None:
        """A stale copy would stay in the file; only what we wrote to the letter is taken for ours."""
        document = b"```\n" + BLOCK + b"\n```\n"
        assert put(document, "- another", PATH) == document.replace(b"- a rule", b"- another")

    def test_an_example_beside_the_block_stays(self) -> None:
        """Even one that looks like ours to the letter."""
        example = b"```md\n" + BLOCK + b"\n```\n"
        assert put(example + BLOCK + b"\n", "- another", PATH) == example + BLOCK.replace(b"a rule", b"another") + b"\n"

    @pytest.mark.parametrize("mark", [b"   ", b"      ", b"> ", b"- ", b"1. "])
    def test_an_example_in_a_list_or_a_quotation_stays(self, mark: bytes) -> None:
        """A fence may stand deep in either."""
        rest = b"> " if mark == b"> " else b" " * len(mark)
        lines = (b"```md\n" + BLOCK + b"\n```").split(b"\n")
        example = mark + (b"\n" + rest).join(lines) + b"\n\n"
        assert put(example + BLOCK + b"\n", "- another", PATH) == example + BLOCK.replace(b"a rule", b"another") + b"\n"

    def test_a_block_keeps_its_line_ends(self) -> None:
        """Whatever the text around it has, so that only changed lines change."""
        document = b"a\r\nb\r\n" + BLOCK + b"\r\n"
        assert put(document, "- a rule", PATH) == document
