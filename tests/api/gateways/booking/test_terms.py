"""The commission of a gateway's payment: terms in force, recurring window, tiers, overrides, test sales."""

from datetime import timedelta
from decimal import Decimal


def test_delayed_first_invoice_of_a_customer_earns_nothing(shop):
    shop.change("update program set recurring_delay_invoices = 1")
    first = shop.sell(cents=10_000)
    shop.sell(cents=10_000, renews=first, email="other@example.com")
    shop.sell(cents=10_000, customer="2")
    assert shop.conversions("commission_cents") == [(0,), (2_000,), (0,)]


def test_payments_of_a_customer_earn_until_the_recurring_months_end(shop):
    shop.change("update program set recurring_months = 1")
    shop.change("update gateway_connection set connected_at = connected_at - interval '41 days'")
    shop.stage.now -= timedelta(days=40)
    first = shop.sell(cents=10_000)
    shop.stage.now += timedelta(days=20)
    shop.sell(cents=10_000, renews=first)
    shop.stage.now += timedelta(days=20)
    shop.sell(cents=10_000, renews=first)
    shop.sell(cents=10_000, customer="2")
    assert sorted(shop.conversions("commission_cents")) == [(0,), (2_000,), (2_000,), (2_000,)]


def test_renewal_earns_by_the_terms_at_its_time(shop):
    first = shop.sell(cents=10_000)
    shop.change("update program set default_commission_value = 10")
    shop.sell(cents=10_000, renews=first)
    assert shop.conversions("commission_cents") == [(2_000,), (1_000,)]


def test_recruiter_earns_an_override_of_every_payment(shop):
    recruiter = shop.brand.affiliate("rita")
    shop.change("update affiliate set recruited_by_affiliate_id = %s where id <> %s", recruiter, recruiter)
    shop.change("update program set sub_affiliate_enabled = true, sub_affiliate_percent = %s", Decimal(10))
    first = shop.sell(cents=10_000)
    shop.sell(cents=10_000, renews=first)
    assert shop.brand.rows(
        "select affiliate_id, commission_cents, type from conversion where parent_id is not null order by created_at"
    ) == [(recruiter, 200, "OneTime"), (recruiter, 200, "Recurring")]


def test_test_sale_is_an_unpaid_test_conversion(shop):
    shop.sell(is_test=True)
    (item,) = shop.brand.get("/api/v1/conversions").json["items"]
    details = shop.brand.get(f"/api/v1/conversions/{item['id']}").json
    assert (item["isTest"], details["isTest"]) == (True, True)
    assert shop.brand.rows("select net_cents from affiliate_revenue") == []
    assert shop.brand.rows("select distinct is_test from ledger_entry") == [(True,)]


def test_tier_revenue_follows_sales_refunds_and_restorations(shop):
    sale = shop.sell(cents=10_000)
    shop.receive(*shop.stage.refund(sale, 4_000))
    shop.receive(*shop.stage.restore(sale, 1_000))
    assert shop.brand.rows("select sum(net_cents)::int from affiliate_revenue") == [(7_000,)]


def test_signed_sales_return_409_while_a_live_connection_is_active(shop):
    response = shop.brand.sale(affiliateSlug="jane")
    assert (response.status_code, response.json["error"]) == (409, "stripe_connect_active")
    deletion = shop.brand.person("Owner").call("DELETE", f"/api/v1/connections/{shop.connection['id']}")
    assert deletion.status_code == 204
    assert shop.brand.sale(affiliateSlug="jane").status_code == 200
