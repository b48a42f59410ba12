"""Entities: the one named thing that a bullet is about: a tool, a file, an identifier."""

from __future__ import annotations

import re

from acemem.memory.models import Bullet

# Names of commands and services that people write like any other word.
_TOOLS = frozenset(
    """
    git github gitlab npm pnpm yarn bun deno node pip uv poetry conda cargo rustc go gradle maven mvn make cmake
    bazel docker podman kubectl kubernetes helm terraform ansible pytest unittest jest vitest mocha cypress
    playwright ruff black mypy pyright flake8 pylint eslint prettier biome tsc webpack vite esbuild rollup babel
    django flask fastapi rails laravel spring react vue svelte angular nextjs astro remix tailwind redux zustand
    pinia sqlite postgres postgresql mysql redis mongodb kafka rabbitmq nginx aws azure gcp vercel netlify supabase
    firebase prisma sqlalchemy alembic graphql grpc openapi bash zsh vim vscode xcode swift kotlin java python ruby
    rust typescript javascript lancedb numpy pandas torch pytorch tensorflow ollama openai anthropic claude codex
    copilot cursor
    """.split()
)
_QUOTED = re.compile(r"`([^`\n]{1,80})`")
_IDENTIFIER = re.compile(
    r"""(?<![\w/.-])(?:
        (?:[\w.-]+/){2,}[\w.-]+ | [\w.-]+/[\w-]+\.\w+  # a path
        | [A-Za-z_]{2}\w*+(?:\.\w++)+      # a file or a dotted name
        | [A-Za-z](?=\w*_\w)\w++           # snake_case
        | [a-z]+[A-Z]\w*+ | (?:[A-Z][a-z0-9]++){2,}+  # camelCase, PascalCase
        | --[a-z][\w-]+                   # a flag
    )(?![\w/-])""",
    re.VERBOSE,
)
_WORD = re.compile(r"[A-Za-z][\w-]*")


def entity(bullet: Bullet) -> str | None:
    """The name of what a bullet is about, lower case; None where it names nothing.

    Said first is said of: in this order what stands in backticks (of a command its program), an identifier or path, a
    known tool's name, and the tool whose scope it is in.
    """
    text = bullet.text
    quoted, named = _QUOTED.search(text), _IDENTIFIER.search(text)
    for said in (quoted[1] if quoted else "", named[0] if named else ""):
        for program in said.split()[:1]:
            return program.casefold().strip("()")
    for word in map(str.casefold, _WORD.findall(text)):
        if word in _TOOLS:
            return word
    family, _, name = bullet.scope.partition(":")
    return name.casefold() if family == "tool" else None
