"""Tools of affiliates: who they are, decisions about them, invitations and whom they recruited."""

from api.mcp.tools.row import Tool, ToolKind

TOOLS = (
    Tool(
        "list_affiliates",
        "affiliates.list_affiliates",
        ToolKind.Read,
        "List affiliates with their links, newest first; filter by campaign, status or words, then page.",
        hides=("skip",),
    ),
    Tool("get_affiliate", "affiliates.get_affiliate", ToolKind.Read, "Show one affiliate, their rate and links."),
    Tool(
        "list_applications",
        "affiliates.list_applications",
        ToolKind.Read,
        "Affiliates who wait for a decision.",
    ),
    Tool(
        "get_tax_form",
        "tax_forms.get_tax_form",
        ToolKind.Read,
        "Is a tax form on file, its type and date. Its address is withheld, and that you looked is written down.",
    ),
    Tool(
        "create_affiliate",
        "affiliates.create_affiliate",
        ToolKind.Write,
        "Add somebody who has agreed already; for anybody else use invite_affiliate.",
    ),
    Tool(
        "update_affiliate",
        "affiliates.change_affiliate",
        ToolKind.Careful,
        "Change name, tags, notes, rate or status. Asks before it changes a rate or sets Paused, Rejected or Banned.",
    ),
    Tool(
        "approve_affiliate",
        "affiliate_actions.approve_affiliate",
        ToolKind.Write,
        "Approve an applicant: their links start to earn.",
        repeats=True,
    ),
    Tool("reject_affiliate", "affiliate_actions.reject_affiliate", ToolKind.Careful, "Turn an applicant down."),
    Tool(
        "bulk_update_affiliates",
        "affiliate_actions.run_bulk_action",
        ToolKind.Destructive,
        "Approve, pause or delete up to 200 affiliates.",
    ),
    Tool(
        "import_affiliates",
        "affiliate_import.import_affiliates",
        ToolKind.Destructive,
        "Import affiliates of another service; with notifyAffiliates it mails all of them.",
        mails=True,
    ),
    Tool(
        "invite_affiliate",
        "invites.create_invite",
        ToolKind.Careful,
        "Mail one invitation to join a campaign.",
        mails=True,
    ),
    Tool(
        "bulk_invite_affiliates",
        "invites.create_invites",
        ToolKind.Destructive,
        "Mail up to 50 invitations to join a campaign.",
        mails=True,
    ),
    Tool(
        "list_sub_affiliates",
        "sub_affiliates.list_sub_affiliates",
        ToolKind.Read,
        "Whom an affiliate recruited, and what that earned them.",
    ),
)
