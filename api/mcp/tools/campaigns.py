"""Tools of campaigns (programs)."""

from api.mcp.tools.row import Tool, ToolKind

# What has a screen of its own with its preview, and would be a tenth of what a model reads of all tools.
_OF_SCREENS = ("applicationForm", "landingPageConfig")

TOOLS = (
    Tool("list_programs", "programs.list_programs", ToolKind.Read, "List campaigns (programs), newest first."),
    Tool("get_program", "programs.get_program", ToolKind.Read, "Show one campaign with its terms."),
    Tool(
        "get_program_stats",
        "program_numbers.list_program_stats",
        ToolKind.Read,
        "30-day clicks, leads, sales and money owed per campaign.",
    ),
    Tool(
        "create_program",
        "programs.create_program",
        ToolKind.Write,
        "Create a campaign. Ask the user for its name and commission first.",
        hides=_OF_SCREENS,
    ),
    Tool(
        "update_program",
        "programs.change_program",
        ToolKind.Careful,
        "Change what you send of a campaign. Asks before it changes terms, budget or isActive.",
        hides=_OF_SCREENS,
    ),
    Tool(
        "archive_program",
        "programs.archive_program",
        ToolKind.Destructive,
        "Archive a campaign: nobody earns from it any more.",
    ),
    Tool(
        "get_tracking_status",
        "program_numbers.get_tracking_status",
        ToolKind.Read,
        "Is tracking installed and seen? Last click, last conversion.",
    ),
    Tool(
        "list_recent_events",
        "program_numbers.list_recent_events",
        ToolKind.Read,
        "Latest clicks and conversions of a campaign: watch a test purchase arrive.",
    ),
    Tool(
        "get_budget_status",
        "program_numbers.get_budget_status",
        ToolKind.Read,
        "Budget, spent and left for click and lead rewards.",
    ),
    Tool(
        "get_sub_affiliate_config",
        "sub_affiliate_config.get_sub_affiliate_config",
        ToolKind.Read,
        "Is recruiting of affiliates by affiliates on, and at which percent.",
    ),
    Tool(
        "set_sub_affiliate_config",
        "sub_affiliate_config.put_sub_affiliate_config",
        ToolKind.Careful,
        "Turn recruiting on or off and set its percent.",
    ),
)
