"""Settings: what is set is read back, what is wrong is named, what is not ours stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem import StoreError, UsageError
from acemem.memory import config
from acemem.memory.config import NAMES, Settings, check, default, load, meaning, save


def test_without_a_file_everything_has_its_default(tmp_path: Path) -> None:
    """The weights are +0.3 and -0.5, the embedder the one that comes along."""
    settings = load(tmp_path)
    assert settings == Settings()
    assert (settings.score_helpful, settings.score_harmful, settings.embedder) == (0.3, -0.5, "minilm")
    assert not (tmp_path / "config.toml").exists()


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_has_a_meaning_and_a_default_that_it_would_accept(name: str) -> None:
    """And its default survives being written down as text."""
    assert meaning(name)
    assert check(name, default(name)) == check(name, str(default(name))) == default(name)


@pytest.mark.parametrize(
    ("name", "given", "stored"),
    [
        ("score.helpful", "1", 1.0),
        ("score.harmful", -2, -2.0),
        ("search.k", "12", 12),
        ("embedder", "hashing:64", "hashing:64"),
        ("hook.repeat_after", 0, 0),
        ("daemon.background", "False", False),
        ("daemon.background", True, True),
    ],
)
def test_what_is_saved_is_loaded(tmp_path: Path, name: str, given: Any, stored: Any) -> None:
    """In the setting's own type, whether it came as text from the command line or as a value."""
    assert save(tmp_path / "new" / "home", name, given) == stored
    assert getattr(load(tmp_path / "new" / "home"), name.replace(".", "_", 1)) == stored


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("score.helpful", 0),
        ("score.helpful", "nan"),
        ("score.helpful", "inf"),
        ("score.harmful", 0.5),
        ("search.k", 0),
        ("search.k", 2.5),
        ("search.k", "many"),
        ("search.k", True),
        ("search.floor", 1.01),
        ("embedder", ""),
        ("embedder", 7),
        ("hook.tokens", None),
        ("hook.tokens", [1]),
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_name(tmp_path: Path, name: str, value: Any) -> None:
    """The message says what was given and what was expected, and nothing is written."""
    with pytest.raises(UsageError, match=rf"{name} = .*expected a "):
        save(tmp_path, name, value)
    assert not (tmp_path / "config.toml").exists()


@pytest.mark.parametrize("name", ["", "score", "score.", "score_helpful", "search.K", "embedder.name"])
def test_an_unknown_setting_is_refused_with_the_list_of_those_there_are(tmp_path: Path, name: str) -> None:
    """A misspelt setting must not be taken for one that works."""
    with pytest.raises(UsageError, match=r"score\.helpful"):
        save(tmp_path, name, "1")


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"score = [", "not valid TOML"),
        (b"\xff\xfe", "not valid TOML"),
        (b"[score]\nhelpfull = 1", "score.helpfull"),
        (b"score = 1", "'score'"),
        (b'[search]\nk = "many"', "search.k"),
        (b"[search.k]\ndeep = 1", "search.k"),
        (b"[score]\nhelpful = 1979-05-27", "score.helpful"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_what_is_wrong(tmp_path: Path, content: bytes, named: str) -> None:
    """Neither reading nor changing a setting goes on as if it were not there, and the file stays as it is."""
    path = tmp_path / "config.toml"
    path.write_bytes(content)
    for attempt in (lambda: load(tmp_path), lambda: save(tmp_path, "search.k", 3)):
        with pytest.raises(UsageError) as caught:
            attempt()
        assert str(path) in str(caught.value)
        assert named in str(caught.value)
    assert path.read_bytes() == content


def test_comments_and_order_survive_a_change(tmp_path: Path) -> None:
    """The file is a person's; only the one value changes."""
    path = tmp_path / "config.toml"
    path.write_text(
        '# mine\nembedder = "hashing" # fast\n\n[score]\nharmful = -1.0\nhelpful = 0.3 # as it was\n', "utf-8"
    )
    save(tmp_path, "score.helpful", 0.4)
    assert path.read_text("utf-8") == (
        '# mine\nembedder = "hashing" # fast\n\n[score]\nharmful = -1.0\nhelpful = 0.4 # as it was\n'
    )
    assert [entry.name for entry in tmp_path.glob("config*")] == ["config.toml"]


def test_a_file_from_an_editor_that_marks_utf8_is_read(tmp_path: Path) -> None:
    """A byte order mark is no setting."""
    (tmp_path / "config.toml").write_bytes(b"\xef\xbb\xbf[search]\nk = 3\n")
    save(tmp_path, "hook.k", 2)
    assert (load(tmp_path).search_k, load(tmp_path).hook_k) == (3, 2)


def test_a_place_that_cannot_be_written_is_a_store_error(tmp_path: Path) -> None:
    """The message names the file."""
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(UsageError, match=r"config\.toml"):
        save(tmp_path, "search.k", 3)
    (tmp_path / "config.toml").rmdir()
    dangling = tmp_path / "home"
    dangling.symlink_to(tmp_path / "nowhere" / "at" / "all")
    with pytest.raises(StoreError, match=r"config\.toml"):
        save(dangling, "search.k", 3)


@given(st.dictionaries(st.sampled_from(NAMES), st.text() | st.integers() | st.floats() | st.booleans()))
def test_no_value_gets_past_the_check_unchecked(values: dict[str, Any]) -> None:
    """Whatever is given, it is refused or is within the bounds of its setting."""
    for name, value in values.items():
        try:
            accepted = check(name, value)
        except UsageError:
            continue
        assert type(accepted) is type(default(name))
        spec = config._field(name)
        if spec.metadata["low"] is not None:
            assert spec.metadata["low"] <= accepted <= spec.metadata["high"]
