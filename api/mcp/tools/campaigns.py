"""Tools of campaigns (programs)."""

from api.mcp.tools.definition import Tool, ToolKind

# They have pages of their own with a preview, and would be a tenth of the text of all tools.
_CONFIGURED_ON_PAGES = ("applicationForm", "landingPageConfig")

TOOLS = (
    Tool("list_programs", "programs.list_programs", ToolKind.Read, "List campaigns (programs), newest first."),
    Tool("get_program", "programs.get_program", ToolKind.Read, "Show one campaign with its terms."),
    Tool(
        "get_program_stats",
        "program_numbers.list_program_stats",
        ToolKind.Read,
        "Show 30-day clicks, leads, sales and money owed per campaign.",
    ),
    Tool(
        "create_program",
        "programs.create_program",
        ToolKind.Write,
        "Create a campaign. Ask the user for its name and commission first.",
        hides=_CONFIGURED_ON_PAGES,
    ),
    Tool(
        "update_program",
        "programs.change_program",
        ToolKind.Careful,
        "Change the fields that you send. Needs a confirmation to change terms, budget or isActive.",
        hides=_CONFIGURED_ON_PAGES,
    ),
    Tool(
        "archive_program",
        "programs.archive_program",
        ToolKind.Destructive,
        "Archive a campaign: it earns no affiliate anything from then on.",
    ),
    Tool(
        "get_tracking_status",
        "program_numbers.get_tracking_status",
        ToolKind.Read,
        "Show whether tracking is installed and working: last click, last conversion.",
    ),
    Tool(
        "list_recent_events",
        "program_numbers.list_recent_events",
        ToolKind.Read,
        "List the latest clicks and conversions of a campaign: watch a test purchase arrive.",
    ),
    Tool(
        "get_budget_status",
        "program_numbers.get_budget_status",
        ToolKind.Read,
        "Show the budget for click and lead rewards: total, spent and left.",
    ),
    Tool(
        "get_sub_affiliate_config",
        "sub_affiliate_config.get_sub_affiliate_config",
        ToolKind.Read,
        "Show whether affiliates can recruit affiliates, and at which percent.",
    ),
    Tool(
        "set_sub_affiliate_config",
        "sub_affiliate_config.put_sub_affiliate_config",
        ToolKind.Careful,
        "Switch recruiting on or off and set its percent.",
    ),
)
