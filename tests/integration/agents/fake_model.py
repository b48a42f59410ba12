"""A model that does what its prompt says: it runs the commands between double brackets, then it answers.

It speaks, on loopback and with streamed answers, what the agents ask their makers' servers for: Anthropic's messages,
OpenAI's chat completions and responses, Gemini's generateContent. Every request is kept, to be looked into.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

SHELLS = ("Bash", "bash", "run_shell_command", "exec_command", "shell_command", "shell")
_COMMAND = re.compile(r"\[\[(.+?)\]\]")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Turn:
    """What the model does: it calls a shell, or it says something."""

    text: str = ""
    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Request:
    """What an agent asked: the path, the document, and what of it the answer depends on."""

    path: str
    body: Json
    tools: tuple[str, ...] = ()
    prompt: str = ""
    results: int = 0

    @property
    def text(self) -> str:
        """Everything that the model gets to read, as one JSON text."""
        return json.dumps(self.body, ensure_ascii=False)


class FakeModel:
    """The server. `answer` makes the words of an answer from the request.

    `tokens` is what it says a request took; `full` is said once instead, after a command, to have the agent compact.
    """

    def __init__(self, answer: Callable[[Request], str] = lambda request: "Done.") -> None:
        self.answer = answer
        self.tokens = 1_000
        self.full = 0
        self.requests: list[Request] = []
        self.unknown: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def size(self, request: Request) -> int:
        """What it says a request took."""
        if self.full and request.tools and request.results:
            size, self.full = self.full, 0
            return size
        return self.tokens

    def turn(self, request: Request) -> Turn:
        """What it does about a request."""
        shell = next((name for name in SHELLS if name in request.tools), None)
        commands = _COMMAND.findall(request.prompt)
        if shell and request.results < len(commands):
            key = "cmd" if shell == "exec_command" else "command"
            given = {key: commands[request.results], **({"description": "run it"} if shell != "exec_command" else {})}
            if shell == "shell":
                given = {"command": ["bash", "-lc", commands[request.results]]}
            return Turn(tool=shell, arguments=given)
        return Turn(text=self.answer(request))


def _handler(model: FakeModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            model.unknown.append(f"GET {self.path}")
            self._json({"object": "list", "data": [], "models": []})

        def do_HEAD(self) -> None:
            self._json({})

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            try:
                body = json.loads(raw)
            except ValueError:
                body = {}
            path = self.path.partition("?")[0]
            if path.endswith(("/count_tokens", ":countTokens")):
                self._json({"input_tokens": 10, "totalTokens": 10})
                return
            for suffix, read, say in _DIALECTS:
                if path.endswith(suffix):
                    request = read(self.path, body)
                    model.requests.append(request)
                    self._say(say(model.turn(request), model.size(request), body), body, path)
                    return
            model.unknown.append(f"POST {self.path}")
            self._json({})

        def _say(self, said: tuple[Json, list[tuple[str, Json | str]]], body: Json, path: str) -> None:
            whole, events = said
            if not (body.get("stream") or path.endswith(":streamGenerateContent")):
                self._json(whole)
                return
            lines = []
            for name, data in events:
                lines += [f"event: {name}\n"] if name else []
                lines.append(f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n")
            self._send("text/event-stream", "".join(lines).encode())

        def _json(self, document: Json) -> None:
            self._send("application/json", json.dumps(document).encode())

        def _send(self, kind: str, raw: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


def _blocks(content: object) -> list[Json]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _since_prompt(steps: Iterable[tuple[str, str]]) -> tuple[str, int]:
    """The last prompt with commands in it, else the last one, and the tool results behind it.

    `steps` are (what, text): "human" or "result".
    """
    prompt, results = "", 0
    for what, text in steps:
        if what == "result":
            results += 1
        elif _COMMAND.search(text) or not _COMMAND.search(prompt):
            prompt, results = text, 0
    return prompt, results


def _names(tools: object, *path: str) -> tuple[str, ...]:
    found = []
    for tool in tools if isinstance(tools, list) else []:
        for key in path:
            tool = tool.get(key, tool) if isinstance(tool, dict) else {}
        name = tool.get("name") or tool.get("type") if isinstance(tool, dict) else None
        found += [name] if isinstance(name, str) else []
        if isinstance(tool, dict) and isinstance(tool.get("tools"), list):  # a namespace
            found += [f"{name}.{one}" for one in _names(tool["tools"])]
    return tuple(found)


# -- Anthropic ------------------------------------------------------------------------------------


def _read_messages(path: str, body: Json) -> Request:
    steps = []
    for message in body.get("messages", []):
        if message.get("role") != "user":
            continue
        blocks = _blocks(message.get("content"))
        steps += [("result", "") for block in blocks if block.get("type") == "tool_result"]
        if all(block.get("type") != "tool_result" for block in blocks):
            steps.append(("human", "\n".join(block.get("text", "") for block in blocks)))
    return Request(path, body, _names(body.get("tools")), *_since_prompt(steps))


def _say_messages(turn: Turn, tokens: int, body: Json) -> tuple[Json, list[tuple[str, Json | str]]]:
    usage = {"input_tokens": tokens, "output_tokens": 10}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model", "x"), "usage": usage}
    if turn.tool:
        block: Json = {"type": "tool_use", "id": f"toolu_{_count()}", "name": turn.tool, "input": turn.arguments}
        start, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(turn.arguments)}
    else:
        block = {"type": "text", "text": turn.text}
        start, delta = {**block, "text": ""}, {"type": "text_delta", "text": turn.text}
    message["id"] = f"msg_{_count()}"
    stop = "tool_use" if turn.tool else "end_turn"
    events: list[tuple[str, Json | str]] = [
        ("message_start", {"message": {**message, "content": [], "stop_reason": None}}),
        ("content_block_start", {"index": 0, "content_block": start}),
        ("content_block_delta", {"index": 0, "delta": delta}),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}),
        ("message_stop", {}),
    ]
    whole = {**message, "content": [block], "stop_reason": stop, "stop_sequence": None}
    return whole, [(name, {"type": name, **data}) for name, data in events if isinstance(data, dict)]


# -- OpenAI, chat completions ---------------------------------------------------------------------


def _read_chat(path: str, body: Json) -> Request:
    steps = []
    for message in body.get("messages", []):
        if message.get("role") == "tool":
            steps.append(("result", ""))
        elif message.get("role") == "user":
            steps.append(("human", "\n".join(block.get("text", "") for block in _blocks(message.get("content")))))
    return Request(path, body, _names(body.get("tools"), "function"), *_since_prompt(steps))


def _say_chat(turn: Turn, tokens: int, body: Json) -> tuple[Json, list[tuple[str, Json | str]]]:
    usage = {"prompt_tokens": tokens, "completion_tokens": 10, "total_tokens": tokens + 10}
    head = {"id": f"chat_{_count()}", "created": 1, "model": body.get("model", "x")}
    delta: Json = {"role": "assistant", "content": turn.text}
    if turn.tool:
        function = {"name": turn.tool, "arguments": json.dumps(turn.arguments)}
        delta = {"role": "assistant", "content": None, "tool_calls": [_call_of(function)]}
    stop = "tool_calls" if turn.tool else "stop"
    chunk = {**head, "object": "chat.completion.chunk"}
    whole = {**head, "object": "chat.completion", "usage": usage}
    whole["choices"] = [{"index": 0, "message": delta, "finish_reason": stop}]
    return whole, [
        ("", {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}),
        ("", {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}], "usage": usage}),
        ("", "[DONE]"),
    ]


def _call_of(function: Json) -> Json:
    return {"index": 0, "id": f"call_{_count()}", "type": "function", "function": function}


# -- OpenAI, responses ----------------------------------------------------------------------------


def _read_responses(path: str, body: Json) -> Request:
    steps = []
    given = body.get("input", [])
    for item in given if isinstance(given, list) else [{"role": "user", "content": given}]:
        if str(item.get("type", "")).endswith("_output"):
            steps.append(("result", ""))
        elif item.get("role") == "user":
            steps.append(("human", "\n".join(block.get("text", "") for block in _blocks(item.get("content")))))
    return Request(path, body, _names(body.get("tools")), *_since_prompt(steps))


def _say_responses(turn: Turn, tokens: int, body: Json) -> tuple[Json, list[tuple[str, Json | str]]]:
    head = {"id": f"resp_{_count()}", "object": "response", "created_at": 1, "model": body.get("model", "x")}
    usage = {
        "input_tokens": tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 10,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": tokens + 10,
    }
    if turn.tool:
        arguments = json.dumps(turn.arguments)
        call = f"call_{_count()}"
        item: Json = {"type": "function_call", "id": f"fc_{call}", "call_id": call, "name": turn.tool}
        item |= {"arguments": arguments, "status": "completed"}
    else:
        content = [{"type": "output_text", "text": turn.text, "annotations": []}]
        item = {"type": "message", "id": f"msg_{_count()}", "role": "assistant", "status": "completed"}
        item |= {"content": content}
    whole = {**head, "status": "completed", "output": [item], "usage": usage}
    return whole, [
        ("response.created", {"type": "response.created", "response": {**head, "status": "in_progress", "output": []}}),
        ("response.output_item.added", {"type": "response.output_item.added", "output_index": 0, "item": item}),
        ("response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": item}),
        ("response.completed", {"type": "response.completed", "response": whole}),
    ]


# -- Gemini ---------------------------------------------------------------------------------------


def _read_gemini(path: str, body: Json) -> Request:
    steps = []
    for content in body.get("contents", []):
        parts = [part for part in content.get("parts", []) if isinstance(part, dict)]
        if content.get("role") == "model":
            continue
        results = [("result", "") for part in parts if "functionResponse" in part]
        steps += results
        if not results:
            steps.append(("human", "\n".join(part.get("text", "") for part in parts)))
    tools = [one for group in body.get("tools", []) for one in group.get("functionDeclarations", [])]
    return Request(path, body, _names(tools), *_since_prompt(steps))


def _say_gemini(turn: Turn, tokens: int, body: Json) -> tuple[Json, list[tuple[str, Json | str]]]:
    part = {"functionCall": {"name": turn.tool, "args": turn.arguments}} if turn.tool else {"text": turn.text}
    usage = {"promptTokenCount": tokens, "candidatesTokenCount": 10, "totalTokenCount": tokens + 10}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    whole = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "x", "responseId": f"r{_count()}"}
    return whole, [("", whole)]


_numbers = iter(range(1, 1_000_000))


def _count() -> int:
    return next(_numbers)


_DIALECTS = (
    ("/messages", _read_messages, _say_messages),
    ("/chat/completions", _read_chat, _say_chat),
    ("/responses", _read_responses, _say_responses),
    (":generateContent", _read_gemini, _say_gemini),
    (":streamGenerateContent", _read_gemini, _say_gemini),
)
