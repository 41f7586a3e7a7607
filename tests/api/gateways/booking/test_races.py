"""Concurrent deliveries and bookings, each on its own database connection: everything is counted exactly once."""

import dataclasses
import os
from contextlib import closing
from uuid import UUID

import psycopg2
import pytest

from domain import jobs
from models import db
from models.gateways import payments
from pipelines import work
from tests.support.api.concurrency import run_concurrently, start_call
from tests.support.gateways.stage import Purchase
from tests.support.job_queues import dispatch_pointers, run_pointer
from tests.support.job_queues import drain as drain_all
from tests.support.rows.brands import Brand

_MONEY = "refunded_cents, reversed_cents, status"


def _run_jobs_concurrently(times=1):
    """Run all due jobs concurrently, each `times` times."""
    pointers = dispatch_pointers(("gateways",))
    run_concurrently(*[lambda pointer=pointer: run_pointer(pointer) for pointer in pointers for _ in range(times)])
    drain_all()


def test_ten_concurrent_deliveries_of_an_event_store_one(shop):
    sale = shop.stage.pay(Purchase(cents=10_000))
    statuses = run_concurrently(*[lambda: shop.deliver(sale.notifications[0])] * 10)
    assert statuses == [[200]] * 10
    assert shop.events("type") == [("invoice.paid",)]
    _run_jobs_concurrently(times=3)
    assert shop.conversions("amount_cents") == [(10_000,)]
    assert shop.brand.rows("select count(*) from gateway_payment") == [(1,)]


def test_concurrent_jobs_of_one_event_book_it_once(shop):
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.deliver(*sale.notifications, *shop.stage.refund(sale, 4_000))
    event_ids = shop.events("id")
    with db.unit_of_work(shop.brand.id):
        for (event_id,) in event_ids:
            work.enqueue(jobs.GATEWAY_EVENT, organization_id=shop.brand.id, event_id=event_id)
    _run_jobs_concurrently()
    assert shop.conversions(_MONEY) == [(4_000, 800, "Pending")]
    assert {status for (status,) in shop.events("status")} == {"Processed"}


@pytest.mark.parametrize("attempt", range(5))
def test_concurrent_payment_and_refund_are_both_booked(shop, attempt):
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.deliver(*shop.stage.refund(sale, 4_000), *sale.notifications, *shop.stage.dispute(sale, "opened"))
    _run_jobs_concurrently(times=2)
    assert shop.conversions(f"{_MONEY}, disputed_at is null") == [(4_000, 800, "Pending", False)]
    assert {status for (status,) in shop.events("status")} == {"Processed"}


def test_concurrent_refunds_and_restoration_end_as_in_sequence(shop):
    sale = shop.sell(cents=10_000)
    shop.deliver(*(notification for cents in (1_000, 2_000, 3_000) for notification in shop.stage.refund(sale, cents)))
    shop.advance_clock()
    shop.deliver(*shop.stage.restore(sale, 5_000))
    _run_jobs_concurrently(times=2)
    assert shop.conversions(_MONEY) == [(1_000, 200, "Pending")]


def test_concurrent_payments_of_one_customer_are_numbered_in_turn(shop):
    first = shop.stage.pay(Purchase(cents=10_000))
    renewal = shop.stage.pay(Purchase(cents=10_000, renews=first))
    shop.deliver(*first.notifications, *renewal.notifications)
    _run_jobs_concurrently()
    assert sorted(shop.conversions("type")) == [("OneTime",), ("Recurring",)]


def test_payment_is_numbered_after_a_concurrent_count_of_its_customer(shop):
    first = shop.sell(cents=10_000)
    shop.deliver(shop.stage.pay(Purchase(cents=10_000, renews=first)).notifications[0])
    (pointer,) = dispatch_pointers(("gateways",))
    with closing(psycopg2.connect(os.environ["DATABASE_OWNER_URL"])) as connection, connection.cursor() as cursor:
        cursor.execute("update program_customer set payments = payments + 1 where joined_to is null")  # an import
        finish_booking = start_call(lambda: run_pointer(pointer))
        connection.commit()
        finish_booking()
    assert shop.conversions("type") == [("OneTime",)]

    shop.change("update job set run_at = now()")
    drain_all()
    assert sorted(shop.conversions("type")) == [("OneTime",), ("Recurring",)]
    assert shop.brand.rows("select payments from program_customer where joined_to is null") == [(3,)]


def test_same_ids_at_two_tenants_are_two_payments(shop):
    other = Brand.create(shop.brand.app)
    other.program(default_commission_type="Percentage", default_commission_value=10)
    other.affiliate("jane")
    response = other.person("Owner").post(
        "/api/v1/connections",
        {"gateway": "stripe", "mode": "live", "credentials": dict(shop.stage.credentials)},
    )
    other_shop = dataclasses.replace(shop, brand=other, connection=response.json)
    shop.advance_clock()
    sale = shop.stage.pay(Purchase(cents=10_000))
    refund = shop.stage.refund(sale, 4_000)
    assert [shop.deliver(*sale.notifications, *refund), other_shop.deliver(*sale.notifications)] == [
        [200] * 3,
        [200] * 2,
    ]
    _run_jobs_concurrently()
    assert shop.conversions("commission_cents, refunded_cents") == [(2_000, 4_000)]
    assert other_shop.conversions("commission_cents, refunded_cents") == [(1_000, 0)]
    token = shop.connection["webhookUrl"].rsplit("/", 1)[1]
    assert token not in response.json["webhookUrl"]


def test_interrupted_booking_leaves_no_rows_and_is_retried(shop, monkeypatch):
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.deliver(sale.notifications[0])
    stage_aliases = payments.stage_aliases

    def fail(payment, aliases):
        # Like a process killed between conversion and aliases: statements were sent, nothing is committed.
        db.db.run("select 1")
        raise psycopg2.OperationalError("killed")

    monkeypatch.setattr(payments, "stage_aliases", fail)
    pointers = dispatch_pointers(("gateways",))
    for pointer in pointers:
        run_pointer(pointer)
    assert shop.brand.rows(
        "select (select count(*) from conversion), (select count(*) from gateway_payment),"
        " (select count(*) from ledger_entry), (select count(*) from program_customer)"
    ) == [(0, 0, 0, 0)]

    monkeypatch.setattr(payments, "stage_aliases", stage_aliases)
    shop.change("update job set run_at = now()")
    drain_all()
    assert shop.conversions("amount_cents") == [(10_000,)]
    assert all(
        isinstance(payment_id, UUID) for (payment_id,) in shop.brand.rows("select payment_id from gateway_alias")
    )
