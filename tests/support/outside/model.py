"""A language model's endpoint: a real HTTP server with scripted responses that records its requests."""

import http.server
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from commands.demo.no_delay_handler import NoDelayHandler

#: A status with a body; a dict is sent as JSON.
Scripted = tuple[int, bytes | dict[str, Any]]


def build_reply(text: str, *calls: tuple[str, Any], tokens: Any = 100) -> Scripted:
    """Return a response with a text and tool calls (tool, arguments: an object, or invalid text instead)."""
    return 200, build_completion(
        {
            "role": "assistant",
            "content": text,
            "tool_calls": [_call(number, *call) for number, call in enumerate(calls)],
        },
        tokens,
    )


def build_completion(message: Any, tokens: Any = 100) -> dict[str, Any]:
    """Return the body of a response with a message."""
    return {"choices": [{"index": 0, "message": message}], "usage": {"total_tokens": tokens}}


def _call(number: int, tool: str, arguments: Any) -> dict[str, Any]:
    body = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": f"theirs-{number}", "type": "function", "function": {"name": tool, "arguments": body}}


@dataclass
class ScriptedModel:
    """Records requests (bodies and headers) and responds with `answers`, one per request; the last one repeats."""

    url: str
    answers: list[Scripted | Callable[[Mapping[str, Any]], Scripted]] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def script(self, *answers: Scripted | Callable[[Mapping[str, Any]], Scripted]) -> None:
        """Respond with these answers from now on."""
        self.answers[:] = answers

    def list_tool_results(self) -> list[dict[str, Any]]:
        """Return the tool results in the last request, in order."""
        return [
            json.loads(message["content"]) for message in self.requests[-1]["messages"] if message["role"] == "tool"
        ]

    def answer(self, body: dict[str, Any]) -> Scripted:
        """Record a request and return its response."""
        self.requests.append(body)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return answer(body) if callable(answer) else answer


@contextmanager
def play_model() -> Iterator[ScriptedModel]:
    """Run a scripted model while the block runs."""

    class Handler(NoDelayHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            model.headers.append(dict(self.headers))
            status, reply = model.answer(body)
            raw = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
            with suppress(OSError):  # the client has timed out
                self.send_response(status)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model = ScriptedModel(f"http://127.0.0.1:{server.server_port}/v1")
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
