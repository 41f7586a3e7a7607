"""Guides of shops for digital goods."""

from adapters.gateways.guides.guide import Guide, GuideStep, Permission

_GUMROAD = Guide(
    title="Create an access token in Gumroad",
    key_url="https://gumroad.com/settings/advanced",
    steps=(
        GuideStep("Open Settings, Advanced, and create an application. Any redirect address will do."),
        GuideStep("Generate an access token of it and copy the token.", ("accessToken",)),
    ),
    permissions=(
        Permission("view_sales", "reads sales and refunds, creates webhooks", ("/sales", "/resource_subscriptions")),
        Permission("edit_products", "creates the codes of your affiliates", ("/products",)),
        Permission("view_profile (always included)", "identifies your account", ("/user",)),
    ),
    writes=("webhooks", "offer codes that you or your affiliates create here"),
    outcome="We create the webhooks for you. New sales, renewals and refunds come in automatically.",
    test_mode="Gumroad has no test mode. Test purchases of your own products are ignored.",
)
_LEMON_SQUEEZY = Guide(
    title="Create an API key in Lemon Squeezy",
    key_url="https://app.lemonsqueezy.com/settings/api",
    steps=(
        GuideStep("Open Settings, API, and create an API key. It is valid for one year.", ("apiKey",)),
        GuideStep("Open Settings, Stores, and copy the number behind the #.", ("storeId",)),
    ),
    writes=("one webhook", "discounts that you or your affiliates create here"),
    outcome="We create the webhook for you. New orders, renewals and refunds come in automatically.",
    test_mode="Switch to test mode in Lemon Squeezy and create the key there.",
)
_THRIVECART = Guide(
    title="Create an API token in ThriveCart",
    key_url="https://thrivecart.com/signin/",
    steps=(
        GuideStep("Open Settings, API & webhooks, and create an API token.", ("apiKey",)),
        GuideStep("On the same page copy the secret word of ThriveCart order validation.", ("secretWord",)),
    ),
    writes=("one webhook subscription",),
    outcome="We subscribe to your orders; if ThriveCart does not allow it, the next page shows the address to add."
    " Create coupon codes in ThriveCart yourself.",
    test_mode="Use the same token; test orders of ThriveCart are counted as tests.",
)
GUIDES = {"gumroad": _GUMROAD, "lemonsqueezy": _LEMON_SQUEEZY, "thrivecart": _THRIVECART}
