"""A cancelled, reduced or raised order changes its commission accordingly, in any order of its events.

Tested at every gateway that reports such changes.
"""

from itertools import permutations

import pytest

from tests.support.gateways.stage import Purchase
from tests.support.gateways.stages import gateways_with

_MONEY = "amount_cents, commission_cents, refunded_cents, reversed_cents, status"


@gateways_with("cancel")
def test_cancelled_order_reverses_the_remainder(shop):
    sale = shop.sell(cents=10_000)
    shop.advance_clock()
    cancellation = shop.stage.cancel(sale)
    shop.receive(*cancellation, *cancellation)

    assert shop.conversions(_MONEY) == [(10_000, 2_000, 10_000, 2_000, "Refunded")]
    assert shop.brand.rows("select amount_cents, reason from refund") == [(10_000, "cancelled")]
    assert {status for (status,) in shop.events("status")} <= {"Processed", "Ignored"}


@gateways_with("cancel", "pay_again")
def test_order_paid_again_after_cancellation_is_one_sale(shop):
    sale = shop.sell(cents=10_000)
    shop.advance_clock()
    cancellation = shop.stage.cancel(sale)
    shop.advance_clock()
    second_payment = shop.stage.pay_again(sale)
    shop.receive(*cancellation, *second_payment, *second_payment)

    assert shop.conversions(_MONEY) == [(10_000, 2_000, 0, 0, "Pending")]
    assert shop.brand.rows("select payments from program_customer where joined_to is null") == [(1,)]
    shop.receive(*shop.stage.pay(Purchase(renews=sale, cents=5_000, slug=None)).notifications)
    assert shop.conversions("commission_cents, type") == [(2_000, "OneTime"), (1_000, "Recurring")]


@gateways_with("cancel", "pay_again")
@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_last_state_of_an_order_counts_in_any_arrival_order(shop, order):
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.advance_clock()
    cancellation = shop.stage.cancel(sale)
    shop.advance_clock()
    second_payment = shop.stage.pay_again(sale)
    for index in order:
        shop.receive(*(sale.notifications, cancellation, second_payment)[index])

    assert shop.conversions(_MONEY) == [(10_000, 2_000, 0, 0, "Pending")]


@gateways_with("cancel")
def test_cancellation_before_its_payment_leaves_no_earnings(shop):
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.advance_clock()
    shop.receive(*shop.stage.cancel(sale))
    shop.receive(*sale.notifications)

    assert [net for (net,) in shop.conversions("commission_cents - reversed_cents")] in ([], [0])


@gateways_with("cancel")
def test_refund_before_cancellation_is_not_reversed_twice(shop):
    sale = shop.sell(cents=10_000)
    shop.advance_clock()
    shop.receive(*shop.stage.refund(sale, 4_000))
    shop.advance_clock()
    shop.receive(*shop.stage.cancel(sale))

    assert shop.conversions(_MONEY) == [(10_000, 2_000, 10_000, 2_000, "Refunded")]
    assert shop.brand.rows("select amount_cents from refund order by place") == [(4_000,), (6_000,)]


@gateways_with("change_total")
def test_lower_total_reverses_the_difference(shop):
    sale = shop.sell(cents=10_000)
    shop.advance_clock()
    edit = shop.stage.change_total(sale, 4_000)
    shop.receive(*edit, *edit)

    assert shop.conversions(_MONEY) == [(10_000, 2_000, 6_000, 1_200, "Pending")]


@gateways_with("change_total")
def test_higher_total_adds_the_difference_to_the_same_conversion(shop):
    sale = shop.sell(cents=10_000)
    shop.advance_clock()
    edit = shop.stage.change_total(sale, 12_500)
    shop.receive(*edit, *edit)

    assert shop.conversions(_MONEY) == [(12_500, 2_500, 0, 0, "Pending")]
    (adjustment,) = shop.list_webhook_data("conversion.adjusted")
    assert {
        name: adjustment[name] for name in adjustment if name.endswith("Cents") or name in ("status", "reason")
    } == {
        "amountCents": 12_500,
        "previousAmountCents": 10_000,
        "commissionCents": 2_500,
        "previousCommissionCents": 2_000,
        "status": "Pending",
        "reason": "total_raised",
    }


@gateways_with("change_total")
def test_falling_and_rising_total_ends_at_its_last_value(shop):
    sale = shop.sell(cents=10_000)
    for cents in (4_000, 7_000, 12_000, 9_000):
        shop.advance_clock()
        shop.receive(*shop.stage.change_total(sale, cents))
    assert shop.conversions(_MONEY) == [(12_000, 2_400, 3_000, 600, "Pending")]


@gateways_with("change_total")
def test_late_older_total_changes_nothing(shop):
    sale = shop.sell(cents=10_000)
    shop.advance_clock()
    older = shop.stage.change_total(sale, 4_000)
    shop.advance_clock()
    shop.receive(*shop.stage.change_total(sale, 9_000))
    shop.receive(*older)
    assert shop.conversions(_MONEY) == [(10_000, 2_000, 1_000, 200, "Pending")]


@gateways_with("change_total")
@pytest.mark.parametrize("order", list(permutations(range(2))), ids=str)
def test_refund_also_reported_as_lower_total_counts_once(shop, order):
    sale = shop.sell(cents=10_000)
    shop.advance_clock()
    refund = shop.stage.refund(sale, 4_000)
    shop.advance_clock()
    reduction = shop.stage.change_total(sale, 6_000)
    for index in order:
        shop.receive(*(refund, reduction)[index])
    assert shop.conversions(_MONEY) == [(10_000, 2_000, 4_000, 800, "Pending")]


@gateways_with("change_total")
@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_totals_in_any_arrival_order_end_in_the_same_rows(shop, order):
    sale = shop.sell(cents=10_000)
    edits = []
    for cents in (12_000, 7_000, 9_000):
        shop.advance_clock()
        edits.append(shop.stage.change_total(sale, cents))
    for index in order:
        shop.receive(*edits[index])
    # BigCommerce events hold no order: it is read from the API, which returns only the newest total.
    amount = 10_000 if shop.stage.gateway.name == "bigcommerce" else 12_000
    assert shop.conversions(_MONEY) == [(amount, amount // 5, amount - 9_000, (amount - 9_000) // 5, "Pending")]


@pytest.mark.parametrize("stage", ["shopify"], indirect=True)
def test_order_raised_without_further_payment_and_cancelled_reverses_what_was_paid(shop):
    sale = shop.sell(cents=10_000)
    for fields in (
        {"financial_status": "partially_paid", "total_price": "150.00"},
        {"financial_status": "partially_paid", "cancelled_at": "2026-11-20T10:00:00-05:00"},
    ):
        shop.advance_clock()
        shop.receive(*shop.stage._change_order(sale, **fields))

    assert shop.conversions(_MONEY) == [(10_000, 2_000, 10_000, 2_000, "Refunded")]
