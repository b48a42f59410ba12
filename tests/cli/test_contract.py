"""The contract of the command line: fields, exit codes, streams."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from acemem import Memory
from acemem.cli.main import COMMANDS
from acemem.memory.context.proposals import propose
from acemem.memory.session_notes.building import build
from tests.bullets import mark, store
from tests.cli.conftest import Mem
from tests.logs import conversation, write_log
from tests.suggestions import suggestion

EMOJI = "Ünïcode → 日本語 🚀"
MEM = [sys.executable, "-c", "import sys; from acemem.cli.main import cli; sys.exit(cli(prog_name='mem'))"]


@pytest.fixture
def shop(memory: Memory, tmp_path: Path, fresh_surroundings: Path) -> dict[str, str]:
    """A store with one of everything that a command can name, and a log where Claude Code keeps them."""
    plain = store(memory, "The parser reads the config file first.", seen_in=["a", "b"])
    rule = store(memory, "Run the linter before the tests.", seen_in=["a", "b"])
    memory.promote(rule.id)
    gone = store(memory, "Restart the proxy after each change.")
    memory.forget(gone.id)
    bad = store(memory, "Delete the lock file whenever the build hangs.")
    mark(memory, bad, False, "p", "q")
    plan = memory.refine(yes=True)
    left, right = memory.add(["Indent YAML files with 2 spaces.", "Indent YAML files with 4 spaces."])
    payload = {"prompt": "how does the parser read the config file", "session_id": "s1"}
    answer = memory.hook("claude-code", "user-prompt-submit", payload)
    receipt = memory.keep_receipt(answer.receipt)
    event = memory.feedback(plain.id, helpful=True)
    log = fresh_surroundings / ".claude" / "projects" / "-work-shop" / "s1.jsonl"
    write_log(log, conversation(cwd=str(memory.project.root)))
    build(memory.home, log, session="noted")
    store(memory, "`npm publish` fails without a token.", kind="failure", scope="global", seen_in=["a", "b"])
    (memory.project.root / "SKILL.md").write_text("# Release\n\nPublish with `npm publish`.\n", "utf-8")
    [proposal] = propose(memory.home, [suggestion(memory)])
    (tmp_path / "playbook.txt").write_text("[a-1] helpful=1 harmful=0 :: Page through results.\n", "utf-8")
    (tmp_path / "pairs.json").write_text('[{"a": "Use tabs.", "b": "Use spaces."}]', "utf-8")
    return {
        "bullet": plain.id,
        "rule": rule.id,
        "gone": gone.id,
        "plan": plan.id,
        "left": left.id,
        "right": right.id,
        "receipt": receipt.data["receipt"],
        "event": event.id,
        "log": str(log),
        "noted": "noted",
        "pairs": str(tmp_path / "pairs.json"),
        "proposal": proposal.id,
        "playbook": str(tmp_path / "playbook.txt"),
    }


BULLET = {
    *("id", "text", "kind", "scope", "section", "status", "score", "helpful", "harmful", "applications", "successes"),
    *("confidence", "trust", "sessions", "created", "confirmed", "last_used", "archived_because", "sources", "fields"),
}
EVENT = {"event", "at", "type", "id", "other", "session", "data", "undone"}
HIT = {"id", "text", "kind", "scope", "score", "freshness", "relevance", "rank_score", "parts", "contested"}
PLAN = {"plan", "applied", "merged", "pruned", "demoted", "limited", "waiting", "kept_apart", "conflicts"}
CONFLICT = {
    *("event", "a", "b", "a_text", "b_text", "a_helpful", "a_applications", "b_helpful", "b_applications"),
    *("probability", "verdict", "winner", "reason", "cosine", "since"),
}
FEEDBACK = {"event", "id", "score"}
INSIGHT = {"type", "text", "evidence", "confidence", "scope", "strength", "session"}
IMPROVEMENT = {"sessions", "insights", "proposals", "dropped", "state", "errors"}
REPORT = {"sessions", "insights", "added", "merged", "skipped", "errors"}
SESSION = {"agent", "path", "id", "records", "started", "project"}
NOTE = {"session", "agent", "log", "tokens", "calls", "noted", "until", "by", "remark", "statements"}
PROPOSAL = {
    *("id", "target_file", "change_type", "heading", "content", "reason", "confidence", "kind", "scope", "root"),
    *("source_sessions", "evidence", "bullets", "made_by", "at", "standing"),
}
CHANGE = {"agent", "level", "path", "action", "reason", "diff"}
COMPARED = {"cosine", "duplicate", "contradiction", "reason"}

# What is called, and the fields of the object, or with [...] of each object in the list.
PRINTED: list[tuple[str, set[str] | list[set[str]]]] = [
    ("init", {"home", "project", "agents", "not_installed"}),
    ("add 'Use the staging cluster.' --kind decision --scope global --section Ours", BULLET),
    ("sessions", [SESSION]),
    ("sessions --agent claude-code --since 1w", [SESSION]),
    ("extract {log}", [INSIGHT]),
    ("extract {log} --focus pnpm", [INSIGHT]),
    ("ingest", REPORT),
    ("ingest {log} --focus pnpm", REPORT),
    ("improve", IMPROVEMENT),
    ("improve {log} --focus pnpm --dry-run", IMPROVEMENT),
    ("improve --state", {"runs", "sessions", "proposed", "open", "accepted", "rejected", "kinds"}),
    ("search 'parser config file'", [HIT]),
    ("search 'parser config file' -k 1 --kind context --scope project:shop --explain", []),
    ("search 'restart the proxy' --archived", [HIT]),
    ("list", [BULLET]),
    ("list --here --kind context --status rule", [BULLET]),
    ("list --archived", [BULLET]),
    ("show {bullet}", BULLET | {"against_promotion"}),
    ("history {bullet}", [EVENT]),
    ("history --plans", [EVENT]),
    ("why {bullet}", {"id", "score", "marks", "shown"}),
    ("why {receipt}", EVENT - {"undone"}),
    ("feedback helpful {bullet} --receipt {receipt} --note 'it did'", [FEEDBACK]),
    ("feedback harmful {bullet}", [FEEDBACK]),
    ("feedback undo {event}", [FEEDBACK]),
    ("outcome success", [EVENT - {"undone"}]),
    ("outcome failure --session s1", [EVENT - {"undone"}]),
    ("refine --dry-run", PLAN),
    ("refine", PLAN),
    ("refine --if-due", {"due", "reason", "last", "sessions"}),
    ("refine --yes", PLAN),
    ("refine undo {plan}", {"plan", "undone"}),
    ("review", [PROPOSAL]),
    ("review --all", [PROPOSAL]),
    ("review {proposal}", PROPOSAL | {"diff"}),
    ("review {proposal} --accept", PROPOSAL | {"event"}),
    ("review {proposal} --reject --note no", PROPOSAL | {"event"}),
    ("promote", [BULLET]),
    ("evolve SKILL.md", {"files"}),
    ("evolve SKILL.md --dry-run", {"files"}),
    ("promote {bullet}", BULLET),
    ("demote {rule}", BULLET),
    ("render", [{"path", "rules", "left_out", "changed"}]),
    ("render --personal --drift", [{"path", "rules", "left_out", "changed", "readers", "held_back"}]),
    ("render --target memory --separate", [{"path", "rules", "left_out", "changed"}]),
    ("drift", {"checked", "drifted"}),
    ("forget {bullet}", BULLET),
    ("restore {gone}", BULLET),
    ("conflicts", [CONFLICT]),
    ("conflicts resolve {left} {right} --keep {left}", {"event", "kept", "archived"}),
    ("conflicts resolve {left} {right} --keep both", {"event", "kept", "archived"}),
    ("compare 'Use tabs.' 'Use spaces.'", [COMPARED]),
    ("compare {bullet} {rule}", [COMPARED]),
    ("compare --pairs {pairs}", [COMPARED]),
    ("report", {"sessions", "with_outcome", "succeeded", "base_rate", "holdout", "store", "agents", "bullets"}),
    ("tune --dry-run", {"receipts", "sessions", "current", "weights", "gain", "noise", "accepted", "reason", "event"}),
    ("note {log}", NOTE | {"sections", "left_out", "text"}),
    ("note {noted}", NOTE | {"sections", "left_out", "text"}),
    ("note", [NOTE]),
    ("export --output memory.jsonl", {"format", "bullets", "events", "path"}),
    ("export --output p.txt --format playbook --scope global", {"format", "bullets", "events", "path"}),
    ("import {playbook} --dry-run", {"format", "read", "added", "merged", "skipped", "marks", "import"}),
    ("import {playbook}", {"format", "read", "added", "merged", "skipped", "marks", "import"}),
    ("stats", {"home", "bullets", "rules", "archived", "scopes", "injections", "helpful", "harmful", "events"}),
    ("doctor", [{"check", "ok", "detail"}]),
    ("doctor --rebuild", [{"check", "ok", "detail"}]),
    ("reembed", {"bullets", "embedder"}),
    ("install claude-code", [CHANGE]),
    ("install codex --project --dry-run", [CHANGE]),
    ("uninstall claude-code", []),
    ("config", {"embedder", "score.helpful", "search.k", "refine.guard"}),
    ("config search.k", {"search.k"}),
    ("config search.k 9", {"search.k"}),
    ("config path", {"path"}),
]


def arguments(line: str, names: dict[str, str]) -> list[str]:
    return [part.format(**names) for part in shlex.split(line)]


class TestJson:
    @pytest.mark.parametrize(("line", "fields"), PRINTED, ids=[line for line, _ in PRINTED])
    def test_a_command_prints_one_document_with_the_fields_of_the_contract(
        self, mem: Mem, shop: dict[str, str], line: str, fields: set[str] | list[set[str]]
    ) -> None:
        """Names may be added to, never taken away; the same command without `--json` prints lines."""
        if fields == []:
            result = mem(*arguments(line, shop), "--json")
            assert (result.exit_code, json.loads(result.stdout)) == (1, [])
            return
        data = mem.json(*arguments(line, shop))
        if isinstance(fields, set):
            assert fields <= data.keys()
        else:
            assert data
            assert all(fields[0] <= row.keys() for row in data)

    @pytest.mark.parametrize("line", [line for line, fields in PRINTED if fields])
    def test_a_person_gets_lines(self, mem: Mem, shop: dict[str, str], line: str) -> None:
        """The same commands, for reading."""
        result = mem(*arguments(line, shop))
        assert result.exit_code == 0, result.stderr
        assert result.stdout.strip()
        assert not result.stdout.startswith(("{", "[{"))

    def test_the_table_holds_every_command(self) -> None:
        """`hook` and `mcp` speak protocols, `demo` has a store of its own, and `daemon` is tried as a process."""
        assert {line.split()[0] for line, _ in PRINTED} == COMMANDS.keys() - {"hook", "mcp", "demo", "daemon"}

    def test_the_demo_shows_the_whole_loop(self, mem: Mem) -> None:
        """Stage by stage, and nothing of it in the store at hand."""
        stages = mem.json("demo")
        assert list(stages) == ["ingest", "hook", "feedback", "refine", "promote", "render"]
        assert stages["ingest"]["added"]
        assert mem("list").exit_code == 1

    def test_scores_are_those_of_the_card(self, mem: Mem, shop: dict[str, str]) -> None:
        """+0.3 and -0.5, told with the event that can be undone."""
        [row] = mem.json("feedback", "helpful", shop["bullet"])
        assert row["score"] == 0.6
        [row] = mem.json("feedback", "harmful", shop["bullet"])
        assert row["score"] == 0.1
        [row] = mem.json("feedback", "undo", row["event"])
        assert (row["id"], row["score"]) == (shop["bullet"], 0.6)

    def test_a_wrong_id_among_right_ones_marks_nothing(self, mem: Mem, shop: dict[str, str]) -> None:
        """All ids are looked up before the first mark."""
        before = mem.json("show", shop["bullet"])
        assert mem("feedback", "helpful", shop["bullet"], "nosuchid").exit_code == 1
        assert mem.json("show", shop["bullet"]) == before

    def test_a_bullet_may_be_named_in_short_or_as_it_is_cited(self, mem: Mem, shop: dict[str, str]) -> None:
        """As long as the beginning is unique, and in the brackets in which an agent saw it."""
        id = mem.json("add", "Never push to main on Fridays.")["id"]
        for name in (id, id[:4], f"mem:{id}", f"[mem:{id}]"):
            assert mem.json("show", name)["id"] == id

    def test_a_statement_may_come_from_standard_input(self, mem: Mem) -> None:
        """`-` reads it; what is not UTF-8 is refused, not stored half."""
        assert mem.json("add", "-", input=f"  {EMOJI}\n")["text"] == EMOJI
        assert mem("add", "-", input=b"caf\xe9 au lait\0\n").exit_code == 3


class TestNothingFound:
    @pytest.mark.parametrize(
        "line",
        [
            *("search nothing", "list", "list --status rule", "list --scope agent:codex", "promote", "history --plans"),
            *("conflicts", "sessions", "ingest", "ingest {folder}", "note", "extract {folder}", "extract {empty}"),
            *("improve", "uninstall cursor"),
        ],
    )
    def test_an_empty_answer_ends_with_1(self, mem: Mem, tmp_path: Path, line: str) -> None:
        """The question was fine: an empty document on standard output, a hint on standard error."""
        (tmp_path / "folder").mkdir()
        (tmp_path / "empty").write_bytes(b"")
        names = {"folder": str(tmp_path / "folder"), "empty": str(tmp_path / "empty")}
        result = mem(*arguments(line, names), "--json")
        assert result.exit_code == 1
        data = json.loads(result.stdout)
        assert data == [] or (data["added"], data["errors"]) == (0, [])
        assert len(result.stderr.splitlines()) == 1
        result = mem(*arguments(line, names))
        assert (result.exit_code, result.stdout) == (1, "")

    def test_a_render_that_is_due_ends_with_1(self, mem: Mem, shop: dict[str, str]) -> None:
        """For a check in a build: 1 before, 0 after, and no byte written in between."""
        assert mem("render", "--check").exit_code == 1
        assert not Path("AGENTS.md").exists()
        assert mem("render").exit_code == 0
        assert mem("render", "--check").exit_code == 0

    def test_no_hits_here_says_how_many_are_elsewhere(self, mem: Mem, shop: dict[str, str]) -> None:
        """Otherwise a wrong folder looks like an empty store."""
        result = mem("--project", "/somewhere/else", "search", "zebra")
        assert result.exit_code == 1
        assert "4 bullets belong to other projects" in result.stderr


class TestCommonOptions:
    @pytest.fixture
    def second(self, tmp_path: Path) -> Path:
        """Another home, with a plan in it."""
        home = tmp_path / "second"
        home.mkdir()
        (home / "config.toml").write_text('embedder = "hashing"\n', "utf-8")
        with Memory.open(home, tmp_path) as memory:
            bullet = store(memory, "Only in the second home.", scope="global")
            mark(memory, bullet, False, "p", "q")
            memory.refine(yes=True)
            store(memory, "Also only in the second home.", scope="global")
        return home

    def test_home_goes_before_or_after_the_command(self, mem: Mem, second: Path) -> None:
        """Both mean the same; the nearer one wins."""
        for line in (["--home", second, "list"], ["list", "--home", second]):
            assert [row["text"] for row in mem.json(*line)] == ["Also only in the second home."]
        assert mem("--home", second, "list", "--home", second.parent / "third").exit_code == 1
        assert mem.json("--home", second.parent / "third", "list", "--home", second)

    def test_json_goes_before_or_after_the_command(self, mem: Mem, second: Path) -> None:
        """One document either way."""
        one = mem("--json", "--home", second, "list").stdout
        assert json.loads(one) == mem.json("--home", second, "list")
        assert mem.json("demo").keys() == json.loads(mem("--json", "demo").stdout).keys()

    def test_project_goes_before_or_after_the_command(self, mem: Mem, tmp_path: Path) -> None:
        """It decides the scope of what is added."""
        other = tmp_path / "other"
        (other / ".git").mkdir(parents=True)
        scopes = [
            mem.json("--project", other, "add", "Use tabs in this repository.")["scope"],
            mem.json("add", "Name branches after tickets.", "--project", other)["scope"],
            mem.json("add", "Squash before a merge.")["scope"],
        ]
        assert [scope.rpartition("-")[0] for scope in scopes] == ["project:other", "project:other", "project:shop"]

    @pytest.mark.parametrize("place", [0, 1, 2])
    def test_a_command_within_a_group_inherits_from_both(self, mem: Mem, second: Path, place: int) -> None:
        """`mem refine --home DIR undo PLAN` undoes in that home, not in the usual one."""
        [plan] = mem.json("--home", second, "history", "--plans")
        words: list[str | Path] = ["refine", "undo"]
        words[place:place] = ["--home", second]
        assert mem.json(*words, plan["data"]["plan"])["plan"] == plan["data"]["plan"]
        assert len(mem.json("--home", second, "list")) == 2

    def test_the_environment_is_the_default(self, mem: Mem, second: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """MEM_HOME moves everything; `--home` goes before it."""
        monkeypatch.setenv("MEM_HOME", str(second))
        assert mem.json("list")
        assert mem("list", "--home", second.parent / "third").exit_code == 1

    def test_help_is_a_short_option_too(self, mem: Mem) -> None:
        """On `mem` and on each command."""
        for line in (["-h"], *([name, "-h"] for name in COMMANDS)):
            result = mem(*line)
            assert result.exit_code == 0
            assert result.stdout.startswith(f"Usage: mem {line[0] if line[0] != '-h' else ''}".rstrip())

    def test_version(self, mem: Mem) -> None:
        """Name and number."""
        assert re.fullmatch(r"acemem, version \d+\.\d+.*\n", mem("--version").stdout)


# What is called, the exit code, and what the message says.
REFUSED: list[tuple[str, int, str]] = [
    ("show nosuchid", 1, "no bullet 'nosuchid' in this store; `mem list` shows the ids"),
    ("show ''", 1, "no bullet ''"),
    ("show test", 2, "'test' begins several ids"),
    ("show {bullet}%", 1, "no bullet"),
    ("show \"x' OR '1'='1\"", 1, "no bullet"),
    ("history nosuchid", 1, "no bullet"),
    ("why nosuchid", 1, "no bullet"),
    ("why r00000000", 1, "no receipt 'r00000000'"),
    ("promote nosuchid", 1, "no bullet"),
    ("promote {gone}", 2, "is archived"),
    ("promote {rule}", 2, "is a rule already"),
    ("promote {thin}", 2, "has not earned promotion: "),
    ("demote nosuchid", 1, "no bullet"),
    ("demote {bullet}", 2, "is not a rule but active"),
    ("forget nosuchid", 1, "no bullet"),
    ("forget {gone}", 2, "is archived already"),
    ("restore nosuchid", 1, "no bullet"),
    ("restore {bullet}", 2, "is not archived but active"),
    ("feedback helpful nosuchid", 1, "no bullet"),
    ("feedback harmful {bullet} --receipt r00000000", 1, "no receipt"),
    ("feedback undo e99999", 1, "no event 'e99999'"),
    ("feedback undo 99999999999999999999", 1, "no event"),
    ("feedback undo x", 1, "no event"),
    ("feedback undo e1", 2, "cannot be undone"),
    ("refine undo p00000000", 1, "no plan 'p00000000'"),
    ("add ''", 2, "the text of a bullet is empty"),
    ("add ' \t\u200b'", 2, "the text of a bullet is empty"),
    ("add x --scope nonsense", 2, "scope 'nonsense': expected global, project:ID"),
    ("add x --scope project:", 2, "expected global"),
    ("add x --scope 'project:a\nb'", 2, "expected global"),
    ("search x --scope nonsense", 2, "expected global"),
    ("list --scope nonsense", 2, "expected global"),
    ("sessions --agent emacs", 2, "no agent 'emacs', expected one of: "),
    ("sessions --since soon", 2, "age 'soon': expected a number and m, h, d or w"),
    ("ingest --since -1d", 2, "age '-1d'"),
    ("ingest --agent emacs", 2, "no agent 'emacs'"),
    ("ingest {log} --since 7d", 2, "they mean nothing with FILE"),
    ("ingest --spooled --agent codex", 2, "--spooled reads the logs that hooks name"),
    ("note nobody", 1, "no session with a note is called 'nobody'"),
    ("note --due", 2, "name the log: `mem note FILE`"),
    ("note {missing} --due", 2, "there is no log"),
    ("note {prose}", 3, "is not a session log acemem can read"),
    ("note {folder}", 3, "is a folder, expected a session log"),
    ("extract {missing}", 3, "cannot be read (No such file or directory)"),
    ("extract {binary}", 3, "is not a session log acemem can read"),
    ("extract {prose}", 3, "is not a session log acemem can read"),
    ("compare --pairs {missing}", 3, "No such file or directory"),
    ("compare --pairs {folder}", 3, "Is a directory"),
    ("compare --pairs {binary}", 3, "expected a JSON list"),
    ("compare --pairs {empty}", 3, "expected a JSON list"),
    ("compare --pairs {number}", 3, "expected a JSON list"),
    ("compare --pairs {object}", 3, "expected a JSON list"),
    ("compare --pairs {null}", 3, "expected a JSON list"),
    ("compare --pairs {nested}", 3, "expected a JSON list"),
    ("render --target {folder}", 3, "not a regular file"),
    ("render --target {binary}", 3, "is not UTF-8 text"),
    ("render --target {half}", 3, "do not form one block"),
    ("render --target {empty}/AGENTS.md", 3, "Not a directory"),
    ("render --target .git/AGENTS.md", 2, "lies within .git"),
    ("render --target {empty} --separate", 3, "is not a folder"),
    ("export --scope nonsense", 2, "expected global"),
    ("import {missing}", 3, "No such file or directory"),
    ("import {folder}", 3, "not a regular file"),
    ("import {binary}", 3, "is not UTF-8"),
    ("import {prose}", 3, "holds nothing to import"),
    ("import {object}", 3, "holds nothing to import"),
    ("import {nested}", 3, "holds nothing to import"),
    ("import --undo e99999", 1, "no event"),
    ("import --undo e1", 1, "is not an import"),
    ("import {playbook} --scope nonsense", 2, "expected global"),
    ("config nonsense", 2, "no setting 'nonsense'; the settings are embedder, "),
    ("config search.k many", 2, "search.k = 'many': expected a whole number from 1 to 1000"),
    ("config search.k 0", 2, "search.k = 0: expected"),
    ("config search.floor nan", 2, "search.floor = nan: expected a number from -1 to 1"),
    ("config score.helpful 1e999", 2, "expected a number"),
    ("config embedder word2vec", 2, "No embedder is called 'word2vec'"),
    ("config embedder ''", 2, "No embedder is called ''"),
    ("init --embedder word2vec", 2, "No embedder is called 'word2vec'"),
    ("--home {empty} list", 4, "choose another place with --home or MEM_HOME"),
    ("--home {empty}/x add y", 4, "cannot write to"),
    ("--home {empty}/x config search.k 9", 4, "cannot write"),
]


class TestErrors:
    @pytest.fixture
    def names(self, shop: dict[str, str], memory: Memory, tmp_path: Path) -> dict[str, str]:
        """Files of every wrong sort."""
        (tmp_path / "folder").mkdir()
        contents = {
            "binary": bytes(range(256)) * 8,
            "empty": b"",
            "prose": b"Dear diary,\n",
            "number": b"7",
            "object": b'{"a": "x", "b": "y"}',
            "null": b'[{"a": null, "b": "y"}]',
            "nested": b"[" * 100_000,
            "half": b"<!-- mem:begin -->\n",
        }
        for name, content in contents.items():
            (tmp_path / name).write_bytes(content)
        files = {name: str(tmp_path / name) for name in (*contents, "missing", "folder")}
        return shop | files | {"thin": store(memory, "Seen only once.", seen_in=["a"]).id}

    @pytest.mark.parametrize(("line", "code", "says"), REFUSED, ids=[line for line, _, _ in REFUSED])
    @pytest.mark.parametrize("form", [[], ["--json"]], ids=["lines", "json"])
    def test_an_error_is_one_sentence(
        self, mem: Mem, names: dict[str, str], line: str, code: int, says: str, form: list[str]
    ) -> None:
        """On standard error, with the exit code of its kind; standard output stays empty."""
        result = mem(*form, *arguments(line, names))
        assert result.exit_code == code
        assert result.stdout == ""
        assert says in result.stderr
        assert re.fullmatch(r"mem: [^\n]+\n", result.stderr)

    @pytest.mark.parametrize(
        "line",
        [
            *(
                "nonsense",
                "--nonsense",
                "list --nonsense",
                "show",
                "add",
                "search",
                "search x -k 0",
                "search x -k many",
            ),
            *("list --kind nonsense", "list --status gone", "ingest --max-sessions 0", "feedback", "feedback helpful"),
            *("compare x", "compare", "compare x y --pairs z", "history", "history x --plans", "extract"),
        ],
    )
    def test_a_wrong_call_ends_with_2_and_shows_how(self, mem: Mem, line: str) -> None:
        """The usage stands above the reason."""
        result = mem(*line.split())
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith("Usage: mem ")

    @pytest.mark.parametrize(
        "content",
        [
            *(
                "not toml",
                "search.k = ",
                "search = 3",
                "nonsense = 1",
                "search.k = 0",
                "search.k = true",
                "[a.b]\nc = 1",
            ),
            *("a = " + "[" * 5_000, "search.floor = " + "9" * 400, "search.k = " + "9" * 5_000, "embedder = ''"),
            *("search.floor = nan", "search.k = 2026-01-01", "\0"),
            b"embedder = 'caf\xe9'",
            None,
        ],
        ids=lambda content: repr(content)[:24],
    )
    @pytest.mark.parametrize("line", ["list", "config search.k 9", "search x"])
    def test_a_config_that_cannot_be_read_is_named(
        self, mem: Mem, tmp_path: Path, content: str | bytes | None, line: str
    ) -> None:
        """The file, the place or setting, and what was expected; it is not overwritten."""
        path = tmp_path / "home" / "config.toml"
        if content is None:
            path.unlink()
            path.mkdir()
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        result = mem(*line.split())
        assert (result.exit_code, result.stdout) == (2, "")
        assert re.fullmatch(rf"mem: [^\n]*{re.escape(str(path))}[^\n]+\n", result.stderr)
        assert content is None or path.read_bytes() == (content if isinstance(content, bytes) else content.encode())

    def test_the_doctor_names_every_damage_and_ends_with_4(
        self, mem: Mem, shop: dict[str, str], tmp_path: Path
    ) -> None:
        """Its findings are data: they stand on standard output."""
        database = tmp_path / "damaged"
        database.mkdir()
        (database / "ledger.db").write_bytes(b"this is no database" * 500)
        result = mem("--home", database, "doctor", "--json")
        assert result.exit_code == 4
        checks = {row["check"]: row["ok"] for row in json.loads(result.stdout)}
        assert checks["settings"]
        assert not checks["ledger"]
        assert mem("--home", database, "list").exit_code == 4

    def test_one_bad_log_among_good_ones_does_not_fail_the_rest(self, mem: Mem, names: dict[str, str]) -> None:
        """It is reported in the document and on standard error; only if all fail the code is 3."""
        result = mem("ingest", names["binary"], names["log"], "--json")
        report = json.loads(result.stdout)
        assert (result.exit_code, report["sessions"], len(report["errors"])) == (0, 1, 1)
        assert report["errors"][0]["path"] == names["binary"]
        assert result.stderr.startswith("mem: ")
        result = mem("ingest", names["binary"], names["missing"], "--json")
        assert (result.exit_code, len(json.loads(result.stdout)["errors"])) == (3, 2)
        result = mem("extract", names["binary"], names["log"], "--json")
        assert (result.exit_code, bool(json.loads(result.stdout))) == (0, True)

    def test_an_embedder_that_was_changed_is_refused_with_both_ways_out(self, mem: Mem, shop: dict[str, str]) -> None:
        """Until the store is embedded again, or the setting is put back."""
        assert mem("config", "embedder", "hashing:64").exit_code == 0
        result = mem("search", "parser")
        assert (result.exit_code, result.stdout) == (4, "")
        assert "mem reembed" in result.stderr
        assert "mem config embedder hashing:384" in result.stderr
        assert mem.json("reembed")["embedder"] == "hashing:64"
        assert mem("search", "parser config file").exit_code == 0


UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31mEvil\u202e text\r\x08 of a log\u200b, \x1b[8mhidden"


class TestTerminal:
    @pytest.fixture
    def evil(self, memory: Memory, tmp_path: Path) -> dict[str, str]:
        """A store, a log and names full of commands to a terminal."""
        bullet = store(memory, EVIL, seen_in=[EVIL, EVIL + "2"], section=EVIL, scope="global", fields={"cause": EVIL})
        rule = store(memory, EVIL + " rule", seen_in=["a", "b"], section=EVIL)
        memory.promote(rule.id)
        event = memory.feedback(bullet.id, helpful=True, note=EVIL, session=EVIL)
        gone = store(memory, EVIL + " gone")
        memory.forget(gone.id)
        log = tmp_path / "\x1b[2Jlog.jsonl"
        write_log(
            log, conversation([f"No, don't use {EVIL} npm here, always use pnpm in this repository."], session=EVIL)
        )
        names = {"bullet": bullet.id, "rule": rule.id, "gone": gone.id, "event": event.id}
        return names | {"log": str(log), "evil": EVIL}

    @pytest.mark.parametrize("form", [[], ["--json"]], ids=["lines", "json"])
    def test_stored_text_gives_a_terminal_no_commands(
        self, mem: Mem, evil: dict[str, str], form: list[str], tmp_path: Path
    ) -> None:
        """Whatever is printed, on either stream, in either form: nothing but text and line ends."""
        lines = [
            *("list --archived", "show {bullet}", "history {bullet}", "why {bullet}", "search evil --explain"),
            *("search {evil}", "add {evil}", "extract {log}", "ingest {log}", "promote", "refine --dry-run"),
            *("compare {evil} {evil}", "feedback helpful {bullet} --note {evil}", "feedback undo {event}"),
            *("forget {bullet}", "restore {gone}", "demote {rule}", "stats", "show {evil}", "why {evil}"),
            *(
                "feedback undo {evil}",
                "refine undo {evil}",
                "add x --scope {evil}",
                "config {evil}",
                "config search.k {evil}",
            ),
            *(
                "compare --pairs {evil}",
                "extract {evil}",
                "ingest {evil}",
                "render --target {evil}",
                "sessions --agent {evil}",
            ),
            *("sessions --since {evil}", "config embedder {evil}", "--home {evil} list", "--project {evil} init"),
        ]
        shown = 0
        for line in lines:
            result = mem(*form, *(part.format(**evil) for part in line.split()))
            for stream in (result.stdout, result.stderr):
                assert UNSEEN.search(stream) is None, line
            shown += "Evil" in result.stdout
        assert shown >= 12

    def test_json_keeps_what_it_escapes(self, mem: Mem, memory: Memory) -> None:
        """An escape is only another spelling: the document read back is what was stored."""
        bullet = store(memory, EVIL)
        assert mem.json("show", bullet.id)["text"] == EVIL
        assert mem.json("--home", memory.home.path, "show", bullet.id)["text"] == EVIL


def real(
    *arguments: str, home: Path, environ: dict[str, str] | None = None, **options: Any
) -> subprocess.CompletedProcess[bytes]:
    """`mem` as a process of its own."""
    environ = {**os.environ, "MEM_HOME": str(home), **(environ or {})}
    return subprocess.run([*MEM, *arguments], env=environ, timeout=120, check=False, **options)


class TestStreams:
    @pytest.mark.parametrize(
        "environ",
        [
            {"LANG": "C", "LC_ALL": "C"},
            {"PYTHONIOENCODING": "cp1252"},
            {"PYTHONIOENCODING": "ascii:strict"},
        ],
        ids=["C", "cp1252", "ascii"],
    )
    def test_every_stream_is_utf_8_on_every_system(
        self, memory: Memory, project: Path, environ: dict[str, str]
    ) -> None:
        """A console's own encoding may lack what a bullet holds; data is never lost to it."""
        bullet = store(memory, EMOJI)
        done = real("list", "--json", home=memory.home.path, environ=environ, cwd=project, capture_output=True)
        assert (done.returncode, done.stderr) == (0, b"")
        assert [row["text"] for row in json.loads(done.stdout.decode("utf-8"))] == [EMOJI]
        done = real("show", bullet.id, home=memory.home.path, environ=environ, cwd=project, capture_output=True)
        assert (done.returncode, done.stderr) == (0, b"")
        assert EMOJI in done.stdout.decode("utf-8")
        done = real("show", EMOJI, home=memory.home.path, environ=environ, cwd=project, capture_output=True)
        assert (done.returncode, done.stdout) == (1, b"")
        assert EMOJI in done.stderr.decode("utf-8")

    def test_a_broken_pipe_ends_quietly(self, memory: Memory, project: Path) -> None:
        """As in `mem list | head -1`."""
        for n in range(40):
            store(memory, f"Number {n}: " + "a long story " * 200)
        environ = {**os.environ, "MEM_HOME": str(memory.home.path)}
        for form in ([], ["--json"]):
            process = subprocess.Popen(
                [*MEM, "list", *form], env=environ, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.read(10)
            process.stdout.close()
            assert process.stderr.read() == b""
            process.stderr.close()
            assert process.wait(60) in (0, 1)  # 0 where the system had taken it all before anybody looked

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
    def test_a_full_disk_is_one_sentence(self, memory: Memory, project: Path) -> None:
        """Output that cannot be written is said so."""
        store(memory, EMOJI)
        with open("/dev/full", "wb") as full:
            done = real("list", home=memory.home.path, cwd=project, stdout=full, stderr=subprocess.PIPE)
        assert done.returncode == 4
        assert done.stderr == b"mem: cannot go on: No space left on device\n"

    def test_file_names_that_are_no_text_are_names(self, memory: Memory, project: Path) -> None:
        """Bytes that are not UTF-8, as arguments: refused or taken, never a traceback."""
        for line, code in (
            ([b"show", b"\xff\xfe"], 1),
            ([b"extract", b"\xff.jsonl"], 3),
            ([b"compare", b"--pairs", b"\xff"], 3),
            ([b"list", b"--scope", b"project:\xff"], 2),
            ([b"--project", b"/work/\xff", b"init", b"--json"], 0),
        ):
            environ = {**os.environ, "MEM_HOME": str(memory.home.path)}
            done = subprocess.run(
                [*map(os.fsencode, MEM), *line], env=environ, cwd=project, capture_output=True, check=False
            )
            assert done.returncode == code, line
            assert b"Traceback" not in done.stderr
            done.stderr.decode("utf-8")
