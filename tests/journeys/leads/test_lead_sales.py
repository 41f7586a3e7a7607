"""From a recorded lead to its sale. Source: tracking spec, section 8 "Lead attribution order"."""

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
    detail = brand.get(f"/api/v1/conversions/{conversion_id}/attribution").json
    (step,) = (step for step in detail["steps"] if step["step"] == "email_match")
    return step["code"]


@pytest.mark.parametrize("email", [MAIL, " Cleo@Example.ORG ", "cleo+shop@example.org"])
def test_sale_inherits_the_sub_id_of_its_lead_and_converts_the_lead(shop, drain, email):
    lead_id = _lead(shop)

    conversion_id = _sell(shop, drain, email)

    assert _tag(shop, conversion_id) == "news"
    assert _state(shop, lead_id) == ("Converted", conversion_id)
    assert shop.rows("select attribution_method from conversion where id = %s", conversion_id) == [(None,)]
    assert _email_step(shop, conversion_id) == "lead_of_the_same_affiliate"


def test_inherited_tag_is_reported_in_the_event(shop, drain):
    _lead(shop)

    conversion_id = _sell(shop, drain)

    payloads = [json.loads(body)["data"] for (body,) in shop.rows("select body from event")]
    (data,) = (data for data in payloads if data.get("conversionId") == str(conversion_id))
    assert data["subId"] == "news"
    assert "attributionMethod" not in data


def test_sale_keeps_its_own_tag(shop, drain):
    lead_id = _lead(shop)

    conversion_id = _sell(shop, drain, subId="own")

    assert _tag(shop, conversion_id) == "own"
    assert _state(shop, lead_id) == ("Converted", conversion_id)


def test_later_sale_inherits_the_tag_but_the_lead_keeps_the_first(shop, drain):
    lead_id = _lead(shop)

    first, second = _sell(shop, drain), _sell(shop, drain)

    assert (_tag(shop, first), _tag(shop, second)) == ("news", "news")
    assert _state(shop, lead_id) == ("Converted", first)


def test_unsettled_sale_is_shown_with_its_tag(shop):
    lead_id = _lead(shop)
    answer = shop.sale(customerEmail=MAIL)

    detail = shop.get(f"/api/v1/conversions/{answer.json['conversionId']}").json

    assert detail["subId"] == "news"
    assert _state(shop, lead_id)[0] == "Converted"


def test_concurrent_sales_convert_the_lead_once(shop):
    lead_id = _lead(shop)
    conversion_ids = [shop.sale(customerEmail=MAIL).json["conversionId"] for _ in range(2)]

    detail = run_concurrently(
        *[
            lambda conversion_id=conversion_id: shop.get(f"/api/v1/conversions/{conversion_id}").json
            for conversion_id in conversion_ids
        ]
    )

    assert {conversion_id["subId"] for conversion_id in detail} == {"news"}
    state, converted_by = _state(shop, lead_id)
    assert (state, str(converted_by) in conversion_ids) == ("Converted", True)


def test_lead_of_another_affiliate_is_ignored_for_a_named_sale(shop, drain):
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


def test_own_older_lead_precedes_a_newer_foreign_one(shop, drain):
    own_lead = _lead(shop, subId="own")
    newer_lead = _lead(shop, slug="dora", subId="hers")

    conversion_id = _sell(shop, drain)

    assert _tag(shop, conversion_id) == "own"
    assert (_state(shop, own_lead)[0], _state(shop, newer_lead)[0]) == ("Converted", "Open")


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ("occurred_at = now() - interval '90 days'", "Open"),
        ("occurred_at = now() + interval '1 minute'", "Open"),
        ("state = 'Invalidated'", "Invalidated"),
    ],
    ids=["90 days old", "after the sale", "invalidated"],
)
def test_old_future_or_invalidated_lead_is_ignored(shop, drain, change, state):
    lead_id = _lead(shop)
    shop.rows(f"update lead set {change} where id = %s returning id", lead_id)

    conversion_id = _sell(shop, drain)

    assert _tag(shop, conversion_id) is None
    assert _state(shop, lead_id) == (state, None)
    assert _email_step(shop, conversion_id) == "decided_earlier"


def test_lead_just_under_ninety_days_counts(shop, drain):
    lead_id = _lead(shop)
    shop.rows("update lead set occurred_at = now() - interval '90 days' + interval '1 minute' returning id")

    assert _tag(shop, _sell(shop, drain)) == "news"
    assert _state(shop, lead_id)[0] == "Converted"


def test_sale_without_a_matching_email_ignores_leads(shop, drain):
    lead_id = _lead(shop)

    without_email, other = _sell(shop, drain, email=None), _sell(shop, drain, email="other@example.org")

    assert (_tag(shop, without_email), _tag(shop, other)) == (None, None)
    assert _state(shop, lead_id) == ("Open", None)


def test_test_and_live_sales_convert_only_their_own_leads(shop, drain):
    test_client = shop.other_key(is_test=True)
    live = _lead(shop)

    assert _tag(shop, _sell(test_client, drain)) is None
    assert _state(shop, live)[0] == "Open"

    test_lead = _lead(test_client, "tess@example.org")
    assert _tag(shop, _sell(shop, drain, "tess@example.org")) is None
    assert _state(shop, test_lead)[0] == "Open"
    assert _tag(shop, _sell(test_client, drain, "tess@example.org")) == "news"


def test_lead_of_another_tenant_is_ignored(shop, rival, drain):
    rival.program()
    rival.affiliate("ben")
    lead_id = _lead(rival)

    assert _tag(shop, _sell(shop, drain)) is None
    assert _state(rival, lead_id) == ("Open", None)


def test_self_purchase_converts_no_lead(shop, drain):
    lead_id = _lead(shop, "Ben+me@example.com")

    conversion_id = _sell(shop, drain, "ben@example.com")

    assert _tag(shop, conversion_id) is None
    assert _state(shop, lead_id) == ("Open", None)
    assert _email_step(shop, conversion_id) == "own_email"


def test_override_inherits_the_tag_of_its_sale(brand, drain):
    pair = Recruits.create(brand)
    _lead(brand)

    _sell(brand, drain)

    assert pair.overrides("sub_id") == [("news",)]


def test_rejected_sale_converts_no_lead(shop):
    lead_id = _lead(shop)
    shop.rows("update affiliate set status = 'Paused' where email = 'ben@example.com' returning id")

    assert shop.sale(customerEmail=MAIL).json["error"] == "affiliate_not_active"

    assert _state(shop, lead_id) == ("Open", None)


# Facts of a payment, as native connections report them, decided and stored by the same functions.

PAID_AT = datetime(2026, 5, 4, 12, tzinfo=UTC)


def _affiliate(brand, slug):
    ((affiliate_id, status, email),) = brand.rows(
        "select id, status, email_normalized from affiliate where email = %s", f"{slug}@example.com"
    )
    return NamedAffiliate(affiliate_id, status, email)


def _drop(brand, facts, event="invoice-1"):
    payment = credit.Payment(
        organization_id=brand.id, source="stripe", external_event_id=event, amount_cents=5_000, currency="EUR",
        is_test=False, occurred_at=PAID_AT,
    )  # fmt: skip
    with db.unit_of_work(brand.id):
        credit.stage_uncredited(payment, credit.decide(facts), program_id=brand.programs[-1])


@pytest.mark.parametrize(
    ("build_facts", "code"),
    [
        (lambda affiliate: {"coupon": Coupon(affiliate, overrides=True)}, "coupon_overrides"),
        (lambda affiliate: {"referral": Referral(affiliate, "stripe_metadata")}, "referral_carried"),
        (lambda affiliate: {"history": History(affiliate, "stripe_customer_history")}, "customer_known"),
        (lambda affiliate: {"coupon": Coupon(affiliate, overrides=False)}, "coupon_redeemed"),
        (lambda affiliate: {"lead": Lead(ids.new_id(), affiliate, PAID_AT), "buyer_email": MAIL}, "lead_matched"),
        (lambda affiliate: {"signup": Signup(affiliate, "mailer")}, "platform_signup"),
    ],
)
def test_payment_of_an_ineligible_affiliate_is_listed_once_with_reasons(brand, build_facts, code):
    brand.program()
    brand.affiliate("ben", status="Banned")
    facts = Facts(paid_at=PAID_AT, gateway="stripe", **build_facts(_affiliate(brand, "ben")))

    _drop(brand, facts)
    _drop(brand, facts)

    (row,) = brand.get("/api/v1/uncredited-conversions").json
    assert (row["amountCents"], row["currency"], row["reason"]) == (5_000, "EUR", "affiliate_not_active")
    assert row["affiliateStatusAtDrop"] == "Banned"
    assert [step["code"] for step in row["attribution"] if step["outcome"] == "matched"] == [code]
