"""Deliveries and bookings at the same moment, on connections of their own: everything is counted exactly once."""

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


def _race(times=1):
    """Run what is due, all of it at the same moment, each as often."""
    pointers = dispatch_pointers(("gateways",))
    run_concurrently(*[lambda pointer=pointer: run_pointer(pointer) for pointer in pointers for _ in range(times)])
    drain_all()


def test_ten_deliveries_of_one_event_are_one(shop):
    sale = shop.stage.pay(Purchase(cents=10_000))
    answers = run_concurrently(*[lambda: shop.deliver(sale.notifications[0])] * 10)
    assert answers == [[200]] * 10
    assert shop.events("type") == [("invoice.paid",)]
    _race(times=3)
    assert shop.conversions("amount_cents") == [(10_000,)]
    assert shop.brand.rows("select count(*) from gateway_payment") == [(1,)]


def test_two_jobs_of_one_event_at_once_book_it_once(shop):
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.deliver(*sale.notifications, *shop.stage.refund(sale, 4_000))
    told = shop.events("id")
    with db.unit_of_work(shop.brand.id):
        for (event_id,) in told:
            work.enqueue(jobs.GATEWAY_EVENT, organization_id=shop.brand.id, event_id=event_id)
    _race()
    assert shop.conversions(_MONEY) == [(4_000, 800, "Pending")]
    assert {status for (status,) in shop.events("status")} == {"Processed"}


@pytest.mark.parametrize("attempt", range(5))
def test_a_payment_and_its_refund_at_once_wake_each_other(shop, attempt):
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.deliver(*shop.stage.refund(sale, 4_000), *sale.notifications, *shop.stage.dispute(sale, "opened"))
    _race(times=2)
    assert shop.conversions(f"{_MONEY}, disputed_at is null") == [(4_000, 800, "Pending", False)]
    assert {status for (status,) in shop.events("status")} == {"Processed"}


def test_refunds_and_what_comes_back_at_once_end_where_one_after_the_other_do(shop):
    sale = shop.sell(cents=10_000)
    shop.deliver(*(sent for cents in (1_000, 2_000, 3_000) for sent in shop.stage.refund(sale, cents)))
    shop.wait()
    shop.deliver(*shop.stage.restore(sale, 5_000))
    _race(times=2)
    assert shop.conversions(_MONEY) == [(1_000, 200, "Pending")]


def test_two_payments_of_one_customer_at_once_are_numbered_one_by_one(shop):
    first = shop.stage.pay(Purchase(cents=10_000))
    again = shop.stage.pay(Purchase(cents=10_000, renews=first))
    shop.deliver(*first.notifications, *again.notifications)
    _race()
    assert sorted(shop.conversions("type")) == [("OneTime",), ("Recurring",)]


def test_a_payment_whose_customer_is_counted_elsewhere_meanwhile_is_numbered_behind_that(shop):
    first = shop.sell(cents=10_000)
    shop.deliver(shop.stage.pay(Purchase(cents=10_000, renews=first)).notifications[0])
    (pointer,) = dispatch_pointers(("gateways",))
    with closing(psycopg2.connect(os.environ["DATABASE_OWNER_URL"])) as elsewhere, elsewhere.cursor() as cursor:
        cursor.execute("update program_customer set payments = payments + 1 where joined_to is null")  # an import
        booked = start_call(lambda: run_pointer(pointer))
        elsewhere.commit()
        booked()
    assert shop.conversions("type") == [("OneTime",)]

    shop.change("update job set run_at = now()")
    drain_all()
    assert sorted(shop.conversions("type")) == [("OneTime",), ("Recurring",)]
    assert shop.brand.rows("select payments from program_customer where joined_to is null") == [(3,)]


def test_the_same_ids_at_two_tenants_are_two_payments(shop):
    other = Brand.create(shop.brand.app)
    other.program(default_commission_type="Percentage", default_commission_value=10)
    other.affiliate("jane")
    connected = other.person("Owner").post(
        "/api/v1/connections",
        {"gateway": "stripe", "mode": "live", "credentials": dict(shop.stage.credentials)},
    )
    theirs = dataclasses.replace(shop, brand=other, connection=connected.json)
    shop.wait()
    sale = shop.stage.pay(Purchase(cents=10_000))
    refund = shop.stage.refund(sale, 4_000)
    assert [shop.deliver(*sale.notifications, *refund), theirs.deliver(*sale.notifications)] == [[200] * 3, [200] * 2]
    _race()
    assert shop.conversions("commission_cents, refunded_cents") == [(2_000, 4_000)]
    assert theirs.conversions("commission_cents, refunded_cents") == [(1_000, 0)]
    token = shop.connection["webhookUrl"].rsplit("/", 1)[1]
    assert token not in connected.json["webhookUrl"]


def test_a_booking_that_ends_before_its_last_statement_leaves_nothing_and_is_done_again(shop, monkeypatch):
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.deliver(sale.notifications[0])
    stage_aliases = payments.stage_aliases

    def killed(payment, aliases):
        # As the process would end between the conversion and the aliases: what was sent is sent, nothing is committed.
        db.db.run("select 1")
        raise psycopg2.OperationalError("killed")

    monkeypatch.setattr(payments, "stage_aliases", killed)
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
    assert all(isinstance(found, UUID) for (found,) in shop.brand.rows("select payment_id from gateway_alias"))
