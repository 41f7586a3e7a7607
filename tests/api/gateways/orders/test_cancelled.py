"""An order that is cancelled, reduced or raised after it was booked takes its commission along, in whatever order.

At every gateway that reports such a change; the stages of the others say why they do not.
"""

from itertools import permutations

import pytest

from tests.support.gateways.stage import Purchase
from tests.support.gateways.stages import gateways_with

_MONEY = "amount_cents, commission_cents, refunded_cents, reversed_cents, status"


@gateways_with("cancel")
def test_cancelled_order_gives_back_all_that_remains(shop):
    sale = shop.sell(cents=10_000)
    shop.wait()
    cancelled = shop.stage.cancel(sale)
    shop.hear(*cancelled, *cancelled)

    assert shop.conversions(_MONEY) == [(10_000, 2_000, 10_000, 2_000, "Refunded")]
    assert shop.brand.rows("select amount_cents, reason from refund") == [(10_000, "cancelled")]
    assert {status for (status,) in shop.events("status")} <= {"Processed", "Ignored"}


@gateways_with("cancel", "pay_again")
def test_order_that_is_paid_again_earns_again_as_one_sale(shop):
    sale = shop.sell(cents=10_000)
    shop.wait()
    cancelled = shop.stage.cancel(sale)
    shop.wait()
    again = shop.stage.pay_again(sale)
    shop.hear(*cancelled, *again, *again)

    assert shop.conversions(_MONEY) == [(10_000, 2_000, 0, 0, "Pending")]
    assert shop.brand.rows("select payments from program_customer where joined_to is null") == [(1,)]
    shop.hear(*shop.stage.pay(Purchase(renews=sale, cents=5_000, slug=None)).notifications)
    assert shop.conversions("commission_cents, type") == [(2_000, "OneTime"), (1_000, "Recurring")]


@gateways_with("cancel", "pay_again")
@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_last_state_of_an_order_counts_in_whatever_order_it_arrives(shop, order):
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.wait()
    cancelled = shop.stage.cancel(sale)
    shop.wait()
    again = shop.stage.pay_again(sale)
    for place in order:
        shop.hear(*(sale.notifications, cancelled, again)[place])

    assert shop.conversions(_MONEY) == [(10_000, 2_000, 0, 0, "Pending")]


@gateways_with("cancel")
def test_cancellation_that_arrives_before_its_payment_leaves_nothing_earned(shop):
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.wait()
    shop.hear(*shop.stage.cancel(sale))
    shop.hear(*sale.notifications)

    assert [net for (net,) in shop.conversions("commission_cents - reversed_cents")] in ([], [0])


@gateways_with("cancel")
def test_refund_before_a_cancellation_is_not_taken_twice(shop):
    sale = shop.sell(cents=10_000)
    shop.wait()
    shop.hear(*shop.stage.refund(sale, 4_000))
    shop.wait()
    shop.hear(*shop.stage.cancel(sale))

    assert shop.conversions(_MONEY) == [(10_000, 2_000, 10_000, 2_000, "Refunded")]
    assert shop.brand.rows("select amount_cents from refund order by place") == [(4_000,), (6_000,)]


@gateways_with("change_total")
def test_lower_total_gives_the_difference_back(shop):
    sale = shop.sell(cents=10_000)
    shop.wait()
    edited = shop.stage.change_total(sale, 4_000)
    shop.hear(*edited, *edited)

    assert shop.conversions(_MONEY) == [(10_000, 2_000, 6_000, 1_200, "Pending")]


@gateways_with("change_total")
def test_higher_total_adds_the_difference_to_the_same_conversion(shop):
    sale = shop.sell(cents=10_000)
    shop.wait()
    edited = shop.stage.change_total(sale, 12_500)
    shop.hear(*edited, *edited)

    assert shop.conversions(_MONEY) == [(12_500, 2_500, 0, 0, "Pending")]
    (told,) = shop.told("conversion.adjusted")
    assert {name: told[name] for name in told if name.endswith("Cents") or name in ("status", "reason")} == {
        "amountCents": 12_500,
        "previousAmountCents": 10_000,
        "commissionCents": 2_500,
        "previousCommissionCents": 2_000,
        "status": "Pending",
        "reason": "total_raised",
    }


@gateways_with("change_total")
def test_total_that_falls_and_rises_ends_at_its_last_value(shop):
    sale = shop.sell(cents=10_000)
    for cents in (4_000, 7_000, 12_000, 9_000):
        shop.wait()
        shop.hear(*shop.stage.change_total(sale, cents))
    assert shop.conversions(_MONEY) == [(12_000, 2_400, 3_000, 600, "Pending")]


@gateways_with("change_total")
def test_older_total_that_arrives_late_changes_nothing(shop):
    sale = shop.sell(cents=10_000)
    shop.wait()
    older = shop.stage.change_total(sale, 4_000)
    shop.wait()
    shop.hear(*shop.stage.change_total(sale, 9_000))
    shop.hear(*older)
    assert shop.conversions(_MONEY) == [(10_000, 2_000, 1_000, 200, "Pending")]


@gateways_with("change_total")
@pytest.mark.parametrize("order", list(permutations(range(2))), ids=str)
def test_refund_that_is_also_a_lower_total_counts_once(shop, order):
    sale = shop.sell(cents=10_000)
    shop.wait()
    refund = shop.stage.refund(sale, 4_000)
    shop.wait()
    lowered = shop.stage.change_total(sale, 6_000)
    for place in order:
        shop.hear(*(refund, lowered)[place])
    assert shop.conversions(_MONEY) == [(10_000, 2_000, 4_000, 800, "Pending")]


@gateways_with("change_total")
@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_totals_in_whatever_order_they_arrive_end_in_the_same_rows(shop, order):
    sale = shop.sell(cents=10_000)
    sent = []
    for cents in (12_000, 7_000, 9_000):
        shop.wait()
        sent.append(shop.stage.change_total(sale, cents))
    for place in order:
        shop.hear(*sent[place])
    # A gateway whose events hold no order is asked for it, and reports the newest total alone.
    amount = 10_000 if shop.stage.gateway.name == "bigcommerce" else 12_000
    assert shop.conversions(_MONEY) == [(amount, amount // 5, amount - 9_000, (amount - 9_000) // 5, "Pending")]
