"""Tools of fraud review."""

from api.mcp.tools.definition import Tool, ToolKind

TOOLS = (
    Tool(
        "list_fraud_events",
        "fraud_events.list_fraud_events",
        ToolKind.Read,
        "List clicks and leads that fraud rules rejected or held back, with the reason.",
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
        "Ban an affiliate: they earn nothing from now on.",
    ),
    Tool(
        "get_fraud_summary",
        "fraud_events.get_fraud_summary",
        ToolKind.Read,
        "Summarize what fraud rules kept out of a campaign in the last days.",
    ),
)
