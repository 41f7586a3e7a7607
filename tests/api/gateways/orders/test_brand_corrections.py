"""Growing, reduced and cancelled orders whose conversions the brand refunded or gave another commission.

Tested at PayPal, where a second capture is the further payment, and at WooCommerce, whose orders are edited.
"""

import random
from decimal import Decimal
from uuid import UUID

import pytest

from models import db
from tests.support.api.decisions import adjust_commission, read_refund_state, refund_by_id, undo_refund
from tests.support.gateways.stage import Purchase
from tests.support.job_queues import drain
from tests.support.rows.payroll import VERIFIED, Payroll

at_both = pytest.mark.parametrize("stage", ["paypal", "woocommerce"], indirect=True)
at_woocommerce = pytest.mark.parametrize("stage", ["woocommerce"], indirect=True)
_SHARE_COLUMNS = "commission_cents, reversed_cents, paid_cents, status"


@pytest.fixture
def payroll(shop):
    """Return the payroll of a brand that pays at once: jane can be paid, and rita recruited her at 10 %."""
    with db.any_org_work():
        db.db.run(VERIFIED, ("ok", shop.brand.id))
    rita = shop.brand.affiliate("rita")
    shop.change("update affiliate set recruited_by_affiliate_id = %s where id <> %s", rita, rita)
    shop.change("update program set sub_affiliate_enabled = true, sub_affiliate_percent = %s", Decimal(10))
    shop.change("update affiliate set payout_method = 'ProcessorConnect', payout_destination = 'acct_' || id")
    return Payroll(shop.brand, {"rita": rita})


def _run_and_pay(payroll):
    payroll.run()
    payroll.pay()


def _pay_only_rita(shop, payroll):
    rita = payroll.affiliates["rita"]
    shop.change("update affiliate set payout_method = null, payout_destination = null where id <> %s", rita)
    _run_and_pay(payroll)
    assert _list_shares(shop) == [(200, 0, 200, "Paid")]


def _grow_order(shop, sale, cents=15_000):
    """Raise an order of 100.00 to `cents` by another capture or an edit."""
    shop.advance_clock()
    stage = shop.stage
    is_paypal = stage.gateway.name == "paypal"
    shop.receive(
        *(stage.pay_part(sale, cents - 10_000).notifications if is_paypal else stage.change_total(sale, cents))
    )


def _get_conversion_id(shop) -> UUID:
    ((conversion_id,),) = shop.brand.rows("select id from conversion where parent_id is null")
    return conversion_id


def _list_shares(shop, columns=_SHARE_COLUMNS):
    return shop.brand.rows(f"select {columns} from conversion where parent_id is not null")


def _refund_as_brand(shop, cents=None, conversion_id=None):
    body = {} if cents is None else {"amountCents": cents}
    response = refund_by_id(shop.brand, conversion_id or _get_conversion_id(shop), **body)
    assert response.status_code == 200, response.json
    drain()


@at_both
def test_refunded_override_earns_nothing_as_the_order_grows(shop, payroll):
    sale = shop.sell(cents=10_000)
    ((share,),) = _list_shares(shop, "id")
    _refund_as_brand(shop, conversion_id=share)

    _grow_order(shop, sale)
    assert _list_shares(shop) == [(300, 300, 0, "Refunded")]
    assert payroll.balance("rita") == {"USD": 0}

    assert undo_refund(shop.brand.person("Admin"), share).status_code == 200
    assert _list_shares(shop) == [(300, 0, 0, "Pending")]


@at_both
def test_paid_override_stays_after_lowered_commission_and_growth(shop, payroll):
    sale = shop.sell(cents=10_000)
    _pay_only_rita(shop, payroll)
    assert adjust_commission(shop.brand, _get_conversion_id(shop), 500).status_code == 200
    assert _list_shares(shop) == [(200, 0, 200, "Paid")]

    _grow_order(shop, sale)
    assert read_refund_state(shop.brand, _get_conversion_id(shop)) == (0, 1_500, "Pending")
    assert _list_shares(shop) == [(200, 0, 200, "Paid")]
    assert payroll.balance("rita") == {"USD": 0}


@at_woocommerce
@pytest.mark.parametrize("refunded", [0, 1_500])
def test_paid_and_grown_override_is_not_lowered_below_its_paid_cents(shop, payroll, refunded):
    sale = shop.sell(cents=10_000)
    _pay_only_rita(shop, payroll)
    _grow_order(shop, sale)
    if refunded:
        _refund_as_brand(shop, refunded)
    assert adjust_commission(shop.brand, _get_conversion_id(shop), 500).status_code == 200
    assert _list_shares(shop, "commission_cents - reversed_cents, paid_cents, status") == [(200, 200, "Paid")]
    assert payroll.balance("rita") == {"USD": 0}


@at_both
def test_refund_of_grown_conversion_takes_the_unpaid_part_first(shop, payroll):
    sale = shop.sell(cents=10_000)
    _run_and_pay(payroll)
    _grow_order(shop, sale)
    _refund_as_brand(shop, 7_500)

    lines_statement = "select native_amount_cents, reversed_native_cents from payout_line l join conversion c"
    lines_statement = f"{lines_statement} on c.id = l.conversion_id where c.parent_id is null and c.source = %s"
    assert shop.brand.rows(lines_statement, shop.stage.gateway.name) == [(2_000, 500)]


@at_both
def test_pending_payout_pays_the_remainder_of_a_grown_conversion(shop, payroll):
    sale = shop.sell(cents=10_000)
    shop.brand.set(needsReview="on")
    payroll.run()
    _grow_order(shop, sale)
    _refund_as_brand(shop, 5_000)
    assert read_refund_state(shop.brand, _get_conversion_id(shop)) == (5_000, 2_000, "Pending")
    assert sorted(payroll.payouts()) == [("Pending", 200), ("Pending", 2_000)]


@at_both
@pytest.mark.parametrize("refunded", [4_000, None])
@pytest.mark.parametrize("is_grown_first", [True, False])
def test_paid_override_keeps_its_cents_after_refunds_of_a_grown_order(shop, payroll, refunded, is_grown_first):
    sale = shop.sell(cents=10_000)
    _pay_only_rita(shop, payroll)
    if is_grown_first:
        _grow_order(shop, sale)
    _refund_as_brand(shop, refunded)
    if not is_grown_first:
        _grow_order(shop, sale)
    if refunded or not is_grown_first:
        _refund_as_brand(shop)
    assert read_refund_state(shop.brand, _get_conversion_id(shop)) == (15_000, 0, "Refunded")
    assert payroll.balance("rita") == {"USD": 0}
    assert _list_shares(shop, "commission_cents - reversed_cents, paid_cents, status, refunded_at") == [
        (200, 200, "Paid", None)
    ]


@at_woocommerce
def test_brand_refund_stays_as_the_net_amount_of_an_order_grows(shop):
    shop.change("update organization set commission_basis = 'net'")
    sale = shop.stage.pay(Purchase(cents=11_800))
    order = shop.stage.orders[int(sale.id)]
    order["total_tax"] = "18.00"
    shop.receive(shop.stage.notify(order))
    shop.advance_clock()
    shop.receive(*shop.stage.refund(sale, 5_900))
    _refund_as_brand(shop, 2_000)
    assert shop.conversions("amount_cents, refunded_cents, unreported_cents") == [(10_000, 7_000, 2_000)]

    shop.advance_clock()
    shop.receive(*shop.stage.change_total(sale, 20_000))
    assert shop.conversions("amount_cents, refunded_cents, unreported_cents") == [(18_200, 7_369, 2_000)]
    assert undo_refund(shop.brand.person("Admin"), _get_conversion_id(shop)).json["refundedAmountCents"] == 5_369


@at_both
def test_refunded_override_above_its_percentage_passes_the_ledger_check(shop, payroll):
    sale = shop.sell(cents=10_000)
    _pay_only_rita(shop, payroll)
    assert adjust_commission(shop.brand, _get_conversion_id(shop), 500).status_code == 200
    ((share,),) = _list_shares(shop, "id")
    _refund_as_brand(shop, conversion_id=share)
    _grow_order(shop, sale)
    assert _list_shares(shop) == [(200, 200, 200, "Refunded")]


@at_both
@pytest.mark.parametrize("is_held", [True, False])
def test_conversion_awaiting_review_is_unpaid_as_it_grows_and_is_restored(shop, payroll, is_held):
    sale = shop.sell(cents=10_000)
    path, owner = f"/api/v1/conversions/{_get_conversion_id(shop)}", shop.brand.person("Owner")
    if is_held:
        shop.change("update conversion set needs_approval = true, self_referral = true")
        decision_path = f"/api/conversions/{_get_conversion_id(shop)}/approve"
    else:
        assert owner.post(f"{path}/invalidate", {"reason": "looks odd"}).status_code == 200
        decision_path = f"{path}/validate"
    _refund_as_brand(shop)
    _grow_order(shop, sale)
    assert payroll.preview().planned.confirm_total_cents == 0
    assert undo_refund(shop.brand.person("Admin"), _get_conversion_id(shop)).status_code == 200
    drain()
    assert payroll.preview().planned.confirm_total_cents == 0

    assert owner.post(decision_path).status_code == 200
    assert read_refund_state(shop.brand, _get_conversion_id(shop))[:2] == (0, 3_000)
    assert _list_shares(shop, "commission_cents - reversed_cents") == [(300,)]


@at_woocommerce
@pytest.mark.parametrize("seed", range(6))
def test_random_history_totals_reported_plus_brand_refunds(shop, payroll, seed):
    rng = random.Random(seed)
    admin = shop.brand.person("Admin")
    sale = shop.sell(cents=10_000)
    paid_cents = total_cents = 10_000
    gateway_refunded_cents = unreported = 0

    def compute_reported():
        return max(gateway_refunded_cents, paid_cents - total_cents)

    for _ in range(14):
        reported_before = compute_reported()
        is_cancelled = shop.stage.orders[int(sale.id)]["status"] == "cancelled"
        action = rng.choice(["brand", "gateway", "raise", "lower", "cancel", "pay_again", "undo", "pay"])
        if is_cancelled and action in ("raise", "lower"):
            action = "pay_again"
        remaining_cents = paid_cents - reported_before - unreported
        shop.advance_clock()
        if action == "brand" and remaining_cents:
            cents = rng.randint(1, remaining_cents)
            _refund_as_brand(shop, cents)
            unreported += cents
        elif action == "gateway" and gateway_refunded_cents < paid_cents:
            cents = rng.randint(1, paid_cents - gateway_refunded_cents)
            shop.receive(*shop.stage.refund(sale, cents))
            gateway_refunded_cents += cents
            unreported = max(unreported - (compute_reported() - reported_before), 0)
        elif action in ("raise", "lower"):
            total_cents = rng.randint(100, 5_000) + (paid_cents if action == "raise" else 0)
            paid_cents = max(paid_cents, total_cents)
            shop.receive(*shop.stage.change_total(sale, total_cents))
            unreported = max(unreported - max(compute_reported() - reported_before, 0), 0)
        elif action == "cancel":
            shop.receive(*shop.stage.cancel(sale))
            total_cents = 0
            unreported = max(unreported - (compute_reported() - reported_before), 0)
        elif action == "pay_again":
            shop.stage.orders[int(sale.id)]["total"] = f"{paid_cents / 100:.2f}"
            shop.receive(*shop.stage.pay_again(sale))
            total_cents = paid_cents
        elif action == "undo":
            assert undo_refund(admin, _get_conversion_id(shop)).status_code == (200 if unreported else 409)
            unreported = 0
        elif action == "pay" and payroll.preview().planned.confirm_total_cents:
            _run_and_pay(payroll)
        drain()
        refunded_cents = compute_reported() + unreported
        row = shop.brand.rows(
            "select amount_cents, refunded_cents, unreported_cents, commission_cents - reversed_cents from conversion"
            " where id = %s",
            _get_conversion_id(shop),
        )[0]
        assert row[:3] == (paid_cents, refunded_cents, unreported or None), (action, seed)
        assert abs(row[3] - (paid_cents - refunded_cents) / 5) <= 1, (action, seed)
