"""Tools of payouts. None of them moves money: a person who logged in does that."""

from api.mcp.tools.row import Tool, ToolKind

TOOLS = (
    Tool(
        "list_payouts",
        "payouts.list_payouts",
        ToolKind.Read,
        "List payouts, newest first, without their lines unless lineItems is true.",
        preset={"lineItems": False},
    ),
    Tool("get_payout", "payouts.get_payout", ToolKind.Read, "Show one payout and what it pays for."),
    Tool(
        "get_funding_status",
        "payouts.get_funding_status",
        ToolKind.Read,
        "May the brand pay out now, and if not, why.",
    ),
    Tool(
        "preview_payout",
        "payout_runs.preview_payouts",
        ToolKind.Read,
        "What a payout run would pay and who is blocked. A person pays, at the dashboard.",
    ),
)
