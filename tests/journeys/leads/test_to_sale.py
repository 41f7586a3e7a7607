"""From a recorded lead to the sale that it becomes. Source: tracking spec, section 8 "Lead attribution order"."""

import json
from datetime import UTC, datetime
from uuid import UUID

import pytest

from domain.attribution import Coupon, Facts, History, Lead, NamedAffiliate, Referral, Signup
from models import db, ids
from pipelines.conversions import credit
from tests.support.api.concurrency import run_concurrently
from tests.support.recruits import Recruits

MAIL = "cleo@example.org"


@pytest.fixture
def shop(brand):
    """The brand with one campaign and the affiliates ben and dora."""
    brand.program()
    brand.affiliate("ben")
    brand.affiliate("dora")
    return brand


def _lead(brand, email=MAIL, *, slug="ben", **fields):
    answer = brand.post_signed("/api/tracking/lead", {"affiliateSlug": slug, "email": email, "subId": "news"} | fields)
    assert "leadId" in (answer.json or {}), answer.data
    return UUID(answer.json["leadId"])


def _sell(brand, drain, email=MAIL, **fields):
    answer = brand.sale(customerEmail=email, **fields)
    assert answer.status_code == 200, answer.data
    drain()
    return UUID(answer.json["conversionId"])


def _tag(brand, conversion_id):
    return brand.rows("select sub_id from conversion where id = %s", conversion_id)[0][0]


def _state(brand, lead_id):
    return brand.rows("select state, converted_by_conversion_id from lead where id = %s", lead_id)[0]


def _email_step(brand, conversion_id):
    shown = brand.get(f"/api/v1/conversions/{conversion_id}/attribution").json
    (step,) = (step for step in shown["steps"] if step["step"] == "email_match")
    return step["code"]


@pytest.mark.parametrize("email", [MAIL, " Cleo@Example.ORG ", "cleo+shop@example.org"])
def test_a_sale_to_the_person_of_a_lead_takes_over_its_tag_and_converts_it(shop, drain, email):
    lead_id = _lead(shop)

    conversion_id = _sell(shop, drain, email)

    assert _tag(shop, conversion_id) == "news"
    assert _state(shop, lead_id) == ("Converted", conversion_id)
    assert shop.rows("select attribution_method from conversion where id = %s", conversion_id) == [(None,)]
    assert _email_step(shop, conversion_id) == "lead_of_the_same_affiliate"


def test_the_brand_is_told_the_tag_that_was_taken_over(shop, drain):
    _lead(shop)

    conversion_id = _sell(shop, drain)

    payloads = [json.loads(body)["data"] for (body,) in shop.rows("select body from event")]
    (told,) = (data for data in payloads if data.get("conversionId") == str(conversion_id))
    assert told["subId"] == "news"
    assert "attributionMethod" not in told


def test_a_sale_keeps_a_tag_of_its_own(shop, drain):
    lead_id = _lead(shop)

    conversion_id = _sell(shop, drain, subId="own")

    assert _tag(shop, conversion_id) == "own"
    assert _state(shop, lead_id) == ("Converted", conversion_id)


def test_a_later_sale_inherits_too_and_the_lead_stays_the_first_ones(shop, drain):
    lead_id = _lead(shop)

    first, second = _sell(shop, drain), _sell(shop, drain)

    assert (_tag(shop, first), _tag(shop, second)) == ("news", "news")
    assert _state(shop, lead_id) == ("Converted", first)


def test_a_sale_that_is_read_before_any_worker_ran_has_its_tag(shop):
    lead_id = _lead(shop)
    answer = shop.sale(customerEmail=MAIL)

    shown = shop.get(f"/api/v1/conversions/{answer.json['conversionId']}").json

    assert shown["subId"] == "news"
    assert _state(shop, lead_id)[0] == "Converted"


def test_two_sales_settled_at_once_convert_the_lead_once(shop):
    lead_id = _lead(shop)
    sold = [shop.sale(customerEmail=MAIL).json["conversionId"] for _ in range(2)]

    shown = run_concurrently(*[lambda one=one: shop.get(f"/api/v1/conversions/{one}").json for one in sold])

    assert {one["subId"] for one in shown} == {"news"}
    state, converted_by = _state(shop, lead_id)
    assert (state, str(converted_by) in sold) == ("Converted", True)


def test_the_lead_of_another_affiliate_gives_way_to_the_one_the_sale_names(shop, drain):
    lead_id = _lead(shop, slug="dora")

    conversion_id = _sell(shop, drain)

    assert _tag(shop, conversion_id) is None
    assert _state(shop, lead_id) == ("Open", None)
    assert _email_step(shop, conversion_id) == "lead_of_another_affiliate"
    ((credited, slug),) = shop.rows(
        "select c.affiliate_id = l.affiliate_id, l.slug from conversion c join tracking_link l"
        " on l.affiliate_id = c.affiliate_id where c.id = %s",
        conversion_id,
    )
    assert (credited, slug) == (True, "ben")


def test_the_affiliates_own_lead_counts_though_anothers_is_newer(shop, drain):
    own = _lead(shop, subId="own")
    newer = _lead(shop, slug="dora", subId="hers")

    conversion_id = _sell(shop, drain)

    assert _tag(shop, conversion_id) == "own"
    assert (_state(shop, own)[0], _state(shop, newer)[0]) == ("Converted", "Open")


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ("occurred_at = now() - interval '90 days'", "Open"),
        ("occurred_at = now() + interval '1 minute'", "Open"),
        ("state = 'Invalidated'", "Invalidated"),
    ],
    ids=["90 days old", "after the sale", "invalidated"],
)
def test_what_is_no_lead_of_the_sale_changes_nothing(shop, drain, change, state):
    lead_id = _lead(shop)
    shop.rows(f"update lead set {change} where id = %s returning id", lead_id)

    conversion_id = _sell(shop, drain)

    assert _tag(shop, conversion_id) is None
    assert _state(shop, lead_id) == (state, None)
    assert _email_step(shop, conversion_id) == "decided_earlier"


def test_a_lead_that_is_nearly_ninety_days_old_counts(shop, drain):
    lead_id = _lead(shop)
    shop.rows("update lead set occurred_at = now() - interval '90 days' + interval '1 minute' returning id")

    assert _tag(shop, _sell(shop, drain)) == "news"
    assert _state(shop, lead_id)[0] == "Converted"


def test_a_sale_without_an_email_or_to_somebody_else_leaves_leads_alone(shop, drain):
    lead_id = _lead(shop)

    unnamed, other = _sell(shop, drain, email=None), _sell(shop, drain, email="other@example.org")

    assert (_tag(shop, unnamed), _tag(shop, other)) == (None, None)
    assert _state(shop, lead_id) == ("Open", None)


def test_a_sale_with_a_test_key_converts_no_live_lead_and_the_other_way_round(shop, drain):
    rehearsal = shop.other_key(is_test=True)
    live = _lead(shop)

    assert _tag(shop, _sell(rehearsal, drain)) is None
    assert _state(shop, live)[0] == "Open"

    rehearsed = _lead(rehearsal, "tess@example.org")
    assert _tag(shop, _sell(shop, drain, "tess@example.org")) is None
    assert _state(shop, rehearsed)[0] == "Open"
    assert _tag(shop, _sell(rehearsal, drain, "tess@example.org")) == "news"


def test_the_lead_of_another_tenant_is_unknown_here(shop, rival, drain):
    rival.program()
    rival.affiliate("ben")
    lead_id = _lead(rival)

    assert _tag(shop, _sell(shop, drain)) is None
    assert _state(rival, lead_id) == ("Open", None)


def test_an_affiliate_who_buys_for_themselves_converts_no_lead(shop, drain):
    lead_id = _lead(shop, "Ben+me@example.com")

    conversion_id = _sell(shop, drain, "ben@example.com")

    assert _tag(shop, conversion_id) is None
    assert _state(shop, lead_id) == ("Open", None)
    assert _email_step(shop, conversion_id) == "own_email"


def test_the_recruiters_share_has_the_tag_that_its_sale_took_over(brand, drain):
    pair = Recruits.create(brand)
    _lead(brand)

    _sell(brand, drain)

    assert pair.overrides("sub_id") == [("news",)]


def test_no_sale_means_no_converted_lead(shop):
    lead_id = _lead(shop)
    shop.rows("update affiliate set status = 'Paused' where email = 'ben@example.com' returning id")

    assert shop.sale(customerEmail=MAIL).json["error"] == "affiliate_not_active"

    assert _state(shop, lead_id) == ("Open", None)


# What native connections will bring: facts of a payment, decided and kept by the same functions.

PAID_AT = datetime(2026, 5, 4, 12, tzinfo=UTC)


def _affiliate(brand, slug):
    ((found, status, email),) = brand.rows(
        "select id, status, email_normalized from affiliate where email = %s", f"{slug}@example.com"
    )
    return NamedAffiliate(found, status, email)


def _drop(brand, facts, event="invoice-1"):
    payment = credit.Payment(
        organization_id=brand.id, source="stripe", external_event_id=event, amount_cents=5_000, currency="EUR",
        is_test=False, occurred_at=PAID_AT,
    )  # fmt: skip
    with db.unit_of_work(brand.id):
        credit.stage_uncredited(payment, credit.decide(facts), program_id=brand.programs[-1])


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (lambda whose: {"coupon": Coupon(whose, overrides=True)}, "coupon_overrides"),
        (lambda whose: {"referral": Referral(whose, "stripe_metadata")}, "referral_carried"),
        (lambda whose: {"history": History(whose, "stripe_customer_history")}, "customer_known"),
        (lambda whose: {"coupon": Coupon(whose, overrides=False)}, "coupon_redeemed"),
        (lambda whose: {"lead": Lead(ids.new_id(), whose, PAID_AT), "buyer_email": MAIL}, "lead_matched"),
        (lambda whose: {"signup": Signup(whose, "mailer")}, "platform_signup"),
    ],
)
def test_a_payment_of_an_affiliate_who_cannot_earn_is_listed_once_with_its_reasons(brand, given, code):
    brand.program()
    brand.affiliate("ben", status="Banned")
    facts = Facts(paid_at=PAID_AT, gateway="stripe", **given(_affiliate(brand, "ben")))

    _drop(brand, facts)
    _drop(brand, facts)

    (row,) = brand.get("/api/v1/uncredited-conversions").json
    assert (row["amountCents"], row["currency"], row["reason"]) == (5_000, "EUR", "affiliate_not_active")
    assert row["affiliateStatusAtDrop"] == "Banned"
    assert [step["code"] for step in row["attribution"] if step["outcome"] == "matched"] == [code]
