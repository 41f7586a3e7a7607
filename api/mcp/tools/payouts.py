"""Tools of payouts. None of them moves money: only a person who is logged in can."""

from api.mcp.tools.definition import Tool, ToolKind

TOOLS = (
    Tool(
        "list_payouts",
        "payouts.list_payouts",
        ToolKind.Read,
        "List payouts, newest first, without their lines unless lineItems is true.",
        preset={"lineItems": False},
    ),
    Tool("get_payout", "payouts.get_payout", ToolKind.Read, "Show one payout and its conversions."),
    Tool(
        "get_funding_status",
        "payouts.get_funding_status",
        ToolKind.Read,
        "Show whether the brand can pay out now, and if not, why.",
    ),
    Tool(
        "preview_payout",
        "payout_runs.preview_payouts",
        ToolKind.Read,
        "Show what a payout run would pay and which affiliates are blocked. A person pays, in the dashboard.",
    ),
)
