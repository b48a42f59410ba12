"""Scopes: which project a folder belongs to, and where the store lives."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem import Memory, UsageError
from acemem.memory.scope import Project, home_directory, is_scope, scope_label

GIT = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True, env=os.environ | GIT)


def test_a_folder_inside_a_checkout_belongs_to_its_root(project: Path) -> None:
    """However deep it lies, and whether or not it exists."""
    deep = project / "src" / "deep"
    deep.mkdir(parents=True)
    scopes = {Project.of(folder).scope for folder in (project, deep, deep / "gone", str(project) + "/")}
    assert scopes == {Project(project).scope}


def test_a_folder_without_a_checkout_is_its_own_project(tmp_path: Path) -> None:
    """A session may have run in a folder that has been deleted, or on another machine."""
    assert Project.of(tmp_path / "gone" / "away").root == tmp_path / "gone" / "away"


def test_a_worktree_belongs_to_the_project_of_its_main_checkout(tmp_path: Path) -> None:
    """What was learned in one holds in all of them."""
    main, tree = tmp_path / "main", tmp_path / "elsewhere" / "tree"
    main.mkdir()
    git(main, "init", "-q")
    git(main, "commit", "-q", "--allow-empty", "-m", "first")
    git(main, "worktree", "add", "-q", str(tree))
    assert Project.of(tree / "src") == Project.of(main) == Project(main)


def test_a_worktree_that_names_its_checkout_relatively_is_followed(tmp_path: Path) -> None:
    """git writes it so when `worktree.useRelativePaths` is set."""
    tree = tmp_path / "trees" / "one"
    tree.mkdir(parents=True)
    (tree / ".git").write_text("gitdir: ../../main/.git/worktrees/one\n", "utf-8")
    assert Project.of(tree) == Project(tmp_path / "main")


@pytest.mark.parametrize("pointer", ["gitdir: ../.git/modules/part\n", "nothing of the kind", "", "gitdir: \0"])
def test_a_submodule_and_a_strange_pointer_are_projects_of_their_own(project: Path, pointer: str) -> None:
    """Only worktrees share what is learned."""
    part = project / "part"
    part.mkdir()
    (part / ".git").write_text(pointer, "utf-8")
    assert Project.of(part / "src").root == part


def test_one_folder_is_one_project_however_it_is_reached(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relatively, through `..`, or from the current folder."""
    other = project.parent / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    assert {Project.of(way).scope for way in ("../shop", other / ".." / "shop", Path("..") / "shop" / "src")} == {
        Project(project).scope
    }
    monkeypatch.chdir(project)
    assert Memory.open(project.parent / "home").project == Project(project)


def test_projects_of_the_same_name_differ(tmp_path: Path) -> None:
    """The scope holds a hash of the whole path; what people read is the name alone."""
    one, two = Project.of(tmp_path / "a" / "shop").scope, Project.of(tmp_path / "b" / "shop").scope
    assert one != two
    assert scope_label(one) == scope_label(two) == "shop"


@pytest.mark.parametrize("path", ["C:\\work\\shop", "D:/work/shop", "\\\\server\\share\\shop"])
def test_a_path_of_another_system_is_a_project_of_its_own(
    project: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """It is not looked for below the folder in which the command happens to run."""
    monkeypatch.chdir(project)
    scope = Project.of(path).scope
    assert is_scope(scope)
    assert scope.rpartition("-")[0].endswith("shop")
    assert scope == Project.of(path).scope != Project.of(project).scope


@pytest.mark.parametrize(
    "path", ["~nobody-of-this-name/shop", "/work/sh\udcffop", "/", "/work/\0", "/" + "x" * 5_000, "/…/ "]
)
def test_any_path_gives_a_scope(path: str) -> None:
    """Logs hold paths of people and systems that are not here, and names that are not text."""
    assert is_scope(Project.of(path).scope)


@given(st.text(min_size=1, max_size=60))
def test_no_text_as_a_folder_is_too_strange_for_a_scope(text: str) -> None:
    """The scope is always well formed, and always the same."""
    scope = Project.of(f"/{text}").scope
    assert is_scope(scope)
    assert Project.of(f"/{text}").scope == scope


def test_a_current_folder_that_is_gone_is_named_not_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says how to go on; with a project named, the command works."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(UsageError, match="--project"):
        Memory.open(tmp_path / "home")
    with Memory.open(tmp_path / "home", tmp_path / "shop") as memory:
        assert memory.project.root == tmp_path / "shop"


@pytest.mark.parametrize(
    "text", ["global", "project:shop-1a2b3c", "agent:codex", "tool:git", "tool:my tool", "tool:été"]
)
def test_what_is_a_scope(text: str) -> None:
    """Global, or one of three families with a name."""
    assert is_scope(text)


@pytest.mark.parametrize(
    "text",
    ["", "Global", "globals", "project:", "tool: x", "team:x", "x", "tool:a\nb", "tool:\x7f", "tool:\udcff", "global "],
)
def test_what_is_no_scope(text: str) -> None:
    """Nothing that could not be written down, or read back as it is."""
    assert not is_scope(text)


def test_the_home_is_the_one_given_then_the_variable_then_the_platforms(
    tmp_path: Path, fresh_surroundings: Path
) -> None:
    """`~` is the user's folder, and a relative path starts here."""
    environ = {"MEM_HOME": str(tmp_path / "variable")}
    assert home_directory("~/given", environ) == fresh_surroundings / "given"
    assert home_directory("given", environ) == Path.cwd() / "given"
    assert home_directory(None, environ) == tmp_path / "variable"
    assert home_directory(None, {"MEM_HOME": ""}).is_relative_to(fresh_surroundings)
