"""TOML text: one table comes last and goes again, and every other byte stays."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acemem.cli.installing.settings_files import TomlSettings
from acemem.cli.installing.toml_text import TomlText
from acemem.memory.errors import BadInput

PATH = Path("config.toml")
KEYS = ("mcp_servers", "mem")
TABLE = {"command": "/opt/Zoë's tools/mem", "args": ["--home", "/x", "mcp"]}
FILE = TomlSettings(PATH, "mcp_servers", TABLE)

SHAPES = {
    "empty": "",
    "one line end": "\n",
    "plain": 'model = "o5"\n',
    "no end": 'model = "o5"',
    "blank end": 'model = "o5"\n\n',
    "crlf": '# mine\r\nmodel = "o5"\r\n\r\n[features]\r\nhooks = true\r\n',
    "bom": '\ufeffmodel = "o5"\n',
    "others' servers": '[mcp_servers.git]\ncommand = "git-mcp"\n\n[mcp_servers.git.env]\nA = "1" # one\n',
    "a parent": '[mcp_servers]\n# none\n\n[tui]\ntheme = "dark"\n# end\n',
    "a name in a text": 'note = """\n[mcp_servers.mem]\ncommand = "no"\n"""\n',
    "non-ascii": 'owner = "Zoë 日本語"\n[ключ]\n"é" = 1\n'.replace("[ключ]", '["ключ"]'),
    "arrays of tables": '[[profiles]]\nname = "a"\n[[profiles]]\nname = "b"',
}


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES)
def test_a_table_comes_last_and_goes_again(text: str) -> None:
    """Byte for byte; with what was there before it at its old place."""
    data = text.encode()
    written = FILE.written(data)
    assert written.startswith(data)
    assert FILE.written(written) == written
    assert TomlText(written, PATH).get(KEYS) == TABLE
    assert FILE.held(written) == [[TABLE["command"], *TABLE["args"]]]
    assert FILE.stripped(written, None) == data


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES)
def test_what_others_add_stays(text: str) -> None:
    """A table behind ours with its comment; a setting of theirs in ours goes with it."""
    written = FILE.written(text.encode()).decode().rstrip("\n") + "\nstartup_timeout_sec = 9\n"
    theirs = '\n# theirs\n[zz]\nkey = "[mcp_servers.mem]"\n'
    left = FILE.stripped((written + theirs).encode(), None).decode()
    assert left.endswith(theirs)
    assert left.startswith(text.rstrip("\n"))
    assert tomllib.loads(left.removeprefix("\ufeff")).get("mcp_servers", {}).keys() <= {"git"}


def test_another_command_takes_the_place_of_the_old_one() -> None:
    """What a person has set beside it stays."""
    old = b'[mcp_servers."mem"]\ncommand = "/old/mem"\nargs = ["mcp"]\nstartup_timeout_sec = 20\n\n[tui]\nx = 1\n'
    found = tomllib.loads(FILE.written(old).decode())
    assert found == {"mcp_servers": {"mem": {**TABLE, "startup_timeout_sec": 20}}, "tui": {"x": 1}}


@pytest.mark.parametrize(
    "text",
    [
        "a = ",
        "mcp_servers = { git = { command = 'x' } }\n",
        "mcp_servers = 3\n",
        "[mcp_servers.mem]\ncommand = 'somebody-else'\n",
        "mcp_servers = { mem = { command = 'mem', args = ['mcp'] } }\n",
    ],
)
def test_what_cannot_be_edited_safely_is_refused(text: str) -> None:
    """Also what is TOML, and so written that a table of its own cannot be added to it."""
    with pytest.raises(BadInput, match="nothing was written"):
        FILE.written(text.encode())


LINES = st.lists(
    st.sampled_from(
        ["# c", "", "  ", "a = 1", "b = '''\n[x]\n'''", "[t]", "[ mcp_servers . git ]", "  [u.v]", "c = [\n1,\n]"]
    )
)


@settings(max_examples=200, deadline=None)
@given(LINES, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_any_file_comes_back_as_it_was(lines: list[str], newline: str, ended: bool) -> None:
    """Whatever stands before."""
    data = (newline.join(lines) + (newline if ended else "")).replace("\r\n", "\n").replace("\n", newline).encode()
    try:
        written = FILE.written(data)
    except BadInput:
        return
    assert FILE.written(written) == written
    assert FILE.stripped(written, None) == data
