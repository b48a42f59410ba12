from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from acemem import Hit, Memory, UsageError
from acemem.memory.home import Home
from acemem.memory.models import Draft
from acemem.memory.scope import GLOBAL, Project, home_directory
from acemem.retrieval.search import Reach, search
from tests.bullets import everything, store
from tests.conftest import Clock

QUESTION = "what is the vault code of the shop"


def texts(hits: list[Hit]) -> list[str]:
    return [hit.text for hit in hits]


class TestScopes:
    """What one project knows, no other learns."""

    OTHERS = (
        "project:shop",
        "project:shop-",
        "project:%",
        "project:_",
        "project:sh' OR '1'='1",
        "project:o\\'brien",
        "project:PROJECT:shop",
        "project:店-ab12cd",
        "project:global",
        "agent:codex",
        "agent:claude-code-2",
    )

    @pytest.fixture
    def crowd(self, open_memory: Callable[..., Memory], tmp_path: Path) -> Memory:
        """Twelve projects in folders of alike names, and scopes that look like one another, each with a secret."""
        names = [
            "shop",
            "shop2",
            "Shop",
            "shop-old",
            "sho",
            "a/shop",
            "b/shop",
            "shop.git",
            "shop x",
            "ショップ",
            "s'h",
        ]
        for name in names:
            folder = tmp_path / "work" / name
            (folder / ".git").mkdir(parents=True)
            with open_memory(folder) as memory:
                store(memory, f"The vault code of the shop is {secret(memory.project.scope)}.")
        memory = open_memory()
        for scope in (*self.OTHERS, memory.project.scope, GLOBAL, "tool:pytest", "agent:claude-code"):
            store(memory, f"The vault code of the shop is {secret(scope)}.", scope=scope)
        return memory

    def assert_no_leak(self, hits: list[Hit], allowed: set[str]) -> None:
        assert {hit.bullet.scope for hit in hits} == allowed
        printed = json.dumps([hit.to_json() for hit in hits], ensure_ascii=False)
        assert printed.count("SECRET-") == len(allowed)
        assert all(secret(scope) in printed for scope in allowed)

    @pytest.mark.parametrize("floor", [None, 0.0])
    def test_an_agent_sees_its_project_and_what_is_general(self, crowd: Memory, floor: float | None) -> None:
        """Nothing leaks from the other projects and agents, be the floor what it may."""
        reach = Reach.of(crowd.project.scope, "claude-code")
        hits = search(crowd.home, QUESTION, reach, k=500, floor=floor)
        self.assert_no_leak(hits, {crowd.project.scope, GLOBAL, "tool:pytest", "agent:claude-code"})

    def test_every_scope_by_name_gives_that_scope_alone(self, crowd: Memory) -> None:
        """Quotes, wildcards and prefixes in a scope are part of its name and nothing else."""
        for scope in everything_in(crowd):
            self.assert_no_leak(crowd.search(QUESTION, k=500, scope=scope), {scope})

    def test_every_project_sees_its_own_secret_only(self, crowd: Memory, tmp_path: Path) -> None:
        """Asked from each of the twelve folders in turn, with a verbatim question too."""
        for folder in sorted((tmp_path / "work").rglob(".git")):
            scope = Project.of(folder.parent).scope
            reach = Reach.of(scope, "nobody")
            self.assert_no_leak(search(crowd.home, QUESTION, reach, k=500), {scope, GLOBAL, "tool:pytest"})
            stolen = f"The vault code of the shop is {secret(crowd.project.scope)}."
            found = search(crowd.home, stolen, reach, k=500, floor=0.0)
            self.assert_no_leak(found, {scope, GLOBAL, "tool:pytest"})

    def test_a_person_also_sees_what_is_kept_for_every_agent(self, crowd: Memory) -> None:
        """`mem search` looks through the eyes of all agents, and still into one project only."""
        agents = {scope for scope in self.OTHERS if scope.startswith("agent:")} | {"agent:claude-code"}
        hits = crowd.search(QUESTION, k=500)
        self.assert_no_leak(hits, {crowd.project.scope, GLOBAL, "tool:pytest", *agents})

    @pytest.mark.parametrize("behind", [False, True], ids=["table follows", "table behind"])
    def test_a_bullet_that_moved_is_gone_from_where_it_was(
        self, crowd: Memory, monkeypatch: pytest.MonkeyPatch, behind: bool
    ) -> None:
        """A change of scope counts from its event on, even where the table still has the old one."""
        crowd.search(QUESTION)
        [mine] = crowd.bullets(scope=crowd.project.scope)
        if behind:
            monkeypatch.setattr(Home, "freshen", lambda home: None)
        crowd.home.ledger.append([Draft("edit", mine.id, data={"scope": "project:elsewhere"})], crowd.home.clock())
        reach = Reach.of(crowd.project.scope, "claude-code")
        hits = search(crowd.home, QUESTION, reach, k=500, floor=0.0)
        self.assert_no_leak_after_move(hits)

    def assert_no_leak_after_move(self, hits: list[Hit]) -> None:
        assert {hit.bullet.scope for hit in hits} == {GLOBAL, "tool:pytest", "agent:claude-code"}

    @pytest.mark.parametrize("behind", [False, True], ids=["table follows", "table behind"])
    def test_a_forgotten_bullet_is_gone_at_once(
        self, crowd: Memory, monkeypatch: pytest.MonkeyPatch, behind: bool
    ) -> None:
        """The archive closes with the event, not with the next write of the table."""
        crowd.search(QUESTION)
        [mine] = crowd.bullets(scope=crowd.project.scope)
        if behind:
            monkeypatch.setattr(Home, "freshen", lambda home: None)
        crowd.forget(mine.id)
        assert mine.id not in {hit.id for hit in crowd.search(mine.text, k=500, floor=False)}


def secret(scope: str) -> str:
    return f"SECRET-{scope.encode().hex()}-END"


def everything_in(memory: Memory) -> list[str]:
    return list(memory.home.ledger.scopes())


class TestFilters:
    def test_archived_bullets_come_only_on_demand(self, memory: Memory) -> None:
        """Asked for, the archive answers alone."""
        live = store(memory, "The parser reads the config file first.")
        gone = store(memory, "The parser reads the config file last.")
        memory.forget(gone.id)
        assert [hit.id for hit in memory.search("parser config file")] == [live.id]
        assert [hit.id for hit in memory.search("parser config file", archived=True)] == [gone.id]
        assert [hit.id for hit in memory.search(gone.text, archived=True)] == [gone.id]

    def test_a_kind_is_a_filter(self, memory: Memory) -> None:
        """Only bullets of that kind, verbatim ones too."""
        store(memory, "The parser reads the config file first.", kind="context")
        pitfall = store(memory, "The parser reads the config file twice.", kind="failure")
        assert [hit.id for hit in memory.search("parser config file", kind="failure")] == [pitfall.id]
        assert [hit.id for hit in memory.search("The parser reads the config file first.", kind="failure")] == [
            pitfall.id
        ]

    def test_an_unknown_kind_or_scope_is_refused(self, memory: Memory) -> None:
        """A typing error must not look like an empty store."""
        with pytest.raises(UsageError, match="no kind 'failures'; the kinds are failure, "):
            memory.search("parser", kind="failures")  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="no kind"):
            memory.bullets(kind="failures")  # type: ignore[arg-type]
        for scope in ("shop", "project:", "project: x", "global ", "PROJECT:x", "tool:\x1b[2J", "tool:\udcff"):
            with pytest.raises(UsageError, match="expected global, project:ID"):
                memory.search("parser", scope=scope)
            with pytest.raises(UsageError, match="expected global, project:ID"):
                memory.bullets(scope=scope)

    def test_k_hits_at_most(self, memory: Memory) -> None:
        """`k` is a limit; a k below 1 is refused."""
        for n in range(9):
            store(memory, f"The parser reads the config file number {n}.")
        assert len(memory.search("parser config file")) == 7
        assert len(memory.search("parser config file", k=3)) == 3
        assert len(memory.search("parser config file", k=100)) == 9
        with pytest.raises(UsageError, match="k = 0"):
            memory.search("parser", k=0)

    def test_without_a_floor_k_hits_come_whatever_they_say(self, memory: Memory) -> None:
        """For measuring, a question about nothing in the store still ranks it."""
        for n in range(5):
            store(memory, f"The parser reads the config file number {n}.")
        assert memory.search("zebra quagga okapi") == []
        assert len(memory.search("zebra quagga okapi", k=4, floor=False)) == 4


ODD = {
    "quote": "it's",
    "quotes": "\"parser\" OR 'config' AND `file`",
    "unclosed quote": '"parser config',
    "sql": "'; DROP TABLE bullets; --",
    "sql filter": "parser' OR scope LIKE '%",
    "operators": "+parser -config && file || !(x) {a} [b] ^2 ~3 *? : \\ /",
    "field": "scope:global text:parser",
    "regex": "/.*parser.*/ (((",
    "stop words": "the of and to a in is",
    "punctuation": "?!... --- ***",
    "nul": "parser\0 config\0 file",
    "controls": "\x1b[31mparser\x1b[0m \x07config\x9b2J file",
    "surrogate": "parser \udcff \ud800 config file",
    "joined surrogates": "parser \ud83d\ude00 config",
    "bidi": "\u202eparser\u202c config file",
    "zero width": "par\u200bser config file",
    "cjk": "解析器读取配置文件",
    "emoji": "🚀🔥 👩‍👩‍👧",
    "combining": "e\u0301" * 50,
    "one letter": "p",
    "long word": "x" * 10_000,
    "100 KB": "parser config file " * 5_400,
    "100 KB of distinct words": " ".join(f"word{n}" for n in range(11_000)),
    "100 KB of lines": "\n" * 50_000 + "parser config file" + "\r\n" * 25_000,
}


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """One small store for all of them; a search changes nothing."""
    folder = tmp_path_factory.mktemp("odd")
    (folder / "config.toml").write_text('embedder = "hashing"\n', "utf-8")
    with Memory.open(folder, folder / "shop", Clock()) as memory:
        store(memory, "The parser reads the config file first.")
        store(memory, "解析器读取配置文件。")
        store(memory, "Deploy with 🚀 and never on Friday.")
        store(memory, "parser config file secret of another", scope="project:other")
        yield memory


class TestOddQuestions:
    @pytest.mark.parametrize("query", ODD.values(), ids=ODD)
    def test_any_text_is_a_question(self, stocked: Memory, query: str) -> None:
        """It is answered within the project's reach, twice the same, and leaves no trace in the store."""
        before = everything(stocked), stocked.home.ledger.head()
        hits = stocked.search(query, k=50)
        assert {hit.bullet.scope for hit in hits} <= {stocked.project.scope}
        assert stocked.search(query, k=50) == hits
        assert (everything(stocked), stocked.home.ledger.head()) == before
        assert len(stocked.search(query, k=50, floor=False)) == 3

    @pytest.mark.parametrize("query", ["", " ", "\n\t\r\n", "\0\0", "\u200b\ufeff", "\x1b[0m"])
    def test_a_question_without_a_character_finds_nothing(self, stocked: Memory, query: str) -> None:
        """What a reader would see as empty is empty, with or without a floor."""
        assert stocked.search(query) == []
        assert stocked.search(query, floor=False) == []

    @pytest.mark.parametrize(
        "name", ["nul", "controls", "surrogate", "bidi", "zero width", "100 KB", "100 KB of lines"]
    )
    def test_what_cannot_be_seen_does_not_hide_the_words(self, stocked: Memory, name: str) -> None:
        """The words of the question count as a reader sees them."""
        assert texts(stocked.search(ODD[name]))[0] == "The parser reads the config file first."

    def test_other_scripts_are_searched_as_well(self, stocked: Memory) -> None:
        """Chinese text is found by Chinese words."""
        assert texts(stocked.search("配置文件", k=1, floor=False)) == ["解析器读取配置文件。"]


class TestStates:
    def test_an_empty_store_answers_with_nothing(self, memory: Memory) -> None:
        """A question before the first bullet is no error."""
        assert memory.search(QUESTION) == []
        assert memory.search(QUESTION, floor=False) == []

    def test_what_was_added_a_moment_ago_is_found(self, memory: Memory) -> None:
        """The first question after an event brings the table up to the ledger."""
        bullet = store(memory, "The parser reads the config file first.")
        assert [hit.id for hit in memory.search("parser config file")] == [bullet.id]

    def test_feedback_counts_at_once(self, memory: Memory) -> None:
        """Scores and order come from the ledger, without a write of the table."""
        first = store(memory, "The parser reads the config file alpha.", id="aaaa0001")
        second = store(memory, "The parser reads the config file omega.", id="bbbb0002")
        assert [hit.id for hit in memory.search("The parser reads the config file")] == [first.id, second.id]
        memory.feedback(first.id, helpful=False)
        hits = memory.search("The parser reads the config file")
        assert [(hit.id, hit.bullet.score) for hit in hits] == [(second.id, 0.0), (first.id, -0.5)]

    def test_a_bullet_s_own_words_find_it_first(self, memory: Memory) -> None:
        """In any case and spacing, and before bullets that score better."""
        wanted = store(memory, "Run make lint.")
        rival = store(memory, "Run make lint, then make lint again, and make lint.")
        for _ in range(5):
            memory.feedback(rival.id, helpful=True)
        assert memory.search("run  MAKE\tlint.")[0].id == wanted.id

    def test_being_found_changes_nothing(self, memory: Memory) -> None:
        """Retrieval is no evidence: neither score nor freshness moves."""
        store(memory, "The parser reads the config file first.")
        before = everything(memory)
        for _ in range(3):
            memory.search("parser config file")
        assert everything(memory) == before


class TestMeaning:
    """With the embedder that ships."""

    @pytest.fixture
    def real(self, tmp_path: Path, clock: Clock) -> Iterator[Memory]:
        """A store with the default embedder."""
        with Memory.open(tmp_path / "real", tmp_path / "shop", clock) as memory:
            memory.add(
                [
                    "Deployments go out through the staging cluster; push to the release branch.",
                    "Unit tests need a running Postgres; start it with docker compose up db.",
                    "The customer prefers British spelling in all user-facing texts.",
                ]
            )
            yield memory

    def test_a_question_in_other_words_finds_its_bullet(self, real: Memory) -> None:
        """Meaning finds what no common word would."""
        assert texts(real.search("how do I ship a new version to production"))[0].startswith("Deployments")
        assert texts(real.search("which English variant should labels use"))[0].startswith("The customer")

    def test_a_question_about_something_else_finds_nothing(self, real: Memory) -> None:
        """Nothing is shown rather than something unrelated."""
        assert real.search("best recipe for sourdough bread") == []


def test_the_home_of_another_is_another_store(open_memory: Callable[..., Memory], tmp_path: Path) -> None:
    """Two homes share nothing."""
    store(open_memory(), "The parser reads the config file first.", scope=GLOBAL)
    other = home_directory(tmp_path / "other", {})
    other.mkdir()
    (other / "config.toml").write_text('embedder = "hashing"\n', "utf-8")
    with Memory.open(other, tmp_path) as elsewhere:
        assert elsewhere.search("parser config file", floor=False) == []
