"""The groups of operations in the API description, each of one or more blueprints, in reading order."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Resource:
    """A group of operations: its name in the description, its heading, its summary and its blueprints."""

    tag: str
    heading: str
    about: str
    blueprints: tuple[str, ...]


#: The group of the webhooks that the service sends; it has no blueprint.
EVENTS = Resource(
    "events", "Events", "Events that the service posts to a webhook endpoint, one signed request each.", ()
)

ALL: tuple[Resource, ...] = (
    Resource(
        "sales",
        "Sales and refunds",
        "Signed requests of the brand's own servers; a repeated sale is recorded once.",
        ("tracking",),
    ),
    Resource(
        "leads",
        "Leads",
        "People who are not customers yet, from a server, a page or a form.",
        ("leads", "paid_lead", "lead_form"),
    ),
    Resource(
        "clicks",
        "Clicks and links",
        "Visits through affiliate links, and the script and snippet for a brand's pages that report them.",
        ("clicks", "short_links", "checkout_door", "store_checkout", "loader", "install_snippet", "install_check"),
    ),
    Resource(
        "programs",
        "Programs",
        "A brand's campaigns: their terms, groups, tiers and numbers, and the assets for their affiliates.",
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
        "The affiliates of a brand, their links and their rates.",
        (
            *("affiliates", "affiliate_actions", "affiliate_export", "affiliate_links", "affiliate_balance"),
            *("affiliate_timeline", "tax_forms"),
        ),
    ),
    Resource(
        "coupons",
        "Coupons",
        "Discount codes for buyers that credit the affiliate who owns them.",
        ("campaign_coupons", "affiliate_coupons", "coupon_codes", "own_coupons"),
    ),
    Resource(
        "recruiting",
        "Recruiting",
        "Affiliates who recruit affiliates, and their earnings from that.",
        ("sub_affiliate_config", "sub_affiliates"),
    ),
    Resource(
        "imports",
        "Imports",
        "Import of affiliates and sales from another service.",
        ("affiliate_import", "conversion_import", "imports"),
    ),
    Resource(
        "switches",
        "Switches",
        "Leaving another affiliate system: its affiliates, links, codes, customers and commissions, after a preview.",
        (
            *("switch_sources", "switches", "switch_reading", "switch_files", "switch_preview", "switch_run"),
            "switch_undo",
        ),
    ),
    Resource(
        "storefront",
        "Storefront",
        "The public page of a campaign, and applications to it.",
        ("storefront", "storefront_lookup", "answers_page"),
    ),
    Resource("invites", "Invites", "Invitations to affiliates, by email.", ("invites", "invite_tokens", "invite_page")),
    Resource(
        "conversions",
        "Conversions",
        "Sales and other conversions, the affiliates they credit, and the brand's decisions about them.",
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
    Resource("search", "Search", "Search over affiliates, conversions, payouts and coupon codes.", ("search",)),
    Resource(
        "payouts",
        "Payouts",
        "Amounts due to affiliates, and their payment.",
        (
            "payouts",
            "payout_export",
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
        "The data of the affiliate who signed in, with every brand that they work for.",
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
        "Affiliate data on a brand's own site, by a token per affiliate that the brand's servers create.",
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
        "Payment gateways that report a brand's sales, renewals, refunds and disputes automatically.",
        ("connections", "gateway_events", "gateways_inbound"),
    ),
    Resource(
        "platforms",
        "Platforms",
        "Newsletter and CRM platforms that identify the affiliate of a buyer when nothing else does.",
        ("platforms",),
    ),
    Resource("fraud", "Fraud review", "Clicks and leads that the fraud rules blocked or held.", ("fraud_events",)),
    Resource(
        "webhooks",
        "Webhook endpoints",
        "URLs that receive the brand's events, and the deliveries to them.",
        ("webhooks", "webhook_deliveries"),
    ),
    Resource(
        "automation",
        "Automation",
        "For no-code platforms: the connection, hooks and samples for triggers, and searches.",
        ("automation_connection", "automation_hooks", "automation_samples", "automation_search"),
    ),
    Resource(
        "organization",
        "Organization",
        "The brand itself: profile, currency, attribution parameters, plan.",
        (
            "attribution_params",
            "tracking_domain",
            "home_currency",
            "organization",
            "onboarding",
            "billing",
            "brand_files",
        ),
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
        "A model answers dashboard users with the agents' tools, and proposes changes that they confirm.",
        ("copilot", "copilot_acts"),
    ),
    Resource("audit", "Audit log", "A record of all changes: who changed what, and when.", ("audit_log",)),
    Resource(
        "notifications",
        "Notifications",
        "What the people of the brand are notified of, and what each of them has read and switched off.",
        ("notifications", "notification_preferences", "unsubscribe_page"),
    ),
    Resource(
        "members",
        "Members",
        "The people of the brand: their roles, invitations, sessions and second factors.",
        ("members", "team", "own_organizations", "second_factor"),
    ),
    Resource("keys", "API keys", "API keys for the brand's own servers.", ("keys",)),
    Resource(
        "operator",
        "Operator",
        "For the operator of this installation: data and actions of all organizations.",
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
        "service",
        "Service",
        "The process itself, and its description.",
        ("front_page", "health", "tls", "description", "docs"),
    ),
)

_OF_BLUEPRINT = {blueprint: resource for resource in ALL for blueprint in resource.blueprints}


def find_resource(blueprint: str) -> Resource:
    """Return the group of a blueprint; a blueprint in no group is a group by itself."""
    return _OF_BLUEPRINT.get(blueprint) or Resource(
        blueprint, blueprint.replace("_", " ").capitalize(), "", (blueprint,)
    )
