"""Guides of shops."""

from adapters.gateways.guides.guide import Guide, GuideStep, Permission

_SHOPIFY = Guide(
    title="Create an app for your store in Shopify",
    key_url="https://dev.shopify.com/dashboard",
    steps=(
        GuideStep("Open the Dev Dashboard and create an app, or choose the one that you have."),
        GuideStep("Create a version of the app with the scopes below, release it, and install it on your store."),
        GuideStep("Enter your store's domain, which ends with .myshopify.com.", ("shopDomain",)),
        GuideStep("Open the app's Settings and copy its client ID.", ("clientId",)),
        GuideStep("Copy its client secret.", ("clientSecret",)),
        GuideStep(
            "Leave the access token empty. Enter one only for an older app that has a permanent one.", ("accessToken",)
        ),
    ),
    permissions=(
        Permission("read_orders", "reads orders and refunds", ("/admin",)),
        Permission("read_all_orders", "reads orders older than 60 days (optional)"),
        Permission("write_discounts", "creates the codes of your affiliates"),
        Permission("read_shopify_payments_disputes", "reads disputes (optional)"),
        Permission("write_pixels", "creates the web pixel that counts visits"),
        Permission("read_pixels", "checks the web pixel"),
        Permission("read_customer_events", "lets the web pixel run at the checkout"),
    ),
    writes=("webhooks", "one web pixel (not in test mode)", "discount codes that you or your affiliates create here"),
    outcome="We create the webhooks and the web pixel for you. New orders, refunds and disputes come in automatically.",
    test_mode="Use a development store.",
)
_BIGCOMMERCE = Guide(
    title="Create a store-level API account in BigCommerce",
    key_url="https://login.bigcommerce.com/",
    steps=(
        GuideStep("Open Settings, Store-level API accounts, and create a V2/V3 API token with the scopes below."),
        GuideStep("Take the store hash from the API path: the part behind stores/.", ("storeHash",)),
        GuideStep("Save, and copy the access token. It is shown once.", ("accessToken",)),
        GuideStep("Copy the client ID and the client secret.", ("clientId", "clientSecret")),
    ),
    permissions=(
        Permission("Orders: read-only", "reads orders and refunds, creates webhooks", ("/orders", "/hooks")),
        Permission("Order transactions: read-only", "reads how an order was paid", ("/orders",)),
        Permission("Information & settings: read-only", "identifies your store", ("/store",)),
        Permission("Carts: read-only", "reads the affiliate that the tag stored in a cart", ("/carts",)),
        Permission("Marketing: modify", "creates the codes of your affiliates", ("/promotions",)),
    ),
    writes=("webhooks", "promotions with codes that you or your affiliates create here"),
    outcome="We create the webhooks for you. New orders, changes and refunds come in automatically.",
    test_mode="Use a sandbox store.",
)
_WIX = Guide(
    title="Create an app for your site in Wix",
    key_url="https://dev.wix.com/apps",
    steps=(
        GuideStep("Create an app with the permissions below, and install it on your site."),
        GuideStep(
            "Open OAuth in the app's dashboard, and copy the app ID and the app secret key.", ("appId", "appSecret")
        ),
        GuideStep("Copy the instance ID of the app on your site.", ("instanceId",)),
        GuideStep("Open Webhooks and copy the public key, with its first and last line.", ("publicKey",)),
    ),
    permissions=(
        Permission("Read Orders", "reads orders and payments", ("/ecom", "/apps", "/oauth2/token")),
        Permission("Manage Coupons", "creates the codes of your affiliates", ("/stores",)),
    ),
    writes=("coupons that you or your affiliates create here",),
    outcome="You add the webhooks yourself; the next page lists them with their address.",
    test_mode="Use a test site.",
)
_WOOCOMMERCE = Guide(
    title="Create an API key in WooCommerce",
    key_url=None,
    steps=(
        GuideStep("Enter the address of your store.", ("storeUrl",)),
        GuideStep("In its WordPress admin open WooCommerce, Settings, Advanced, REST API, Add key."),
        GuideStep("Choose an administrator as the user, and the permission below."),
        GuideStep("Generate the key and copy both parts. They are shown once.", ("consumerKey", "consumerSecret")),
    ),
    permissions=(
        Permission(
            "Read/Write",
            "reads orders, creates the webhooks and the codes of your affiliates",
            ("/orders", "/webhooks", "/coupons", "/data"),
        ),
    ),
    writes=("webhooks", "coupons that you or your affiliates create here"),
    outcome="We create the webhooks for you. New orders, changes and refunds come in automatically.",
    test_mode="Use a staging copy of your store.",
)
GUIDES = {"shopify": _SHOPIFY, "bigcommerce": _BIGCOMMERCE, "wix": _WIX, "woocommerce": _WOOCOMMERCE}
