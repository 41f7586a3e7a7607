"""A sale is accepted by one statement, also with concurrent changes and broken connections."""

import contextlib
import os
import threading

import psycopg2
import pytest

from models import db, ids
from models.conversions import sales

URL = "/api/tracking/s2s"


@pytest.fixture
def shop(brand):
    brand.program()
    brand.affiliate("ben")
    assert _sell(brand, "warm").status_code == 200  # this connection has prepared the statements
    return brand


def _sell(brand, event, slug="ben", **fields):
    return brand.post_signed(URL, {"externalEventId": event, "affiliateSlug": slug, "amountCents": 10_000} | fields)


@contextlib.contextmanager
def _call_before_trips(action):
    """Call `action` with the bytes of each round trip before it is sent."""
    db.db.trip_hooks.append(action)
    try:
        yield
    finally:
        db.db.trip_hooks.remove(action)


def _execute_as_owner(sql, *params):
    with contextlib.closing(psycopg2.connect(os.environ["DATABASE_OWNER_URL"])) as other, other:
        other.cursor().execute(sql, params)


def _set_status(brand, status):
    _execute_as_owner("update affiliate set status = %s where organization_id = %s", status, str(brand.id))


def test_affiliate_approved_between_accept_and_look_up_is_credited(shop):
    _sell(shop, "known")
    _sell(shop, "known")  # the look-up is prepared as well
    _set_status(shop, "Paused")

    with _call_before_trips(
        lambda trip: _set_status(shop, "Approved") if sales._LOOK_UP.name.encode() in trip else None
    ):
        answer = _sell(shop, "order-a")

    assert (answer.status_code, sorted(answer.json)) == (200, ["conversionId", "ok"])
    assert shop.rows("select count(*) from uncredited_conversion") == [(0,)]


def test_constantly_changing_affiliate_returns_503(shop):
    _sell(shop, "known")
    _sell(shop, "known")

    def change(trip):
        if sales._LOOK_UP.name.encode() in trip:
            _set_status(shop, "Approved")
        elif sales._ACCEPT.name.encode() in trip:
            _set_status(shop, "Paused")

    with _call_before_trips(change):
        answer = _sell(shop, "order-a")
    _set_status(shop, "Approved")

    assert (answer.status_code, answer.json["error"]) == (503, "temporarily_unavailable")
    assert shop.rows("select count(*) from sale where external_event_id = 'order-a'") == [(0,)]
    assert "conversionId" in _sell(shop, "order-a").json


def test_committed_sale_with_the_same_id_is_returned_again(shop, monkeypatch):
    sale_id = ids.new_id()
    monkeypatch.setattr(ids, "new_id", lambda: sale_id)

    first, repeated = (_sell(shop, "order-a", customerId="cus_1") for _ in range(2))

    assert (first.status_code, first.json) == (200, {"ok": True, "conversionId": str(sale_id)})
    assert repeated.json == first.json
    assert shop.rows("select payments from program_customer") == [(1,)]
    assert shop.rows("select customer_ordinal from sale where external_event_id = 'order-a'") == [(1,)]
    assert shop.rows("select count(*) from job where args ->> 'sale_id' = %s", str(sale_id)) == [(1,)]


def test_dead_idle_connection_loses_no_sale(shop):
    _execute_as_owner("select pg_terminate_backend(%s, 60000)", db.db.connection().get_backend_pid())

    assert "conversionId" in _sell(shop, "order-a", customerId="cus_1").json
    assert shop.rows("select payments from program_customer") == [(1,)]


def test_concurrent_duplicates_are_one_sale_and_one_payment(shop):
    answers = []
    start = threading.Barrier(6)

    def sell():
        start.wait()
        try:
            answers.append(_sell(shop, "order-a", customerId="cus_1").json)
        finally:
            db.db.drop_connection()

    threads = [threading.Thread(target=sell) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(len(answer) for answer in answers) == [2] * 6
    assert sum("conversionId" in answer for answer in answers) == 1
    assert shop.rows("select payments from program_customer") == [(1,)]
    assert shop.rows("select count(*) from job where name = 'sale.settle'") == [(2,)]


def test_customers_payments_are_numbered_in_order_of_acceptance(shop):
    for event in ("order-a", "order-b", "order-c"):
        _sell(shop, event, customerId="cus_1")
    _sell(shop, "nobody's")

    assert shop.rows("select external_event_id, customer_ordinal from sale order by accepted_at") == [
        ("warm", 1),
        ("order-a", 1),
        ("order-b", 2),
        ("order-c", 3),
        ("nobody's", 1),
    ]
