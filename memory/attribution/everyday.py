"""What agents run and open of themselves, whatever a note may say: doing it is no sign that the note was used."""

from __future__ import annotations

import re

_PROGRAMS = frozenset(
    "ls cat cd pwd echo grep rg find head tail mkdir rm cp mv touch sed awk which wc sort uniq tree chmod diff curl"
    " wget less env export source test true sleep kill ps df du date whoami man open code vim nano".split()
)
_SCRIPTS = "test tests install i ci build start dev lint format typecheck type-check check add audit outdated exec init"
_CHECKERS = "pytest ruff mypy black flake8 isort pylint pyright unittest tox nox pip venv build"
# A program and the words after it; what is in one row may follow any program of that row.
_COMMANDS = tuple(
    (frozenset(programs.split()), frozenset(words.split()))
    for programs, words in (
        (
            "git",
            "status diff log add commit push pull fetch checkout switch branch stash show merge rebase clone init"
            " blame reset restore remote rev-parse tag config worktree",
        ),
        ("npm pnpm yarn bun", f"run publish version {_SCRIPTS}"),
        ("npx bunx pnpx", "tsc eslint prettier jest vitest biome playwright tsx ts-node vite next check test"),
        ("tsc eslint prettier jest vitest biome playwright tsx ts-node vite next", "test check run build dev"),
        ("uv poetry pdm hatch pipenv", f"run sync lock add install venv pip list check format {_CHECKERS} python"),
        ("python python3", f"{_CHECKERS} install check format http.server"),
        (_CHECKERS, "check format install list freeze show run"),
        ("pip3", "install list freeze show"),
        ("make just task", "test tests build lint format fmt check all clean install run dev help"),
        ("go gofmt golangci-lint", "build test vet run fmt mod get generate install tidy"),
        ("cargo", "build test check fmt clippy run add doc update install"),
        ("docker docker-compose", "ps build run compose images logs exec up down"),
        ("gradle gradlew mvn", "build test clean check install package verify compile"),
        ("dotnet", "build test run restore"),
        ("mix swift flutter composer", "test format compile build run analyze install update"),
        ("bundle rspec rake php", "install exec rspec rake artisan test"),
        ("terraform", "init plan apply validate fmt"),
        ("kubectl", "get apply logs describe"),
        ("gh", "pr issue run api repo create view list checks diff merge watch"),
        ("node deno ruby perl bash sh zsh pre-commit", "run test"),
    )
)
_FLAGS = frozenset(
    "-vv -am --help --version --verbose --quiet --oneline --stat --staged --cached --all --short --name-only"
    " --no-pager --fix --check --watch --noEmit --no-emit --all-files --all-targets --workspace --release"
    " --save-dev --dev --frozen-lockfile --tail --json --list --force --porcelain --amend --no-edit"
    " --name-status --graph --since --coverage --run".split()
)
_FILES = frozenset(
    "readme.md package.json pyproject.toml tsconfig.json claude.md agents.md gemini.md changelog.md contributing.md"
    " cargo.toml go.mod makefile dockerfile index.ts index.js index.html index.tsx main.py main.go main.rs app.py"
    " app.ts app.tsx app.js lib.rs mod.rs __init__.py settings.py config.py setup.py conftest.py utils.py utils.ts"
    " types.ts package-lock.json composer.json pom.xml build.gradle vite.config.ts".split()
)


def is_everyday(tokens: tuple[str, ...]) -> bool:
    """Whether a command, as its words, is so common that running it says nothing of where the agent had it from."""
    first = program(tokens[0])
    if first in _PROGRAMS:
        return True
    flags = (token.partition("=")[0] for token in tokens if token.startswith("-") and token != "--")
    if any(len(flag) > 2 and flag not in _FLAGS for flag in flags):  # of one letter there are too few to tell anything
        return False
    rest = [token for token in tokens[1:] if not token.startswith("-")]
    names = [word for word in rest if "/" not in word and not re.fullmatch(r"[.\d]+|[^\s*]*+\*\S*", word)]
    if not names:
        return not any(len(word) > 5 and "/" in word and not is_everyday_file(word) for word in rest)
    known = [words for programs, words in _COMMANDS if first in programs]
    return any(all(name in words for name in names) for words in known)


def is_everyday_file(path: str) -> bool:
    """Whether files of this name are looked at in any project."""
    return path.rsplit("/", 1)[-1].lower() in _FILES


def program(token: str) -> str:
    """The program that the first word of a command names."""
    return token.removeprefix("./").removeprefix("node_modules/.bin/")
