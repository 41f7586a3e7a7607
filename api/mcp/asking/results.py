"""What a tool's call gives back to a model: short, whole where it fits, and said so where it was cut."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import orjson

from api.mcp.asking.arguments import SentArguments, fewer_rows
from api.mcp.asking.asker import ToolAnswer
from api.mcp.tools.binding import BoundTool

#: How large a result may be, as JSON.
MOST_BYTES = 24 * 1024

# What JSON holds other things in, as it is read.
_HOLDERS = frozenset({dict, list})


def of(answer: ToolAnswer) -> dict[str, Any]:
    """Return the result of a call, for a program (structuredContent) and for a model (its text)."""
    found = orjson.dumps(without_nulls(answer.data))
    text = {"type": "text", "text": found.decode()}
    return {"content": [text], "structuredContent": orjson.Fragment(found), "isError": answer.is_refusal}


def fitting(
    bound: BoundTool, sent: SentArguments, answer: ToolAnswer, ask: Callable[[SentArguments], ToolAnswer]
) -> ToolAnswer:
    """Return an answer that is not too long: a list is asked for again with half as many rows, the rest is cut."""
    found, is_cut = answer, False
    while _is_too_long(found):
        fewer = fewer_rows(bound, sent)
        if fewer is None:
            return ToolAnswer(False, _cut(found.data))
        sent, is_cut, found = fewer, True, ask(fewer)
    return ToolAnswer(False, {**found.data, "truncated": True}) if is_cut and not found.is_refusal else found


def without_nulls(found: Any) -> Any:
    """Return what was found without the fields that say nothing."""
    # Most of what there is are words and numbers: these are not worth a call each.
    if isinstance(found, dict):
        return {
            name: without_nulls(value) if type(value) in _HOLDERS else value
            for name, value in found.items()
            if value is not None
        }
    if isinstance(found, list):
        return [without_nulls(one) if type(one) in _HOLDERS else one for one in found]
    return found


def _is_too_long(answer: ToolAnswer) -> bool:
    # What was short with its nulls is so without them.
    return not answer.is_refusal and answer.bytes > MOST_BYTES and _bytes(answer.data) > MOST_BYTES


def _bytes(found: Mapping[str, Any]) -> int:
    return len(orjson.dumps(without_nulls(found)))


def _cut(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an answer whose longest lists are cut by halves until it fits."""
    kept: dict[str, Any] = orjson.loads(orjson.dumps(without_nulls(found)))
    kept["truncated"] = True
    while _bytes(kept) > MOST_BYTES:
        longest = max(_lists(kept), key=len, default=[])
        if len(longest) < 2:
            return kept
        del longest[len(longest) // 2 :]
    return kept


def _lists(found: Any) -> Iterator[list[Any]]:
    if isinstance(found, list):
        yield found
    for inner in found.values() if isinstance(found, dict) else found if isinstance(found, list) else ():
        yield from _lists(inner)
