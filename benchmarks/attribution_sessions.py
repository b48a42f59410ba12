"""Sessions with planted uses: real rules as bullets, real stretches of transcripts around, in five agents' formats.

What is planted is drawn first and written down as the plan; what the detector looks for is not looked at here. A use
may show in no way at all (the agent simply does as the rule says), a session may end without a word, and there is a
lot that only looks like a use: everyday commands that stand in a bullet, commands and files that the person named,
notes that are read out, asked about, or named because they were not followed.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attribution_wordings import Wording

AGENTS = ("claude-code", "codex", "gemini-cli", "opencode", "pi")
START = 1_790_000_000.0

_PROGRAMS = (
    r"npm|pnpm|yarn|bun|npx|uv|poetry|cargo|pytest|docker|kubectl|helm|terraform|bundle|php|composer|dotnet|flutter"
    r"|ruff|mypy|git|gh|python3?|pip|pre-commit|go|make|mix|tox"
)
_COMMAND = re.compile(rf"\b(?:{_PROGRAMS}) (?:[a-z][\w:.-]+|-{{1,2}}\w[\w-]*|[\w./-]+/[\w./-]+)(?: [-\w./:=@]+){{0,3}}")
_NOT_A_COMMAND = re.compile(r"\b(?:make|go|git) (?:sure|it|the|a|an|this|that|changes|to|with|and|for|beyond|repo)\b")
_STOPS = ("for", "to", "and", "or", "with", "in", "is", "before", "after", "on", "if", "when", "should", "as", "the")
_FILE = re.compile(r"(?<![\w/.@-])(?:[\w.@-]+/)+[\w.@-]+\.[a-z]{1,5}\b")
_CHECKS = re.compile(r"test|lint|build|check|tsc|mypy|ruff|cargo|make|jest|verify|ci\b|commit|fmt|format|vet", re.I)

OTHER_TALK = (
    "Let me look at the code first.",
    "I have changed the handler and adjusted the caller.",
    "That should do it. Two files changed.",
    "Here is what I found so far.",
    "I'll make the change now.",
)
PROMPTS = (
    "Please add pagination to the order list.",
    "The export takes very long. Can you make it faster?",
    "Write a small command that prints the version.",
    "Rename the customer module to clients everywhere.",
    "I need a retry around the payment call.",
    "Clean up the logging in the worker.",
    "Add a field for the tax number to the invoice.",
    "Please move the date helpers into their own file.",
)
RUNS = (
    ("pytest -q", "12 passed in 0.41s", "FAILED tests/test_orders.py::test_total\n1 failed, 11 passed in 0.52s"),
    ("npm test", "Tests: 31 passed, 31 total", "Tests: 2 failed, 29 passed, 31 total\nexit code: 1"),
    ("cargo test", "test result: ok. 8 passed; 0 failed", "test result: FAILED. 7 passed; 1 failed\nexit code 101"),
    ("go build ./...", "", "./main.go:12:2: undefined: total\nexit status 1"),
)


@dataclass(frozen=True)
class Rule:
    """A bullet to be, with the command or the file that stands in it."""

    id: str
    text: str
    command: str = ""
    file: str = ""


@dataclass
class Said:
    """One step of a conversation: `kind` human, assistant, call or interrupt."""

    kind: str
    text: str = ""
    tool: str = ""
    args: dict[str, Any] = field(default_factory=dict)
    result: str = ""
    failed: bool = False


@dataclass
class Planned:
    """A session, what was shown to it, and what is true of each bullet that was used."""

    agent: str
    id: str
    prompt: str
    steps: list[Said]
    shown: list[Rule]
    ends: dict[str, bool | None]  # of the used bullets
    ways: dict[str, str]
    tricks: list[str]
    path: Path = Path()
    began: float = START


def rules(data: Path, rng: random.Random) -> dict[str, list[Rule]]:
    """Real rules by what stands in them: a command, a file, or neither."""
    path = data / "rules" / "rules.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    rng.shuffle(texts)
    found: dict[str, list[Rule]] = {"command": [], "file": [], "plain": []}
    for number, text in enumerate(texts):
        if not 30 <= len(text) <= 220 or "mem:" in text:
            continue
        id = hashlib.sha256(f"{number}{text}".encode()).hexdigest()[:8]
        command = _command_in(text)
        file = _FILE.search(text)
        if command and len(found["command"]) < 90:
            found["command"].append(Rule(id, text.replace(command, f"`{command}`", number % 2), command))
        elif file and not command and len(found["file"]) < 60:
            found["file"].append(Rule(id, text, file=file[0]))
        elif not command and not file and len(found["plain"]) < 250:
            found["plain"].append(Rule(id, text))
    return found


def _command_in(text: str) -> str:
    match = _COMMAND.search(text)
    if match is None or _NOT_A_COMMAND.match(match[0]):
        return ""
    words = match[0].rstrip(".,:").split()
    for at, word in enumerate(words[1:], 1):
        if word in _STOPS:
            words = words[:at]
            break
    if len(words) < 2 or re.search(r"\b(?:not|never|avoid|instead)\b", text, re.I):
        return ""
    return " ".join(words)


def fillers(data: Path) -> list[list[Said]]:
    """Stretches of real sessions: what agents said, called and got."""
    from acemem.memory.sessions import catalog

    found: list[list[Said]] = []
    for folder in ("claude-code", "codex", "pi", "gemini-cli", "kimi", "copilot-cli"):
        for path in sorted((data / "sessions" / folder).glob("*")):
            if path.suffix not in (".json", ".jsonl") or path.name.endswith(".meta.json"):
                continue
            for session in catalog.read(path)[:1]:
                results = {e.call_id: e for e in session.events if e.kind == "result" and e.call_id}
                steps: list[Said] = []
                for event in session.events:
                    if event.kind == "assistant":
                        steps.append(Said("assistant", event.text[:600]))
                    elif event.kind == "call" and event.call_id in results:
                        result = results[event.call_id]
                        steps.append(
                            Said("call", "", event.tool or "tool", event.args, result.text[:1_500], result.error)
                        )
                found += [steps[at : at + 6] for at in range(0, len(steps) - 6, 6)]
    return found


def planned(data: Path, count: int, seed: int, wording: Wording) -> list[Planned]:
    """The sessions with their plans."""
    rng = random.Random(seed)
    pool, stretches = rules(data, rng), fillers(data)
    quiet = [s for s in stretches if not any(_CHECKS.search(json.dumps(step.args)) for step in s)]
    sessions = [_planned(rng, wording, AGENTS[n % len(AGENTS)], pool, stretches, quiet) for n in range(count)]
    for number, session in enumerate(sessions):
        session.began = START + number * 3_600
    return sessions


def _planned(
    rng: random.Random,
    wording: Wording,
    agent: str,
    pool: dict[str, list[Rule]],
    stretches: list[list[Said]],
    quiet: list[list[Said]],
) -> Planned:
    shown = [
        *rng.sample(pool["command"], 2),
        rng.choice(pool["file"]),
        *rng.sample(pool["plain"], rng.randint(1, 2)),
    ]
    rng.shuffle(shown)
    name = str(uuid.UUID(int=rng.getrandbits(128), version=4))
    session = Planned(agent, name, rng.choice(PROMPTS), [], shown, {}, {}, [])
    used = rng.sample(shown, rng.choice((0, 1, 1, 1, 2)))
    idle = [rule for rule in shown if rule not in used]
    rng.shuffle(idle)
    before: list[Said] = list(rng.choice(stretches))
    work: list[Said] = []
    for rule in used:
        ways = ["cited"] * 5 + ["plain"] * 3
        ways += ["command"] * 4 if rule.command else ["file"] * 4 if rule.file else []
        session.ways[rule.id] = way = rng.choice(ways)
        work += _use(rng, wording, rule, way)
    for rule in idle[: rng.choice((0, 1, 1, 2))]:
        work += _trick(rng, wording, session, rule, before)
    if rng.random() < 0.12:
        session.tricks.append("notes read out")
        lines = "\n".join(f"- {rule.text} [mem:{rule.id}]" for rule in shown if rule not in used)
        before.append(Said("assistant", f"{rng.choice(wording.reads_out)}\n{lines}"))
    work += rng.choice(quiet)
    ended, end = _ending(rng, wording, quiet)
    session.ends = {rule.id: ended for rule in used}
    session.steps = [Said("human", session.prompt), *before, *work, *end]
    return session


def _use(rng: random.Random, wording: Wording, rule: Rule, way: str) -> list[Said]:
    if way == "cited":
        return [Said("assistant", rng.choice(wording.cites).format(id=rule.id)), *_edit(rng)]
    if way == "command":
        more = rng.choice(("", "", " 2>&1 | tail -20", " --color=never"))
        return [Said("assistant", rng.choice(OTHER_TALK)), _shell(f"{rule.command}{more}", "done")]
    if way == "file":
        return [Said("call", "", "Read", {"file_path": f"/srv/shop/{rule.file}"}, "1\tname = 'shop'\n2\tsize = 4")]
    return [Said("assistant", rng.choice(OTHER_TALK)), *_edit(rng)]  # it does as the rule says, and nothing shows it


def _trick(rng: random.Random, wording: Wording, session: Planned, rule: Rule, before: list[Said]) -> list[Said]:
    """Something that looks like a use of a bullet that was not used."""
    tricks = ["disclaimed", "words"]
    tricks += ["person named it", "seen in an output", "run before"] if rule.command else []
    tricks += ["person named it", "seen in an output"] if rule.file else []
    trick = rng.choice(tricks)
    session.tricks.append(trick)
    act = (
        _shell(rule.command, "ok")
        if rule.command
        else Said("call", "", "Read", {"file_path": f"/srv/shop/{rule.file}"}, "1\tx = 1")
    )
    what = rule.command or rule.file
    if trick == "disclaimed":
        return [Said("assistant", rng.choice(wording.sets_aside).format(id=rule.id)), *_edit(rng)]
    if trick == "person named it":
        session.prompt += f" You can use {what} for that."
        return [act]
    if trick == "seen in an output":
        before.append(_shell("cat docs/notes.md", f"# Notes\nUse {what} when in doubt.\n"))
        return [act]
    if trick == "run before":  # the session is a resumed one, and it had done so of itself
        session.tricks[-1] = "everyday command"
        return [
            _shell(rng.choice(("git status", "git diff", "ls -la", "cat package.json", "git log --oneline -5")), "ok")
        ]
    words = " ".join(rng.sample(re.findall(r"[A-Za-z]{5,}", rule.text) or ["code"], 1))
    return [Said("assistant", f"I also had a look at the {words} part, nothing to change there.")]


def _shell(command: str, output: str, failed: bool = False) -> Said:
    return Said("call", "", "Bash", {"command": command}, output, failed)


def _edit(rng: random.Random) -> list[Said]:
    name = rng.choice(("orders", "invoice", "worker", "client"))
    args = {"file_path": f"/srv/shop/src/{name}_{rng.randint(1, 99)}.py", "old_string": "a = 1", "new_string": "a = 2"}
    return [Said("call", "", "Edit", args, "The file has been updated.")]


def _ending(rng: random.Random, wording: Wording, quiet: list[list[Said]]) -> tuple[bool | None, list[Said]]:
    """How it ended, and what of that stands in the log."""
    sort = rng.choices(("well", "badly", "passed", "failed", "mixed", "silent", "stopped"), (28, 22, 14, 12, 8, 10, 6))[
        0
    ]
    closing = [Said("assistant", rng.choice(OTHER_TALK))]
    run, fine, bad = rng.choice(RUNS)
    if sort == "well":
        return True, [*closing, Said("human", rng.choice(wording.well)), Said("assistant", "Glad to hear it.")]
    if sort == "badly":
        reply = rng.choice(("Let me look at it again.", "You're right, I put it back.", "I see, one moment."))
        return False, [*closing, Said("human", rng.choice(wording.badly)), Said("assistant", reply), *rng.choice(quiet)]
    if sort == "passed":
        silent = [] if rng.random() < 0.5 else [Said("human", rng.choice(wording.silent)), *closing]
        return True, [_shell(run, bad, True), *_edit(rng), _shell(run, fine), *closing, *silent]
    if sort == "failed":
        return False, [_shell(run, bad, True), *closing]
    if sort == "mixed":  # the check is content, the person is not
        return False, [_shell(run, fine), *closing, Said("human", rng.choice(wording.badly)), *closing]
    if sort == "silent":
        return None, [*closing, Said("human", rng.choice(wording.silent)), *closing]
    return None, [Said("interrupt")]


# -- the five formats ------------------------------------------------------------------------------


def write(session: Planned, folder: Path) -> None:
    """Writes the session as its agent would, and notes where."""
    writer = {
        "claude-code": _claude_code,
        "codex": _codex,
        "gemini-cli": _gemini,
        "opencode": _opencode,
        "pi": _pi,
    }[session.agent]
    session.steps[0] = Said("human", session.prompt)
    name, content = writer(session)
    session.path = folder / session.agent / name
    session.path.parent.mkdir(parents=True, exist_ok=True)
    session.path.write_text(content, "utf-8")


def _times(session: Planned) -> Iterator[tuple[int, str, Said]]:
    for number, step in enumerate(session.steps):
        at = datetime.fromtimestamp(session.began + 7 * number, UTC)
        yield number, at.strftime("%Y-%m-%dT%H:%M:%S.000Z"), step


def _lines(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def _claude_code(session: Planned) -> tuple[str, str]:
    records: list[dict[str, Any]] = []

    def add(at: str, role: str, content: Any) -> None:
        records.append(
            {
                "type": role,
                "uuid": f"{session.id}-{len(records)}",
                "sessionId": session.id,
                "timestamp": at,
                "cwd": "/srv/shop",
                "message": {"role": role, "content": content},
            }
        )

    for number, at, step in _times(session):
        if step.kind == "human":
            add(at, "user", step.text)
        elif step.kind == "assistant":
            add(at, "assistant", [{"type": "text", "text": step.text}])
        elif step.kind == "interrupt":
            add(at, "user", [{"type": "text", "text": "[Request interrupted by user]"}])
        else:
            add(at, "assistant", [{"type": "tool_use", "id": f"t{number}", "name": step.tool, "input": step.args}])
            result = {
                "type": "tool_result",
                "tool_use_id": f"t{number}",
                "content": step.result,
                "is_error": step.failed,
            }
            add(at, "user", [result])
    return f"{session.id}.jsonl", _lines(records)


def _codex(session: Planned) -> tuple[str, str]:
    records: list[dict[str, Any]] = []
    meta = {"id": session.id, "cwd": "/srv/shop", "originator": "codex_cli_rs", "source": "cli"}
    for number, at, step in _times(session):
        if not records:
            records.append({"timestamp": at, "type": "session_meta", "payload": meta})

        def add(kind: str, payload: dict[str, Any], at: str = at) -> None:
            records.append({"timestamp": at, "type": kind, "payload": payload})

        if step.kind == "human":
            add("event_msg", {"type": "user_message", "message": step.text})
        elif step.kind == "assistant":
            content = [{"type": "output_text", "text": step.text}]
            add("response_item", {"type": "message", "role": "assistant", "content": content})
        elif step.kind == "interrupt":
            add("event_msg", {"type": "turn_aborted", "reason": "interrupted"})
        else:
            args = {"cmd": step.args["command"]} if "command" in step.args else step.args
            name = "exec_command" if "command" in step.args else step.tool
            call = {"type": "function_call", "name": name, "arguments": json.dumps(args), "call_id": f"c{number}"}
            add("response_item", call)
            head = f"Process exited with code {int(step.failed)}\n" if name == "exec_command" else ""
            output = {"type": "function_call_output", "call_id": f"c{number}", "output": head + step.result}
            add("response_item", output)
    stamp = datetime.fromtimestamp(session.began, UTC).strftime("%Y-%m-%dT%H-%M-%S")
    return f"rollout-{stamp}-{session.id}.jsonl", _lines(records)


def _gemini(session: Planned) -> tuple[str, str]:
    messages: list[dict[str, Any]] = []
    for number, at, step in _times(session):
        message: dict[str, Any] = {"id": f"{session.id}-{number}", "timestamp": at}
        if step.kind in ("human", "assistant"):
            messages.append(message | {"type": "user" if step.kind == "human" else "gemini", "content": step.text})
        elif step.kind == "interrupt":
            messages.append(message | {"type": "info", "content": "Request cancelled."})
        else:
            tool = "run_shell_command" if "command" in step.args else step.tool
            output = step.result + (f"\nExit Code: {int(step.failed)}" if "command" in step.args else "")
            call = {
                "id": f"g{number}",
                "name": tool,
                "args": step.args,
                "status": "success",
                "result": [{"functionResponse": {"response": {"output": output}}}],
            }
            messages.append(message | {"type": "gemini", "content": "", "toolCalls": [call]})
    document = {"sessionId": session.id, "projectHash": "ab12", "startTime": messages[0]["timestamp"]}
    return f"session-2026-09-21T10-00-{session.id[:8]}.json", json.dumps(document | {"messages": messages})


def _opencode(session: Planned) -> tuple[str, str]:
    session.id = f"ses_{session.id.replace('-', '')[:24]}"
    messages: list[dict[str, Any]] = []
    for number, _, step in _times(session):
        created = int((session.began + 7 * number) * 1000)
        info = {"id": f"msg_{number}", "sessionID": session.id, "time": {"created": created}}
        if step.kind == "interrupt":
            continue
        if step.kind in ("human", "assistant"):
            role = "user" if step.kind == "human" else "assistant"
            part = {"id": f"prt_{number}", "type": "text", "text": step.text}
        else:
            role = "assistant"
            state: dict[str, Any] = {"status": "completed", "input": step.args, "output": step.result}
            if "command" in step.args:
                state["metadata"] = {"exit": int(step.failed)}
            tool = "bash" if "command" in step.args else step.tool.lower()
            part = {"id": f"prt_{number}", "type": "tool", "tool": tool, "callID": f"o{number}", "state": state}
        messages.append({"info": info | {"role": role}, "parts": [part]})
    info = {"id": session.id, "directory": "/srv/shop", "time": {"created": int(session.began * 1000)}}
    return f"{session.id}.json", json.dumps({"info": info, "messages": messages})


def _pi(session: Planned) -> tuple[str, str]:
    records: list[dict[str, Any]] = []
    for number, at, step in _times(session):
        if not records:
            records.append({"type": "session", "version": 3, "id": session.id, "timestamp": at, "cwd": "/srv/shop"})
        message: dict[str, Any]
        if step.kind == "human":
            message = {"role": "user", "content": [{"type": "text", "text": step.text}]}
        elif step.kind == "assistant":
            message = {"role": "assistant", "content": [{"type": "text", "text": step.text}]}
        elif step.kind == "interrupt":
            message = {"role": "assistant", "content": [], "stopReason": "aborted"}
        else:
            tool = "bash" if "command" in step.args else step.tool.lower()
            call = {"type": "toolCall", "id": f"p{number}", "name": tool, "arguments": step.args}
            message = {"role": "assistant", "content": [call]}
        records.append({"type": "message", "id": f"{number:08x}", "timestamp": at, "message": message})
        if step.kind == "call":
            result = {
                "role": "toolResult",
                "toolCallId": f"p{number}",
                "toolName": tool,
                "content": [{"type": "text", "text": step.result}],
                "isError": step.failed,
            }
            records.append({"type": "message", "id": f"{number:07x}r", "timestamp": at, "message": result})
    return f"2026-09-21T10-00-00_{session.id}.jsonl", _lines(records)
