"""One purchase that is paid in parts is one sale that grows, at every gateway that tells its parts apart."""

import pytest

from tests.support.gateways.stage import Purchase
from tests.support.gateways.stages import gateways_with
from tests.support.job_queues import drain

_MONEY = "external_event_id, amount_cents, commission_cents, refunded_cents, reversed_cents, status, type"


def _parts(shop, *cents):
    """Return the payments of one order, its first among them, none of them sent."""
    first = shop.stage.pay_first_part(Purchase(cents=cents[0]))
    parts = [first]
    for more in cents[1:]:
        shop.wait()
        parts.append(shop.stage.pay_part(first, more))
    return parts


def _hear(shop, *parts):
    """Deliver and book payments one after another."""
    for part in parts:
        shop.hear(*part.notifications)


@gateways_with("pay_part")
def test_further_payment_adds_amount_and_commission_to_the_first_sale(shop):
    first, second = _parts(shop, 4_000, 6_000)
    _hear(shop, first, second, second, first)

    assert shop.conversions(_MONEY) == [(first.id, 10_000, 2_000, 0, 0, "Pending", "OneTime")]
    assert shop.brand.rows("select payments from program_customer where joined_to is null") == [(1,)]
    (told,) = shop.told("conversion.adjusted")
    assert (told["amountCents"], told["commissionCents"], told["reason"]) == (10_000, 2_000, "further_payment")
    kinds = shop.brand.rows("select kind, amount_cents from ledger_entry order by created_at, amount_cents")
    assert kinds == [("earn", 800), ("earn", 1_200)]


@gateways_with("pay_part")
def test_parts_in_the_other_order_come_to_the_same_sale(shop):
    first, second = _parts(shop, 4_000, 6_000)
    _hear(shop, second, first)
    assert shop.conversions("amount_cents, commission_cents, type") == [(10_000, 2_000, "OneTime")]
    assert shop.brand.rows("select payments from program_customer where joined_to is null") == [(1,)]


@gateways_with("pay_part")
def test_fixed_commission_is_earned_once_for_all_parts(shop):
    shop.change("update program set default_commission_type = 'Fixed', default_commission_value = 10")
    first, second, third = _parts(shop, 4_000, 6_000, 5_000)
    _hear(shop, first, second, third)
    assert shop.conversions(_MONEY) == [(first.id, 15_000, 1_000, 0, 0, "Pending", "OneTime")]


@gateways_with("pay_part")
def test_delayed_first_invoice_earns_nothing_in_any_of_its_parts(shop):
    shop.change("update program set recurring_delay_invoices = 1, recurring_months = 3")
    first, second = _parts(shop, 4_000, 6_000)
    _hear(shop, first, second)
    assert shop.conversions(_MONEY) == [(first.id, 10_000, 0, 0, 0, "Pending", "OneTime")]

    again = shop.stage.pay(Purchase(renews=first, cents=5_000, slug=None))
    shop.hear(*again.notifications)
    assert shop.conversions("amount_cents, commission_cents") == [(10_000, 0), (5_000, 1_000)]


@gateways_with("pay_part")
@pytest.mark.parametrize("refunded", [0, 1])
def test_refund_of_one_part_is_a_refund_of_its_share_of_the_whole(shop, refunded):
    parts = _parts(shop, 4_000, 6_000)
    _hear(shop, *parts)
    cents = (4_000, 6_000)[refunded]
    shop.wait()
    shop.hear(*shop.stage.refund(parts[refunded], cents))
    assert shop.conversions(_MONEY) == [(parts[0].id, 10_000, 2_000, cents, cents // 5, "Pending", "OneTime")]

    shop.hear(*shop.stage.refund(parts[1 - refunded], 10_000 - cents))
    assert shop.conversions(_MONEY) == [(parts[0].id, 10_000, 2_000, 10_000, 2_000, "Refunded", "OneTime")]


@gateways_with("pay_part")
def test_part_that_is_paid_after_the_first_was_refunded_earns_its_own_share(shop):
    first, second = _parts(shop, 4_000, 6_000)
    shop.hear(*first.notifications)
    shop.hear(*shop.stage.refund(first, 4_000))
    assert shop.conversions("status") == [("Refunded",)]
    shop.hear(*second.notifications)
    assert shop.conversions(_MONEY) == [(first.id, 10_000, 2_000, 4_000, 800, "Pending", "OneTime")]


@gateways_with("pay_part")
def test_parts_that_name_no_affiliate_are_one_sale_once_their_buyer_is_known(shop):
    parts = _parts(shop, 4_000, 6_000)
    shop.change("update tracking_link set deleted_at = now()")
    _hear(shop, *reversed(parts))
    assert shop.conversions("amount_cents") == []
    shop.change("update tracking_link set deleted_at = null")
    path = f"/api/v1/connections/{shop.connection['id']}/events"
    newest = shop.brand.get(path).json["items"][0]
    assert shop.brand.person("Owner").post(f"{path}/{newest['id']}/replay").status_code == 202
    drain()
    assert shop.conversions("amount_cents, commission_cents") == [(10_000, 2_000)]
