"""Updates of Shopify orders: their totals, and cancelled, voided or deleted orders."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from domain.gateways.facts import CancelledFact, IgnoredFact, TotalFact, UnreadableEvent
from tests.support.gateways.deliveries import list_facts, read_facts
from tests.support.gateways.stage import Notification, Purchase
from tests.support.gateways.storefront.shopify import sign

pytestmark = pytest.mark.parametrize("stage", ["shopify"], indirect=True)
_ORDER = {
    "id": 5678901234567,
    "created_at": "2026-11-20T10:00:00-05:00",
    "processed_at": "2026-11-20T10:00:00-05:00",
    "financial_status": "paid",
    "currency": "USD",
    "total_price": "118.00",
    "note_attributes": [{"name": "affiliate_slug", "value": "anna"}],
}


def _order(topic="orders/paid", **other):
    return sign(topic, json.dumps({**_ORDER, **other}).encode())


@pytest.mark.parametrize(
    "other",
    [
        {"cancelled_at": "2026-11-20T10:00:00-05:00"},
        {"financial_status": "voided"},
        {"financial_status": "EXPIRED"},
        # It was raised after it was paid, and the rest was never paid.
        {"financial_status": "partially_paid", "cancelled_at": "2026-11-20T10:00:00-05:00"},
    ],
)
@pytest.mark.parametrize("topic", ["orders/paid", "orders/updated"])
def test_cancelled_or_voided_order_is_reported_as_cancelled(stage, topic, other):
    at = datetime(2026, 11, 20, 15, tzinfo=UTC)
    assert read_facts(stage, _order(topic, **other)) == [CancelledFact(sale_ids=("5678901234567",), told_at=at)]


@pytest.mark.parametrize("status", ["partially_paid", "pending", "authorized"])
def test_order_that_is_not_paid_in_full_is_ignored_until_it_is(stage, status):
    for topic in ("orders/paid", "orders/updated"):
        assert read_facts(stage, _order(topic, financial_status=status)) == [IgnoredFact("not_paid")]


@pytest.mark.parametrize("is_cancelled", [True, False])
def test_listed_order_that_is_paid_in_part_counts_only_if_cancelled(stage, is_cancelled):
    sale = stage.pay(Purchase())
    stage.now += timedelta(hours=1)
    at = stage._format_now()
    stage.orders[sale.id] |= {"financial_status": "partially_paid", "updated_at": at}
    if is_cancelled:
        stage.orders[sale.id]["cancelled_at"] = at

    facts = [fact for listed in list_facts(stage, stage.now - timedelta(hours=2)).values() for fact in listed]

    expected = CancelledFact(sale_ids=(sale.id,), told_at=datetime.fromisoformat(at))
    assert facts == ([expected] if is_cancelled else [])
    assert "financial_status:partially_paid" in stage.calls[-1].json["variables"]["query"]


def test_deleted_order_is_cancelled_at_its_send_time(stage):
    notification = stage.notify("orders/delete", {"id": 5678901234567})
    at = {"X-Shopify-Triggered-At": "2026-11-22T09:00:00.123Z"}
    (cancelled,) = read_facts(stage, Notification(notification.body, {**notification.headers, **at}))
    told_at = datetime(2026, 11, 22, 9, 0, 0, 123_000, tzinfo=UTC)
    assert cancelled == CancelledFact(sale_ids=("5678901234567",), told_at=told_at)


@pytest.mark.parametrize(
    ("total", "current", "refunded", "amounts"),
    [
        ("100.00", "100.00", None, (10_000, 10_000)),
        ("100.00", "60.00", None, (6_000, 6_000)),  # a line was removed, nothing was paid back
        ("100.00", "60.00", "40.00", (10_000, 6_000)),  # it was refunded
        ("100.00", "100.00", "10.00", (10_000, 10_000)),  # a refund that does not change the total
        ("150.00", "110.00", "40.00", (15_000, 11_000)),  # an exchange for a more expensive item
    ],
)
def test_updated_order_reports_paid_and_total_amounts(stage, total, current, refunded, amounts):
    parts = [{"kind": "refund", "status": "success", "amount": refunded, "currency": "USD"}] if refunded else []
    other = {"total_price": total, "current_total_price": current, "refunds": [{"transactions": parts}]}
    (total_fact,) = read_facts(stage, _order("orders/updated", **other))
    assert isinstance(total_fact, TotalFact)
    assert (total_fact.amount_cents, total_fact.total_cents) == amounts
    assert stage.calls == []


_UNREADABLE_TOTALS = pytest.mark.parametrize(
    "other",
    [
        {"current_total_price": "x"},
        {"current_total_price": "-1.74"},
        {"current_total_price": "1" * 40},
        {
            "current_total_price": "118.00",
            "refunds": [{"transactions": [{"kind": "refund", "status": "success", "amount": "a lot"}]}],
        },
    ],
    ids=["no number", "negative", "too large", "refund"],
)


@_UNREADABLE_TOTALS
def test_payment_whose_present_total_is_unreadable_counts_its_whole_total(stage, other):
    (payment,) = read_facts(stage, _order(**other))
    assert (payment.amount_cents, payment.total_cents) == (11_800, None)


@_UNREADABLE_TOTALS
def test_updated_order_whose_present_total_is_unreadable_fails(stage, other):
    with pytest.raises(UnreadableEvent):
        read_facts(stage, _order("orders/updated", **other))
