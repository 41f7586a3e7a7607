"""Concurrent payments, refunds and changes of one order: each is counted exactly once."""

import pytest

from tests.support.api.concurrency import run_concurrently
from tests.support.gateways.stage import Purchase
from tests.support.job_queues import dispatch_pointers, drain, run_pointer

_MONEY = "amount_cents, commission_cents, refunded_cents, reversed_cents, status"


def _run_jobs_concurrently():
    """Run all due jobs concurrently, each twice."""
    pointers = dispatch_pointers(("gateways",))
    run_concurrently(*[lambda pointer=pointer: run_pointer(pointer) for pointer in pointers for _ in range(2)])
    drain()


@pytest.mark.parametrize("stage", ["paypal"], indirect=True)
@pytest.mark.parametrize("attempt", range(3))
def test_concurrent_payments_of_one_order_are_one_conversion(shop, attempt):
    first = shop.stage.pay(Purchase(cents=4_000))
    parts = [first, *(shop.stage.pay_part(first, cents) for cents in (3_000, 2_000, 1_000))]
    shop.deliver(*(notification for part in parts for notification in part.notifications))
    _run_jobs_concurrently()
    assert shop.conversions(_MONEY) == [(10_000, 2_000, 0, 0, "Pending")]
    assert shop.brand.rows("select payments from program_customer where joined_to is null") == [(1,)]

    shop.deliver(*(notification for part in parts[:3] for notification in shop.stage.refund(part, part.purchase.cents)))
    _run_jobs_concurrently()
    assert shop.conversions(_MONEY) == [(10_000, 2_000, 9_000, 1_800, "Pending")]


@pytest.mark.parametrize("stage", ["woocommerce"], indirect=True)
@pytest.mark.parametrize("attempt", range(3))
def test_concurrent_changes_of_one_order_end_at_its_last_state(shop, attempt):
    sale = shop.stage.pay(Purchase(cents=10_000))
    notifications = [*sale.notifications]
    for change in (lambda: shop.stage.cancel(sale), lambda: shop.stage.pay_again(sale)):
        shop.advance_clock()
        notifications += change()
    shop.advance_clock()
    notifications += shop.stage.refund(sale, 4_000)
    shop.advance_clock()
    notifications += shop.stage.change_total(sale, 5_000)
    shop.deliver(*notifications)
    _run_jobs_concurrently()
    assert [net for (net,) in shop.conversions("commission_cents - reversed_cents")] == [1_000]
    assert [remaining_cents for (remaining_cents,) in shop.conversions("amount_cents - refunded_cents")] == [5_000]
