"""Tools of conversions: sales, leads and paid clicks, and the brand's decisions about them."""

from api.mcp.tools.definition import Tool, ToolKind

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
        "Record a sale or a bonus by hand: this creates an amount to pay.",
        always_confirmed=True,
    ),
    Tool(
        "validate_conversion",
        "conversion_actions.validate_conversion",
        ToolKind.Careful,
        "Release a quarantined conversion, so that it can be paid again.",
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
        "Dry run: show what an import of past sales would add, skip and make payable.",
    ),
    Tool(
        "import_conversions",
        "conversion_import.import_conversions",
        ToolKind.Destructive,
        "Import past sales; confirmUnpaidPayout makes money payable. Preview first.",
        always_confirmed=True,
    ),
    Tool(
        "list_uncredited_sales",
        "uncredited.list_uncredited_conversions",
        ToolKind.Read,
        "List sales whose affiliate could not earn at that time.",
    ),
    Tool(
        "get_uncredited_summary",
        "uncredited.summarize_uncredited_conversions",
        ToolKind.Read,
        "Count the open uncredited sales by currency.",
    ),
    Tool(
        "dismiss_uncredited_sale",
        "uncredited.dismiss_uncredited_conversion",
        ToolKind.Write,
        "Mark an uncredited sale as reviewed.",
        is_idempotent=True,
    ),
    Tool(
        "record_lead",
        "leads.record_lead",
        ToolKind.Write,
        "Record the signup of a person whom an affiliate referred.",
        only=("affiliateSlug", "email", "name", "campaignId"),
        renamed={"campaignId": "programId"},
        needs_signature=True,
    ),
)
