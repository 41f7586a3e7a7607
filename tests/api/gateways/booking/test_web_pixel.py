"""Visits and checkouts that a store's web pixel tells of: counted, and what they credit."""

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


def _checkout(store, key, token, slug="jane", **fields):
    body = {"pixelKey": key, "checkoutToken": token, "slug": slug} | fields
    return visit(store.brand.app, CHECKOUT, method="POST", json=body)


def _order(store, token, **order):
    """Return an order as the store tells it: of this checkout, and with nothing that names anybody."""
    sale = store.stage.pay(Purchase(slug=None, email=f"{uuid4().hex}@example.com"))
    store.stage.orders[sale.id] |= {"checkout_token": token, **order}
    return store.stage.notify("orders/paid", store.stage.orders[sale.id])


def _methods(store):
    return store.conversions("attribution_method, sub_id")


def test_a_visit_that_the_pixel_tells_is_a_click_of_its_organization(store, key):
    slug = f"s-{uuid4().hex[:12]}"
    store.brand.affiliate(slug)

    answers = [post_click(store.brand.app, slug, pixelKey=key, programId=str(uuid4())) for _ in range(2)]

    assert [bool(answer.json.get("clickId")) for answer in answers] == [True, True]
    assert [sent.organization_id for sent in list_stream_clicks()][-2:] == [str(store.brand.id)] * 2
    assert answers[0].json["cookieWindowDays"]


@pytest.mark.parametrize("wrong", ["", "px_another-key-of-nobody", "px_Acme-17", "nonsense", "☃", "px_" + "x" * 61])
def test_with_a_key_that_nobody_has_nothing_is_counted(store, wrong):
    before = len(list_stream_clicks())

    answers = [post_click(store.brand.app, "jane", pixelKey=wrong), _checkout(store, wrong or "x", "t")]

    assert [(answer.status_code, answer.json) for answer in answers] == [(200, {"ok": True})] * 2
    assert len(list_stream_clicks()) == before
    assert store.brand.rows("select count(*) from pixel_checkout") == [(0,)]


def test_the_key_of_a_connection_that_ended_counts_no_more(store, key):
    assert post_click(store.brand.app, "jane", pixelKey=key).json.get("clickId")
    store.brand.person("Owner").call("DELETE", f"/api/v1/connections/{store.connection['id']}")
    public_links.clear_cache()  # remembered for seconds

    assert post_click(store.brand.app, "jane", pixelKey=key).json == {"ok": True}
    assert _checkout(store, key, "t").json == {"ok": True}
    assert store.brand.rows("select count(*) from pixel_checkout") == [(0,)]


def test_the_key_leads_to_no_link_of_another_organization(store, key):
    other = Brand.create(store.brand.app)
    other.program()
    other.affiliate("not-janes")

    assert post_click(store.brand.app, "not-janes", pixelKey=key).json == {"ok": True}


def test_an_order_that_carries_nothing_is_credited_by_its_checkout(store, key):
    assert _checkout(store, key, "tok-1", subId="mail").json == {"ok": True}

    store.hear(_order(store, "tok-1"))

    assert _methods(store) == [("shopify_web_pixel", "mail")]


def test_a_checkout_that_is_told_after_its_order_credits_it(store, key):
    store.hear(_order(store, "tok-2"))
    assert _methods(store) == []

    _checkout(store, key, "tok-2", slug="JANE")
    drain()

    assert _methods(store) == [("shopify_web_pixel", None)]
    _checkout(store, key, "tok-2")
    drain()
    assert len(_methods(store)) == 1


def test_what_the_order_itself_carries_counts_first(store, key):
    store.brand.affiliate("ben")
    for number, carried in enumerate(
        [
            {"note_attributes": [{"name": "via", "value": "ben"}]},
            {"landing_site": "/mug?via=ben"},
            {"landing_site": "/mug?ref=newsletter"},
        ]
    ):
        _checkout(store, key, f"tok-3{number}")
        store.hear(_order(store, f"tok-3{number}", **carried))

    assert [method for method, _ in _methods(store)] == [
        "shopify_web_pixel",
        "shopify_landing_page",
        "shopify_web_pixel",
    ]


def test_an_order_of_another_checkout_or_of_none_is_nobodys(store, key):
    _checkout(store, key, "tok-4")

    store.hear(_order(store, "tok-5"), _order(store, None))

    assert _methods(store) == []


def test_an_order_of_a_store_that_is_tried_out_neither_takes_nor_awaits_a_claim(store, key):
    _checkout(store, key, "tok-9")
    store.change("update gateway_connection set mode = 'test'")

    store.hear(_order(store, "tok-9"), _order(store, "tok-10"))

    assert _methods(store) == []
    assert store.brand.rows("select event_id from pixel_checkout") == [(None,)]
    store.change("update gateway_connection set mode = 'live'")


@pytest.mark.parametrize("first", ["checkout", "order"])
def test_an_order_and_its_checkout_at_once_are_credited_once(store, key, first):
    # given: whichever is written first, the other one waits for its turn and sees it
    token = f"tok-6-{first}"
    acts = {"checkout": lambda: _checkout(store, key, token), "order": lambda: store.hear(_order(store, token))}
    order = sorted(acts, key=lambda name: name != first)

    for name in order:
        acts[name]()
    drain()

    assert [method for method, _ in _methods(store)] == ["shopify_web_pixel"]


def test_what_a_checkout_says_is_looked_at(store, key):
    good = {"pixelKey": key, "checkoutToken": "t", "slug": "jane"}
    wrong = [
        [],
        "x",
        {},
        *({name: value for name, value in good.items() if name != left_out} for left_out in good),
        *(good | {name: value} for name, value in itertools.product(good, (None, 7, "", "a\0b", "x" * 1000, ["x"]))),
        good | {"subId": 7},
    ]
    for body in wrong:
        answer = visit(store.brand.app, CHECKOUT, method="POST", json=body)
        assert answer.status_code == 400, body
    for fine in ({"slug": "☃"}, {"slug": "nobody-has-this"}, {"checkoutToken": "☃"}, {"subId": "x" * 1024}):
        assert visit(store.brand.app, CHECKOUT, method="POST", json=good | fine).json == {"ok": True}, fine
    assert store.brand.rows("select count(*) from pixel_checkout") == [(2,)]


def test_it_takes_one_statement_to_find_the_link_and_one_to_keep_what_was_told(store, key):
    trips: list[bytes] = []
    db.db.trip_hooks.append(trips.append)
    try:
        _checkout(store, key, "tok-7")
    finally:
        db.db.trip_hooks.remove(trips.append)

    assert len([trip for trip in trips if trip != b"commit"]) == 2
