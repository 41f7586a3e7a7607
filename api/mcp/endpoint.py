"""POST /mcp: the Model Context Protocol, for agents that work for a brand. Stateless; decision 35 says why it is here.

Each message is a request of its own. Connecting and looking at the tools is on every plan; a tool is the operation that
it asks, with that operation's plan, scope and limit. What asks no operation counts in the standard bucket itself.
Source: Model Context Protocol, revision 2026-07-28 and the three with a handshake; core spec, section 1.
"""

from collections.abc import Mapping
from typing import Any

import orjson
from flask import Blueprint, Response, current_app, request

from api.access import guards
from api.access.guards import KIB, Guard
from api.edge import body, errors
from api.edge.operations import object_of, operation
from api.mcp import choice, eras, messages, methods, places
from api.mcp.asking.asker import ToolAsker
from api.mcp.messages import RpcError, RpcMessage
from api.mcp.requests import McpRequest
from api.mcp.tools import catalogue
from schemas.mcp import McpAnswer, McpMessage, McpQuery

blueprint = Blueprint("mcp", __name__)

_GUARD = Guard(audience="integration", counts_itself=True, max_body_bytes=5 * 1024 * KIB, closed_cors=True)


@blueprint.post("/mcp")
@operation(
    _GUARD,
    object_of(McpAnswer()),
    takes=McpMessage(),
    asks=McpQuery(),
    refuses=("403 insufficient_scope",),
    gives_at=(400, 404),
    empty_at=(202,),
)
def send_mcp_message() -> Response:
    """Take one message of an agent's client. 200 with the answer to a request, 202 for a notification."""
    places.check()
    raw = request.get_data(cache=True)
    sent = body.parse(raw)
    try:
        message = messages.read(sent, raw)
    except RpcError as error:
        guards.count_request("standard")
        return _json(error.status, messages.failure(messages.sent_id(sent), error))
    return _answer(message)


def _answer(message: RpcMessage) -> Response:
    asker = ToolAsker()
    answer = _answered(message, asker)
    if asker.count == 0:
        guards.count_request("standard")
    return answer


def _answered(message: RpcMessage, asker: ToolAsker) -> Response:
    try:
        client = eras.client_of(message, request.headers)
        asker.client = client.name
        if message.id is None:
            return errors.empty_response(202)
        found = methods.answer(_request(message, client, asker))
    except RpcError as error:
        return _json(error.status, messages.failure(message.id, error))
    return _json(200, messages.result(message.id, eras.finished(found, message.method, client)))


def _request(message: RpcMessage, client: eras.McpClient, asker: ToolAsker) -> McpRequest:
    return McpRequest(
        method=message.method,
        params=message.params,
        client=client,
        choice=choice.of(body.query(), guards.caller()),
        tools=catalogue.of(current_app._get_current_object()),  # type: ignore[attr-defined]  # it is kept by it
        asker=asker,
    )


def _json(status: int, found: Mapping[str, Any]) -> Response:
    return Response(orjson.dumps(found), status=status, content_type="application/json")
