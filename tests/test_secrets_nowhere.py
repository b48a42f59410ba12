"""No secret that was said, typed, printed or asked for is found in anything that acemem writes or prints."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from acemem import Memory
from acemem.memory.learn.admission import candidate_from
from acemem.memory.redaction.redaction import redact
from tests.cli.conftest import Mem
from tests.logs import write_log
from tests.memory.learn.offline.talks import started
from tests.memory.sessions.logs import LOGS
from tests.secrets_and_lookalikes import SECRETS

TOLD = {name: sentence.format(secret) for name, (secret, sentence) in SECRETS.items()}
ON_ONE_LINE = {name: sentence for name, sentence in TOLD.items() if "\n" not in sentence and '"' not in sentence}
# Known without the words around them; a number that is a code is not.
TOLD_ALONE = [(secret, sentence) for secret, sentence in SECRETS.values() if redact(secret)[1]]
FILLING = "the shop needs a steady hand and careful planning of every step we take "
PIECE = 12  # characters of a long secret that may not be found either, wherever it was cut


@pytest.fixture(scope="module")
def pieces() -> dict[bytes, str]:
    """Every secret, and the pieces of the long ones, with the name of the secret."""
    found: dict[bytes, str] = {}
    for name, (secret, _) in SECRETS.items():
        starts = range(0, len(secret) - PIECE, 3) if len(secret) > 2 * PIECE else ()
        for piece in (secret, *(secret[start : start + PIECE] for start in starts)):
            found[piece.encode()] = name
    return found


@pytest.fixture
def mem(open_memory: Callable[..., Memory], project: Path, monkeypatch: pytest.MonkeyPatch) -> Mem:
    """The command line, called in the test's project on the test's store."""
    open_memory()  # its settings name the hashing embedder
    monkeypatch.chdir(project)
    return Mem()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The home of the test's store."""
    return tmp_path / "home"


def leaks(pieces: dict[bytes, str], places: Iterable[tuple[str, bytes]]) -> list[tuple[str, str]]:
    """The secrets that are in one of these, with where."""
    return [
        (where, name)
        for where, content in places
        for piece, name in pieces.items()
        if piece in content and (not piece.isdigit() or _stands_alone(piece, content))
    ]


def _stands_alone(code: bytes, content: bytes) -> bool:
    """Whether a code is there as a number of its own: some digits of a hash or a score can be the same."""
    return re.search(rb"(?<![0-9A-Za-z.])%s(?![0-9A-Za-z])" % code, content) is not None


def files(*folders: Path) -> list[tuple[str, bytes]]:
    """Every file below the folders; the database of the ledger with what it has not yet written back."""
    return [(path.name, path.read_bytes()) for folder in folders for path in folder.rglob("*") if path.is_file()]


# -- the logs -------------------------------------------------------------------------------------------------------


def claude_code(folder: Path, project: Path) -> Path:
    """A session with each secret in every place that has words: typed, queued, refused, run, printed, planned."""
    rows: list[dict[str, Any]] = []

    def add(role: str, content: Any, **fields: Any) -> None:
        number = len(rows) + 1
        marks = {"uuid": f"u{number}", "sessionId": "s", "cwd": str(project), "timestamp": "2026-03-01T09:00:00Z"}
        rows.append({"type": role, "message": {"role": role, "content": content}, **marks, **fields})

    def call(tool: str, given: Any, result: str, error: bool = False, **fields: Any) -> None:
        name = f"toolu_{len(rows)}"
        add("assistant", [{"type": "tool_use", "id": name, "name": tool, "input": given}])
        block = {"type": "tool_result", "tool_use_id": name, "content": result, "is_error": error}
        add("user", [block], **fields)

    add("user", "Please add a login page to the shop.")
    for told in TOLD.values():
        add("user", f"No, that is wrong. {told}")
        add("assistant", [{"type": "text", "text": f"You're right. {told} I'll do that from now on."}])
        call("Bash", {"command": f"deploy --note '{told}'"}, f"Exit code 1\nError: cannot deploy: {told}", True)
        add(
            "assistant",
            [{"type": "text", "text": f"The problem is that the setting is missing: {told} Let me fix that."}],
        )
        edit = {"file_path": str(project / "deploy.sh"), "old_string": "run", "new_string": f"run # {told}"}
        call("Edit", edit, "ok")
        call("Bash", {"command": f"deploy --note '{told}' --fixed"}, f"deployed: {told}")
        add("user", "yes, exactly, it works now")
        refused = (
            f"The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n{told}"
        )
        call("Write", {"file_path": str(project / "a.py"), "content": told}, refused, True, toolDenialKind="x")
        answers = {"questions": [{"question": f"Which? {told}"}], "answers": {f"Which? {told}": told}}
        call("AskUserQuestion", {"questions": answers["questions"]}, "User has answered", toolUseResult=answers)
        call("ExitPlanMode", {"plan": told}, "User has approved your plan", toolUseResult={"plan": f"# Plan\n{told}"})
        add("user", f"Implement the following plan:\n{told}", planContent=f"# Plan\n{told}")
        rows.append({"type": "queue-operation", "operation": "enqueue", "content": told, "sessionId": "s"})
        rows.append({"type": "queue-operation", "operation": "remove", "content": told, "sessionId": "s"})
    return write_log(folder / "claude.jsonl", rows)


def other_agents(folder: Path) -> list[Path]:
    """One log for each secret, in turn as each of the agents writes it: in words, in a command, in its output."""
    logs = []
    agents = list(LOGS.values())
    for number, told in enumerate(ON_ONE_LINE.values()):
        name, content = agents[number % len(agents)]
        for mark, words in {
            b"run the tests": f"No, always do it so: {told}",
            b"I run them.": f"You are right. {told}",
            b"pytest": f"deploy {told}",
            b"Exit code 1": f"Exit code 1 {told}",
            b"Error: no such file": f"Error: no such file {told}",
        }.items():
            content = content.replace(mark, words.encode())
        logs.append(folder / str(number) / name)
        logs[-1].parent.mkdir(parents=True)
        logs[-1].write_bytes(content)
    return logs


# -- the tests ------------------------------------------------------------------------------------------------------


def test_no_secret_of_a_log_is_stored_or_shown(
    mem: Mem, home: Path, project: Path, tmp_path: Path, pieces: dict[bytes, str]
) -> None:
    """Extracted and ingested from every agent's format: neither in the home nor in what a command prints."""
    logs = [claude_code(tmp_path / "logs", project), *other_agents(tmp_path / "logs")]
    said = [mem("extract", *logs, "--json"), mem("extract", logs[0])]
    said += [mem("ingest", *logs, "--json"), mem("list", "--json"), mem("list")]
    bullets = json.loads(said[3].stdout)
    assert len(bullets) > 20, "the logs teach something, so that there is something to look through"
    for bullet in bullets[:40]:
        said += [mem(command, bullet["id"], "--json") for command in ("show", "history", "why")]
    for question in ("which key is used to deploy", "the password for the staging database", "deploy"):
        said.append(mem("search", question, "--json", "--explain"))

    assert leaks(pieces, [(str(result), result.output_bytes) for result in said]) == []
    assert leaks(pieces, files(home)) == []


CUT = ("github", "anthropic", "gitlab", "vault", "url password", "signed link", "slack webhook", "private key")


@pytest.mark.parametrize("name", CUT)
def test_no_half_of_a_secret_is_left_where_a_statement_is_cut(name: str, pieces: dict[bytes, str]) -> None:
    """Wherever in a long text the secret stands: in an error, an explanation, an edit or a command."""
    found = []
    for length in range(0, 320, 9):
        told = f"{(FILLING * 9)[:length].strip()}, {TOLD[name]}"
        talk = started().runs("make deploy --now", f"Exit code 1\nError: {told}", error=True)
        talk.says(f"The problem is that {told} is set wrong. Let me fix that.")
        talk.edits("/work/shop/a.sh", "deploy = Shop.oldTarget", f"deploy = {told}").runs(
            "make deploy --now", "ok done"
        )
        other = started().runs("make deploy --now", f"Exit code 1\nerror: unknown option {told}", error=True)
        other.runs(f"make deploy --note {told}", "ok done").human("yes, exactly, it works now")
        found += [candidate_from(insight, "project:shop", 0.0) for insight in talk.insights + other.insights]
    kept = json.dumps([[redact(candidate.text)[0], candidate.fields] for candidate in found])

    assert "[redacted:" in kept
    assert leaks(pieces, [("insights", kept.encode())]) == []


def test_no_secret_that_a_person_writes_down_is_stored_or_shown(
    mem: Mem, home: Path, project: Path, pieces: dict[bytes, str]
) -> None:
    """Added by hand, noted with feedback, searched for, made a rule and written into a context file."""
    said = []
    for told in TOLD.values():
        added = mem("add", "-", "--json", input=told)
        assert "[redacted:" in added.stdout
        id = json.loads(added.stdout)["id"]
        said += [added, mem("feedback", "helpful", id, "--note", told, "--json")]
        said += [
            mem("promote", id, "--force", "--json"),
            mem("search", "--json", "--", told),
            mem("history", id, "--json"),
        ]
    said += [mem("add", "--section", TOLD["openai"], "Keep the section clean."), mem("list", "--json")]
    assert mem("config", "render.bullets", "500").exit_code == mem("config", "render.chars", "100000").exit_code == 0
    said += [mem("render", "--json"), mem("refine", "--json")]

    assert "[redacted:" in (project / "AGENTS.md").read_text("utf-8")
    assert leaks(pieces, [(str(result), result.output_bytes) for result in said]) == []
    assert leaks(pieces, files(home, project)) == []


def test_no_secret_that_passes_a_hook_stays(mem: Mem, home: Path, project: Path, pieces: dict[bytes, str]) -> None:
    """In a prompt, in a payload that cannot be read, in a note for the next ingest: not in answer, log or spool."""
    mem("add", "Deploy the shop with the key of the staging database.")
    said = []
    for told in TOLD.values():
        prompt = {"prompt": f"How do I deploy the shop? {told}", "session_id": "s", "cwd": str(project)}
        said.append(mem("hook", "claude-code", "user-prompt-submit", input=json.dumps(prompt)))
        said.append(mem("hook", "claude-code", "user-prompt-submit", input=json.dumps({"prompt": [told]})))
        said.append(mem("hook", "claude-code", "user-prompt-submit", input=f'{{"prompt": "{told}'))
        note = {
            "transcript_path": str(project / "s.jsonl"),
            "session_id": "s",
            "error": told,
            "tool_input": {"a": told},
        }
        said.append(mem("hook", "claude-code", "post-tool-use-failure", input=json.dumps(note)))
        said.append(mem("hook", "claude-code", "stop", input=json.dumps({"last_assistant_message": told})))

    assert {"hook.log", "ledger.db", "spool"} <= {path.name for path in home.iterdir()}
    assert leaks(pieces, [(str(result), result.output_bytes) for result in said]) == []
    assert leaks(pieces, files(home)) == []


def test_no_secret_given_as_a_setting_is_kept(mem: Mem, home: Path, pieces: dict[bytes, str]) -> None:
    """Keys belong into the environment: a setting that holds one is refused, and not repeated."""
    said = []
    for secret, _ in TOLD_ALONE:
        for name in ("extract.model", "synthesis.model", "search.k"):
            said.append(mem("config", name, f"openai:gpt {secret}"))
            assert said[-1].exit_code == 2
    said.append(mem("config", "--json"))

    assert leaks(pieces, [(str(result), result.output_bytes) for result in said]) == []
    assert leaks(pieces, files(home)) == []


def test_no_secret_is_told_of_a_log_that_cannot_be_read(
    mem: Mem, home: Path, tmp_path: Path, pieces: dict[bytes, str]
) -> None:
    """What is said about damaged lines speaks of their place, not of what they hold."""
    logs = []
    for number, told in enumerate(TOLD.values()):
        logs.append(tmp_path / "broken" / f"{number}.jsonl")
        logs[-1].parent.mkdir(exist_ok=True)
        row = {"type": "user", "message": {"role": "user", "content": told}, "uuid": "u", "sessionId": "s"}
        logs[-1].write_text(json.dumps(row) + "\n" + json.dumps(row)[:-9] + "\n" + told, "utf-8")
    said = [mem("extract", *logs, "--json"), mem("ingest", *logs, "--json"), mem("ingest", *logs)]

    assert leaks(pieces, [(str(result), result.output_bytes) for result in said]) == []
    assert leaks(pieces, files(home)) == []
