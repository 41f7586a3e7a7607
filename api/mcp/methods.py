"""The methods of the protocol and their results."""

from collections.abc import Callable, Mapping
from typing import Any

from api.mcp import prompts, resources
from api.mcp.messages import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError, text_member
from api.mcp.protocol_versions import HANDSHAKE_VERSIONS, SERVER_INFO, SUPPORTED_VERSIONS
from api.mcp.requests import McpRequest
from api.mcp.tool_calls import run
from api.mcp.tools import listing

_CAPABILITIES: Mapping[str, Any] = {"tools": {}, "resources": {}, "prompts": {}}
_INSTRUCTIONS = """\
Finderfee runs affiliate programs: affiliates bring clicks, leads and sales; commissions are priced, held and paid out.
Amounts are whole minor units of the currency next to them (cents for USD). Times are UTC, ids are UUIDs.
Lists come in pages of 20: pass nextCursor as cursor. truncated means that the result was cut; request less at a time.
Calls that end, spend or email something show a preview first. Show it to the user, and confirm only what they agree to.
plan_tier_required means that the brand's plan does not include it: get_billing_state names the plan. No tool moves \
money: a person confirms payouts in the dashboard.
The resource finderfee://guide explains money, statuses and plans on one page."""


def call_method(request: McpRequest) -> Mapping[str, Any]:
    """Return the result of a method. Raises RpcError, and Refused as `run.run` does."""
    method = _SHARED.get(request.method) or (_MODERN if request.client.is_modern else _OLD).get(request.method)
    if method is None:
        raise RpcError(METHOD_NOT_FOUND, f"Method not method: {request.method[:100]}", status=404)
    return method(request)


def _discover(_: McpRequest) -> Mapping[str, Any]:
    return {"supportedVersions": list(SUPPORTED_VERSIONS), "capabilities": _CAPABILITIES, "instructions": _INSTRUCTIONS}


def _initialize(request: McpRequest) -> Mapping[str, Any]:
    requested = text_member(request.params, "protocolVersion")
    return {
        "protocolVersion": requested if requested in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[0],
        "capabilities": _CAPABILITIES,
        "serverInfo": SERVER_INFO,
        "instructions": _INSTRUCTIONS,
    }


def _ping(_: McpRequest) -> Mapping[str, Any]:
    return {}


def _list_tools(request: McpRequest) -> Mapping[str, Any]:
    _check_first_page(request)
    return {"tools": listing.list_tools(bound for bound in request.tools.values() if request.choice.includes(bound))}


def _list_prompts(request: McpRequest) -> Mapping[str, Any]:
    _check_first_page(request)
    return {"prompts": prompts.list_prompts()}


def _list_resources(request: McpRequest) -> Mapping[str, Any]:
    _check_first_page(request)
    return {"resources": resources.list_resources()}


def _list_templates(request: McpRequest) -> Mapping[str, Any]:
    _check_first_page(request)
    return {"resourceTemplates": resources.list_templates()}


def _check_first_page(request: McpRequest) -> None:
    if "cursor" in request.params:
        raise RpcError(INVALID_PARAMS, "This list has only one page. Call it without a cursor.", status=200)


_Method = Callable[[McpRequest], Mapping[str, Any]]
_SHARED: Mapping[str, _Method] = {
    "tools/list": _list_tools,
    "tools/call": run.run_tool,
    "resources/list": _list_resources,
    "resources/templates/list": _list_templates,
    "resources/read": resources.read_resource,
    "prompts/list": _list_prompts,
    "prompts/get": prompts.render_prompt,
}
_MODERN: Mapping[str, _Method] = {"server/discover": _discover}
_OLD: Mapping[str, _Method] = {"initialize": _initialize, "ping": _ping}
