"""All tools in order, by toolset."""

import functools
from collections.abc import Mapping

from flask import Flask

from api.mcp.tools import affiliates, binding, campaigns, conversions, coupons, fraud, organization, payouts
from api.mcp.tools.binding import BoundTool
from api.mcp.tools.definition import Tool

#: A client that needs only some tools names their toolsets in its address.
TOOLSETS: Mapping[str, tuple[Tool, ...]] = {
    "campaigns": campaigns.TOOLS,
    "affiliates": affiliates.TOOLS,
    "conversions": conversions.TOOLS,
    "fraud": fraud.TOOLS,
    "payouts": payouts.TOOLS,
    "coupons": coupons.TOOLS,
    "settings": organization.TOOLS,
}


@functools.cache
def bound_tools(app: Flask) -> Mapping[str, BoundTool]:
    """Return the tools of an application by name. Raises KeyError if a tool names an unknown operation."""
    pairs = [(tool, toolset) for toolset, tools in TOOLSETS.items() for tool in tools]
    return {tool.name: binding.bind(app, tool, toolset) for tool, toolset in pairs}
