"""Visits and checkouts reported by a store's web pixel: how they are counted, and the orders that they credit."""

import itertools
from uuid import uuid4

import pytest

from models import db
from pipelines.clicks import public_links
from tests.support.gateways.stage import Purchase
from tests.support.job_queues import drain
from tests.support.rows.brands import Brand
from tests.support.rows.link_visits import list_stream_clicks, post_click, visit

CHECKOUT = "/api/v1/track/checkout"

pytestmark = pytest.mark.parametrize("stage", ["shopify"], indirect=True)


@pytest.fixture
def store(shop):
    drain()
    public_links.clear_cache()
    yield shop
    public_links.clear_cache()


@pytest.fixture
def key(store):
    return store.brand.get(f"/api/v1/connections/{store.connection['id']}").json["webPixel"]["publicKey"]


def _post_checkout(store, key, token, slug="jane", **fields):
    body = {"pixelKey": key, "checkoutToken": token, "slug": slug} | fields
    return visit(store.brand.app, CHECKOUT, method="POST", json=body)


def _build_order(store, token, **fields):
    """Return the store's notification of an order of this checkout, without any referral."""
    sale = store.stage.pay(Purchase(slug=None, email=f"{uuid4().hex}@example.com"))
    store.stage.orders[sale.id] |= {"checkout_token": token, **fields}
    return store.stage.notify("orders/paid", store.stage.orders[sale.id])


def _list_methods(store):
    return store.conversions("attribution_method, sub_id")


def test_visit_reported_by_the_pixel_is_a_click_of_its_organization(store, key):
    slug = f"s-{uuid4().hex[:12]}"
    store.brand.affiliate(slug)

    responses = [post_click(store.brand.app, slug, pixelKey=key, programId=str(uuid4())) for _ in range(2)]

    assert [bool(response.json.get("clickId")) for response in responses] == [True, True]
    assert [click.organization_id for click in list_stream_clicks()][-2:] == [str(store.brand.id)] * 2
    assert responses[0].json["cookieWindowDays"]


@pytest.mark.parametrize(
    "invalid_key", ["", "px_unknown-key-of-this-test", "px_Acme-17", "nonsense", "☃", "px_" + "x" * 61]
)
def test_unknown_pixel_key_counts_nothing(store, invalid_key):
    clicks_before = len(list_stream_clicks())

    responses = [
        post_click(store.brand.app, "jane", pixelKey=invalid_key),
        _post_checkout(store, invalid_key or "x", "t"),
    ]

    assert [(response.status_code, response.json) for response in responses] == [(200, {"ok": True})] * 2
    assert len(list_stream_clicks()) == clicks_before
    assert store.brand.rows("select count(*) from pixel_checkout") == [(0,)]


def test_key_of_removed_connection_counts_nothing(store, key):
    assert post_click(store.brand.app, "jane", pixelKey=key).json.get("clickId")
    store.brand.person("Owner").call("DELETE", f"/api/v1/connections/{store.connection['id']}")
    public_links.clear_cache()  # cached for seconds

    assert post_click(store.brand.app, "jane", pixelKey=key).json == {"ok": True}
    assert _post_checkout(store, key, "t").json == {"ok": True}
    assert store.brand.rows("select count(*) from pixel_checkout") == [(0,)]


def test_key_with_another_organizations_slug_counts_nothing(store, key):
    other = Brand.create(store.brand.app)
    other.program()
    other.affiliate("not-janes")

    assert post_click(store.brand.app, "not-janes", pixelKey=key).json == {"ok": True}


def test_order_without_referral_is_credited_by_its_checkout(store, key):
    assert _post_checkout(store, key, "tok-1", subId="mail").json == {"ok": True}

    store.receive(_build_order(store, "tok-1"))

    assert _list_methods(store) == [("shopify_web_pixel", "mail")]


def test_checkout_reported_after_its_order_credits_it(store, key):
    store.receive(_build_order(store, "tok-2"))
    assert _list_methods(store) == []

    _post_checkout(store, key, "tok-2", slug="JANE")
    drain()

    assert _list_methods(store) == [("shopify_web_pixel", None)]
    _post_checkout(store, key, "tok-2")
    drain()
    assert len(_list_methods(store)) == 1


def test_orders_own_referral_precedes_its_checkout(store, key):
    store.brand.affiliate("ben")
    for number, order_fields in enumerate(
        [
            {"note_attributes": [{"name": "via", "value": "ben"}]},
            {"landing_site": "/mug?via=ben"},
            {"landing_site": "/mug?ref=newsletter"},
        ]
    ):
        _post_checkout(store, key, f"tok-3{number}")
        store.receive(_build_order(store, f"tok-3{number}", **order_fields))

    assert [method for method, _ in _list_methods(store)] == [
        "shopify_web_pixel",
        "shopify_landing_page",
        "shopify_web_pixel",
    ]


def test_order_of_another_checkout_or_none_credits_no_one(store, key):
    _post_checkout(store, key, "tok-4")

    store.receive(_build_order(store, "tok-5"), _build_order(store, None))

    assert _list_methods(store) == []


def test_order_of_test_store_neither_uses_nor_awaits_a_checkout(store, key):
    _post_checkout(store, key, "tok-9")
    store.change("update gateway_connection set mode = 'test'")

    store.receive(_build_order(store, "tok-9"), _build_order(store, "tok-10"))

    assert _list_methods(store) == []
    assert store.brand.rows("select event_id from pixel_checkout") == [(None,)]
    store.change("update gateway_connection set mode = 'live'")


@pytest.mark.parametrize("first", ["checkout", "order"])
def test_order_and_its_checkout_are_credited_once_in_either_order(store, key, first):
    # The checkout and the order are each written first once.
    token = f"tok-6-{first}"
    actions = {
        "checkout": lambda: _post_checkout(store, key, token),
        "order": lambda: store.receive(_build_order(store, token)),
    }
    order = sorted(actions, key=lambda name: name != first)

    for name in order:
        actions[name]()
    drain()

    assert [method for method, _ in _list_methods(store)] == ["shopify_web_pixel"]


def test_invalid_checkout_returns_400_and_unusual_one_is_accepted(store, key):
    valid = {"pixelKey": key, "checkoutToken": "t", "slug": "jane"}
    invalid_bodies = [
        [],
        "x",
        {},
        *({name: value for name, value in valid.items() if name != omitted} for omitted in valid),
        *(valid | {name: value} for name, value in itertools.product(valid, (None, 7, "", "a\0b", "x" * 1000, ["x"]))),
        valid | {"subId": 7},
    ]
    for body in invalid_bodies:
        response = visit(store.brand.app, CHECKOUT, method="POST", json=body)
        assert response.status_code == 400, body
    for accepted in ({"slug": "☃"}, {"slug": "nobody-has-this"}, {"checkoutToken": "☃"}, {"subId": "x" * 1024}):
        assert visit(store.brand.app, CHECKOUT, method="POST", json=valid | accepted).json == {"ok": True}, accepted
    assert store.brand.rows("select count(*) from pixel_checkout") == [(2,)]


def test_checkout_takes_two_statements(store, key):
    trips: list[bytes] = []
    db.db.trip_hooks.append(trips.append)
    try:
        _post_checkout(store, key, "tok-7")
    finally:
        db.db.trip_hooks.remove(trips.append)

    assert len([trip for trip in trips if trip != b"commit"]) == 2
