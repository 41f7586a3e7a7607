"""Each event is booked once, whatever events and workers run at the same time."""

from domain import jobs
from models import db
from models.jobs import processes, rows
from pipelines import work
from tests.support.api.concurrency import run_concurrently
from tests.support.gateways.stage import Purchase
from tests.support.job_queues import run_pointer
from workers import process


def _pay_as_customers(shop, count, **purchase):
    """Pay once as each of `count` customers; return the sales and the invoice notification of each."""
    sales = [
        shop.stage.pay(Purchase(customer=str(customer), email=f"{customer}@x.test", cents=10_000, **purchase))
        for customer in range(count)
    ]
    return sales, [sale.notifications[0] for sale in sales]


def _count_jobs(brand):
    return brand.rows(
        "select attempt, failed_at is null, count(*)::int from job where queue = 'gateways' group by 1, 2"
    )


def test_event_queued_twice_is_booked_once(shop, drain):
    _, invoices = _pay_as_customers(shop, 4)
    shop.deliver(*invoices)
    event_ids = shop.events("id") * 2
    with db.unit_of_work(shop.brand.id):
        for (event_id,) in event_ids:
            work.enqueue(jobs.GATEWAY_EVENT, organization_id=shop.brand.id, event_id=event_id)

    drain()

    assert shop.conversions("amount_cents") == [(10_000,)] * 4
    assert shop.brand.rows("select count(*), sum(payments)::int from program_customer where joined_to is null") == [
        (4, 4)
    ]
    assert _count_jobs(shop.brand) == []


def test_payment_and_refund_delivered_together_end_refunded(shop, drain):
    sales, invoices = _pay_as_customers(shop, 4)
    shop.deliver(*sales[0].notifications, *shop.stage.refund(sales[0], 4_000), *invoices[1:])

    drain()

    assert sorted(shop.conversions("refunded_cents, reversed_cents")) == [(0, 0)] * 3 + [(4_000, 800)]
    assert {status for (status,) in shop.events("status")} == {"Processed"}


def test_refund_delivered_before_its_payment_is_booked_in_the_end(shop, drain):
    sales, invoices = _pay_as_customers(shop, 4)
    shop.deliver(*shop.stage.refund(sales[0], 4_000), *reversed(sales[0].notifications), *invoices[1:])

    drain()

    assert sorted(shop.conversions("refunded_cents, reversed_cents")) == [(0, 0)] * 3 + [(4_000, 800)]
    assert {status for (status,) in shop.events("status")} == {"Processed"}


def test_concurrent_payments_of_one_customer_have_exactly_one_first(shop, drain):
    sales, invoices = _pay_as_customers(shop, 3)
    renewals = [
        shop.stage.pay(Purchase(customer="0", email="0@x.test", cents=20_000, renews=sales[0])) for _ in range(2)
    ]
    shop.deliver(invoices[0], *(renewal.notifications[0] for renewal in renewals), *invoices[1:])

    drain()

    types = sorted(type_ for (type_,) in shop.conversions("type"))
    assert types == ["OneTime"] * 3 + ["Recurring"] * 2


def test_concurrent_workers_book_each_event_once(shop):
    sales, invoices = _pay_as_customers(shop, 40)
    second_invoices = [
        shop.stage.pay(Purchase(customer=str(customer), email=f"{customer}@x.test", cents=500)).notifications[0]
        for customer in range(20)
    ]
    refunds = [refund for sale in sales[:5] for refund in shop.stage.refund(sale, 4_000)]
    shop.deliver(*invoices, *second_invoices, *(sale.notifications[1] for sale in sales), *refunds)

    while True:
        with db.any_org_work():
            processes.announce(process_id=process.current_id(), queues=["gateways"], threads=3)
            pointers = rows.any_org_dispatch(queue="gateways", per_thread=1, share=3, lease_s=30)
        if not pointers:
            break
        run_concurrently(*[lambda pointer=pointer: run_pointer(pointer) for pointer in pointers])
        shop.change("update job set run_at = now() where deadline is null")  # retry failed jobs at once

    assert sorted(shop.conversions("amount_cents, refunded_cents")) == sorted(
        [(500, 0)] * 20 + [(10_000, 4_000)] * 5 + [(10_000, 0)] * 35
    )
    payment_counts = shop.brand.rows(
        "select payments, count(*)::int from program_customer where joined_to is null group by 1 order by 1"
    )
    assert payment_counts == [(1, 20), (2, 20)]
    assert {status for (status,) in shop.events("status")} == {"Processed"}
