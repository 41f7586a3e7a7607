"""What the operations are about: the groups of the description, each of one or more blueprints, in reading order."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Resource:
    """A group of operations: its name in the description, its heading, what it is, and the blueprints it is made of."""

    tag: str
    heading: str
    about: str
    blueprints: tuple[str, ...]


#: The group of the webhooks that the service sends; no blueprint has it.
EVENTS = Resource(
    "events", "Events", "What the service posts to a webhook endpoint: one request per event, signed.", ()
)

ALL: tuple[Resource, ...] = (
    Resource(
        "sales",
        "Sales and refunds",
        "Signed by the brand's own servers; the same sale twice is recorded once.",
        ("tracking",),
    ),
    Resource(
        "leads",
        "Leads",
        "People who are not customers yet: from a server, from a page, from a form.",
        ("leads", "paid_lead", "lead_form"),
    ),
    Resource(
        "clicks",
        "Clicks and links",
        "Visits that a link brought, and what a brand's pages need to tell of them.",
        ("clicks", "short_links", "checkout_door", "store_checkout", "loader", "install_snippet", "install_check"),
    ),
    Resource(
        "programs",
        "Programs",
        "A brand's campaigns: their terms, groups, tiers and numbers, and what their affiliates advertise with.",
        (
            "programs",
            "program_domain",
            "program_numbers",
            "daily_numbers",
            "metrics",
            "partner_groups",
            "performance_tiers",
            "assets",
            "hero_images",
        ),
    ),
    Resource(
        "affiliates",
        "Affiliates",
        "Who advertises, with which links, and at which rate.",
        ("affiliates", "affiliate_actions", "affiliate_links", "affiliate_balance", "tax_forms"),
    ),
    Resource(
        "coupons",
        "Coupons",
        "Codes that buyers redeem for a discount, and that credit the affiliate who owns them.",
        ("campaign_coupons", "affiliate_coupons", "coupon_codes", "own_coupons"),
    ),
    Resource(
        "recruiting",
        "Recruiting",
        "Affiliates who bring affiliates, and what they earn by them.",
        ("sub_affiliate_config", "sub_affiliates"),
    ),
    Resource(
        "imports",
        "Imports",
        "Affiliates and sales of another service.",
        ("affiliate_import", "conversion_import", "imports"),
    ),
    Resource(
        "storefront",
        "Storefront",
        "What anybody may see of a campaign, and how they apply to it.",
        ("storefront", "storefront_lookup", "answers_page"),
    ),
    Resource("invites", "Invites", "Who is asked to join, by mail.", ("invites", "invite_tokens", "invite_page")),
    Resource(
        "conversions",
        "Conversions",
        "What was sold and whom it credits, and what the brand decides about it.",
        (
            "conversions",
            "conversion_actions",
            "conversion_adjustments",
            "conversion_attribution",
            "conversion_export",
            "manual_conversions",
            "uncredited",
        ),
    ),
    Resource(
        "payouts",
        "Payouts",
        "What is due, to whom, and how it is paid.",
        (
            "payouts",
            "payout_runs",
            "made_runs",
            "payout_decisions",
            "payout_drafts",
            "payout_csv",
            "payout_account",
            "rail_events",
        ),
    ),
    Resource(
        "me",
        "An affiliate's own",
        "What affiliates who signed in see of themselves, with every brand that they work for.",
        (
            "own_account",
            "own_balance",
            "own_numbers",
            "own_links",
            "own_conversions",
            "own_payouts",
            "own_assets",
            "own_applications",
            "creator_network",
        ),
    ),
    Resource(
        "embed",
        "Embed",
        "What a brand's own site shows its affiliates, each by a token that the brand's servers make.",
        ("embed_tokens", "embed_own", "embed_history", "embed_page"),
    ),
    Resource(
        "deals",
        "Creator deals",
        "A fixed fee for an affiliate in milestones, held in escrow until each is done.",
        ("deals", "deal_reviews", "creator_deals"),
    ),
    Resource(
        "connections",
        "Connections",
        "Payment gateways that bring a brand's sales, renewals, refunds and disputes by themselves.",
        ("connections", "gateway_events", "gateways_inbound"),
    ),
    Resource(
        "platforms",
        "Platforms",
        "Newsletter and CRM platforms that say who brought a buyer when nothing else does.",
        ("platforms",),
    ),
    Resource("fraud", "Fraud review", "Clicks and leads that the rules blocked or held.", ("fraud_events",)),
    Resource(
        "webhooks",
        "Webhook endpoints",
        "Where the brand is told what happens, and how that went.",
        ("webhooks", "webhook_deliveries"),
    ),
    Resource(
        "automation",
        "Automation",
        "What no-code platforms call: whom they connect to, hooks for their triggers with samples, and searches.",
        ("automation_connection", "automation_hooks", "automation_samples", "automation_search"),
    ),
    Resource(
        "organization",
        "Organization",
        "The brand itself: profile, currency, attribution parameters, plan.",
        ("attribution_params", "tracking_domain", "home_currency", "organization", "billing", "brand_files"),
    ),
    Resource(
        "mcp",
        "Agents",
        "The Model Context Protocol: agents use the operations of this interface as tools.",
        ("mcp", "mcp_metadata"),
    ),
    Resource(
        "copilot",
        "Co-pilot",
        "A model answers people at the dashboard by the agents' tools, and proposes what they confirm.",
        ("copilot", "copilot_acts"),
    ),
    Resource("audit", "Audit log", "Who changed what, and when.", ("audit_log",)),
    Resource("members", "Members", "The people of the brand, and where they are signed in.", ("members",)),
    Resource("keys", "API keys", "The keys of the brand's own servers.", ("keys",)),
    Resource(
        "operator",
        "Operator",
        "What whoever runs this installation sees and does, of every organization.",
        (
            "operator_attention",
            "operator_queues",
            "operator_dead_letters",
            "operator_schedule",
            "operator_ledger",
            "operator_payouts",
            "operator_rates",
            "operator_mail",
            "operator_tenants",
            "operator_programs",
            "operator_network",
            "operator_disputes",
            "operator_connections",
        ),
    ),
    Resource(
        "service", "Service", "The process itself, and its description.", ("front_page", "health", "tls", "description")
    ),
)

_OF_BLUEPRINT = {blueprint: resource for resource in ALL for blueprint in resource.blueprints}


def of(blueprint: str) -> Resource:
    """Return the group of a blueprint; a blueprint in no group is a group by itself."""
    return _OF_BLUEPRINT.get(blueprint) or Resource(
        blueprint, blueprint.replace("_", " ").capitalize(), "", (blueprint,)
    )
