"""Guides of subscription billing."""

from adapters.gateways.guides.guide import Guide, GuideStep, Permission

_PADDLE = Guide(
    title="Create an API key in Paddle",
    key_url="https://vendors.paddle.com/authentication-v2",
    steps=(
        GuideStep("Open Developer tools, Authentication, and create an API key with the permissions below."),
        GuideStep("Copy the key. It starts with pdl_live_apikey_.", ("apiKey",)),
        GuideStep(
            "Leave the secret key empty. Enter one only if you created the notification destination yourself.",
            ("webhookSecret",),
        ),
    ),
    permissions=(
        Permission("Notification settings: Write", "creates the notification destination", ("/notification-settings",)),
        Permission("Notifications: Read", "lists the events of missed payments and refunds", ("/events",)),
        Permission("Transactions: Read", "reads missed payments"),
        Permission("Adjustments: Read", "reads missed refunds"),
        Permission("Customers: Read", "reads the email and the custom data of a customer", ("/customers",)),
        Permission("Subscriptions: Read", "reads the custom data of a subscription", ("/subscriptions",)),
        Permission("Discounts: Write", "reads codes, and creates those of your affiliates", ("/discounts",)),
    ),
    writes=("one notification destination", "discounts that you or your affiliates create here"),
    outcome="We create the notification destination for you. New payments, renewals and refunds come in automatically.",
    test_mode="Create the key at sandbox-vendors.paddle.com; it starts with pdl_sdbx_apikey_.",
)
_CHARGEBEE = Guide(
    title="Create an API key in Chargebee",
    key_url="https://app.chargebee.com/login",
    steps=(
        GuideStep("Enter the name of your site: acme for acme.chargebee.com.", ("site",)),
        GuideStep(
            "Open Settings, Configure Chargebee, API Keys and Webhooks, and add a key of the type below.", ("apiKey",)
        ),
        GuideStep(
            "Leave the webhook's user and password empty, and we make them. Enter those of a webhook that you have.",
            ("webhookUser", "webhookPassword"),
        ),
    ),
    permissions=(
        Permission(
            "Full access",
            "reads payments, and creates the codes of your affiliates",
            ("/events", "/invoices", "/subscriptions", "/customers", "/coupons", "/item_prices"),
        ),
        Permission("or Read-only: All", "is enough if you create no codes here"),
    ),
    writes=("coupons that you or your affiliates create here",),
    outcome="You add the webhook yourself; the next page shows its address, user and password.",
    test_mode="Use your test site and its own key.",
)
_RECURLY = Guide(
    title="Create a private API key in Recurly",
    key_url="https://app.recurly.com/go/integrations/api_keys",
    steps=(
        GuideStep("Open Integrations, API credentials, and add a private API key.", ("apiKey",)),
        GuideStep(
            "Leave the endpoint's secret empty for now. You get it when you add the webhook.", ("webhookSecret",)
        ),
        GuideStep("Enter eu as the region if your data is in the EU.", ("region",)),
    ),
    writes=("coupons that you or your affiliates create here",),
    outcome="You add the webhook yourself; the next page shows its address. Then enter its secret under Connections.",
    test_mode="Use a sandbox site and its own key.",
)
_MAXIO = Guide(
    title="Create an API key in Maxio Advanced Billing",
    key_url="https://app.chargify.com/login",
    steps=(
        GuideStep("Enter the subdomain of your site: acme for acme.chargify.com.", ("subdomain",)),
        GuideStep("Open Config, Integrations, API keys, and create a key.", ("apiKey",)),
        GuideStep("Open Config, Settings, Shared keys, and copy the site shared key.", ("sharedKey",)),
        GuideStep("Enter eu as the region if your site is in the EU.", ("region",)),
    ),
    writes=("one webhook endpoint", "coupons that you or your affiliates create here"),
    outcome="We create the webhook endpoint and switch webhooks on. New payments and refunds come in automatically.",
    test_mode="Use a test site and its own keys.",
)
GUIDES = {"paddle": _PADDLE, "chargebee": _CHARGEBEE, "recurly": _RECURLY, "maxio": _MAXIO}
