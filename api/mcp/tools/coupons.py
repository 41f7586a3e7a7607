"""Tools of coupons: a campaign's discounts, and the codes of affiliates."""

from api.mcp.tools.definition import Tool, ToolKind

TOOLS = (
    Tool(
        "create_campaign_coupon",
        "campaign_coupons.create_campaign_coupon",
        ToolKind.Careful,
        "Create a discount of a campaign. Its terms can never change.",
    ),
    Tool(
        "list_campaign_coupons",
        "campaign_coupons.list_campaign_coupons",
        ToolKind.Read,
        "List the discounts of a campaign.",
    ),
    Tool("get_campaign_coupon", "campaign_coupons.get_campaign_coupon", ToolKind.Read, "Show one discount."),
    Tool(
        "list_coupon_affiliates",
        "campaign_coupons.list_coupon_affiliates",
        ToolKind.Read,
        "List the affiliates who may create codes of a discount, and how many they have.",
    ),
    Tool(
        "update_campaign_coupon",
        "campaign_coupons.change_campaign_coupon",
        ToolKind.Careful,
        "Change the name of a discount or who may create its codes. Needs a confirmation if affiliates lose theirs.",
        hides=(
            "discountType",
            "discountValue",
            "discountCurrency",
            "duration",
            "durationInMonths",
            "maxRedemptionsPerCode",
            "expiresAt",
            "productRefs",
            "commissionType",
            "commissionValue",
        ),
    ),
    Tool(
        "archive_campaign_coupon",
        "campaign_coupons.archive_campaign_coupon",
        ToolKind.Destructive,
        "End a discount and all its codes.",
        is_idempotent=True,
    ),
    Tool(
        "delete_campaign_coupon",
        "campaign_coupons.delete_campaign_coupon",
        ToolKind.Destructive,
        "Delete a discount that never had codes.",
    ),
    Tool(
        "create_affiliate_coupon",
        "affiliate_coupons.create_affiliate_coupon",
        ToolKind.Write,
        "Give an affiliate a discount code.",
    ),
    Tool(
        "list_affiliate_coupons",
        "affiliate_coupons.list_affiliate_coupons",
        ToolKind.Read,
        "List the codes of one affiliate with their redemptions.",
    ),
    Tool(
        "revoke_affiliate_coupon",
        "affiliate_coupons.revoke_affiliate_coupon",
        ToolKind.Destructive,
        "End one code of an affiliate.",
    ),
)
