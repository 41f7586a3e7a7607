"""A call that the model wants: one that looks is made at once, as the person; one that writes is made ready.

Whatever the model sent, what comes back is a result for it to read, or a preview for the person.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from api.access import guards
from api.copilot import toolbox
from api.mcp.asking import arguments, asker, results
from api.mcp.asking.asker import ToolAnswer, ToolAsker
from api.mcp.calling import previews
from api.mcp.tools.binding import CONFIRM_TOKEN, BoundTool
from api.mcp.tools.row import ToolKind
from domain.refused import Refused
from pipelines.copilot.tool_calls import CallOutcome


def outcomes(calls: list[Mapping[str, Any]]) -> list[CallOutcome]:
    """Return what comes of the calls of a reply, in their order. Raises Refused (401) for somebody who is gone."""
    door, tools = toolbox.door(), toolbox.every()
    return [_outcome(call, tools, door) for call in calls]


def _outcome(call: Mapping[str, Any], tools: Mapping[str, BoundTool], door: ToolAsker) -> CallOutcome:
    try:
        return _made(call, tools, door)
    except previews.NothingToShow as nothing:
        return CallOutcome(call, result=_told(call, nothing.answer))
    except Refused as refusal:
        if refusal.status == 401:
            raise
        said = refusal if refusal.code else Refused(refusal.status, "forbidden", "This person may not do it.")
        return CallOutcome(call, result=_told(call, asker.refused(said)))


def _made(call: Mapping[str, Any], tools: Mapping[str, BoundTool], door: ToolAsker) -> CallOutcome:
    bound = tools.get(call["tool"])
    if bound is None:
        raise Refused(404, "unknown_tool", f"There is no tool {call['tool']}.")
    if bound.tool.signed:
        raise Refused(403, "forbidden", f"The tool {bound.tool.name} is not open to people.")
    if call["arguments"] is None:
        raise Refused(400, "invalid_request", "The arguments are not one JSON object of bounded length.")
    sent = without_token(call["arguments"])
    placed = arguments.placed(bound, sent)
    if bound.tool.kind is ToolKind.Read:
        answer = door.ask(bound, placed)
        fitting = results.fitting(bound, placed, answer, lambda fewer: door.ask(bound, fewer))
        return CallOutcome(call, result=_told(call, fitting))
    guards.check_standing(bound.operation.guard)
    reader = previews.PreviewReader(tools, door)
    about = previews.named(bound.path, sent, reader)
    previews.check_body(bound, placed)
    return CallOutcome({**call, "arguments": sent}, preview=previews.of(bound, sent, about, reader))


def without_token(sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments without a confirmation, which no model can give."""
    return {name: value for name, value in sent.items() if name != CONFIRM_TOKEN}


def _told(call: Mapping[str, Any], answer: ToolAnswer) -> str:
    """Return a result as the model reads it: data of a tool that it named, as JSON."""
    told = {"tool": call["tool"], "isError": answer.is_refusal, "data": results.without_nulls(answer.data)}
    if call.get("left_out"):
        told["note"] = f"{call['left_out']} more calls of this reply were left out; make fewer at once."
    return orjson.dumps(told).decode().replace("\\u0000", "")
