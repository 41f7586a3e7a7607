"""Tool calls of the model: read calls run at once, as the person; write calls are prepared for confirmation.

For any call of the model the outcome is a result that it reads, or a preview for the person.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from api.access import guards
from api.copilot import toolbox
from api.mcp.operation_calls import arguments, client, results
from api.mcp.operation_calls.client import OperationClient, ToolAnswer
from api.mcp.tool_calls import previews
from api.mcp.tools.binding import CONFIRM_TOKEN, BoundTool
from api.mcp.tools.definition import ToolKind
from domain.refusals import Refused
from pipelines.copilot.tool_calls import CallOutcome


def run_calls(calls: list[Mapping[str, Any]]) -> list[CallOutcome]:
    """Return the outcomes of the calls of a reply, in their order. Raises Refused (401) if the person has no access."""
    caller, tools = toolbox.operation_caller(), toolbox.list_tools()
    return [_run_call(call, tools, caller) for call in calls]


def _run_call(call: Mapping[str, Any], tools: Mapping[str, BoundTool], caller: OperationClient) -> CallOutcome:
    try:
        return _run_tool(call, tools, caller)
    except previews.PreviewUnavailable as nothing:
        return CallOutcome(call, result=_result_text(call, nothing.answer))
    except Refused as refusal:
        if refusal.status == 401:
            raise
        refusal_shown = (
            refusal if refusal.code else Refused(refusal.status, "forbidden", "This person is not allowed to do this.")
        )
        return CallOutcome(call, result=_result_text(call, client.answer_from_refusal(refusal_shown)))


def _run_tool(call: Mapping[str, Any], tools: Mapping[str, BoundTool], caller: OperationClient) -> CallOutcome:
    bound = tools.get(call["tool"])
    if bound is None:
        raise Refused(404, "unknown_tool", f"There is no tool {call['tool']}.")
    if bound.tool.needs_signature:
        raise Refused(403, "forbidden", f"People cannot use the tool {bound.tool.name}.")
    if call["arguments"] is None:
        raise Refused(400, "invalid_request", "The arguments are not one JSON object of bounded length.")
    arguments_sent = drop_confirmation(call["arguments"])
    request = arguments.place_arguments(bound, arguments_sent)
    if bound.tool.kind is ToolKind.Read:
        answer = caller.call(bound, request)
        fitting = results.fit_to_limit(bound, request, answer, lambda fewer: caller.call(bound, fewer))
        return CallOutcome(call, result=_result_text(call, fitting))
    guards.check_permissions(bound.operation.guard)
    reader = previews.PreviewReader(tools, caller)
    subject = previews.read_by_ids(bound.path, arguments_sent, reader)
    previews.check_body(bound, request)
    return CallOutcome(
        {**call, "arguments": arguments_sent}, preview=previews.build_preview(bound, arguments_sent, subject, reader)
    )


def drop_confirmation(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments without the confirmation, which a model cannot give."""
    return {name: value for name, value in arguments.items() if name != CONFIRM_TOKEN}


def _result_text(call: Mapping[str, Any], answer: ToolAnswer) -> str:
    """Return a tool's result as JSON for the model."""
    payload = {"tool": call["tool"], "isError": answer.is_refusal, "data": results.remove_nulls(answer.data)}
    if call.get("left_out"):
        payload["note"] = f"{call['left_out']} more calls of this reply were left out; make fewer at once."
    return orjson.dumps(payload).decode().replace("\\u0000", "")
