"""Step 6: a sale that nobody else claimed is credited by what a platform knows of its buyer."""

import pytest

from tests.support.gateways.stage import Purchase
from tests.support.job_queues import drain
from tests.support.platforms.platform_connections import STAGES

ANN = "ann@example.com"
_SHOWN = "external_event_id, amount_cents, commission_cents, status, attribution_method"


def _jobs(shop):
    return shop.brand.rows("select name from job where name = 'platform.lookup'")


@pytest.mark.parametrize("platform", STAGES, indirect=True)
def test_a_sale_that_nobody_else_claimed_is_credited_by_the_platform(shop, platform):
    platform.add_person(ANN, slug="jane")
    sale = shop.sell(slug=None, cents=10_000)
    method = f"crm_lookup:{platform.platform.name}"
    assert shop.conversions(_SHOWN) == [(sale.id, 10_000, 2_000, "Pending", method)]
    assert [(told["attributionMethod"], told["commissionCents"]) for told in shop.told("conversion.created")] == [
        (method, 2_000)
    ]
    ((conversion_id,),) = shop.conversions("id")
    assert shop.events("reason, conversion_ids")[0] == (None, [conversion_id])
    assert shop.brand.rows("select count(*) from platform_lookup") == [(0,)]
    assert _jobs(shop) == []
    assert platform.count_lookups() == 1


def test_the_conversion_has_the_sales_own_time_and_the_six_steps(shop, platform, until_next):
    sale = shop.sell(slug=None)
    ((paid_at,),) = shop.brand.rows("select paid_at from gateway_payment")
    platform.add_person(ANN, slug="jane")
    until_next()
    drain()
    assert shop.conversions("external_event_id, occurred_at, hold_until >= occurred_at") == [(sale.id, paid_at, True)]
    ((conversion_id,),) = shop.conversions("id")
    steps = shop.brand.get(f"/api/v1/conversions/{conversion_id}/attribution").json["steps"]
    assert [(step["step"], step["outcome"]) for step in steps][-1] == ("platform_lookup", "matched")
    assert [step["code"] for step in steps] == [
        "no_coupon", "no_referral", "customer_unknown", "no_coupon", "no_lead", "platform_signup"
    ]  # fmt: skip


def test_the_sale_is_booked_before_any_platform_is_asked(shop, platform):
    platform.add_person(ANN, slug="jane")
    assert set(shop.deliver(*shop.stage.pay(Purchase(slug=None)).notifications)) == {200}
    drain("gateways")
    assert shop.events()[0] == ("invoice.paid", "Processed", "nobody_referred")
    assert (platform.calls[1:], len(_jobs(shop))) == ([], 1)


@pytest.mark.parametrize("purchase", [{"slug": "jane"}, {"email": None}, {"cents": 0}], ids=["named", "nobody", "zero"])
def test_of_a_sale_that_is_credited_or_has_no_email_or_is_of_nothing_nobody_is_asked(shop, platform, purchase):
    for customer in shop.stage.objects:
        shop.stage.objects[customer].pop("email", None)
    sale = shop.stage.pay(Purchase(**{"slug": None} | purchase))
    if purchase.get("email", "") is None:
        shop.stage.objects["/v1/customers/cus_1"]["email"] = None
    shop.hear(*sale.notifications)
    assert platform.count_lookups() == 0
    assert _jobs(shop) == []


def test_without_a_platform_that_credits_sales_nothing_is_kept_or_asked(shop, connect):
    shop.sell(slug=None)
    platform = connect()
    shop.brand.person("Owner").call("PATCH", f"/api/v1/platforms/{platform.connection['id']}", {"creditSales": False})
    shop.sell(slug=None)
    assert shop.brand.rows("select count(*) from platform_lookup") == [(0,)]
    assert (platform.count_lookups(), _jobs(shop)) == (0, [])


def test_the_first_connected_platform_that_names_somebody_approved_wins(shop, connect):
    shop.brand.affiliate("rob", status="Paused")
    shop.brand.affiliate("sue")
    first, second, third = connect("hubspot"), connect("kit"), connect("beehiiv")
    first.add_person(ANN, slug="rob")
    second.add_person(ANN, slug="sue")
    third.add_person(ANN, slug="jane")
    shop.sell(slug=None)
    assert shop.conversions("attribution_method") == [("crm_lookup:kit",)]
    assert shop.brand.get("/api/v1/uncredited-conversions").json == []


def test_the_order_within_a_platform_passes_over_who_cannot_earn(shop, platform):
    shop.brand.affiliate("rob", status="Banned")
    platform.add_person(ANN, fields={"affiliate_slug": "rob", "via": "JANE"})
    shop.sell(slug=None)
    ((affiliate_id,),) = shop.conversions("affiliate_id")
    assert shop.brand.rows("select slug from tracking_link where affiliate_id = %s", affiliate_id) == [("jane",)]


def test_somebody_who_cannot_earn_is_listed_once_when_nobody_else_can_be_named(shop, platform):
    shop.change("update affiliate set status = 'Paused'")
    platform.add_person(ANN, slug="jane")
    sale = shop.sell(slug=None, cents=10_000)
    drain()
    assert shop.conversions() == []
    assert shop.brand.rows("select external_event_id, amount_cents from uncredited_conversion") == [(sale.id, 10_000)]
    assert shop.events()[0] == ("invoice.paid", "Processed", "affiliate_not_active")


@pytest.mark.parametrize("slug", ["nobodys", "rivals"])
def test_a_slug_that_leads_nowhere_here_credits_nobody(shop, platform, rival, slug):
    rival.program()
    rival.affiliate("rivals")
    platform.add_person(ANN, slug=slug)
    shop.sell(slug=None)
    assert shop.conversions() == []
    assert shop.events()[0] == ("invoice.paid", "Processed", "nobody_referred")
    assert _jobs(shop) == []


def test_an_affiliate_of_a_closed_campaign_is_not_credited(shop, platform):
    shop.change("update program set is_active = false")
    platform.add_person(ANN, slug="jane")
    shop.sell(slug=None)
    assert shop.conversions() == []
    assert shop.brand.get("/api/v1/uncredited-conversions").json == []


def test_an_affiliate_who_buys_for_themselves_is_credited(shop, platform):
    ((email,),) = shop.brand.rows("select email from affiliate")
    platform.add_person(email, slug="jane")
    shop.sell(slug=None, email=email)
    assert shop.conversions("attribution_method") == [("self_referral",)]


def test_the_buyers_own_address_is_asked_for_with_its_tag(shop, platform):
    platform.add_person("Ann+News@Example.com", slug="jane")
    shop.sell(slug=None, email="ann+news@example.com")
    assert len(shop.conversions()) == 1


def test_the_field_that_the_brand_chose_and_its_own_parameters_count(shop, connect):
    platform = connect(slugField="Partner")
    platform.add_person(ANN, fields={"partner": "jane"})
    shop.sell(slug=None)
    owner = shop.brand.person("Owner")
    owner.call("PATCH", "/api/v1/settings/attribution-params", {"custom": "utm_source"})
    platform.add_person("bob@example.com", marks={"utm_source": "jane"})
    shop.sell(slug=None, customer="2", email="bob@example.com")
    assert len(shop.conversions()) == 2


def test_a_rehearsal_stays_one(shop, platform):
    platform.add_person(ANN, slug="jane")
    shop.sell(slug=None, is_test=True)
    assert shop.conversions("is_test, attribution_method") == [(True, "crm_lookup:kit")]


def test_every_pointer_three_times_credits_once(shop, platform):
    platform.add_person(ANN, slug="jane")
    shop.deliver(*shop.stage.pay(Purchase(slug=None)).notifications)
    drain(deliveries=3)
    assert len(shop.conversions()) == 1
    assert len(shop.told("conversion.created")) == 1


def test_later_payments_of_the_customer_follow_by_their_history(shop, platform, until_next):
    first = shop.sell(slug=None)
    shop.sell(slug=None, renews=first)
    shop.change(
        "delete from job where (args ->> 'lookup_id')::uuid not in"
        " (select id from platform_lookup order by started_at limit 1) and name = 'platform.lookup'"
    )
    platform.add_person(ANN, slug="jane")
    until_next()
    drain()
    assert shop.conversions("type, attribution_method") == [
        ("OneTime", "crm_lookup:kit"),
        ("Recurring", "stripe_customer_history"),
    ]
