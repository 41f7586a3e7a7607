"""The methods of the protocol, each with what it answers."""

from collections.abc import Callable, Mapping
from typing import Any

from api.mcp import prompts, reading
from api.mcp.calling import run
from api.mcp.eras import HANDSHAKES, SERVER_INFO, SUPPORTED
from api.mcp.messages import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError, a_text
from api.mcp.requests import McpRequest
from api.mcp.tools import listing

_CAPABILITIES: Mapping[str, Any] = {"tools": {}, "resources": {}, "prompts": {}}
_INSTRUCTIONS = """\
Finderfee runs affiliate programs: affiliates bring clicks, leads and sales; commissions are priced, held and paid out.
Amounts are whole minor units of the currency beside them (cents for USD). Times are UTC, ids are UUIDs.
Lists come in pages of 20: pass nextCursor as cursor. truncated means that something was cut; ask for less at a time.
Calls that end, spend or mail something show a preview first. Show it to the user, and confirm only what they agree to.
plan_tier_required means that the brand's plan lacks it: get_billing_state says which plan it is. Nobody moves money \
here: payouts are confirmed by a person at the dashboard.
The resource finderfee://guide explains money, statuses and plans on one page."""


def answer(request: McpRequest) -> Mapping[str, Any]:
    """Return the result of a method. Raises RpcError, and Refused as `run.run` does."""
    found = _SHARED.get(request.method) or (_MODERN if request.client.is_modern else _OLD).get(request.method)
    if found is None:
        raise RpcError(METHOD_NOT_FOUND, f"Method not found: {request.method[:100]}", status=404)
    return found(request)


def _discover(_: McpRequest) -> Mapping[str, Any]:
    return {"supportedVersions": list(SUPPORTED), "capabilities": _CAPABILITIES, "instructions": _INSTRUCTIONS}


def _initialize(request: McpRequest) -> Mapping[str, Any]:
    wanted = a_text(request.params, "protocolVersion")
    return {
        "protocolVersion": wanted if wanted in HANDSHAKES else HANDSHAKES[0],
        "capabilities": _CAPABILITIES,
        "serverInfo": SERVER_INFO,
        "instructions": _INSTRUCTIONS,
    }


def _ping(_: McpRequest) -> Mapping[str, Any]:
    return {}


def _list_tools(request: McpRequest) -> Mapping[str, Any]:
    _check_first_page(request)
    return {"tools": listing.shown(bound for bound in request.tools.values() if request.choice.has(bound))}


def _list_prompts(request: McpRequest) -> Mapping[str, Any]:
    _check_first_page(request)
    return {"prompts": prompts.listed()}


def _list_resources(request: McpRequest) -> Mapping[str, Any]:
    _check_first_page(request)
    return {"resources": reading.listed()}


def _list_templates(request: McpRequest) -> Mapping[str, Any]:
    _check_first_page(request)
    return {"resourceTemplates": reading.templates()}


def _check_first_page(request: McpRequest) -> None:
    if "cursor" in request.params:
        raise RpcError(INVALID_PARAMS, "This list has one page and gave out no cursor.", status=200)


_Method = Callable[[McpRequest], Mapping[str, Any]]
_SHARED: Mapping[str, _Method] = {
    "tools/list": _list_tools,
    "tools/call": run.run,
    "resources/list": _list_resources,
    "resources/templates/list": _list_templates,
    "resources/read": reading.read,
    "prompts/list": _list_prompts,
    "prompts/get": prompts.get,
}
_MODERN: Mapping[str, _Method] = {"server/discover": _discover}
_OLD: Mapping[str, _Method] = {"initialize": _initialize, "ping": _ping}
