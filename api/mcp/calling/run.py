"""Runs a tool: looks at the arguments, has a dangerous call confirmed, asks the operation, shortens what it says."""

from collections.abc import Mapping
from typing import Any

from adapters.identity import tokens
from api.access import guards, integrations
from api.mcp.asking import arguments, asker, results
from api.mcp.calling import confirming
from api.mcp.messages import INVALID_PARAMS, RpcError, a_text, an_object
from api.mcp.requests import McpRequest
from api.mcp.tools.binding import BoundTool
from domain.refusals import Refused


def run(request: McpRequest) -> Mapping[str, Any]:
    """Return the result of a call; a refusal is a result as well, so that a model reads it.

    Raises RpcError for a tool that there is not, and Refused: 401 when the key was revoked meanwhile, 403 where a
    person has to be asked for more than their program was let do.
    """
    name = a_text(request.params, "name")
    sent = an_object(request.params, "arguments")
    bound = request.tools.get(name)
    if bound is None:
        raise RpcError(INVALID_PARAMS, f"Unknown tool: {name[:100]}", status=200)
    if request.choice.needs_more_leave(bound, guards.caller()):
        raise integrations.refuse_missing_scope(tokens.WRITE_SCOPE)
    try:
        return _called(request, bound, sent)
    except Refused as refusal:
        if not refusal.code:
            raise
        return results.of(asker.refused(refusal))


def _called(request: McpRequest, bound: BoundTool, sent: Mapping[str, Any]) -> Mapping[str, Any]:
    if not request.choice.has(bound):
        guards.check_scope(bound.operation.guard)
        raise Refused(403, "forbidden", f"The tool {bound.tool.name} is not at this address: it asks for fewer tools.")
    placed = arguments.placed(bound, sent)
    confirmation = confirming.settle(request, bound, sent, placed)
    if confirmation.told is not None:
        return confirmation.told
    answer = request.asker.ask(bound, placed, idempotency_key=confirmation.idempotency_key)
    return results.of(results.fitting(bound, placed, answer, lambda fewer: request.asker.ask(bound, fewer)))
