"""A real HTTP server that speaks the Messages API, and misbehaves when it is told to. No key and no network is needed.

In a test, the fixture `models` gives the server and points `settings.MINARA` at it:

    def test_something(models: MessagesApi) -> None:
        models.answer = {"error_class": "variance", "narrative": "..."}    # the input of the asked tool, for every call
        models.answer = lambda asked: {"narrative": asked.content[:10]}     # or computed from what was asked
        models.answers = [error(529), {"narrative": "second try"}]          # or one after the other, before `answer`
        ...
        assert models.calls == 2 and models.asked[0].system.startswith("...")

An answer is a dict or a pydantic model (the tool's input), or a `Reply`: `tool(...)`, `error(529)`, `said("prose")`,
`raw(b"...")`, `hung_up()`, `cut_off()`, `huge()`, `hinting()`; `slowly(reply, seconds)` and `at_cost(reply, input_tokens=...)` change one.
`models.seconds` holds back every answer; `models.gate` (an Event) holds back all until it is set. `models.reached` is
set when a call came, `models.most_at_once` is how many were under way together.

Other processes reach the same server: give them `models.environment` (ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY), such as
`site.environment.update(models.environment)`. Without pytest: `with serve() as models:`. As a process of its own:

    python -m tests.kit.messages_api --port 8901 --answer tests.some_module:function --seconds 0.1

It says its URL when it listens. `GET {url}/calls` answers `{"calls", "most_at_once", "refused", "by_model", "by_tool"}`.

It refuses with 400 what the real one refuses: a forced tool for the models that take none, thinking that cannot be
turned off, sampling values, an unknown field, a tool_result without its tool_use.
"""

import argparse
import importlib
import json
import socket
import struct
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.request import urlopen

from pydantic import BaseModel

KEY = "sk-test-of-the-messages-api"
MEGABYTE = 1024 * 1024
CHUNK = 64 * 1024
KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}
TAKES_NO_FORCED_TOOL = ("claude-sonnet-5-5", "claude-opus-5-5", "claude-fable-5-1", "claude-mythos-5-1")
FIELDS = {
    "cache_control",
    "container",
    "inference_geo",
    "max_tokens",
    "messages",
    "metadata",
    "model",
    "output_config",
    "service_tier",
    "stop_sequences",
    "stream",
    "system",
    "thinking",
    "tool_choice",
    "tools",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: its body, its headers in lower case, and the how-many-eth it is, from 0."""

    body: dict[str, Any]
    headers: dict[str, str]
    number: int

    @property
    def model(self) -> str:
        """The model that was asked."""
        return str(self.body["model"])

    @property
    def tool(self) -> dict[str, Any]:
        """The definition of the first tool; empty without one."""
        tools = self.body.get("tools") or [{}]
        return dict(tools[0])

    @property
    def system(self) -> str:
        """The system text."""
        return text_of(self.body.get("system", ""))

    @property
    def content(self) -> str:
        """The text of the first message."""
        return text_of(self.body["messages"][0]["content"])

    @property
    def is_repair(self) -> bool:
        """Whether an invalid answer came back with its error."""
        return len(self.body["messages"]) > 1

    @property
    def key(self) -> str:
        """The key, in whichever header it came."""
        return self.headers.get("x-api-key", "") or self.headers.get("authorization", "").removeprefix("Bearer ")


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes back: a message of these blocks with this usage, or `body` as it is, or a cut connection.

    `usage` None counts four bytes a token. `sent_share` is the part of the body after which the connection is cut.
    """

    blocks: tuple[dict[str, Any], ...] | None = None
    input: Any = None
    stop_reason: str = "tool_use"
    usage: dict[str, int] | None = None
    status: int = 200
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    sent_share: float = 1.0
    is_dripped: bool = False
    fill: int = 0
    hints: int = 0


Answer = Reply | Mapping[str, Any] | BaseModel
Answering = Answer | Callable[[Asked], Answer]


def tool(value: Any, **usage: int) -> Reply:
    """Return a call of the asked tool with this input, and these figures of usage."""
    return at_cost(Reply(input=value), **usage) if usage else Reply(input=value)


def said(text: str, stop_reason: str = "end_turn") -> Reply:
    """Return prose without a tool call; no text is an empty content."""
    return Reply(blocks=({"type": "text", "text": text},) if text else (), stop_reason=stop_reason)


def with_prose(value: Any, text: str = "Let me think about this first.") -> Reply:
    """Return a call of the asked tool behind prose that nobody asked for."""
    return Reply(blocks=({"type": "text", "text": text},), input=value)


def error(status: int, message: str = "Not now.", **headers: str) -> Reply:
    """Return an error; `retry_after="2"` becomes the header Retry-After."""
    body = {"type": "error", "error": {"type": KINDS.get(status, "api_error"), "message": message}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status=status, body=json.dumps(body).encode(), headers=named)


def raw(body: bytes, status: int = 200, **headers: str) -> Reply:
    """Return these bytes as they are."""
    return Reply(
        status=status,
        body=body,
        headers={name.replace("_", "-"): each for name, each in headers.items()},
    )


def hung_up() -> Reply:
    """Return nothing: the connection ends after the request was read."""
    return Reply(sent_share=-1)


def cut_off(value: Any, share: float = 0.5) -> Reply:
    """Return an answer whose connection ends in the middle."""
    return Reply(input=value, sent_share=share)


def huge(size: int = 20 * MEGABYTE, status: int = 200) -> Reply:
    """Return valid JSON of this many bytes, written piece by piece; `models.sent` counts what was taken."""
    return Reply(fill=size, status=status)


def hinting(times: int = 1_000) -> Reply:
    """Return interim answers, one each hundredth of a second, and no other."""
    return Reply(hints=times)


def slowly(reply: Reply, seconds: float, *, is_dripped: bool = False) -> Reply:
    """Return a reply that comes after these seconds, or byte by byte over them."""
    return replace(reply, seconds=seconds, is_dripped=is_dripped)


def at_cost(reply: Reply, **usage: int) -> Reply:
    """Return a reply that says this usage: input_tokens, output_tokens, cache_creation_input_tokens, ..."""
    figures = {"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    return replace(reply, usage={**figures, **usage})


@dataclass
class MessagesApi:
    """What the server does, and what it was asked. `answers` go first, then every call gets `answer`."""

    url: str = ""
    answer: Answering = field(default_factory=dict)
    answers: list[Answering] = field(default_factory=list)
    seconds: float = 0.0
    gate: threading.Event | None = None
    reached: threading.Event = field(default_factory=threading.Event)
    asked: list[Asked] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    connections: int = 0
    sent: int = 0
    under_way: int = 0
    most_at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def calls(self) -> int:
        """How many requests came, the refused ones too."""
        return len(self.asked)

    @property
    def environment(self) -> dict[str, str]:
        """The variables with which another process reaches this server."""
        return {"ANTHROPIC_BASE_URL": self.url, "ANTHROPIC_API_KEY": KEY}

    def forget(self) -> None:
        """Count from nothing again."""
        with self.lock:
            self.asked.clear()
            self.refused.clear()
            self.sent = self.most_at_once = 0
            self.reached.clear()

    def summary(self) -> dict[str, Any]:
        """Return the counts as `GET /calls` answers them."""
        with self.lock:
            asked = list(self.asked)
            return {
                "calls": len(asked),
                "most_at_once": self.most_at_once,
                "refused": list(self.refused),
                "by_model": Counter(each.model for each in asked),
                "by_tool": Counter(each.tool.get("name", "") for each in asked),
            }

    def take(self, body: dict[str, Any], headers: dict[str, str]) -> Reply:
        """Note a request and return its reply."""
        with self.lock:
            asked = Asked(body, headers, len(self.asked))
            self.asked.append(asked)
            problem = problem_of(body)
            if problem:
                self.refused.append(problem)
                return error(400, problem)
            answer = self.answers.pop(0) if self.answers else self.answer
        self.reached.set()
        made = answer(asked) if callable(answer) else answer
        reply = made if isinstance(made, Reply) else Reply(input=made)
        value = reply.input.model_dump(mode="json") if isinstance(reply.input, BaseModel) else reply.input
        return written(replace(reply, input=value), asked)

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count a request as under way."""
        with self.lock:
            self.under_way += 1
            self.most_at_once = max(self.most_at_once, self.under_way)
        try:
            yield
        finally:
            with self.lock:
                self.under_way -= 1


def problem_of(body: dict[str, Any]) -> str:
    """Return why the real API would refuse this, as it says it; empty when it would not."""
    if unknown := body.keys() - FIELDS:
        return f"{min(unknown)}: Extra inputs are not permitted"
    if {"model", "max_tokens", "messages"} - body.keys() or not body["messages"]:
        return "model, max_tokens, messages: Field required"
    return problem_of_choice(body) or problem_of_messages(body["messages"])


def problem_of_choice(body: dict[str, Any]) -> str:
    """Return what the model takes of tools, thinking and sampling no more."""
    is_forced = (body.get("tool_choice") or {}).get("type") in {"tool", "any"}
    thinking = (body.get("thinking") or {}).get("type", "")
    if body["model"].startswith(TAKES_NO_FORCED_TOOL):
        if is_forced:
            return 'tool_choice: type "tool" and "any" are not supported for this model.'
        if thinking in {"disabled", "enabled"}:
            return f'"thinking.type.{thinking}" is not supported for this model.'
    if is_forced and thinking in {"enabled", "adaptive"}:
        return "Thinking may not be enabled when tool_choice forces tool use."
    return ""


def problem_of_messages(messages: list[dict[str, Any]]) -> str:
    """Return what is wrong with the turns: each tool_use is answered at once, and by its id."""
    waiting: set[str] = set()
    for message in messages:
        blocks = message["content"] if isinstance(message["content"], list) else []
        answered = {block["tool_use_id"] for block in blocks if block["type"] == "tool_result"}
        if answered != waiting:
            return "messages: `tool_use` ids were found without `tool_result` blocks immediately after"
        calls = [block for block in blocks if block["type"] == "tool_use"]
        if not all(isinstance(block["input"], dict) and isinstance(block["id"], str) for block in calls):
            return "messages: tool_use.input: Input should be a valid dictionary"
        waiting = {block["id"] for block in calls}
        if len(waiting) < len(calls):
            return "messages: `tool_use` ids must be unique"
    if waiting or messages[-1]["role"] != "user":
        return "messages: the conversation must end with a user message"
    return ""


def text_of(content: Any) -> str:
    """Return the text of a string or of blocks."""
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


def written(reply: Reply, asked: Asked) -> Reply:
    """Return a reply with its body, made of its blocks when it has none."""
    if reply.body is not None or reply.fill or reply.hints or reply.sent_share < 0:
        return reply
    blocks = list(reply.blocks or ())
    if reply.input is not None:
        name = asked.tool.get("name", "")
        blocks.append({"type": "tool_use", "id": f"toolu_{asked.number:06}", "name": name, "input": reply.input})
    message = {
        "id": f"msg_{asked.number:06}",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": blocks,
        "stop_reason": reply.stop_reason,
        "stop_sequence": None,
        "usage": reply.usage or estimated_usage(asked, blocks),
    }
    return replace(reply, body=json.dumps(message).encode())


def estimated_usage(asked: Asked, blocks: list[dict[str, Any]]) -> dict[str, int]:
    """Return four bytes a token, nothing cached."""
    return {
        "input_tokens": len(json.dumps(asked.body)) // 4,
        "output_tokens": max(1, len(json.dumps(blocks)) // 4),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }


@contextmanager
def serve(port: int = 0) -> Iterator[MessagesApi]:
    """Run a server until the block ends; port 0 takes a free one."""
    api = MessagesApi()
    server = Server(("127.0.0.1", port), handler_of(api))
    api.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield api
    finally:
        if api.gate:
            api.gate.set()
        server.shutdown()
        server.server_close()
        thread.join()


class Server(ThreadingHTTPServer):
    """Takes many callers at once, and is silent about those who lost patience."""

    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing when the caller is gone, everything else loudly."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


def handler_of(api: MessagesApi) -> type[BaseHTTPRequestHandler]:
    """Return the request handler of one server."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            with api.lock:
                api.connections += 1

        def do_GET(self) -> None:
            self.send(200, json.dumps(api.summary()).encode(), {})

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.path.split("?")[0] != "/v1/messages":
                reply = error(404, "Not found")
                self.send(reply.status, reply.body or b"", {})
                return
            headers = {name.lower(): value for name, value in self.headers.items()}
            with api.counted():
                reply = api.take(json.loads(content), headers)
                if api.gate:
                    api.gate.wait(60)
                time.sleep(api.seconds + (0 if reply.is_dripped else reply.seconds))
                self.send_reply(reply)

        def send_reply(self, reply: Reply) -> None:
            if reply.sent_share < 0:
                self.hang_up()
            elif reply.fill:
                self.send_pieces(reply)
            elif reply.hints:
                self.hint(reply)
            elif reply.is_dripped:
                self.drip(reply)
            else:
                body = reply.body or b""
                self.send(reply.status, body, reply.headers, upto=int(len(body) * reply.sent_share))

        def send(self, status: int, body: bytes, headers: Mapping[str, str], upto: int | None = None) -> None:
            self.begin(status, len(body), headers)
            part = body if upto is None else body[:upto]
            self.wfile.write(part)
            self.count(len(part))
            if len(part) < len(body):
                self.wfile.flush()
                self.hang_up()

        def begin(self, status: int, length: int, headers: Mapping[str, str]) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(length))
            self.send_header("request-id", f"req_{len(api.asked):06}")
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()

        def send_pieces(self, reply: Reply) -> None:
            head = (
                b'{"id":"msg_1","type":"message","role":"assistant","model":"m","stop_reason":"tool_use",'
                b'"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1},"content":[{"type":"text","text":"'
            )
            tail = b'"}]}'
            self.begin(reply.status, len(head) + reply.fill + len(tail), reply.headers)
            self.wfile.write(head)
            for start in range(0, reply.fill, CHUNK):
                size = min(CHUNK, reply.fill - start)
                self.wfile.write(b"x" * size)
                self.count(size)
            self.wfile.write(tail)

        def hint(self, reply: Reply) -> None:
            for _n in range(reply.hints):
                self.wfile.write(b"HTTP/1.1 103 Early Hints\r\n\r\n")
                time.sleep(0.01)
            self.hang_up()

        def drip(self, reply: Reply) -> None:
            body = reply.body or b""
            self.begin(reply.status, len(body), reply.headers)
            for byte in body:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                self.count(1)
                time.sleep(reply.seconds / len(body))

        def count(self, size: int) -> None:
            with api.lock:
                api.sent += size

        def hang_up(self) -> None:
            self.close_connection = True
            with suppress(OSError):
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.shutdown(socket.SHUT_RDWR)

        def log_message(self, *args: Any) -> None:
            pass

    return Handler


def read_calls(url: str) -> dict[str, Any]:
    """Return the counts of a server, from any process."""
    with urlopen(f"{url}/calls", timeout=10) as answer:
        counts: dict[str, Any] = json.load(answer)
        return counts


def main() -> None:
    """Run a server in a process of its own until it is ended."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--answer", default="", help="module:function of what was asked, or JSON for every call")
    parser.add_argument("--seconds", type=float, default=0.0)
    options = parser.parse_args()
    with serve(options.port) as api:
        api.seconds = options.seconds
        if options.answer.startswith("{"):
            api.answer = json.loads(options.answer)
        elif options.answer:
            module, name = options.answer.split(":")
            api.answer = getattr(importlib.import_module(module), name)
        print(api.url, flush=True)
        with suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
