"""What a model's endpoint answered, in the common shape of chat completions. Any bytes give a reply or NotAReply.

Nothing of it is believed: a wish may name a tool that there is not, with arguments that are none. The ids that the
model gives its calls are not kept, so that doubled or forged ones mean nothing.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: Calls of one reply that are looked at; of the others the model is told that they were left out.
MOST_WISHES = 8
_LONGEST_TEXT = 12_000
_LONGEST_NAME = 64
_LONGEST_ARGUMENTS = 32_000
_DEEPEST_ARGUMENTS = 12
_LARGEST = 2**63
_MOST_TOKENS = 10_000_000
# Control characters but for tab and newline, what turns the direction of writing, and halves of characters.
_UNSPOKEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")


class NotAReply(Exception):
    """The answer is no chat completion. The message says what is wrong, without its own words."""


@dataclass(frozen=True, slots=True)
class ToolWish:
    """A call that the model wants made. `arguments` is None where what it sent is no JSON object."""

    tool: str
    arguments: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What the model said and wants; `left_out` wishes were too many. `tokens` as its endpoint counts, if it does."""

    text: str
    wishes: Sequence[ToolWish]
    left_out: int
    tokens: int | None


def read(answer: bytes) -> ModelReply:
    """Return the reply in the body of an answer. Raises NotAReply."""
    try:
        said = _parsed(answer)
    except (ValueError, RecursionError):  # no JSON, no UTF-8, or nested more deeply than anybody means
        raise NotAReply("it is not JSON") from None
    message = _message(said)
    calls = message.get("tool_calls")
    calls = calls if isinstance(calls, list) else []
    reply = ModelReply(
        text=plain(_text(message.get("content"))),
        wishes=[_wish(call) for call in calls[:MOST_WISHES]],
        left_out=max(len(calls) - MOST_WISHES, 0),
        tokens=_tokens(said),
    )
    if not reply.text and not reply.wishes:
        raise NotAReply("it says nothing")
    return reply


def plain(text: str) -> str:
    """Return a text without what cannot be read, and not too long to be."""
    found = _UNSPOKEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip()
    return found if len(found) <= _LONGEST_TEXT else f"{found[:_LONGEST_TEXT]}…"


def _message(said: Any) -> Mapping[str, Any]:
    choices = said.get("choices") if isinstance(said, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(message, dict):
        raise NotAReply("it has no message")
    return message


def _text(content: Any) -> str:
    """Return the text of a message; some endpoints give it in parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _wish(call: Any) -> ToolWish:
    function = call.get("function") if isinstance(call, dict) else None
    function = function if isinstance(function, dict) else {}
    name = function.get("name")
    return ToolWish(
        plain(name)[:_LONGEST_NAME] if isinstance(name, str) else "", _arguments(function.get("arguments", {}))
    )


def _arguments(sent: Any) -> Mapping[str, Any] | None:
    """Return the arguments of a call: the common shape has them as a text, some endpoints as an object."""
    try:
        found = _parsed(sent or "{}") if isinstance(sent, str) else sent
        is_kept = isinstance(found, dict) and _depth(found) <= _DEEPEST_ARGUMENTS
        raw = json.dumps(found, ensure_ascii=False).encode() if is_kept else b""  # halves of characters fail here
    except (ValueError, RecursionError):
        return None
    # No column takes a NUL, and none of our operations means one.
    return found if is_kept and len(raw) <= _LONGEST_ARGUMENTS and b"\\u0000" not in raw else None


def _parsed(sent: str | bytes) -> Any:
    """Return what a JSON text says. Raises ValueError, also for numbers that JSON or a column has not."""
    return json.loads(sent, parse_int=_whole, parse_float=_fraction, parse_constant=_no_number)


def _whole(digits: str) -> int:
    found = int(digits)
    return found if -_LARGEST <= found < _LARGEST else _no_number(digits)


def _fraction(digits: str) -> float:
    found = float(digits)
    return found if math.isfinite(found) else _no_number(digits)


def _no_number(_: str) -> int:
    raise ValueError("a number that cannot be kept")


def _depth(found: Any) -> int:
    if not isinstance(found, dict | list):
        return 0
    return 1 + max((_depth(one) for one in (found.values() if isinstance(found, dict) else found)), default=0)


def _tokens(said: Mapping[str, Any]) -> int | None:
    usage = said.get("usage")
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    return total if type(total) is int and 0 < total <= _MOST_TOKENS else None
