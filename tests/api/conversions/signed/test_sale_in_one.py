"""A sale is accepted by one statement: what may happen beside it, and to the connection that carries it."""

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
def _before(do):
    """Call `do` with what is about to be sent, for each round trip."""
    db.db.trip_hooks.append(do)
    try:
        yield
    finally:
        db.db.trip_hooks.remove(do)


def _elsewhere(sql, *params):
    with contextlib.closing(psycopg2.connect(os.environ["DATABASE_OWNER_URL"])) as other, other:
        other.cursor().execute(sql, params)


def _set_status(brand, status):
    _elsewhere("update affiliate set status = %s where organization_id = %s", status, str(brand.id))


def test_an_affiliate_who_is_approved_between_the_two_looks_is_credited(shop):
    _sell(shop, "known")
    _sell(shop, "known")  # the look-up is prepared as well
    _set_status(shop, "Paused")

    with _before(lambda trip: _set_status(shop, "Approved") if sales._LOOK_UP.name.encode() in trip else None):
        answer = _sell(shop, "order-a")

    assert (answer.status_code, sorted(answer.json)) == (200, ["conversionId", "ok"])
    assert shop.rows("select count(*) from uncredited_conversion") == [(0,)]


def test_an_affiliate_who_changes_all_the_time_makes_the_sender_come_again(shop):
    _sell(shop, "known")
    _sell(shop, "known")

    def change(trip):
        if sales._LOOK_UP.name.encode() in trip:
            _set_status(shop, "Approved")
        elif sales._ACCEPT.name.encode() in trip:
            _set_status(shop, "Paused")

    with _before(change):
        answer = _sell(shop, "order-a")
    _set_status(shop, "Approved")

    assert (answer.status_code, answer.json["error"]) == (503, "temporarily_unavailable")
    assert shop.rows("select count(*) from sale where external_event_id = 'order-a'") == [(0,)]
    assert "conversionId" in _sell(shop, "order-a").json


def test_what_was_committed_and_not_answered_is_answered_when_it_comes_again(shop, monkeypatch):
    same = ids.new_id()
    monkeypatch.setattr(ids, "new_id", lambda: same)

    first, again = (_sell(shop, "order-a", customerId="cus_1") for _ in range(2))

    assert (first.status_code, first.json) == (200, {"ok": True, "conversionId": str(same)})
    assert again.json == first.json
    assert shop.rows("select payments from program_customer") == [(1,)]
    assert shop.rows("select customer_ordinal from sale where external_event_id = 'order-a'") == [(1,)]
    assert shop.rows("select count(*) from job where args ->> 'sale_id' = %s", str(same)) == [(1,)]


def test_a_connection_that_died_while_it_was_idle_costs_no_sale(shop):
    _elsewhere("select pg_terminate_backend(%s, 60000)", db.db.connection().get_backend_pid())

    assert "conversionId" in _sell(shop, "order-a", customerId="cus_1").json
    assert shop.rows("select payments from program_customer") == [(1,)]


def test_twins_of_one_customer_are_one_sale_and_one_payment(shop):
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


def test_payments_of_a_customer_are_numbered_as_they_are_accepted(shop):
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
