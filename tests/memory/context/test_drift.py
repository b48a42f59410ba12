from __future__ import annotations

import json
from pathlib import Path

import pytest

from acemem import Memory
from acemem.memory.context.drift import contradictions, drifted, span_of
from acemem.memory.context.repository import Repository
from tests.bullets import store


def test_a_python_version_file_may_name_several(memory: Memory, project: Path) -> None:
    """As pyenv reads it; which of them is meant is not said."""
    store(memory, "The tests use Python 3.8.")
    (project / ".python-version").write_text("3.9\n3.8\n", "utf-8")
    assert drifted(memory.home, memory.project)[0] == []
    (project / ".python-version").write_text("3.9\n", "utf-8")
    assert len(drifted(memory.home, memory.project)[0]) == 1


@pytest.fixture
def repository(project: Path) -> Repository:
    """A project with manifests of every sort."""
    (project / "package.json").write_text(
        json.dumps({"scripts": {"build": "x", "test:unit": "x"}, "dependencies": {"react": "^18.2.0", "left": "*"}}),
        "utf-8",
    )
    (project / "pyproject.toml").write_text(
        '[project]\nrequires-python = ">=3.11"\ndependencies = ["django>=4.2,<5", "click"]\n', "utf-8"
    )
    (project / "Makefile").write_text(".PHONY: test\nlint test: deps\n\tx\nVAR := y\n", "utf-8")
    (project / "packages" / "web" / "src").mkdir(parents=True)
    (project / "packages" / "web" / "src" / "app.ts").write_bytes(b"")
    (project / "src").mkdir()
    (project / "src" / "parser.py").write_bytes(b"")
    return Repository(project)


CONTRADICTED = [
    ("The parser lives in src/lexer.py.", "path", "src/lexer.py"),
    ("Deploy with `scripts/deploy.sh`.", "path", "scripts/deploy.sh"),
    ("Run `npm run lint` before pushing.", "script", "lint"),
    ("If the types are stale, run pnpm run codegen.", "script", "codegen"),
    ("Run the tests with make check, never pytest alone.", "target", "check"),
    ("Use `make fmt`.", "target", "fmt"),
    ("Recipes: run `just release`.", "target", "release"),
    ("The frontend uses React 17.", "version", "React 17"),
    ("Built on Django 3.2.", "version", "Django 3.2"),
    ("The code runs on Python 3.8.", "version", "Python 3.8"),
]
LEFT_ALONE = [
    "The parser lives in src/parser.py.",
    "The app is `src/app.ts`.",  # named from within a package
    "src/lexer.py was removed in spring.",
    "Never edit src/generated.py.",
    "Create src/lexer.py for new tokens.",
    "See https://example.com/src/lexer.py and github.com/acme/tool.git.",
    "Output goes to dist/bundle.js and build/app.js.",
    "Settings are in ~/.config/tool.toml, /etc/tool.conf and $HOME/src/x.py.",
    "Tests match src/*.py and src/{a,b}.py.",
    "Import lodash/fp.js first.",
    "Run `npm run build` before pushing, and yarn run test:unit.",
    "Use make test; make sure that make lint passes.",
    "Run `make test VERBOSE=1`.",
    "The frontend uses React 18.",
    "The code runs on Python 3.11, or Python 3.12.",
    "Works with React 17 or newer, since React 16.",
    "Upgraded from React 17.",
    "Built on Django 4.2 and click 7.",
    "left 3 is pinned to nothing.",
    "Section 3.2 has 17 steps.",
    "",
]


class TestStatements:
    @pytest.mark.parametrize(("text", "sort", "named"), CONTRADICTED)
    def test_what_the_repository_rules_out(self, repository: Repository, text: str, sort: str, named: str) -> None:
        """One contradiction each, with what was looked at."""
        [found] = contradictions(text, repository)
        assert (found.sort, found.named) == (sort, named)
        assert found.looked_at

    @pytest.mark.parametrize("text", LEFT_ALONE)
    def test_what_is_in_order_or_in_doubt(self, repository: Repository, text: str) -> None:
        """No word on it."""
        assert contradictions(text, repository) == []

    def test_a_makefile_that_includes_another_proves_nothing(self, repository: Repository) -> None:
        """Neither do patterns, nor a manifest that cannot be read."""
        for text in ("include more.mk\n", "-include x\n", "%.o: %.c\n"):
            (repository.root / "Makefile").write_text(text, "utf-8")
            assert contradictions("Use `make fmt`.", Repository(repository.root)) == []
        (repository.root / "package.json").write_text("{", "utf-8")
        assert contradictions("Run `npm run lint`.", Repository(repository.root)) == []

    def test_a_big_tree_proves_nothing(self, repository: Repository) -> None:
        """What was not looked at may be there."""
        assert contradictions("The parser lives in src/lexer.py.", Repository(repository.root, most=2)) == []

    def test_links_out_of_the_project_are_not_followed(self, repository: Repository, tmp_path: Path) -> None:
        """Neither to look for a file nor to read a manifest."""
        outside = tmp_path / "outside"
        outside.mkdir()
        (repository.root / "lib").symlink_to(outside)
        (repository.root / "Makefile").unlink()
        (outside / "Makefile").write_text("other:\n", "utf-8")
        (repository.root / "Makefile").symlink_to(outside / "Makefile")
        fresh = Repository(repository.root)
        assert contradictions("The helper is lib/helper.py.", fresh) == []
        assert contradictions("Use `make fmt`.", fresh) == []

    @pytest.mark.parametrize(
        ("spec", "allowed"),
        [
            ("^18.2.0", ((18, 2, 0), (19,))),
            ("^0.3.1", ((0, 3, 1), (0, 4))),
            ("~1.2.3", ((1, 2, 3), (1, 3))),
            ("~1.2", ((1, 2), (1, 3))),
            ("~=4.2", ((4, 2), (5,))),
            ("~=4.2.1", ((4, 2, 1), (4, 3))),
            ("==1.2.*", ((1, 2), (1, 3))),
            (">=4.2, <5", ((4, 2), (5,))),
            ("22", ((22,), (23,))),
            *((text, None) for text in ("*", "latest", "workspace:^1", "1 || 2", "", "git+ssh://x", "!=3")),
        ],
    )
    def test_what_a_manifest_allows(self, spec: str, allowed: object) -> None:
        """In the words of npm, Python and Cargo; anything else is not judged."""
        assert span_of(spec) == allowed


class TestStore:
    def test_rules_first_and_only_of_this_project(self, memory: Memory, repository: Repository) -> None:
        """What holds everywhere speaks of no project; nothing in the store changes."""
        plain = store(memory, "The lexer is src/lexer.py.")
        rule = store(memory, "Deploy with scripts/deploy.sh.")
        memory.promote(rule.id, force=True)
        store(memory, "The parser lives in src/parser.py.")
        store(memory, "Deploy with scripts/other.sh.", scope="global")
        head = memory.home.ledger.head()
        found, checked = drifted(memory.home, memory.project)
        assert [item.bullet.id for item in found] == [rule.id, plain.id]
        assert checked == 3
        assert found[0].remark == "outdated? no file scripts/deploy.sh"
        assert memory.home.ledger.head() == head
