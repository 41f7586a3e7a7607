"""Who may use the co-pilot, and which tools its model is told of: those of the person who asks."""

from collections.abc import Mapping

import orjson
from flask import current_app

import settings
from adapters import copilot
from api.access import guards
from api.access.guards import Guard
from api.mcp.asking.asker import ToolAsker
from api.mcp.tools import catalogue, listing
from api.mcp.tools.binding import CONFIRM_TOKEN, BoundTool
from domain.copilot import prompts
from domain.organization import plans
from domain.organization.access import Role
from domain.refused import Refused, not_found
from pipelines.copilot.questions import CopilotUser

# Whoever may read may ask; what the model then does is looked at by the operations that it asks.
READS = Guard(audience="dashboard", plan=plans.Tier.Growth, plan_for_people=True)
ASKS = Guard(
    audience="dashboard",
    scope="read_write",
    role=Role.Viewer,
    plan=plans.Tier.Growth,
    plan_for_people=True,
)
_LONGEST_CLIENT = 100


def is_on() -> bool:
    """Say whether the operator has a model."""
    return copilot.is_configured()


def check_is_on() -> None:
    """Refuse (404) where the operator has no model."""
    if not is_on():
        raise not_found("co-pilot")


def every() -> Mapping[str, BoundTool]:
    """Return all tools there are, by name."""
    return catalogue.of(current_app._get_current_object())  # type: ignore[attr-defined]  # it is kept by it


def of_caller() -> Mapping[str, BoundTool]:
    """Return the tools whose operations would let the caller in."""
    return {name: bound for name, bound in every().items() if _is_open(bound)}


def asker() -> CopilotUser:
    """Return who asks, with their tools as the model is told of them."""
    caller = guards.caller()
    told = [
        prompts.tool(one["name"], one["description"], _without_token(one["inputSchema"]))
        for one in listing.shown(of_caller().values())
    ]
    return CopilotUser(caller.organization_id, caller.member_id, caller.role, orjson.dumps(told).decode())


def of_person() -> CopilotUser:
    """Return who asks, where the model is told nothing new."""
    caller = guards.caller()
    return CopilotUser(caller.organization_id, caller.member_id, caller.role, "[]")


def door() -> ToolAsker:
    """Return what asks the operations behind the tools, as the caller; the audit log says so, and names the model."""
    return ToolAsker("copilot", (settings.current().copilot.model or "")[:_LONGEST_CLIENT] or None)


def _is_open(bound: BoundTool) -> bool:
    if bound.tool.signed:  # with a key's secret, which a person has not
        return False
    try:
        guards.check_standing(bound.operation.guard)
    except Refused:
        return False
    return True


def _without_token(schema: Mapping[str, object]) -> Mapping[str, object]:
    """Return the arguments of a tool without the one that confirms it: only the person does that."""
    properties = schema["properties"]
    assert isinstance(properties, dict)
    return {**schema, "properties": {name: one for name, one in properties.items() if name != CONFIRM_TOKEN}}
