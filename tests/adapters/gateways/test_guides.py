"""The guide of each gateway: it leads to every credential, and names the permissions that the adapter's calls need."""

import ast
import re
from urllib.parse import parse_qs, urlsplit

import pytest

from adapters.gateways import registry
from domain.gateways.names import Gateway
from tests.support import trees

# The calls of Shopify are GraphQL, all to one path.
_SHOPIFY_SCOPE = re.compile(
    r"\b(?:read|write)_(?:orders|all_orders|pixels|customer_events|shopify_payments_disputes)\b"
)
# The roots of APIs, and paths that are put behind another one.
_NOT_A_RESOURCE = {"/", "/query", "/delete", "/codes", "/offer_codes", "/graphql.json"}
_VERSION = re.compile(r"^/v[0-9]+(?=/)|^/wp-json/wc/v3|^/wc/v3")

# The permission that the gateways' documentation names for a call, where keys have permissions.
_DOCUMENTED = [
    ("stripe", "/webhook_endpoints", "Webhook Endpoints: Write"),
    ("stripe", "/events", "Events: Read"),
    ("stripe", "/refunds", "Charges and Refunds: Read"),
    ("stripe", "/promotion_codes", "Promotion Codes: Write"),
    ("paddle", "/events", "Notifications: Read"),
    ("paddle", "/notification-settings", "Notification settings: Write"),
    ("paddle", "/discounts", "Discounts: Write"),
    ("braintree", "/transactions", "Download Transactions with Masked Payment Data"),
    ("braintree", "/customers", "View Customers"),
    ("braintree", "/plans", "View Subscription Plans"),
    ("paypal", "/reporting/transactions", "Transaction search"),
    ("gumroad", "/resource_subscriptions", "view_sales"),
    ("gumroad", "/products", "edit_products"),
    ("bigcommerce", "/carts", "Carts: read-only"),
    ("bigcommerce", "/promotions", "Marketing: modify"),
    ("bigcommerce", "/store", "Information & settings: read-only"),
]


@pytest.fixture(params=[name.value for name in Gateway])
def gateway(request):
    return registry.get(request.param)


def _list_paths(gateway):
    """Return the paths in the modules of an adapter, without versions."""
    for path in trees.list_files("adapters/gateways", "adapters/coupons"):
        if path.stem != gateway.name and not path.stem.startswith(f"{gateway.name}_"):
            continue
        tree = trees.parse_file(path)
        parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in ast.walk(tree):
            text = "" if id(node) in parts else _leading_text(node)
            if text.startswith("/") and "\n" not in text:
                yield _VERSION.sub("", text) or "/"


def _leading_text(node):
    if isinstance(node, ast.JoinedStr):
        node = node.values[0]
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def test_guide_leads_to_every_credential(gateway):
    given = [name for step in gateway.guide.steps for name in step.gives]

    assert sorted(given) == sorted(field.name for field in gateway.fields)


def test_guide_is_complete(gateway):
    guide = gateway.guide

    assert all((guide.title, guide.steps, guide.outcome, guide.test_mode))
    assert guide.key_url is None or guide.key_url.startswith("https://")
    assert (guide.key_url is None) == (gateway.name == "woocommerce")  # its page is in the brand's own store
    assert [text for text in _list_texts(guide) if not text or text != text.strip() or "None" in text] == []


def _list_texts(guide):
    yield from (guide.title, guide.outcome, guide.test_mode, *guide.writes)
    yield from (step.text for step in guide.steps)
    yield from (text for permission in guide.permissions for text in (permission.name, permission.purpose))


def test_every_call_of_the_adapter_has_a_permission(gateway):
    allowed = tuple(call for permission in gateway.guide.permissions for call in permission.calls)
    paths = set(_list_paths(gateway)) - _NOT_A_RESOURCE

    assert paths
    assert [path for path in sorted(paths) if not path.startswith(allowed)] == ([] if allowed else sorted(paths))


@pytest.mark.parametrize(("name", "call", "permission"), _DOCUMENTED)
def test_call_has_the_permission_that_the_gateway_documents(name, call, permission):
    assert permission in {row.name for row in registry.get(name).guide.permissions if call in row.calls}


def test_every_declared_call_is_one_of_the_adapter(gateway):
    paths = set(_list_paths(gateway))
    calls = {call for permission in gateway.guide.permissions for call in permission.calls}

    assert {call for call in calls if not any(path.startswith(call) for path in paths)} == set()


def test_scopes_of_shopify_are_those_that_its_adapter_names():
    sources = [path.read_text() for path in trees.list_files("adapters/gateways/storefront") if "shopify" in path.stem]
    scopes = {scope for source in sources for scope in _SHOPIFY_SCOPE.findall(source)}
    permissions = {permission.name for permission in registry.get("shopify").guide.permissions}

    assert len(scopes) >= 6
    assert permissions == scopes - {"write_orders"} | {"write_discounts"}


def test_stripe_form_opens_with_a_permission_for_each_row():
    guide = registry.get("stripe").guide
    query = parse_qs(urlsplit(guide.key_url).query)

    assert len(query["permissions[]"]) == len(guide.permissions)
    kinds = [permission.name.rpartition(" ")[2].lower() for permission in guide.permissions]
    assert [name.rpartition("_")[2] for name in query["permissions[]"]] == kinds


def test_catalogue_has_every_guide(brand):
    catalogue = {row["name"]: row for row in brand.get("/api/v1/connections/gateways").json}

    assert set(catalogue) == {name.value for name in Gateway}
    guide = catalogue["stripe"]["guide"]
    assert {"name": "Events: Read", "purpose": "finds missed events"} in guide["permissions"]
    assert [step["gives"] for step in guide["steps"]] == [[], [], ["apiKey"], ["webhookSecret"]]
    assert guide["writes"][0] == "one webhook endpoint"
