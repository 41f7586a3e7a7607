"""Tools of affiliates: their records, decisions about them, invitations and recruits."""

from api.mcp.tools.definition import Tool, ToolKind

TOOLS = (
    Tool(
        "list_affiliates",
        "affiliates.list_affiliates",
        ToolKind.Read,
        "List affiliates with their links, newest first; filter by campaign, status or text, then page.",
        hides=("skip",),
    ),
    Tool("get_affiliate", "affiliates.get_affiliate", ToolKind.Read, "Show one affiliate, their rate and links."),
    Tool(
        "list_applications",
        "affiliates.list_applications",
        ToolKind.Read,
        "List affiliates who are waiting for a decision.",
    ),
    Tool(
        "get_tax_form",
        "tax_forms.get_tax_form",
        ToolKind.Read,
        "Show whether a tax form is on file, its type and date. Its link is withheld; your access is logged.",
    ),
    Tool(
        "create_affiliate",
        "affiliates.create_affiliate",
        ToolKind.Write,
        "Add a person who has already agreed; for anyone else use invite_affiliate.",
    ),
    Tool(
        "update_affiliate",
        "affiliates.change_affiliate",
        ToolKind.Careful,
        "Change name, tags, notes, rate or status. Needs a confirmation for a rate, Paused, Rejected, Banned.",
    ),
    Tool(
        "approve_affiliate",
        "affiliate_actions.approve_affiliate",
        ToolKind.Write,
        "Approve an applicant: their links start to earn.",
        is_idempotent=True,
    ),
    Tool("reject_affiliate", "affiliate_actions.reject_affiliate", ToolKind.Careful, "Reject an applicant."),
    Tool(
        "bulk_update_affiliates",
        "affiliate_actions.run_bulk_action",
        ToolKind.Destructive,
        "Approve, reject, pause, delete, tag or group up to 200 affiliates.",
    ),
    Tool(
        "import_affiliates",
        "affiliate_import.import_affiliates",
        ToolKind.Destructive,
        "Import affiliates from another service; with notifyAffiliates it emails all of them.",
        sends_email=True,
    ),
    Tool(
        "invite_affiliate",
        "invites.create_invite",
        ToolKind.Careful,
        "Email one invitation to join a campaign.",
        sends_email=True,
    ),
    Tool(
        "bulk_invite_affiliates",
        "invites.create_invites",
        ToolKind.Destructive,
        "Email up to 50 invitations to join a campaign.",
        sends_email=True,
    ),
    Tool(
        "list_sub_affiliates",
        "sub_affiliates.list_sub_affiliates",
        ToolKind.Read,
        "List the affiliates that an affiliate recruited, and what that earned them.",
    ),
)
