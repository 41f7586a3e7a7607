"""The result of a tool call for a model: complete where it fits, else cut and marked as truncated."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import orjson

from api.mcp.operation_calls.arguments import PlacedArguments, halve_rows
from api.mcp.operation_calls.client import ToolAnswer
from api.mcp.tools.binding import BoundTool

#: The largest result, as JSON.
MAX_BYTES = 24 * 1024

# The types of parsed JSON that contain other values.
_HOLDERS = frozenset({dict, list})


def serialize_result(answer: ToolAnswer) -> dict[str, Any]:
    """Return the result of a call, for a program (structuredContent) and for a model (its text)."""
    encoded = orjson.dumps(remove_nulls(answer.data))
    text = {"type": "text", "text": encoded.decode()}
    return {"content": [text], "structuredContent": orjson.Fragment(encoded), "isError": answer.is_refusal}


def fit_to_limit(
    bound: BoundTool, placed: PlacedArguments, answer: ToolAnswer, call: Callable[[PlacedArguments], ToolAnswer]
) -> ToolAnswer:
    """Return an answer that is not too long: a list is requested again with half as many rows, other data is cut."""
    is_cut = False
    while _is_too_long(answer):
        fewer = halve_rows(bound, placed)
        if fewer is None:
            return ToolAnswer(False, _cut_lists(answer.data))
        placed, is_cut, answer = fewer, True, call(fewer)
    return ToolAnswer(False, {**answer.data, "truncated": True}) if is_cut and not answer.is_refusal else answer


def remove_nulls(data: Any) -> Any:
    """Return data without the fields that are null."""
    # Most values are words and numbers: these are not worth a call each.
    if isinstance(data, dict):
        return {
            name: remove_nulls(value) if type(value) in _HOLDERS else value
            for name, value in data.items()
            if value is not None
        }
    if isinstance(data, list):
        return [remove_nulls(value) if type(value) in _HOLDERS else value for value in data]
    return data


def _is_too_long(answer: ToolAnswer) -> bool:
    # An answer that is short with its nulls is short without them.
    return not answer.is_refusal and answer.bytes > MAX_BYTES and _json_size(answer.data) > MAX_BYTES


def _json_size(data: Mapping[str, Any]) -> int:
    return len(orjson.dumps(remove_nulls(data)))


def _cut_lists(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an answer whose longest lists are cut by halves until it fits."""
    cut: dict[str, Any] = orjson.loads(orjson.dumps(remove_nulls(data)))
    cut["truncated"] = True
    while _json_size(cut) > MAX_BYTES:
        longest = max(_lists(cut), key=len, default=[])
        if len(longest) < 2:
            return cut
        del longest[len(longest) // 2 :]
    return cut


def _lists(data: Any) -> Iterator[list[Any]]:
    if isinstance(data, list):
        yield data
    for inner in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from _lists(inner)
