"""Parses the response of a model's endpoint, a chat completion. Any bytes give a reply or NotAReply.

Nothing in it is trusted: a call may name an unknown tool, with invalid arguments. The ids that the model gives its
calls are dropped, so that duplicate or forged ones have no effect.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: Calls of one reply that are handled; a result reports to the model that the others were left out.
MAX_CALLS = 8
_MAX_TEXT_CHARS = 12_000
_MAX_NAME_CHARS = 64
_MAX_ARGUMENT_BYTES = 32_000
_MAX_ARGUMENT_DEPTH = 12
_INTEGER_LIMIT = 2**63
_MAX_TOKENS = 10_000_000
# Control characters except tab and newline, marks of text direction, and surrogates.
_UNREADABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")


class NotAReply(Exception):
    """The response is not a chat completion. The message says why, without quoting it."""


@dataclass(frozen=True, slots=True)
class RequestedCall:
    """A tool call that the model requests. `arguments` is None where they are not a valid JSON object."""

    tool: str
    arguments: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The model's text and tool calls; `left_out` counts those over the limit. `tokens` as its endpoint counts them."""

    text: str
    calls: Sequence[RequestedCall]
    left_out: int
    tokens: int | None


def read(body: bytes) -> ModelReply:
    """Return the reply in the body of a response. Raises NotAReply."""
    try:
        completion = _parse_json(body)
    except (ValueError, RecursionError):  # not JSON, not UTF-8, or nested too deeply
        raise NotAReply("it is not JSON") from None
    message = _message(completion)
    calls = message.get("tool_calls")
    calls = calls if isinstance(calls, list) else []
    reply = ModelReply(
        text=clean_text(_text(message.get("content"))),
        calls=[_requested_call(call) for call in calls[:MAX_CALLS]],
        left_out=max(len(calls) - MAX_CALLS, 0),
        tokens=_tokens(completion),
    )
    if not reply.text and not reply.calls:
        raise NotAReply("it has neither text nor calls")
    return reply


def clean_text(text: str) -> str:
    """Return a text without unreadable characters, cut to the maximum length."""
    cleaned = _UNREADABLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip()
    return cleaned if len(cleaned) <= _MAX_TEXT_CHARS else f"{cleaned[:_MAX_TEXT_CHARS]}…"


def _message(completion: Any) -> Mapping[str, Any]:
    choices = completion.get("choices") if isinstance(completion, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(message, dict):
        raise NotAReply("it has no message")
    return message


def _text(content: Any) -> str:
    """Return the text of a message; some endpoints send it in parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _requested_call(call: Any) -> RequestedCall:
    function = call.get("function") if isinstance(call, dict) else None
    function = function if isinstance(function, dict) else {}
    name = function.get("name")
    return RequestedCall(
        clean_text(name)[:_MAX_NAME_CHARS] if isinstance(name, str) else "", _arguments(function.get("arguments", {}))
    )


def _arguments(value: Any) -> Mapping[str, Any] | None:
    """Return the arguments of a call, None if invalid: commonly they are a text, at some endpoints an object."""
    try:
        arguments = _parse_json(value or "{}") if isinstance(value, str) else value
        is_valid = isinstance(arguments, dict) and _depth(arguments) <= _MAX_ARGUMENT_DEPTH
        raw = json.dumps(arguments, ensure_ascii=False).encode() if is_valid else b""  # surrogates fail here
    except (ValueError, RecursionError):
        return None
    # No column can store a NUL.
    return arguments if is_valid and len(raw) <= _MAX_ARGUMENT_BYTES and b"\\u0000" not in raw else None


def _parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text. Raises ValueError, also for numbers that JSON or a column cannot represent."""
    return json.loads(text, parse_int=_parse_integer, parse_float=_parse_float, parse_constant=_reject_number)


def _parse_integer(digits: str) -> int:
    value = int(digits)
    return value if -_INTEGER_LIMIT <= value < _INTEGER_LIMIT else _reject_number(digits)


def _parse_float(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _reject_number(digits)


def _reject_number(_: str) -> int:
    raise ValueError("a number that cannot be stored")


def _depth(value: Any) -> int:
    if not isinstance(value, dict | list):
        return 0
    return 1 + max((_depth(item) for item in (value.values() if isinstance(value, dict) else value)), default=0)


def _tokens(completion: Mapping[str, Any]) -> int | None:
    usage = completion.get("usage")
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    return total if type(total) is int and 0 < total <= _MAX_TOKENS else None
