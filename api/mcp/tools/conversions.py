"""Tools of conversions: sales, leads and paid clicks, and what the brand decides about them."""

from api.mcp.tools.row import Tool, ToolKind

TOOLS = (
    Tool(
        "list_conversions",
        "conversions.list_conversions",
        ToolKind.Read,
        "List sales, leads and paid clicks, newest first; filter before you page.",
    ),
    Tool(
        "get_conversion",
        "conversions.get_conversion",
        ToolKind.Read,
        "Show one conversion with its renewals and refunds.",
    ),
    Tool(
        "create_conversion",
        "manual_conversions.create_conversion",
        ToolKind.Destructive,
        "Record a sale or a bonus by hand: this creates money to be paid.",
        always_asked=True,
    ),
    Tool(
        "validate_conversion",
        "conversion_actions.validate_conversion",
        ToolKind.Careful,
        "Release a quarantined conversion: it can be paid again.",
    ),
    Tool(
        "invalidate_conversion",
        "conversion_actions.invalidate_conversion",
        ToolKind.Destructive,
        "Quarantine a conversion: it will not be paid.",
    ),
    Tool(
        "preview_conversion_import",
        "conversion_import.preview_conversion_import",
        ToolKind.Read,
        "Dry run: what an import of past sales would add, skip and make payable.",
    ),
    Tool(
        "import_conversions",
        "conversion_import.import_conversions",
        ToolKind.Destructive,
        "Import past sales; confirmUnpaidPayout makes money payable. Preview first.",
        always_asked=True,
    ),
    Tool(
        "list_uncredited_sales",
        "uncredited.list_uncredited_conversions",
        ToolKind.Read,
        "Sales whose affiliate could not earn at that time.",
    ),
    Tool(
        "get_uncredited_summary",
        "uncredited.summarize_uncredited_conversions",
        ToolKind.Read,
        "How many uncredited sales are open, by currency.",
    ),
    Tool(
        "dismiss_uncredited_sale",
        "uncredited.dismiss_uncredited_conversion",
        ToolKind.Write,
        "Mark an uncredited sale as reviewed.",
        repeats=True,
    ),
    Tool(
        "record_lead",
        "leads.record_lead",
        ToolKind.Write,
        "Record the signup of somebody whom an affiliate referred.",
        only=("affiliateSlug", "email", "name", "campaignId"),
        renamed={"campaignId": "programId"},
        signed=True,
    ),
)
