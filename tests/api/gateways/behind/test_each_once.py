"""What a worker that is behind books at a time: each event once, whatever else is among them and whoever else works."""

from decimal import Decimal

import pytest

from domain import jobs
from models import db
from models.jobs import processes, rows
from models.programs import performance_tiers
from models.programs.performance_tiers import ProgramTier
from pipelines import work
from pipelines.gateways import process as events
from tests.support.api.racing import at_once
from tests.support.draining import drain_behind, run
from tests.support.gateways.playing import connected, lead_to
from tests.support.gateways.stage import Purchase
from tests.support.gateways.storefront.woocommerce import WooCommerceStage
from workers import process
from workers.behind.alone import alone


@pytest.fixture(autouse=True)
def forgets():
    """What one test found at fault, or not to be worth taking along, is nothing to the next."""
    alone.forget()


@pytest.fixture
def booked(monkeypatch):
    """Return how many events each batch had, and how many of them it booked, as it goes."""
    seen = []
    several = events.several

    def counted(*, organization_id, event_ids, now):
        done = several(organization_id=organization_id, event_ids=event_ids, now=now)
        seen.append((len(event_ids), len(done)))
        return done

    monkeypatch.setattr(events, "several", counted)
    return seen


def _paid(shop, number, **purchase):
    """Let so many customers pay; return what is told of the payments alone."""
    sales = [
        shop.stage.pay(Purchase(customer=str(place), email=f"{place}@x.test", cents=10_000, **purchase))
        for place in range(number)
    ]
    return sales, [sale.sent[0] for sale in sales]


def _asked_for(brand):
    return brand.rows(
        "select attempt, failed_at is null, count(*)::int from job where queue = 'gateways' group by 1, 2"
    )


def test_many_payments_are_booked_at_a_time_with_what_is_told_of_them_later(shop, booked):
    sales, invoices = _paid(shop, 20)
    shop.deliver(*invoices, *(sale.sent[1] for sale in sales), shop.stage.unknown())

    messages = drain_behind("gateways")

    assert booked == [(25, 20), (21, 21)]
    assert messages == 2
    assert shop.conversions("amount_cents, commission_cents") == [(10_000, 2_000)] * 20
    assert sorted(set(shop.events("type, status, cardinality(conversion_ids)"))) == [
        ("invoice.paid", "Processed", 1),
        ("invoice_payment.paid", "Processed", 1),
        ("product.created", "Ignored", 0),
    ]
    assert shop.brand.rows("select count(*), count(distinct payment_id) from gateway_alias") == [(40, 20)]
    assert _asked_for(shop.brand) == []


def test_payments_that_credit_nobody_are_booked_at_a_time(shop, booked):
    _, invoices = _paid(shop, 6, slug="nobody")
    shop.deliver(*invoices)

    drain_behind("gateways")

    assert booked == [(6, 6)]
    assert shop.events("status, reason") == [("Processed", "nobody_referred")] * 6
    assert shop.brand.rows("select count(*) from gateway_payment where conversion_id is null") == [(6,)]


def test_the_same_event_twice_in_a_batch_is_booked_once(shop, booked):
    _, invoices = _paid(shop, 4)
    shop.deliver(*invoices)
    told = shop.events("id") * 2
    with db.unit_of_work(shop.brand.id):
        for (event_id,) in told:
            work.enqueue(jobs.GATEWAY_EVENT, organization_id=shop.brand.id, event_id=event_id)

    drain_behind("gateways")

    assert booked[0] == (4, 4)
    assert shop.conversions("amount_cents") == [(10_000,)] * 4
    assert shop.brand.rows("select count(*), sum(payments)::int from program_customer") == [(4, 4)]
    assert _asked_for(shop.brand) == []


def test_a_payment_and_its_refund_in_one_batch_end_refunded(shop, booked):
    sales, invoices = _paid(shop, 4)
    shop.deliver(*sales[0].sent, *shop.stage.refund(sales[0], 4_000), *invoices[1:])

    drain_behind("gateways")

    assert booked[0] == (6, 4)
    assert sorted(shop.conversions("refunded_cents, reversed_cents")) == [(0, 0)] * 3 + [(4_000, 800)]
    assert {status for (status,) in shop.events("status")} == {"Processed"}


def test_a_refund_before_its_payment_in_one_batch_is_taken_back_in_the_end(shop, booked):
    sales, invoices = _paid(shop, 4)
    shop.deliver(*shop.stage.refund(sales[0], 4_000), *reversed(sales[0].sent), *invoices[1:])

    drain_behind("gateways")

    assert booked[0] == (6, 3)
    assert sorted(shop.conversions("refunded_cents, reversed_cents")) == [(0, 0)] * 3 + [(4_000, 800)]
    assert {status for (status,) in shop.events("status")} == {"Processed"}


def test_payments_of_one_customer_in_one_batch_are_numbered_in_their_order(shop, booked):
    sales, invoices = _paid(shop, 3)
    renewals = [
        shop.stage.pay(Purchase(customer="0", email="0@x.test", cents=20_000, renews=sales[0])) for _ in range(2)
    ]
    shop.deliver(invoices[0], *(renewal.sent[0] for renewal in renewals), *invoices[1:])

    drain_behind("gateways")

    assert booked[0] == (5, 3)
    assert shop.conversions("amount_cents, type") == [
        (10_000, "OneTime"),
        (10_000, "OneTime"),
        (10_000, "OneTime"),
        (20_000, "Recurring"),
        (20_000, "Recurring"),
    ]


def test_payments_that_are_measured_by_tiers_are_measured_one_by_one(shop):
    with db.unit_of_work(shop.brand.id):
        tiers = [ProgramTier(0, "Percentage", Decimal(5), "USD"), ProgramTier(10_000, "Percentage", Decimal(30), "USD")]
        performance_tiers.stage_replacement(
            organization_id=shop.brand.id, program_id=shop.brand.programs[0], tiers=tiers
        )
    _, invoices = _paid(shop, 4)
    shop.deliver(*invoices)

    drain_behind("gateways")

    assert sorted(shop.conversions("commission_cents")) == [(500,), (3_000,), (3_000,), (3_000,)]


def test_events_of_two_gateways_go_in_one_batch_and_a_buyer_of_both_is_counted_in_order(shop, booked, monkeypatch):
    woocommerce = WooCommerceStage()
    lead_to(woocommerce, monkeypatch)
    connection = connected(shop.brand.person("Owner"), woocommerce)
    theirs = type(shop)(shop.brand, woocommerce, connection)
    _, invoices = _paid(shop, 2)
    same = woocommerce.pay(Purchase(customer="77", email="0@x.test", cents=10_000))
    other = woocommerce.pay(Purchase(customer="78", email="other@x.test", cents=10_000))
    shop.deliver(*invoices)
    theirs.deliver(*same.sent, *other.sent)

    drain_behind("gateways")
    woocommerce.stop()

    assert booked == [(4, 3)]
    sold = shop.brand.rows("select source, count(*)::int, sum(amount_cents)::int from conversion group by 1 order by 1")
    assert sold == [("stripe", 2, 20_000), ("woocommerce", 2, 20_000)]
    assert shop.brand.rows("select count(*)::int, sum(payments)::int from program_customer") == [(4, 4)]
    assert {status for (status,) in shop.events("status")} == {"Processed"}


def test_the_one_at_fault_falls_out_alone_and_the_others_are_booked(shop, booked):
    _, invoices = _paid(shop, 20)
    shop.deliver(*invoices[:10])
    with db.unit_of_work(shop.brand.id):
        work.enqueue(jobs.GATEWAY_EVENT, organization_id=shop.brand.id, event_id="of nobody")
    shop.deliver(*invoices[10:])

    drain_behind("gateways")

    assert len(shop.conversions()) == 20
    assert _asked_for(shop.brand) == [(1, True, 1)]


def test_one_that_cannot_be_read_keeps_nobody_back(shop, booked):
    _, invoices = _paid(shop, 9)
    shop.deliver(shop.stage.malformed(), *invoices)

    drain_behind("gateways")

    assert booked == [(10, 9)]
    assert [status for (status,) in shop.events("status")] == ["Failed"] + ["Processed"] * 9


def test_what_its_gateway_is_asked_about_is_asked_once_and_by_itself(shop, booked):
    _, invoices = _paid(shop, 5)
    silent = shop.stage.pay(Purchase(customer="silent", email="silent@x.test", slug=None))
    shop.deliver(invoices[0], silent.sent[0], *invoices[1:])
    shop.stage.asked.clear()

    drain_behind("gateways")

    assert booked[0] == (6, 5)
    about = [asked.path for asked in shop.stage.asked if "cus_silent" in asked.path]
    assert len(about) == 1, shop.stage.asked
    assert {status for (status,) in shop.events("status")} == {"Processed"}


def test_where_hardly_any_can_be_booked_together_none_is_taken_along_for_a_while(shop, booked):
    silent = [shop.stage.pay(Purchase(customer=str(place), slug=None)).sent[0] for place in range(8)]
    shop.deliver(*silent)

    drain_behind("gateways")

    assert booked == [(8, 0)]
    assert {status for (status,) in shop.events("status")} == {"Processed"}


def test_workers_at_once_book_each_event_once(shop, booked):
    sales, invoices = _paid(shop, 40)
    again = [
        shop.stage.pay(Purchase(customer=str(place), email=f"{place}@x.test", cents=500)).sent[0] for place in range(20)
    ]
    back = [sent for sale in sales[:5] for sent in shop.stage.refund(sale, 4_000)]
    shop.deliver(*invoices, *again, *(sale.sent[1] for sale in sales), *back)

    while True:
        with db.any_org_work():
            processes.announce(process_id=process.own_id(), queues=["gateways"], threads=3)
            pointers = rows.any_org_hand_out(queue="gateways", per_thread=1, share=3, lease_s=30)
        if not pointers:
            break
        at_once(*[lambda pointer=pointer: run(pointer) for pointer in pointers])
        shop.change("update job set run_at = now() where deadline is null")  # whatever failed is tried again at once

    assert sorted(shop.conversions("amount_cents, refunded_cents")) == sorted(
        [(500, 0)] * 20 + [(10_000, 4_000)] * 5 + [(10_000, 0)] * 35
    )
    numbered = shop.brand.rows("select payments, count(*)::int from program_customer group by 1 order by 1")
    assert numbered == [(1, 20), (2, 20)]
    assert len(booked) > 2
    assert {status for (status,) in shop.events("status")} == {"Processed"}
