"""Guides of card and payment services."""

from urllib.parse import urlencode

from adapters.gateways.guides.guide import Guide, GuideStep, Permission

# The names that Stripe's form takes in its address, to be ticked there.
_STRIPE_FORM = (
    "rak_accounts_kyc_basic_read",
    "rak_webhook_write",
    "rak_event_read",
    "rak_invoice_read",
    "rak_charge_read",
    "rak_customer_read",
    "rak_subscription_read",
    "rak_checkout_session_read",
    "rak_coupon_write",
    "rak_promotion_code_write",
)
_STRIPE = Guide(
    title="Create a restricted key in Stripe",
    key_url="https://dashboard.stripe.com/apikeys/create?"
    + urlencode([("name", "Affiliates"), *(("permissions[]", name) for name in _STRIPE_FORM)]),
    steps=(
        GuideStep("Open the form for a restricted key: Developers, API keys, Create restricted key."),
        GuideStep("Check that exactly the permissions below are set, and no others."),
        GuideStep("Create the key and copy it. It starts with rk_live_.", ("apiKey",)),
        GuideStep(
            "Leave the signing secret empty. Enter one only if you created the webhook endpoint yourself.",
            ("webhookSecret",),
        ),
    ),
    permissions=(
        Permission("Connect, Accounts: Read", "identifies your account (optional)", ("/account",)),
        Permission("Webhook Endpoints: Write", "creates the webhook, and deletes it again", ("/webhook_endpoints",)),
        Permission("Events: Read", "finds missed events", ("/events",)),
        Permission("Invoices: Read", "reads payments of subscriptions", ("/invoices",)),
        Permission("Charges and Refunds: Read", "reads refunds and disputes", ("/charges", "/refunds")),
        Permission("Customers: Read", "reads the email and the metadata of a customer", ("/customers",)),
        Permission("Subscriptions: Read", "reads the metadata and the code of a subscription", ("/subscriptions",)),
        Permission("Checkout Sessions: Read", "reads the code of a checkout", ("/checkout/sessions",)),
        Permission("Coupons: Write", "creates the coupons that you add here", ("/coupons",)),
        Permission("Promotion Codes: Write", "creates the codes of your affiliates", ("/promotion_codes",)),
    ),
    writes=("one webhook endpoint", "coupons and promotion codes that you or your affiliates create here"),
    outcome="We create the webhook for you. New payments, renewals, refunds and disputes come in automatically.",
    test_mode="Create the key in a sandbox or in test mode of Stripe; it starts with rk_test_.",
)
_BRAINTREE = Guide(
    title="Find your API keys in Braintree",
    key_url="https://www.braintreegateway.com/login",
    steps=(
        GuideStep("Sign in to the Control Panel and open the gear icon, API, Keys.", ("merchantId",)),
        GuideStep(
            "Generate a new API key, or choose an existing one. It has the rights of its user, whose role needs those"
            " below.",
            ("publicKey",),
        ),
        GuideStep("Choose View next to the key to see its private key.", ("privateKey",)),
    ),
    permissions=(
        Permission(
            "Download Transactions with Masked Payment Data", "finds one-off payments and refunds", ("/transactions",)
        ),
        Permission("View Transactions", "reads a payment that was refunded or disputed"),
        Permission("View Customers", "reads custom fields of a customer", ("/customers",)),
        Permission("View Subscription Plans", "checks the keys", ("/plans",)),
    ),
    outcome="You add the webhook yourself; the next page shows its address. One-off payments and refunds are read every"
    " 15 minutes.",
    test_mode="Use the keys of your sandbox at sandbox.braintreegateway.com.",
)
_MOLLIE = Guide(
    title="Copy your API key from Mollie",
    key_url="https://my.mollie.com/dashboard/developers/api-keys",
    steps=(
        GuideStep("Open Developers, API keys, and copy the live key. It starts with live_.", ("apiKey",)),
        GuideStep(
            "Leave the webhook secret empty. Enter one only if you created the webhook yourself.", ("webhookSecret",)
        ),
    ),
    writes=("one webhook, if the key may create it",),
    outcome="If Mollie allows it we create the webhook; otherwise the next page shows its address. Payments without our"
    " webhook are found within 15 minutes.",
    test_mode="Use the test key, which starts with test_.",
)
_PAYPAL = Guide(
    title="Copy the credentials of your PayPal app",
    key_url="https://developer.paypal.com/dashboard/applications/live",
    steps=(
        GuideStep(
            "Open Apps & Credentials, Live, and choose the app that takes your payments. PayPal reports only those."
        ),
        GuideStep("Tick the features below and save the app."),
        GuideStep("Copy its client ID.", ("clientId",)),
        GuideStep("Show and copy its secret key.", ("clientSecret",)),
    ),
    permissions=(
        Permission("Accept payments", "reads orders and captures", ("/checkout/orders", "/payments/captures")),
        Permission("Subscriptions", "reads the custom id of a subscription", ("/billing/subscriptions",)),
        Permission("Transaction search", "finds missed payments and refunds", ("/reporting/transactions",)),
        Permission(
            "Webhooks (every app has them)", "creates and verifies the webhook", ("/notifications", "/oauth2/token")
        ),
    ),
    writes=("one webhook of the app",),
    outcome="We create the webhook of the app for you. New payments, renewals and refunds come in automatically.",
    test_mode="Switch to Sandbox in PayPal and use the credentials of a sandbox app.",
)
GUIDES = {"stripe": _STRIPE, "braintree": _BRAINTREE, "mollie": _MOLLIE, "paypal": _PAYPAL}
