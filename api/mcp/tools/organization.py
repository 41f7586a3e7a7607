"""Tools of the brand itself: its profile, its settings and its audit log."""

from api.mcp.tools.definition import Tool, ToolKind

TOOLS = (
    Tool(
        "get_audit_log",
        "audit_log.list_audit_log",
        ToolKind.Read,
        "List the changes in the brand with their time, newest first.",
        hides=("format", "actorUserId", "ip"),
    ),
    Tool(
        "get_home_currency",
        "home_currency.get_home_currency",
        ToolKind.Read,
        "Show the currency of totals.",
    ),
    Tool(
        "set_home_currency",
        "home_currency.put_home_currency",
        ToolKind.Destructive,
        "Change the home currency of all reports and fees.",
        always_confirmed=True,
    ),
    Tool(
        "get_organization",
        "organization.get_organization",
        ToolKind.Read,
        "Show name, branding and payout settings of the brand.",
    ),
    Tool(
        "get_billing_state",
        "billing.get_billing_state",
        ToolKind.Read,
        "Show plan, trial and limits; read it after plan_tier_required.",
    ),
    Tool(
        "get_install_snippet",
        "install_snippet.get_install_snippet",
        ToolKind.Read,
        "Show the HTML tag for the brand's pages.",
    ),
    Tool(
        "get_attribution_params",
        "attribution_params.get_attribution_params",
        ToolKind.Read,
        "Show which query parameters of a link name an affiliate.",
    ),
    Tool(
        "set_attribution_params",
        "attribution_params.change_attribution_params",
        ToolKind.Destructive,
        "Replace the custom attribution parameters; links with removed ones stop counting.",
    ),
)
