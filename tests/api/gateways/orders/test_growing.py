"""A conversion that grows by a further payment or a higher total, whatever its status; what is added is paid once.

Played at paypal, where an order of two captures is the further payment, and at woocommerce, whose orders are edited.
"""

from decimal import Decimal

import pytest

from models import db
from tests.support.gateways.stage import Purchase
from tests.support.job_queues import drain
from tests.support.rows.payroll import VERIFIED, Payroll

both = pytest.mark.parametrize("stage", ["paypal", "woocommerce"], indirect=True)
at_paypal = pytest.mark.parametrize("stage", ["paypal"], indirect=True)
at_woocommerce = pytest.mark.parametrize("stage", ["woocommerce"], indirect=True)
_MONEY = "amount_cents, commission_cents, reversed_cents, paid_cents, status"


class _Order:
    """An order of 40.00 of which 60.00 more may be paid: by another capture, or because it is edited."""

    def __init__(self, shop):
        self.shop = shop
        self.sale = shop.sell(cents=4_000)

    def grow(self):
        """Pay 60.00 more, or edit the order to 100.00."""
        self.shop.wait()
        stage = self.shop.stage
        is_paypal = stage.gateway.name == "paypal"
        sent = stage.pay_part(self.sale, 6_000).notifications if is_paypal else stage.change_total(self.sale, 10_000)
        self.shop.hear(*sent, *sent)


@pytest.fixture
def payroll(shop):
    """Return the brand as one that pays at once, with jane to be paid."""
    with db.any_org_work():
        db.db.run(VERIFIED, ("ok", shop.brand.id))
    shop.change("update affiliate set payout_method = 'ProcessorConnect', payout_destination = 'acct_jane'")
    return Payroll(shop.brand)


def _recruit(shop, percent="10"):
    """Make rita jane's recruiter, who gets a percentage of her commissions."""
    recruiter = shop.brand.affiliate("rita")
    shop.change("update affiliate set recruited_by_affiliate_id = %s where id <> %s", recruiter, recruiter)
    shop.change("update program set sub_affiliate_enabled = true, sub_affiliate_percent = %s", Decimal(percent))


def _ledger(shop):
    return shop.brand.rows("select kind, amount_cents from ledger_entry order by created_at, kind, amount_cents")


@both
@pytest.mark.parametrize("status", ["Pending", "Approved"])
def test_status_of_an_unpaid_conversion_stays(shop, status):
    order = _Order(shop)
    shop.change("update conversion set status = %s", status)
    order.grow()
    assert shop.conversions(_MONEY) == [(10_000, 2_000, 0, 0, status)]
    assert _ledger(shop) == [("earn", 800), ("earn", 1_200)]
    assert shop.brand.rows(
        "select event_type, amount_cents, commission_cents from conversion_event order by occurred_at"
    ) == [
        ("initial", 4_000, 800),
        ("adjustment", 6_000, 1_200),
    ]


@both
def test_rest_of_a_paid_conversion_is_paid_by_the_next_run_and_once(shop, payroll):
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


@both
def test_addition_while_a_payout_is_on_its_way_is_paid_by_the_next_one(shop, payroll):
    order = _Order(shop)
    payroll.run()
    order.grow()
    payroll.pay()
    assert shop.conversions("commission_cents, paid_cents, status = 'Paid'") == [(2_000, 800, False)]
    payroll.run()
    payroll.pay()
    assert payroll.payouts() == [("Paid", 800), ("Paid", 1_200)]
    assert shop.conversions("paid_cents, status") == [(2_000, "Paid")]


@both
def test_debt_of_a_paid_conversion_is_netted_with_what_is_added(shop, payroll):
    order = _Order(shop)
    payroll.run()
    payroll.pay()
    shop.wait()
    shop.hear(*shop.stage.refund(order.sale, 3_000))
    assert shop.conversions(_MONEY) == [(4_000, 800, 600, 800, "Paid")]

    order.grow()
    assert shop.conversions(_MONEY) == [(10_000, 2_000, 600, 800, "Approved")]
    payroll.run()
    payroll.pay()
    assert payroll.payouts() == [("Paid", 800), ("Paid", 600)]


@both
@pytest.mark.parametrize(("action", "back"), [("deny", None), ("invalidate", "validate")])
def test_denied_conversion_earns_nothing_more_and_all_of_it_when_it_earns_again(shop, action, back):
    order = _Order(shop)
    ((conversion_id,),) = shop.conversions("id")
    path, owner = f"/api/v1/conversions/{conversion_id}", shop.brand.person("Owner")
    decide = f"/api/conversions/{conversion_id}/deny" if action == "deny" else f"{path}/{action}"
    assert owner.post(decide, {"reason": "looks odd"}).status_code == 200
    status = shop.conversions("status")[0][0]

    order.grow()
    assert shop.conversions(_MONEY) == [(10_000, 2_000, 0, 0, status)]
    assert sum(cents for _, cents in _ledger(shop)) == 0
    if back is not None:
        assert owner.post(f"{path}/{back}").status_code == 200
        assert shop.conversions(_MONEY) == [(10_000, 2_000, 0, 0, "Pending")]
        assert sum(cents for _, cents in _ledger(shop)) == 2_000


@both
def test_disputed_conversion_grows_and_stays_out_of_payouts(shop, payroll):
    order = _Order(shop)
    shop.change("update conversion set disputed_at = now()")
    order.grow()
    assert shop.conversions(f"{_MONEY}, disputed_at is null") == [(10_000, 2_000, 0, 0, "Pending", False)]
    assert payroll.preview().planned.confirm_total_cents == 0


@both
def test_override_follows_its_sale_in_proportion(shop):
    _recruit(shop)
    order = _Order(shop)
    override = f"select {_MONEY} from conversion where parent_id is not null"
    assert shop.brand.rows(override) == [(0, 80, 0, 0, "Pending")]
    order.grow()
    assert shop.brand.rows(override) == [(0, 200, 0, 0, "Pending")]
    told = [told for told in shop.told("conversion.adjusted") if "parentAffiliateConversionId" in told]
    assert [(one["previousCommissionCents"], one["commissionCents"]) for one in told] == [(80, 200)]

    shop.change("update conversion set status = 'Paid', paid_cents = 200 where parent_id is not null")
    shop.wait()
    if shop.stage.gateway.name == "woocommerce":
        shop.hear(*shop.stage.change_total(order.sale, 12_000))
    else:
        shop.hear(*shop.stage.pay_part(order.sale, 2_000).notifications)
    assert shop.brand.rows(override) == [(0, 240, 0, 200, "Approved")]
    shop.change("update conversion set status = 'Pending', paid_cents = 0 where parent_id is not null")


@both
def test_override_that_is_not_written_yet_is_written_by_the_whole(shop):
    _recruit(shop)
    sale = shop.stage.pay(Purchase(cents=4_000))
    shop.deliver(*sale.notifications)
    drain("gateways")
    shop.wait()
    is_paypal = shop.stage.gateway.name == "paypal"
    shop.deliver(
        *(shop.stage.pay_part(sale, 6_000).notifications if is_paypal else shop.stage.change_total(sale, 10_000))
    )
    drain("gateways")
    assert shop.brand.rows("select from conversion where parent_id is not null") == []
    drain()
    assert shop.brand.rows("select commission_cents from conversion where parent_id is not null") == [(200,)]


@both
def test_override_whose_share_was_nothing_is_written_once_it_is_something(shop):
    _recruit(shop, "0.05")
    order = _Order(shop)
    assert shop.brand.rows("select from conversion where parent_id is not null") == []
    order.grow()
    assert shop.brand.rows("select commission_cents from conversion where parent_id is not null") == [(1,)]


@both
def test_referred_revenue_grows_on_the_day_of_the_sale(shop):
    order = _Order(shop)
    order.grow()
    assert shop.brand.rows("select net_cents from affiliate_revenue") == [(10_000,)]


@both
def test_fixed_commission_that_a_refund_took_is_given_back_as_the_order_grows(shop):
    shop.change("update program set default_commission_type = 'Fixed', default_commission_value = 10")
    order = _Order(shop)
    shop.wait()
    shop.hear(*shop.stage.refund(order.sale, 4_000))
    assert shop.conversions(_MONEY) == [(4_000, 1_000, 1_000, 0, "Refunded")]
    order.grow()
    assert shop.conversions(_MONEY) == [(10_000, 1_000, 400, 0, "Pending")]


@at_woocommerce
def test_edited_order_counts_without_tax_where_the_brand_counts_so(shop):
    shop.change("update organization set commission_basis = 'net'")
    sale = shop.stage.pay(Purchase(cents=11_800))
    order = shop.stage.orders[int(sale.id)]
    order["total_tax"] = "18.00"
    shop.hear(shop.stage.notify(order))
    assert shop.conversions("amount_cents, commission_cents") == [(10_000, 2_000)]

    shop.wait()
    order["total_tax"] = "21.60"
    shop.hear(*shop.stage.change_total(sale, 14_160))
    assert shop.conversions("amount_cents, commission_cents") == [(12_000, 2_400)]
    shop.wait()
    order["total_tax"] = "10.80"
    shop.hear(*shop.stage.change_total(sale, 7_080))
    assert shop.conversions("refunded_cents, reversed_cents") == [(6_000, 1_200)]


@at_woocommerce
def test_deleted_order_is_given_back_and_restored_with_it(shop):
    sale = shop.sell(cents=10_000)
    shop.hear(shop.stage.delete(sale))
    assert shop.conversions(_MONEY) == [(10_000, 2_000, 2_000, 0, "Refunded")]
    shop.hear(shop.stage.notify(shop.stage.orders[int(sale.id)], topic="order.restored"))
    assert shop.conversions(_MONEY) == [(10_000, 2_000, 0, 0, "Pending")]


@at_woocommerce
def test_free_order_that_is_raised_and_paid_later_is_a_sale(shop):
    sale = shop.sell(cents=0)
    assert shop.conversions("amount_cents") == []
    shop.wait()
    shop.hear(*shop.stage.change_total(sale, 4_000))
    assert shop.conversions(_MONEY) == [(4_000, 800, 0, 0, "Pending")]


@at_woocommerce
def test_reduced_order_that_is_credited_later_earns_for_what_it_comes_to(shop):
    shop.change("update tracking_link set deleted_at = now()")
    sale = shop.sell(cents=10_000)
    shop.wait()
    shop.hear(*shop.stage.change_total(sale, 4_000))
    assert shop.conversions("amount_cents") == []
    shop.change("update tracking_link set deleted_at = null")
    shop.wait()
    shop.hear(shop.stage.notify(shop.stage.orders[int(sale.id)] | {"date_modified_gmt": shop.stage._format_now()}))
    assert shop.conversions("commission_cents - reversed_cents") == [(800,)]


@at_woocommerce
def test_cancellation_that_no_event_reported_is_found_by_the_nightly_look(shop):
    sale = shop.sell(cents=10_000)
    shop.wait()
    shop.stage.cancel(sale)
    path = f"/api/v1/connections/{shop.connection['id']}/reconcile"
    for _ in range(2):
        assert shop.brand.person("Owner").post(path, {"since": "2026-01-01T00:00:00Z"}).status_code == 202
        drain()
    assert shop.conversions(_MONEY) == [(10_000, 2_000, 2_000, 0, "Refunded")]


@at_paypal
def test_dispute_of_one_part_takes_that_part_alone(shop):
    order = _Order(shop)
    order.grow()
    shop.wait()
    shop.hear(*shop.stage.dispute(order.sale, "lost"))
    assert shop.conversions(f"refunded_cents, {_MONEY}") == [(4_000, 10_000, 2_000, 800, 0, "Pending")]


@at_paypal
def test_part_that_only_the_report_lists_is_joined_too(shop):
    order = _Order(shop)
    shop.stage.pay_part(order.sale, 6_000)
    path = f"/api/v1/connections/{shop.connection['id']}/reconcile"
    since = (shop.stage.now.isoformat()).replace("+00:00", "Z")
    assert shop.brand.person("Owner").post(path, {"since": since}).status_code == 202
    drain()
    assert shop.conversions(_MONEY) == [(10_000, 2_000, 0, 0, "Pending")]
