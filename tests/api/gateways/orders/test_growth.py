"""A conversion that grows by a further payment or higher total, in any status; the addition is paid once.

Tested at PayPal, where a second capture is the further payment, and at WooCommerce, whose orders are edited.
"""

from decimal import Decimal

import pytest

from models import db
from tests.support.gateways.stage import Purchase
from tests.support.job_queues import drain
from tests.support.rows.payroll import VERIFIED, Payroll

at_both = pytest.mark.parametrize("stage", ["paypal", "woocommerce"], indirect=True)
at_paypal = pytest.mark.parametrize("stage", ["paypal"], indirect=True)
at_woocommerce = pytest.mark.parametrize("stage", ["woocommerce"], indirect=True)
_MONEY = "amount_cents, commission_cents, reversed_cents, paid_cents, status"


class _Order:
    """An order of 40.00 that can grow by 60.00: by another capture, or by an edit."""

    def __init__(self, shop):
        self.shop = shop
        self.sale = shop.sell(cents=4_000)

    def grow(self):
        """Pay 60.00 more, or edit the order to 100.00."""
        self.shop.advance_clock()
        stage = self.shop.stage
        is_paypal = stage.gateway.name == "paypal"
        notifications = (
            stage.pay_part(self.sale, 6_000).notifications if is_paypal else stage.change_total(self.sale, 10_000)
        )
        self.shop.receive(*notifications, *notifications)


@pytest.fixture
def payroll(shop):
    """Return the payroll of a brand that pays at once; jane can be paid."""
    with db.any_org_work():
        db.db.run(VERIFIED, ("ok", shop.brand.id))
    shop.change("update affiliate set payout_method = 'ProcessorConnect', payout_destination = 'acct_jane'")
    return Payroll(shop.brand)


def _set_recruiter(shop, percent="10"):
    """Make rita jane's recruiter, who earns a percentage of her commissions."""
    recruiter = shop.brand.affiliate("rita")
    shop.change("update affiliate set recruited_by_affiliate_id = %s where id <> %s", recruiter, recruiter)
    shop.change("update program set sub_affiliate_enabled = true, sub_affiliate_percent = %s", Decimal(percent))


def _list_ledger(shop):
    return shop.brand.rows("select kind, amount_cents from ledger_entry order by created_at, kind, amount_cents")


@at_both
@pytest.mark.parametrize("status", ["Pending", "Approved"])
def test_growing_unpaid_conversion_keeps_its_status(shop, status):
    order = _Order(shop)
    shop.change("update conversion set status = %s", status)
    order.grow()
    assert shop.conversions(_MONEY) == [(10_000, 2_000, 0, 0, status)]
    assert _list_ledger(shop) == [("earn", 800), ("earn", 1_200)]
    assert shop.brand.rows(
        "select event_type, amount_cents, commission_cents from conversion_event order by occurred_at"
    ) == [
        ("initial", 4_000, 800),
        ("adjustment", 6_000, 1_200),
    ]


@at_both
def test_addition_to_paid_conversion_is_paid_once_by_the_next_run(shop, payroll):
    order = _Order(shop)
    payroll.run()
    payroll.pay()
    assert shop.conversions(_MONEY) == [(4_000, 800, 0, 800, "Paid")]

    order.grow()
    assert shop.conversions(_MONEY) == [(10_000, 2_000, 0, 800, "Approved")]
    payroll.run()
    payroll.pay()
    assert shop.conversions(_MONEY) == [(10_000, 2_000, 0, 2_000, "Paid")]
    assert payroll.payouts() == [("Paid", 800), ("Paid", 1_200)]
    assert payroll.preview().planned.confirm_total_cents == 0


@at_both
def test_addition_during_a_payout_is_paid_by_the_next_one(shop, payroll):
    order = _Order(shop)
    payroll.run()
    order.grow()
    payroll.pay()
    assert shop.conversions("commission_cents, paid_cents, status = 'Paid'") == [(2_000, 800, False)]
    payroll.run()
    payroll.pay()
    assert payroll.payouts() == [("Paid", 800), ("Paid", 1_200)]
    assert shop.conversions("paid_cents, status") == [(2_000, "Paid")]


@at_both
def test_debt_of_paid_conversion_is_netted_with_the_addition(shop, payroll):
    order = _Order(shop)
    payroll.run()
    payroll.pay()
    shop.advance_clock()
    shop.receive(*shop.stage.refund(order.sale, 3_000))
    assert shop.conversions(_MONEY) == [(4_000, 800, 600, 800, "Paid")]

    order.grow()
    assert shop.conversions(_MONEY) == [(10_000, 2_000, 600, 800, "Approved")]
    payroll.run()
    payroll.pay()
    assert payroll.payouts() == [("Paid", 800), ("Paid", 600)]


@at_both
@pytest.mark.parametrize(("action", "restoring_action"), [("deny", None), ("invalidate", "validate")])
def test_denied_conversion_earns_no_addition_until_it_is_restored(shop, action, restoring_action):
    order = _Order(shop)
    ((conversion_id,),) = shop.conversions("id")
    path, owner = f"/api/v1/conversions/{conversion_id}", shop.brand.person("Owner")
    decision_path = f"/api/conversions/{conversion_id}/deny" if action == "deny" else f"{path}/{action}"
    assert owner.post(decision_path, {"reason": "looks odd"}).status_code == 200
    status = shop.conversions("status")[0][0]

    order.grow()
    assert shop.conversions(_MONEY) == [(10_000, 2_000, 0, 0, status)]
    assert sum(cents for _, cents in _list_ledger(shop)) == 0
    if restoring_action is not None:
        assert owner.post(f"{path}/{restoring_action}").status_code == 200
        assert shop.conversions(_MONEY) == [(10_000, 2_000, 0, 0, "Pending")]
        assert sum(cents for _, cents in _list_ledger(shop)) == 2_000


@at_both
def test_disputed_conversion_grows_and_stays_out_of_payouts(shop, payroll):
    order = _Order(shop)
    shop.change("update conversion set disputed_at = now()")
    order.grow()
    assert shop.conversions(f"{_MONEY}, disputed_at is null") == [(10_000, 2_000, 0, 0, "Pending", False)]
    assert payroll.preview().planned.confirm_total_cents == 0


@at_both
def test_override_grows_in_proportion_to_its_sale(shop):
    _set_recruiter(shop)
    order = _Order(shop)
    override = f"select {_MONEY} from conversion where parent_id is not null"
    assert shop.brand.rows(override) == [(0, 80, 0, 0, "Pending")]
    order.grow()
    assert shop.brand.rows(override) == [(0, 200, 0, 0, "Pending")]
    adjustments = [
        adjustment
        for adjustment in shop.list_webhook_data("conversion.adjusted")
        if "parentAffiliateConversionId" in adjustment
    ]
    assert [(adjustment["previousCommissionCents"], adjustment["commissionCents"]) for adjustment in adjustments] == [
        (80, 200)
    ]

    shop.change("update conversion set status = 'Paid', paid_cents = 200 where parent_id is not null")
    shop.advance_clock()
    if shop.stage.gateway.name == "woocommerce":
        shop.receive(*shop.stage.change_total(order.sale, 12_000))
    else:
        shop.receive(*shop.stage.pay_part(order.sale, 2_000).notifications)
    assert shop.brand.rows(override) == [(0, 240, 0, 200, "Approved")]
    shop.change("update conversion set status = 'Pending', paid_cents = 0 where parent_id is not null")


@at_both
def test_override_booked_after_growth_is_of_the_whole_amount(shop):
    _set_recruiter(shop)
    sale = shop.stage.pay(Purchase(cents=4_000))
    shop.deliver(*sale.notifications)
    drain("gateways")
    shop.advance_clock()
    is_paypal = shop.stage.gateway.name == "paypal"
    shop.deliver(
        *(shop.stage.pay_part(sale, 6_000).notifications if is_paypal else shop.stage.change_total(sale, 10_000))
    )
    drain("gateways")
    assert shop.brand.rows("select from conversion where parent_id is not null") == []
    drain()
    assert shop.brand.rows("select commission_cents from conversion where parent_id is not null") == [(200,)]


@at_both
def test_override_rounded_to_zero_is_booked_once_it_is_a_cent(shop):
    _set_recruiter(shop, "0.05")
    order = _Order(shop)
    assert shop.brand.rows("select from conversion where parent_id is not null") == []
    order.grow()
    assert shop.brand.rows("select commission_cents from conversion where parent_id is not null") == [(1,)]


@at_both
def test_referred_revenue_grows_on_the_day_of_the_sale(shop):
    order = _Order(shop)
    order.grow()
    assert shop.brand.rows("select net_cents from affiliate_revenue") == [(10_000,)]


@at_both
def test_refunded_fixed_commission_is_restored_as_the_order_grows(shop):
    shop.change("update program set default_commission_type = 'Fixed', default_commission_value = 10")
    order = _Order(shop)
    shop.advance_clock()
    shop.receive(*shop.stage.refund(order.sale, 4_000))
    assert shop.conversions(_MONEY) == [(4_000, 1_000, 1_000, 0, "Refunded")]
    order.grow()
    assert shop.conversions(_MONEY) == [(10_000, 1_000, 400, 0, "Pending")]


@at_woocommerce
def test_edited_order_counts_without_tax_on_net_basis(shop):
    shop.change("update organization set commission_basis = 'net'")
    sale = shop.stage.pay(Purchase(cents=11_800))
    order = shop.stage.orders[int(sale.id)]
    order["total_tax"] = "18.00"
    shop.receive(shop.stage.notify(order))
    assert shop.conversions("amount_cents, commission_cents") == [(10_000, 2_000)]

    shop.advance_clock()
    order["total_tax"] = "21.60"
    shop.receive(*shop.stage.change_total(sale, 14_160))
    assert shop.conversions("amount_cents, commission_cents") == [(12_000, 2_400)]
    shop.advance_clock()
    order["total_tax"] = "10.80"
    shop.receive(*shop.stage.change_total(sale, 7_080))
    assert shop.conversions("refunded_cents, reversed_cents") == [(6_000, 1_200)]


@at_woocommerce
def test_deleted_order_is_reversed_and_earns_again_once_restored(shop):
    sale = shop.sell(cents=10_000)
    shop.receive(shop.stage.delete(sale))
    assert shop.conversions(_MONEY) == [(10_000, 2_000, 2_000, 0, "Refunded")]
    shop.receive(shop.stage.notify(shop.stage.orders[int(sale.id)], topic="order.restored"))
    assert shop.conversions(_MONEY) == [(10_000, 2_000, 0, 0, "Pending")]


@at_woocommerce
def test_free_order_raised_later_is_a_sale(shop):
    sale = shop.sell(cents=0)
    assert shop.conversions("amount_cents") == []
    shop.advance_clock()
    shop.receive(*shop.stage.change_total(sale, 4_000))
    assert shop.conversions(_MONEY) == [(4_000, 800, 0, 0, "Pending")]


@at_woocommerce
def test_reduced_order_credited_later_earns_for_its_reduced_total(shop):
    shop.change("update tracking_link set deleted_at = now()")
    sale = shop.sell(cents=10_000)
    shop.advance_clock()
    shop.receive(*shop.stage.change_total(sale, 4_000))
    assert shop.conversions("amount_cents") == []
    shop.change("update tracking_link set deleted_at = null")
    shop.advance_clock()
    shop.receive(shop.stage.notify(shop.stage.orders[int(sale.id)] | {"date_modified_gmt": shop.stage._format_now()}))
    assert shop.conversions("commission_cents - reversed_cents") == [(800,)]


@at_woocommerce
def test_unreported_cancellation_is_booked_by_reconciliation(shop):
    sale = shop.sell(cents=10_000)
    shop.advance_clock()
    shop.stage.cancel(sale)
    path = f"/api/v1/connections/{shop.connection['id']}/reconcile"
    for _ in range(2):
        assert shop.brand.person("Owner").post(path, {"since": "2026-01-01T00:00:00Z"}).status_code == 202
        drain()
    assert shop.conversions(_MONEY) == [(10_000, 2_000, 2_000, 0, "Refunded")]


@at_paypal
def test_dispute_of_one_part_reverses_only_that_part(shop):
    order = _Order(shop)
    order.grow()
    shop.advance_clock()
    shop.receive(*shop.stage.dispute(order.sale, "lost"))
    assert shop.conversions(f"refunded_cents, {_MONEY}") == [(4_000, 10_000, 2_000, 800, 0, "Pending")]


@at_paypal
def test_part_found_by_reconciliation_joins_its_order(shop):
    order = _Order(shop)
    shop.stage.pay_part(order.sale, 6_000)
    path = f"/api/v1/connections/{shop.connection['id']}/reconcile"
    since = (shop.stage.now.isoformat()).replace("+00:00", "Z")
    assert shop.brand.person("Owner").post(path, {"since": since}).status_code == 202
    drain()
    assert shop.conversions(_MONEY) == [(10_000, 2_000, 0, 0, "Pending")]
