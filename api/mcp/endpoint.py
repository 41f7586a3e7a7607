"""POST /mcp: the Model Context Protocol, for agents that work for a brand. Stateless; decision 35 gives the reasons.

Each message is a request of its own. Connecting and listing the tools is on every plan; a tool call is a call of its
operation, with that operation's plan, scope and limit. A message that calls no operation counts in the standard bucket.
Source: Model Context Protocol, revision 2026-07-28 and the three with a handshake; core spec, section 1.
"""

import functools
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import orjson
from flask import Blueprint, Response, current_app, request

import settings
from api.access import guards
from api.access.guards import KIB, Guard
from api.edge import body, errors
from api.edge.operations import object_of, operation
from api.mcp import messages, methods, protocol_versions, tool_choice
from api.mcp.messages import RpcError, RpcMessage
from api.mcp.operation_calls.client import OperationClient
from api.mcp.requests import McpRequest
from api.mcp.tools import catalogue
from domain import urls
from domain.refusals import Refused
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
    """Process one message of an agent's client. 200 with the answer to a request, 202 for a notification."""
    _check_origin()
    raw = request.get_data(cache=True)
    parsed = body.parse(raw)
    try:
        message = messages.parse_message(parsed, raw)
    except RpcError as error:
        guards.count_request("standard")
        return _json(error.status, messages.error_response(messages.find_id(parsed), error))
    return _respond(message)


def _respond(message: RpcMessage) -> Response:
    operations = OperationClient()
    answer = _call_method(message, operations)
    if operations.count == 0:
        guards.count_request("standard")
    return answer


def _call_method(message: RpcMessage, operations: OperationClient) -> Response:
    try:
        client = protocol_versions.client_from_message(message, request.headers)
        operations.client = client.name
        if message.id is None:
            return errors.empty_response(202)
        result = methods.call_method(_request(message, client, operations))
    except RpcError as error:
        return _json(error.status, messages.error_response(message.id, error))
    return _json(
        200, messages.result_response(message.id, protocol_versions.add_common_fields(result, message.method, client))
    )


def _request(message: RpcMessage, client: protocol_versions.McpClient, operations: OperationClient) -> McpRequest:
    return McpRequest(
        method=message.method,
        params=message.params,
        client=client,
        choice=tool_choice.choice_from_query(body.query(), guards.caller()),
        tools=catalogue.bound_tools(current_app._get_current_object()),  # type: ignore[attr-defined]  # the tools are cached by it
        operations=operations,
    )


def _json(status: int, result: Mapping[str, Any]) -> Response:
    return Response(orjson.dumps(result), status=status, content_type="application/json")


def _check_origin() -> None:
    """Refuse a request with a foreign Host or Origin (403).

    A page whose host name suddenly resolves to this machine (DNS rebinding) sends a Host that is not this service's.
    Source: Model Context Protocol, "Streamable HTTP", Security.
    """
    origin = request.headers.get("Origin")
    if not _is_own(f"//{request.host}") or (origin is not None and not _is_own(origin)):
        raise Refused(
            403, "forbidden", "Call this address by its own host name, and not from a page of another origin."
        )


def _is_own(address: str) -> bool:
    config = settings.current()
    return _is_own_host(address, config.web.url, is_embedded=config.servers.database_url is None)


@functools.lru_cache(maxsize=64)  # agents name one of a few hosts
def _is_own_host(address: str, url: str, *, is_embedded: bool) -> bool:
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        return False
    public = urlsplit(url).hostname or ""
    is_local = urls.is_loopback(public) or is_embedded
    return bool(host) and (host == public or (is_local and urls.is_loopback(host)))
