"""Step 6: an uncredited sale is credited by a platform's record of its buyer."""

import pytest

from tests.support.gateways.stage import Purchase
from tests.support.job_queues import drain
from tests.support.platforms.platform_connections import STAGES

ANN = "ann@example.com"
_COLUMNS = "external_event_id, amount_cents, commission_cents, status, attribution_method"


def _list_lookup_jobs(shop):
    return shop.brand.rows("select name from job where name = 'platform.lookup'")


@pytest.mark.parametrize("platform", STAGES, indirect=True)
def test_uncredited_sale_is_credited_by_the_platform(shop, platform):
    platform.add_person(ANN, slug="jane")
    sale = shop.sell(slug=None, cents=10_000)
    method = f"crm_lookup:{platform.platform.name}"
    assert shop.conversions(_COLUMNS) == [(sale.id, 10_000, 2_000, "Pending", method)]
    assert [
        (data["attributionMethod"], data["commissionCents"]) for data in shop.list_webhook_data("conversion.created")
    ] == [(method, 2_000)]
    ((conversion_id,),) = shop.conversions("id")
    assert shop.events("reason, conversion_ids")[0] == (None, [conversion_id])
    assert shop.brand.rows("select count(*) from platform_lookup") == [(0,)]
    assert _list_lookup_jobs(shop) == []
    assert platform.count_lookups() == 1


def test_conversion_has_the_sales_time_and_six_attribution_steps(shop, platform, skip_to_next_lookup):
    sale = shop.sell(slug=None)
    ((paid_at,),) = shop.brand.rows("select paid_at from gateway_payment")
    platform.add_person(ANN, slug="jane")
    skip_to_next_lookup()
    drain()
    assert shop.conversions("external_event_id, occurred_at, hold_until >= occurred_at") == [(sale.id, paid_at, True)]
    ((conversion_id,),) = shop.conversions("id")
    steps = shop.brand.get(f"/api/v1/conversions/{conversion_id}/attribution").json["steps"]
    assert [(step["step"], step["outcome"]) for step in steps][-1] == ("platform_lookup", "matched")
    assert [step["code"] for step in steps] == [
        "no_coupon", "no_referral", "customer_unknown", "no_coupon", "no_lead", "platform_signup"
    ]  # fmt: skip


def test_payment_event_is_processed_before_the_look_up(shop, platform):
    platform.add_person(ANN, slug="jane")
    assert set(shop.deliver(*shop.stage.pay(Purchase(slug=None)).notifications)) == {200}
    drain("gateways")
    assert shop.events()[0] == ("invoice.paid", "Processed", "nobody_referred")
    assert (platform.calls[1:], len(_list_lookup_jobs(shop))) == ([], 1)


@pytest.mark.parametrize(
    "purchase", [{"slug": "jane"}, {"email": None}, {"cents": 0}], ids=["credited", "no-email", "zero-amount"]
)
def test_credited_sale_or_sale_without_email_or_amount_has_no_look_up(shop, platform, purchase):
    for path in shop.stage.objects:
        shop.stage.objects[path].pop("email", None)
    sale = shop.stage.pay(Purchase(**{"slug": None} | purchase))
    if purchase.get("email", "") is None:
        shop.stage.objects["/v1/customers/cus_1"]["email"] = None
    shop.receive(*sale.notifications)
    assert platform.count_lookups() == 0
    assert _list_lookup_jobs(shop) == []


def test_no_look_up_without_a_platform_that_credits_sales(shop, connect):
    shop.sell(slug=None)
    platform = connect()
    shop.brand.person("Owner").call("PATCH", f"/api/v1/platforms/{platform.connection['id']}", {"creditSales": False})
    shop.sell(slug=None)
    assert shop.brand.rows("select count(*) from platform_lookup") == [(0,)]
    assert (platform.count_lookups(), _list_lookup_jobs(shop)) == (0, [])


def test_first_connected_platform_with_an_approved_affiliate_wins(shop, connect):
    shop.brand.affiliate("rob", status="Paused")
    shop.brand.affiliate("sue")
    first, second, third = connect("hubspot"), connect("kit"), connect("beehiiv")
    first.add_person(ANN, slug="rob")
    second.add_person(ANN, slug="sue")
    third.add_person(ANN, slug="jane")
    shop.sell(slug=None)
    assert shop.conversions("attribution_method") == [("crm_lookup:kit",)]
    assert shop.brand.get("/api/v1/uncredited-conversions").json == []


def test_banned_affiliates_slug_is_skipped_within_a_platform(shop, platform):
    shop.brand.affiliate("rob", status="Banned")
    platform.add_person(ANN, fields={"affiliate_slug": "rob", "via": "JANE"})
    shop.sell(slug=None)
    ((affiliate_id,),) = shop.conversions("affiliate_id")
    assert shop.brand.rows("select slug from tracking_link where affiliate_id = %s", affiliate_id) == [("jane",)]


def test_sale_naming_only_a_paused_affiliate_is_listed_once_as_uncredited(shop, platform):
    shop.change("update affiliate set status = 'Paused'")
    platform.add_person(ANN, slug="jane")
    sale = shop.sell(slug=None, cents=10_000)
    drain()
    assert shop.conversions() == []
    assert shop.brand.rows("select external_event_id, amount_cents from uncredited_conversion") == [(sale.id, 10_000)]
    assert shop.events()[0] == ("invoice.paid", "Processed", "affiliate_not_active")


@pytest.mark.parametrize("slug", ["unknown", "rivals"])
def test_unknown_or_other_tenants_slug_credits_no_one(shop, platform, rival, slug):
    rival.program()
    rival.affiliate("rivals")
    platform.add_person(ANN, slug=slug)
    shop.sell(slug=None)
    assert shop.conversions() == []
    assert shop.events()[0] == ("invoice.paid", "Processed", "nobody_referred")
    assert _list_lookup_jobs(shop) == []


def test_affiliate_of_closed_campaign_is_not_credited(shop, platform):
    shop.change("update program set is_active = false")
    platform.add_person(ANN, slug="jane")
    shop.sell(slug=None)
    assert shop.conversions() == []
    assert shop.brand.get("/api/v1/uncredited-conversions").json == []


def test_affiliates_own_purchase_is_credited(shop, platform):
    ((email,),) = shop.brand.rows("select email from affiliate")
    platform.add_person(email, slug="jane")
    shop.sell(slug=None, email=email)
    assert shop.conversions("attribution_method") == [("self_referral",)]


def test_look_up_uses_the_buyers_email_with_its_tag(shop, platform):
    platform.add_person("Ann+News@Example.com", slug="jane")
    shop.sell(slug=None, email="ann+news@example.com")
    assert len(shop.conversions()) == 1


def test_brands_slug_field_and_custom_parameters_are_read(shop, connect):
    platform = connect(slugField="Partner")
    platform.add_person(ANN, fields={"partner": "jane"})
    shop.sell(slug=None)
    owner = shop.brand.person("Owner")
    owner.call("PATCH", "/api/v1/settings/attribution-params", {"custom": "utm_source"})
    platform.add_person("bob@example.com", marks={"utm_source": "jane"})
    shop.sell(slug=None, customer="2", email="bob@example.com")
    assert len(shop.conversions()) == 2


def test_test_sale_becomes_a_test_conversion(shop, platform):
    platform.add_person(ANN, slug="jane")
    shop.sell(slug=None, is_test=True)
    assert shop.conversions("is_test, attribution_method") == [(True, "crm_lookup:kit")]


def test_look_up_delivered_three_times_credits_once(shop, platform):
    platform.add_person(ANN, slug="jane")
    shop.deliver(*shop.stage.pay(Purchase(slug=None)).notifications)
    drain(deliveries=3)
    assert len(shop.conversions()) == 1
    assert len(shop.list_webhook_data("conversion.created")) == 1


def test_later_payments_of_the_customer_are_credited_by_history(shop, platform, skip_to_next_lookup):
    first = shop.sell(slug=None)
    shop.sell(slug=None, renews=first)
    shop.change(
        "delete from job where (args ->> 'lookup_id')::uuid not in"
        " (select id from platform_lookup order by started_at limit 1) and name = 'platform.lookup'"
    )
    platform.add_person(ANN, slug="jane")
    skip_to_next_lookup()
    drain()
    assert shop.conversions("type, attribution_method") == [
        ("OneTime", "crm_lookup:kit"),
        ("Recurring", "stripe_customer_history"),
    ]
