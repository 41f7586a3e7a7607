"""Orders that grow, shrink and are cancelled, whose conversions a brand has refunded or given another commission.

Played at paypal, where an order of two captures is the further payment, and at woocommerce, whose orders are edited.
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

both = pytest.mark.parametrize("stage", ["paypal", "woocommerce"], indirect=True)
at_woocommerce = pytest.mark.parametrize("stage", ["woocommerce"], indirect=True)
_SHARE = "commission_cents, reversed_cents, paid_cents, status"


@pytest.fixture
def payroll(shop):
    """Return the brand as one that pays at once, with jane to be paid, and rita who recruited her at 10 %."""
    with db.any_org_work():
        db.db.run(VERIFIED, ("ok", shop.brand.id))
    rita = shop.brand.affiliate("rita")
    shop.change("update affiliate set recruited_by_affiliate_id = %s where id <> %s", rita, rita)
    shop.change("update program set sub_affiliate_enabled = true, sub_affiliate_percent = %s", Decimal(10))
    shop.change("update affiliate set payout_method = 'ProcessorConnect', payout_destination = 'acct_' || id")
    return Payroll(shop.brand, {"rita": rita})


def _pay(payroll):
    payroll.run()
    payroll.pay()


def _pay_rita_alone(shop, payroll):
    rita = payroll.affiliates["rita"]
    shop.change("update affiliate set payout_method = null, payout_destination = null where id <> %s", rita)
    _pay(payroll)
    assert _shares(shop) == [(200, 0, 200, "Paid")]


def _grow(shop, sale, cents=15_000):
    """Have another capture, or an edit of the order, bring it to an amount from 100.00."""
    shop.wait()
    stage = shop.stage
    is_paypal = stage.gateway.name == "paypal"
    shop.hear(*(stage.pay_part(sale, cents - 10_000).notifications if is_paypal else stage.change_total(sale, cents)))


def _id(shop) -> UUID:
    ((conversion_id,),) = shop.brand.rows("select id from conversion where parent_id is null")
    return conversion_id


def _shares(shop, columns=_SHARE):
    return shop.brand.rows(f"select {columns} from conversion where parent_id is not null")


def _refund(shop, cents=None, conversion_id=None):
    body = {} if cents is None else {"amountCents": cents}
    answer = refund_by_id(shop.brand, conversion_id or _id(shop), **body)
    assert answer.status_code == 200, answer.json
    drain()


@both
def test_share_refunded_by_itself_earns_nothing_of_an_order_that_grows(shop, payroll):
    sale = shop.sell(cents=10_000)
    ((share,),) = _shares(shop, "id")
    _refund(shop, conversion_id=share)

    _grow(shop, sale)
    assert _shares(shop) == [(300, 300, 0, "Refunded")]
    assert payroll.balance("rita") == {"USD": 0}

    assert undo_refund(shop.brand.person("Admin"), share).status_code == 200
    assert _shares(shop) == [(300, 0, 0, "Pending")]


@both
def test_share_that_was_paid_before_its_sale_was_lowered_stays_as_the_order_grows(shop, payroll):
    sale = shop.sell(cents=10_000)
    _pay_rita_alone(shop, payroll)
    assert adjust_commission(shop.brand, _id(shop), 500).status_code == 200
    assert _shares(shop) == [(200, 0, 200, "Paid")]

    _grow(shop, sale)
    assert read_refund_state(shop.brand, _id(shop)) == (0, 1_500, "Pending")
    assert _shares(shop) == [(200, 0, 200, "Paid")]
    assert payroll.balance("rita") == {"USD": 0}


@at_woocommerce
@pytest.mark.parametrize("refunded", [0, 1_500])
def test_share_that_was_paid_and_grew_is_not_lowered_below_what_was_paid(shop, payroll, refunded):
    sale = shop.sell(cents=10_000)
    _pay_rita_alone(shop, payroll)
    _grow(shop, sale)
    if refunded:
        _refund(shop, refunded)
    assert adjust_commission(shop.brand, _id(shop), 500).status_code == 200
    assert _shares(shop, "commission_cents - reversed_cents, paid_cents, status") == [(200, 200, "Paid")]
    assert payroll.balance("rita") == {"USD": 0}


@both
def test_refund_takes_first_what_no_payout_pays_of_a_conversion_that_grew(shop, payroll):
    sale = shop.sell(cents=10_000)
    _pay(payroll)
    _grow(shop, sale)
    _refund(shop, 7_500)

    line = "select native_amount_cents, reversed_native_cents from payout_line l join conversion c"
    line = f"{line} on c.id = l.conversion_id where c.parent_id is null and c.source = %s"
    assert shop.brand.rows(line, shop.stage.gateway.name) == [(2_000, 500)]


@both
def test_payout_that_waits_pays_what_is_left_of_a_conversion_that_grew(shop, payroll):
    sale = shop.sell(cents=10_000)
    shop.brand.set(needsReview="on")
    payroll.run()
    _grow(shop, sale)
    _refund(shop, 5_000)
    assert read_refund_state(shop.brand, _id(shop)) == (5_000, 2_000, "Pending")
    assert sorted(payroll.payouts()) == [("Pending", 200), ("Pending", 2_000)]


@both
@pytest.mark.parametrize("refunded", [4_000, None])
@pytest.mark.parametrize("is_grown_first", [True, False])
def test_share_that_was_paid_keeps_that_after_refunds_of_an_order_that_grew(shop, payroll, refunded, is_grown_first):
    sale = shop.sell(cents=10_000)
    _pay_rita_alone(shop, payroll)
    if is_grown_first:
        _grow(shop, sale)
    _refund(shop, refunded)
    if not is_grown_first:
        _grow(shop, sale)
    if refunded or not is_grown_first:
        _refund(shop)
    assert read_refund_state(shop.brand, _id(shop)) == (15_000, 0, "Refunded")
    assert payroll.balance("rita") == {"USD": 0}
    assert _shares(shop, "commission_cents - reversed_cents, paid_cents, status, refunded_at") == [
        (200, 200, "Paid", None)
    ]


@at_woocommerce
def test_brands_refund_stays_as_an_order_grows_by_what_counts_more_of_it(shop):
    shop.change("update organization set commission_basis = 'net'")
    sale = shop.stage.pay(Purchase(cents=11_800))
    order = shop.stage.orders[int(sale.id)]
    order["total_tax"] = "18.00"
    shop.hear(shop.stage.notify(order))
    shop.wait()
    shop.hear(*shop.stage.refund(sale, 5_900))
    _refund(shop, 2_000)
    assert shop.conversions("amount_cents, refunded_cents, unreported_cents") == [(10_000, 7_000, 2_000)]

    shop.wait()
    shop.hear(*shop.stage.change_total(sale, 20_000))
    assert shop.conversions("amount_cents, refunded_cents, unreported_cents") == [(18_200, 7_369, 2_000)]
    assert undo_refund(shop.brand.person("Admin"), _id(shop)).json["refundedAmountCents"] == 5_369


@both
def test_share_above_its_percentage_that_is_refunded_by_itself_is_in_order(shop, payroll):
    sale = shop.sell(cents=10_000)
    _pay_rita_alone(shop, payroll)
    assert adjust_commission(shop.brand, _id(shop), 500).status_code == 200
    ((share,),) = _shares(shop, "id")
    _refund(shop, conversion_id=share)
    _grow(shop, sale)
    assert _shares(shop) == [(200, 200, 200, "Refunded")]


@both
@pytest.mark.parametrize("is_held", [True, False])
def test_conversion_that_waits_for_a_person_waits_as_it_grows_and_is_restored(shop, payroll, is_held):
    sale = shop.sell(cents=10_000)
    path, owner = f"/api/v1/conversions/{_id(shop)}", shop.brand.person("Owner")
    if is_held:
        shop.change("update conversion set needs_approval = true, self_referral = true")
        act = f"/api/conversions/{_id(shop)}/approve"
    else:
        assert owner.post(f"{path}/invalidate", {"reason": "looks odd"}).status_code == 200
        act = f"{path}/validate"
    _refund(shop)
    _grow(shop, sale)
    assert payroll.preview().planned.confirm_total_cents == 0
    assert undo_refund(shop.brand.person("Admin"), _id(shop)).status_code == 200
    drain()
    assert payroll.preview().planned.confirm_total_cents == 0

    assert owner.post(act).status_code == 200
    assert read_refund_state(shop.brand, _id(shop))[:2] == (0, 3_000)
    assert _shares(shop, "commission_cents - reversed_cents") == [(300,)]


@at_woocommerce
@pytest.mark.parametrize("seed", range(6))
def test_any_history_comes_to_what_is_reported_and_what_the_brand_refunded(shop, payroll, seed):
    chosen = random.Random(seed)
    admin = shop.brand.person("Admin")
    sale = shop.sell(cents=10_000)
    paid = total = 10_000
    by_refunds = unreported = 0

    def reported():
        return max(by_refunds, paid - total)

    for _ in range(14):
        before = reported()
        is_cancelled = shop.stage.orders[int(sale.id)]["status"] == "cancelled"
        act = chosen.choice(["desk", "gateway", "raise", "lower", "cancel", "again", "undo", "pay"])
        if is_cancelled and act in ("raise", "lower"):
            act = "again"
        left = paid - before - unreported
        shop.wait()
        if act == "desk" and left:
            cents = chosen.randint(1, left)
            _refund(shop, cents)
            unreported += cents
        elif act == "gateway" and by_refunds < paid:
            cents = chosen.randint(1, paid - by_refunds)
            shop.hear(*shop.stage.refund(sale, cents))
            by_refunds += cents
            unreported = max(unreported - (reported() - before), 0)
        elif act in ("raise", "lower"):
            total = chosen.randint(100, 5_000) + (paid if act == "raise" else 0)
            paid = max(paid, total)
            shop.hear(*shop.stage.change_total(sale, total))
            unreported = max(unreported - max(reported() - before, 0), 0)
        elif act == "cancel":
            shop.hear(*shop.stage.cancel(sale))
            total = 0
            unreported = max(unreported - (reported() - before), 0)
        elif act == "again":
            shop.stage.orders[int(sale.id)]["total"] = f"{paid / 100:.2f}"
            shop.hear(*shop.stage.pay_again(sale))
            total = paid
        elif act == "undo":
            assert undo_refund(admin, _id(shop)).status_code == (200 if unreported else 409)
            unreported = 0
        elif act == "pay" and payroll.preview().planned.confirm_total_cents:
            _pay(payroll)
        drain()
        refunded = reported() + unreported
        found = shop.brand.rows(
            "select amount_cents, refunded_cents, unreported_cents, commission_cents - reversed_cents from conversion"
            " where id = %s",
            _id(shop),
        )[0]
        assert found[:3] == (paid, refunded, unreported or None), (act, seed)
        assert abs(found[3] - (paid - refunded) / 5) <= 1, (act, seed)
