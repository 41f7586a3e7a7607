"""Tools of fraud review."""

from api.mcp.tools.row import Tool, ToolKind

TOOLS = (
    Tool(
        "list_fraud_events",
        "fraud_events.list_fraud_events",
        ToolKind.Read,
        "Clicks and leads that fraud rules kept out, and why.",
    ),
    Tool(
        "review_fraud_event",
        "fraud_events.close_fraud_event",
        ToolKind.Write,
        "Mark a fraud event as resolved or dismissed.",
    ),
    Tool(
        "ban_affiliate",
        "fraud_events.ban_affiliate",
        ToolKind.Destructive,
        "Ban an affiliate: nothing of theirs earns from now on.",
    ),
    Tool(
        "get_fraud_summary",
        "fraud_events.get_fraud_summary",
        ToolKind.Read,
        "What fraud rules kept out of a campaign in so many days.",
    ),
)
