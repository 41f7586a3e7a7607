"""Runs a tool: validates the arguments, has a dangerous call confirmed, calls the operation, shortens its answer."""

from collections.abc import Mapping
from typing import Any

from adapters.identity import tokens
from api.access import guards, integrations
from api.mcp.messages import INVALID_PARAMS, RpcError, object_member, text_member
from api.mcp.operation_calls import arguments, client, results
from api.mcp.requests import McpRequest
from api.mcp.tool_calls import confirmations
from api.mcp.tools.binding import BoundTool
from domain.refusals import Refused


def run_tool(request: McpRequest) -> Mapping[str, Any]:
    """Return the result of a call; a refusal is a result as well, so that the model reads it.

    Raises RpcError for an unknown tool, and Refused: 401 when the key was revoked meanwhile, 403 when the user must
    grant the client more than they did.
    """
    name = text_member(request.params, "name")
    args = object_member(request.params, "arguments")
    bound = request.tools.get(name)
    if bound is None:
        raise RpcError(INVALID_PARAMS, f"Unknown tool: {name[:100]}", status=200)
    if request.choice.needs_wider_grant(bound, guards.caller()):
        raise integrations.refuse_missing_scope(tokens.WRITE_SCOPE)
    try:
        return _call_operation(request, bound, args)
    except Refused as refusal:
        if not refusal.code:
            raise
        return results.serialize_result(client.answer_from_refusal(refusal))


def _call_operation(request: McpRequest, bound: BoundTool, args: Mapping[str, Any]) -> Mapping[str, Any]:
    if not request.choice.includes(bound):
        guards.check_scope(bound.operation.guard)
        raise Refused(403, "forbidden", f"The address of this client does not include the tool {bound.tool.name}.")
    placed = arguments.place_arguments(bound, args)
    confirmation = confirmations.confirm(request, bound, args, placed)
    if confirmation.result is not None:
        return confirmation.result
    answer = request.operations.call(bound, placed, idempotency_key=confirmation.idempotency_key)
    return results.serialize_result(
        results.fit_to_limit(bound, placed, answer, lambda fewer: request.operations.call(bound, fewer))
    )
