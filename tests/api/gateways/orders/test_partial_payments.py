"""A purchase paid in parts is one growing sale, at every gateway that reports its parts separately."""

import pytest

from tests.support.gateways.stage import Purchase
from tests.support.gateways.stages import gateways_with
from tests.support.job_queues import drain

_MONEY = "external_event_id, amount_cents, commission_cents, refunded_cents, reversed_cents, status, type"


def _pay_parts(shop, *cents):
    """Pay one order in parts; return the payments, first to last, without delivering any."""
    first = shop.stage.pay_first_part(Purchase(cents=cents[0]))
    parts = [first]
    for part_cents in cents[1:]:
        shop.advance_clock()
        parts.append(shop.stage.pay_part(first, part_cents))
    return parts


def _receive_each(shop, *parts):
    """Deliver and book payments one at a time."""
    for part in parts:
        shop.receive(*part.notifications)


@gateways_with("pay_part")
def test_further_payment_adds_amount_and_commission_to_the_first_sale(shop):
    first, second = _pay_parts(shop, 4_000, 6_000)
    _receive_each(shop, first, second, second, first)

    assert shop.conversions(_MONEY) == [(first.id, 10_000, 2_000, 0, 0, "Pending", "OneTime")]
    assert shop.brand.rows("select payments from program_customer where joined_to is null") == [(1,)]
    (adjustment,) = shop.list_webhook_data("conversion.adjusted")
    assert (adjustment["amountCents"], adjustment["commissionCents"], adjustment["reason"]) == (
        10_000,
        2_000,
        "further_payment",
    )
    kinds = shop.brand.rows("select kind, amount_cents from ledger_entry order by created_at, amount_cents")
    assert kinds == [("earn", 800), ("earn", 1_200)]


@gateways_with("pay_part")
def test_parts_in_reverse_order_are_the_same_sale(shop):
    first, second = _pay_parts(shop, 4_000, 6_000)
    _receive_each(shop, second, first)
    assert shop.conversions("amount_cents, commission_cents, type") == [(10_000, 2_000, "OneTime")]
    assert shop.brand.rows("select payments from program_customer where joined_to is null") == [(1,)]


@gateways_with("pay_part")
def test_fixed_commission_is_earned_once_for_all_parts(shop):
    shop.change("update program set default_commission_type = 'Fixed', default_commission_value = 10")
    first, second, third = _pay_parts(shop, 4_000, 6_000, 5_000)
    _receive_each(shop, first, second, third)
    assert shop.conversions(_MONEY) == [(first.id, 15_000, 1_000, 0, 0, "Pending", "OneTime")]


@gateways_with("pay_part")
def test_delayed_first_invoice_earns_nothing_in_any_of_its_parts(shop):
    shop.change("update program set recurring_delay_invoices = 1, recurring_months = 3")
    first, second = _pay_parts(shop, 4_000, 6_000)
    _receive_each(shop, first, second)
    assert shop.conversions(_MONEY) == [(first.id, 10_000, 0, 0, 0, "Pending", "OneTime")]

    renewal = shop.stage.pay(Purchase(renews=first, cents=5_000, slug=None))
    shop.receive(*renewal.notifications)
    assert shop.conversions("amount_cents, commission_cents") == [(10_000, 0), (5_000, 1_000)]


@gateways_with("pay_part")
@pytest.mark.parametrize("part_index", [0, 1])
def test_refund_of_one_part_reverses_its_share_of_the_sale(shop, part_index):
    parts = _pay_parts(shop, 4_000, 6_000)
    _receive_each(shop, *parts)
    cents = (4_000, 6_000)[part_index]
    shop.advance_clock()
    shop.receive(*shop.stage.refund(parts[part_index], cents))
    assert shop.conversions(_MONEY) == [(parts[0].id, 10_000, 2_000, cents, cents // 5, "Pending", "OneTime")]

    shop.receive(*shop.stage.refund(parts[1 - part_index], 10_000 - cents))
    assert shop.conversions(_MONEY) == [(parts[0].id, 10_000, 2_000, 10_000, 2_000, "Refunded", "OneTime")]


@gateways_with("pay_part")
def test_part_paid_after_the_first_is_refunded_earns_its_own_share(shop):
    first, second = _pay_parts(shop, 4_000, 6_000)
    shop.receive(*first.notifications)
    shop.receive(*shop.stage.refund(first, 4_000))
    assert shop.conversions("status") == [("Refunded",)]
    shop.receive(*second.notifications)
    assert shop.conversions(_MONEY) == [(first.id, 10_000, 2_000, 4_000, 800, "Pending", "OneTime")]


@gateways_with("pay_part")
def test_uncredited_parts_are_one_sale_once_credited(shop):
    parts = _pay_parts(shop, 4_000, 6_000)
    shop.change("update tracking_link set deleted_at = now()")
    _receive_each(shop, *reversed(parts))
    assert shop.conversions("amount_cents") == []
    shop.change("update tracking_link set deleted_at = null")
    path = f"/api/v1/connections/{shop.connection['id']}/events"
    newest = shop.brand.get(path).json["items"][0]
    assert shop.brand.person("Owner").post(f"{path}/{newest['id']}/replay").status_code == 202
    drain()
    assert shop.conversions("amount_cents, commission_cents") == [(10_000, 2_000)]
