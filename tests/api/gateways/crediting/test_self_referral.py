"""Payments at a gateway whose buyer is the credited affiliate. Source: tracking spec, "Attribution method taxonomy"."""

import pytest

from tests.support.coupons import create_coupon, mint_code
from tests.support.gateways.stage import Purchase

_OWN_EMAIL = "jane+shop@example.com"
_COLUMNS = "attribution_method, self_referral, status, needs_approval"


def _set_policy(shop, policy):
    response = shop.brand.person("Owner").call("PATCH", "/api/organizations/me", {"selfReferrals": policy})
    assert response.status_code == 200


def _mint_code(shop, **fields):
    ((affiliate_id,),) = shop.brand.rows("select id from affiliate")
    return mint_code(shop.brand, affiliate_id, create_coupon(shop.brand, **fields)["id"], "SAVE-15")


def test_link_and_customer_history_credit_by_self_referral(shop):
    first = shop.sell(email=_OWN_EMAIL)
    shop.advance_clock()
    shop.sell(email=_OWN_EMAIL, slug=None, renews=first)

    assert shop.conversions(_COLUMNS) == [("self_referral", True, "Pending", False)] * 2


def test_purchase_of_another_person_keeps_its_method(shop):
    first = shop.sell()
    shop.advance_clock()
    shop.sell(slug=None, renews=first)

    assert shop.conversions("attribution_method, self_referral") == [
        ("metadata_or_customer", False),
        ("stripe_customer_history", False),
    ]


@pytest.mark.parametrize(
    ("overrides", "slug", "method"),
    [(True, "jane", "coupon"), (False, None, "coupon"), (False, "jane", "coupon_with_metadata")],
)
def test_crediting_code_keeps_its_method(shop, overrides, slug, method):
    _mint_code(shop, overridesClickAttribution=overrides)

    shop.sell(email=_OWN_EMAIL, slug=slug, code="SAVE-15")

    assert shop.conversions("attribution_method, self_referral") == [(method, True)]


def test_affiliates_own_link_precedes_another_affiliates_code(shop):
    _mint_code(shop, overridesClickAttribution=False)
    shop.brand.affiliate("ben")

    shop.sell(email="ben@example.com", slug="ben", code="SAVE-15")

    assert shop.conversions("attribution_method, self_referral") == [("self_referral", True)]


def test_lead_match_credits_by_self_referral(shop):
    shop.receive(*shop.stage.start_trial(Purchase(cents=0, email=_OWN_EMAIL)))
    shop.sell(slug=None, email=_OWN_EMAIL, customer="2")

    assert shop.conversions("attribution_method, self_referral") == [("self_referral", True)]
    assert shop.brand.rows("select attribution_method, self_referral from conversion where source = 'lead'") == [
        ("lead_signup", True)
    ]


@pytest.mark.parametrize(("policy", "status"), [("hold", "Pending"), ("deny", "Denied")])
@pytest.mark.parametrize("stage", ["stripe", "paddle"], indirect=True)
def test_policy_applies_to_payments_codes_and_trials(shop, policy, status):
    _set_policy(shop, policy)
    shop.receive(*shop.stage.start_trial(Purchase(cents=0, email=_OWN_EMAIL)))
    sale = shop.sell(email=_OWN_EMAIL, customer="2")

    is_held = policy == "hold"
    assert shop.conversions(_COLUMNS) == [("self_referral", True, status, is_held)]
    assert shop.brand.rows("select status, needs_approval from conversion where source = 'lead'") == [(status, is_held)]
    denial_reasons = [data["reason"] for data in shop.list_webhook_data("conversion.denied")]
    assert denial_reasons == ([] if is_held else ["self_referral"] * 2)

    shop.advance_clock()
    shop.receive(*shop.stage.refund(sale, 890))
    ((refunded, reversed_cents),) = shop.conversions("refunded_cents, reversed_cents")
    assert (refunded, reversed_cents > 0) == (890, is_held)


def test_self_referral_log_shows_the_payments_referral(shop):
    shop.sell(email=_OWN_EMAIL)

    ((conversion_id,),) = shop.conversions("id::text")
    log = shop.brand.get(f"/api/v1/conversions/{conversion_id}/attribution").json
    assert log["attributionMethod"] == "self_referral"
    assert [step["code"] for step in log["steps"] if step["outcome"] == "matched"] == ["referral_carried"]
