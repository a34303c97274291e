"""A model that says what it is told to: a loopback server for the four interfaces that agents call.

Every request is kept, so that a proof or a test can look for what an agent put before its model. The plan is a
list of turns; each request that offers tools (an agent's own loop) takes the next one, and requests
without tools (titles, summaries) get a word and take none, unless the next turn is forced.
"""

from __future__ import annotations

import gzip
import json
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LAST_WORDS = "all done here"


@dataclass(frozen=True)
class Say:
    """A turn that ends the agent's loop with text."""

    text: str = LAST_WORDS


@dataclass(frozen=True)
class Use:
    """A turn that calls the first offered tool whose name matches ``pattern``."""

    pattern: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Force:
    """A turn that calls a tool of this name, offered or not."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass
class Asked:
    """One request of an agent to its model."""

    interface: str
    body: dict[str, Any]

    @property
    def tools(self) -> list[str]:
        """The names of the offered tools; one inside a namespace is ``namespace/name``."""
        found: list[str] = []
        for tool in self.body.get("tools") or []:
            if "functionDeclarations" in tool:
                found += [declared["name"] for declared in tool["functionDeclarations"]]
            elif tool.get("type") == "namespace":
                found += [f"{tool['name']}/{inner['name']}" for inner in tool.get("tools", [])]
            else:
                found.append(str(tool.get("name") or tool.get("function", {}).get("name") or tool.get("type")))
        return found

    @property
    def conversation(self) -> str:
        """All text of the messages, without the system's."""
        keys = {"anthropic": "messages", "responses": "input", "chat": "messages", "gemini": "contents"}
        messages = self.body.get(keys[self.interface]) or []
        if self.interface == "chat":
            messages = [message for message in messages if message.get("role") not in ("system", "developer")]
        return "\n".join(strings(messages))

    @property
    def everything(self) -> str:
        """All text of the request, tools and system included."""
        return "\n".join(strings(self.body))


def strings(value: Any) -> Iterator[str]:
    """Yield every text inside a JSON value, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


class Model:
    """The server. ``with Model([...]) as model: … model.loop`` are the requests that offered tools."""

    def __init__(self, plan: Sequence[Say | Use | Force] = ()) -> None:
        self.plan = list(plan)
        self.words = LAST_WORDS  # what a request without tools is answered with
        self.asked: list[Asked] = []
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.model = self
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Model:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def loop(self) -> list[Asked]:
        return [asked for asked in self.asked if asked.tools]

    def answer(self, asked: Asked) -> tuple[str, dict[str, Any]] | str:
        """Return the text of the next turn, or (tool, arguments)."""
        with self._lock:
            self.asked.append(asked)
            if not self.plan or not (asked.tools or isinstance(self.plan[0], Force)):
                return LAST_WORDS if asked.tools else self.words
            turn = self.plan.pop(0)
        if isinstance(turn, Force):
            return turn.name, turn.arguments
        if isinstance(turn, Say):
            return turn.text
        name = next((name for name in asked.tools if re.search(turn.pattern, name)), None)
        return (name, turn.arguments) if name else f"no tool {turn.pattern} among {asked.tools}"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    model: Model


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self.send_json({"object": "list", "data": [{"id": "stub-model", "object": "model"}], "models": []})

    def do_POST(self) -> None:
        body = self.read_body()
        path = self.path.split("?")[0]
        if path.endswith(("count_tokens", ":countTokens")):
            self.send_json({"input_tokens": 10, "totalTokens": 10})
            return
        for ending, interface in _INTERFACES.items():
            if path.endswith(ending):
                said = self.server.model.answer(Asked(interface, body))
                whole, events = _WRITERS[interface](said, len(self.server.model.asked))
                streamed = bool(body.get("stream")) or "streamGenerateContent" in path
                self.send_events(events) if streamed else self.send_json(whole)
                return
        self.send_json({})

    def read_body(self) -> dict[str, Any]:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            raw = b"".join(self.read_chunks())
        else:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            raw = gzip.decompress(raw)
        try:
            value = json.loads(raw)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}

    def read_chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def send_json(self, value: dict[str, Any]) -> None:
        raw = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def send_events(self, events: Iterable[dict[str, Any] | str]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in events:
            name = f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
            text = event if isinstance(event, str) else json.dumps(event)
            self.wfile.write(f"{name}data: {text}\n\n".encode())
        self.close_connection = True


_INTERFACES = {
    "/chat/completions": "chat",
    "/messages": "anthropic",
    "/responses": "responses",
    "enerateContent": "gemini",
}
_Said = tuple[str, dict[str, Any]] | str
_Written = tuple[dict[str, Any], list[dict[str, Any] | str]]


def _write_anthropic(said: _Said, number: int) -> _Written:
    usage = {"input_tokens": 10, "output_tokens": 1}
    head = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "stub", "usage": usage}
    if isinstance(said, str):
        block: dict[str, Any] = {"type": "text", "text": said}
        first, why = {**block, "text": ""}, "end_turn"
        delta = {"type": "text_delta", "text": said}
    else:
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": said[0], "input": said[1]}
        first, why = {**block, "input": {}}, "tool_use"
        delta = {"type": "input_json_delta", "partial_json": json.dumps(said[1])}
    end = {"stop_reason": why, "stop_sequence": None}
    begun = {**head, "content": [], "stop_reason": None, "stop_sequence": None}
    return {**head, "content": [block], **end}, [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": first},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": usage},
        {"type": "message_stop"},
    ]


def _write_responses(said: _Said, number: int) -> _Written:
    if isinstance(said, str):
        part = {"type": "output_text", "text": said, "annotations": []}
        item: dict[str, Any] = {"type": "message", "role": "assistant", "id": f"msg_{number}", "content": [part]}
        empty: dict[str, Any] = {"content": []}
        at: dict[str, Any] = {"item_id": item["id"], "output_index": 0, "content_index": 0}
        middle: list[dict[str, Any]] = [
            {"type": "response.content_part.added", **at, "part": {**part, "text": ""}},
            {"type": "response.output_text.delta", **at, "delta": said},
            {"type": "response.output_text.done", **at, "text": said},
            {"type": "response.content_part.done", **at, "part": part},
        ]
    else:
        space, _, name = said[0].rpartition("/")
        text = json.dumps(said[1])
        item = {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"call_{number}",
            "name": name,
            "arguments": text,
        }
        item |= {"namespace": space} if space else {}
        empty = {"arguments": ""}
        at = {"item_id": item["id"], "output_index": 0}
        middle = [
            {"type": "response.function_call_arguments.delta", **at, "delta": text},
            {"type": "response.function_call_arguments.done", **at, "arguments": text},
        ]
    item["status"] = "completed"
    usage = {"input_tokens": 10, "output_tokens": 1, "total_tokens": 11}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}  # type: ignore[dict-item]
    whole = {"id": f"resp_{number}", "object": "response", "created_at": 1, "model": "stub", "usage": usage}
    whole |= {"status": "completed", "output": [item], "tools": [], "parallel_tool_calls": False}
    begun = {**whole, "status": "in_progress", "output": []}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, **empty, "status": "in_progress"}},
        *middle,
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return whole, [{**event, "sequence_number": place} for place, event in enumerate(events)]


def _write_chat(said: _Said, number: int) -> _Written:
    if isinstance(said, str):
        message: dict[str, Any] = {"role": "assistant", "content": said}
        delta, why = message, "stop"
    else:
        function = {"name": said[0], "arguments": json.dumps(said[1])}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        delta, why = {"role": "assistant", "tool_calls": [{"index": 0, **call}]}, "tool_calls"
    usage = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
    head = {"id": f"chatcmpl-{number}", "created": 1, "model": "stub"}
    choice = {"index": 0, "message": message, "finish_reason": why}
    chunk = {**head, "object": "chat.completion.chunk"}
    return {**head, "object": "chat.completion", "choices": [choice], "usage": usage}, [
        {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": why}], "usage": usage},
        "[DONE]",
    ]


def _write_gemini(said: _Said, _number: int) -> _Written:
    part = {"text": said} if isinstance(said, str) else {"functionCall": {"name": said[0], "args": said[1]}}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 1, "totalTokenCount": 11}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    whole = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "stub"}
    return whole, [whole]


_WRITERS = {"anthropic": _write_anthropic, "responses": _write_responses, "chat": _write_chat, "gemini": _write_gemini}
