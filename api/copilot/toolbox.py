"""Access to the co-pilot, and the tools of its model: those that the person may use."""

from collections.abc import Mapping

import orjson
from flask import current_app

import settings
from adapters import copilot
from api.access import guards
from api.access.guards import Guard
from api.mcp.operation_calls.client import OperationClient
from api.mcp.tools import catalogue, listing
from api.mcp.tools.binding import CONFIRM_TOKEN, BoundTool
from domain.copilot import prompts
from domain.organization import plans
from domain.organization.access import Role
from domain.refusals import Refused, not_found
from pipelines.copilot.questions import CopilotUser

# Every reader may ask questions; the operations that the model calls check their own guards.
READS = Guard(audience="dashboard", plan=plans.Tier.Growth, plan_for_people=True)
ASKS = Guard(
    audience="dashboard",
    scope="read_write",
    role=Role.Viewer,
    plan=plans.Tier.Growth,
    plan_for_people=True,
)
_MAX_CLIENT_LENGTH = 100


def is_on() -> bool:
    """Return whether the operator has configured a model."""
    return copilot.is_configured()


def check_is_on() -> None:
    """Raise Refused (404) if the operator has not configured a model."""
    if not is_on():
        raise not_found("co-pilot")


def list_tools() -> Mapping[str, BoundTool]:
    """Return all tools by name."""
    return catalogue.bound_tools(current_app._get_current_object())  # type: ignore[attr-defined]  # the cache's key


def list_permitted_tools() -> Mapping[str, BoundTool]:
    """Return the tools whose operations the caller may use."""
    return {name: bound for name, bound in list_tools().items() if _is_permitted(bound)}


def asker_with_tools() -> CopilotUser:
    """Return the member who asks, with the descriptions of their tools for the model."""
    caller = guards.caller()
    tools = [
        prompts.tool(tool["name"], tool["description"], _without_token(tool["inputSchema"]))
        for tool in listing.list_tools(list_permitted_tools().values())
    ]
    return CopilotUser(caller.organization_id, caller.member_id, caller.role, orjson.dumps(tools).decode())


def asker_without_tools() -> CopilotUser:
    """Return the member who asks, without tools, for steps that send the model nothing new."""
    caller = guards.caller()
    return CopilotUser(caller.organization_id, caller.member_id, caller.role, "[]")


def operation_caller() -> OperationClient:
    """Return the client that calls the tools' operations as the caller; the audit log shows it, with the model."""
    return OperationClient("copilot", (settings.current().copilot.model or "")[:_MAX_CLIENT_LENGTH] or None)


def _is_permitted(bound: BoundTool) -> bool:
    if bound.tool.needs_signature:  # with a key's secret, which a person does not have
        return False
    try:
        guards.check_permissions(bound.operation.guard)
    except Refused:
        return False
    return True


def _without_token(schema: Mapping[str, object]) -> Mapping[str, object]:
    """Return the arguments of a tool without the confirmation, which only the person can give."""
    properties = schema["properties"]
    assert isinstance(properties, dict)
    return {
        **schema,
        "properties": {
            name: schema_of_property for name, schema_of_property in properties.items() if name != CONFIRM_TOKEN
        },
    }
