"""Redeemed codes. Source: tracking spec, "Coupons" (rules 1 to 3, counting, free signups), section 3 (refunds)."""

import pytest

from tests.support.coupons import create_coupon, mint_code
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.gateways.stage import Purchase

_METHOD = "attribution_method"
_COUNTED = "select redemption_count from affiliate_coupon where id = %s"


def _owned(shop, owner="jane", *, text="SAVE-15", **fields):
    """Return a code of an affiliate, minted from a new coupon."""
    (affiliate,) = shop.brand.rows("select id from affiliate where email = %s", f"{owner}@example.com")
    return mint_code(shop.brand, affiliate[0], create_coupon(shop.brand, **fields)["id"], text)


def _count(shop, minted):
    ((count,),) = shop.brand.rows(_COUNTED, minted["id"])
    return count


def _shown(shop):
    answer = shop.brand.get("/api/v1/conversions").json
    return answer["items"] if isinstance(answer, dict) else answer


def test_a_code_that_overrides_wins_over_what_the_payment_names(shop):
    shop.brand.affiliate("ben")
    minted = _owned(shop, "ben")

    shop.sell(slug="jane", code="save-15")

    (sale,) = _shown(shop)
    assert (sale["affiliateId"], sale["attributionMethod"]) == (minted["affiliateId"], "coupon")
    assert (sale["couponCode"], sale["affiliateCouponId"]) == ("SAVE-15", minted["id"])
    (told,) = shop.told("conversion.created")
    assert (told["attributionMethod"], told["couponCode"]) == ("coupon", "SAVE-15")
    (shown,) = shop.brand.get(f"/api/v1/affiliates/{minted['affiliateId']}/coupons").json["items"]
    assert shown["redemptionCount"] == 1
    assert shown["lastRedeemedAt"] is not None


@pytest.mark.parametrize(
    ("named", "method", "is_counted"),
    [("jane", "metadata_or_customer", False), (None, "coupon", True), ("ben", "coupon_with_metadata", True)],
)
def test_a_code_that_does_not_override_comes_after_what_the_payment_names(shop, named, method, is_counted):
    shop.brand.affiliate("ben")
    minted = _owned(shop, "ben", overridesClickAttribution=False)

    shop.sell(slug=named, code="SAVE-15")

    (sale,) = _shown(shop)
    assert sale["attributionMethod"] == method
    assert sale["couponCode"] == ("SAVE-15" if is_counted else None)
    assert _count(shop, minted) == int(is_counted)


def test_a_code_that_overrides_is_a_coupon_even_where_the_payment_names_its_owner(shop):
    _owned(shop)
    shop.sell(slug="jane", code="SAVE-15")
    assert shop.conversions(_METHOD) == [("coupon",)]


@pytest.mark.parametrize(("overrides", "method"), [(True, "coupon"), (False, "coupon_with_metadata")])
def test_a_renewal_that_carries_the_code_is_a_redemption_too(shop, overrides, method):
    minted = _owned(shop, overridesClickAttribution=overrides)
    first = shop.sell(slug=None, code="SAVE-15")
    shop.sell(slug=None, code="SAVE-15", renews=first)
    shop.sell(slug=None, renews=first)

    assert shop.conversions(f"{_METHOD}, coupon_code") == [
        ("coupon", "SAVE-15"),
        (method, "SAVE-15"),
        ("stripe_customer_history", None),
    ]
    assert _count(shop, minted) == 2


def test_history_of_another_affiliate_goes_before_a_code_that_does_not_override(shop):
    shop.brand.affiliate("ben")
    minted = _owned(shop, "ben", overridesClickAttribution=False)
    first = shop.sell(slug="jane")
    shop.sell(slug=None, code="SAVE-15", renews=first)

    assert shop.conversions(_METHOD) == [("metadata_or_customer",)] * 2
    assert _count(shop, minted) == 0


def test_a_code_that_nobody_here_owns_credits_nobody(shop):
    shop.sell(slug=None, code="SUMMER")
    assert shop.events()[0] == ("invoice.paid", "Processed", "nobody_referred")


def test_a_revoked_code_that_the_gateway_still_took_credits_its_owner_and_the_log_says_so(shop):
    minted = _owned(shop)
    shop.brand.call("DELETE", f"/api/v1/affiliates/{minted['affiliateId']}/coupons/{minted['id']}")

    shop.sell(slug=None, code="SAVE-15", code_id=minted["processorPromotionCodeId"])

    ((conversion_id, method),) = shop.conversions(f"id, {_METHOD}")
    steps = shop.brand.get(f"/api/v1/conversions/{conversion_id}/attribution").json["steps"]
    assert method == "coupon"
    assert (steps[0]["outcome"], steps[0]["code"]) == ("matched", "revoked_coupon_overrides")
    assert "revoked" in steps[0]["detail"]


def test_a_code_in_force_goes_before_a_revoked_one_of_its_text(shop):
    shop.brand.affiliate("ben")
    gone = _owned(shop, "ben")
    shop.brand.call("DELETE", f"/api/v1/affiliates/{gone['affiliateId']}/coupons/{gone['id']}")
    minted = _owned(shop)

    shop.sell(slug=None, code="SAVE-15")

    assert (_count(shop, gone), _count(shop, minted)) == (0, 1)


def test_a_code_that_was_made_elsewhere_wins_like_a_coupon(shop):
    ben = shop.brand.affiliate("ben")
    shop.brand.post(f"/api/v1/affiliates/{ben}/coupons", {"code": "OLD", "external": True})

    shop.sell(slug="jane", code="OLD")

    assert shop.conversions(f"affiliate_id, {_METHOD}, coupon_code") == [(ben, "coupon", "OLD")]


def test_the_owner_of_a_code_who_is_not_approved_earns_nothing_and_nobody_else_does(shop):
    _owned(shop)
    shop.brand.affiliate("ben")
    shop.change("update affiliate set status = 'Paused' where email = 'jane@example.com'")

    shop.sell(slug="ben", code="SAVE-15")

    assert shop.conversions() == []
    assert [row["reason"] for row in shop.brand.get("/api/v1/uncredited-conversions").json] == ["affiliate_not_active"]


@pytest.mark.parametrize(("own", "rate_source", "cents"), [(None, "coupon", 1_200), (30, "affiliate", 3_000)])
def test_a_rate_of_the_coupons_own_stands_between_the_affiliates_and_all_others(shop, own, rate_source, cents):
    _owned(shop, commissionType="Percentage", commissionValue=12)
    if own is not None:
        rate = "custom_commission_type = 'Percentage', custom_commission_value = %s"
        shop.change(f"update affiliate set {rate} where email = 'jane@example.com'", own)

    shop.sell(cents=10_000, slug=None, code="SAVE-15")

    assert shop.conversions("rate_source, commission_cents") == [(rate_source, cents)]


def test_a_coupons_rate_is_for_sales_that_its_codes_credit(shop):
    shop.brand.affiliate("ben")
    _owned(shop, "ben", overridesClickAttribution=False, commissionType="Percentage", commissionValue=50)

    shop.sell(cents=10_000, slug="jane", code="SAVE-15")

    assert shop.conversions("rate_source, commission_cents") == [("program", 2_000)]


def test_a_redemption_counts_until_its_sale_is_refunded_in_full(shop):
    minted = _owned(shop)
    sale = shop.sell(cents=10_000, slug=None, code="SAVE-15")

    shop.hear(*shop.stage.refund(sale, 4_000))
    assert _count(shop, minted) == 1
    completing = shop.stage.refund(sale, 6_000)
    shop.hear(*completing)
    assert _count(shop, minted) == 0
    shop.hear(*completing)
    assert _count(shop, minted) == 0
    shop.wait()
    shop.hear(*shop.stage.restore(sale, 6_000))
    assert _count(shop, minted) == 1


def test_a_sale_that_comes_after_its_refund_counts_nothing(shop):
    minted = _owned(shop)
    sale = shop.stage.pay(Purchase(cents=10_000, slug=None, code="SAVE-15"))
    shop.hear(*shop.stage.refund(sale, 10_000), *sale.notifications)

    assert shop.conversions("status") == [("Refunded",)]
    assert _count(shop, minted) == 0


def test_a_signup_that_a_code_made_free_is_one_lead_and_the_later_sale_finds_it(shop):
    minted = _owned(shop, discountValue=100)
    buyer = {"customer": "7", "email": "eve@example.com", "slug": None}
    free = shop.stage.pay(Purchase(cents=0, code="SAVE-15", **buyer))
    subscription = {"id": "sub_7", "status": "active", "customer": "cus_7", "metadata": {}, "livemode": True}
    discount = {"id": "di_x", "promotion_code": {"id": minted["processorPromotionCodeId"], "code": "SAVE-15"}}
    shop.hear(
        shop.event("customer.subscription.created", {**subscription, "discounts": [discount]}), *free.notifications
    )

    (lead,) = _shown(shop)
    assert (lead["attributionMethod"], lead["amountCents"], lead["commissionCents"]) == ("lead_signup", 0, 0)
    assert (lead["couponCode"], lead["affiliateCouponId"], lead["type"]) == ("SAVE-15", minted["id"], "LeadReward")
    assert _count(shop, minted) == 1

    shop.sell(**buyer, renews=free)
    assert shop.conversions(f"{_METHOD}, coupon_code") == [("email_lead_match", None)]
    assert shop.brand.rows("select state from lead") == [("Converted",)]
    assert _count(shop, minted) == 1


def test_another_brands_code_is_not_known(shop, rival):
    rival.program()
    ben = rival.affiliate("ben")
    rival.post(f"/api/v1/affiliates/{ben}/coupons", {"code": "SAVE-15", "external": True})

    shop.sell(slug=None, code="SAVE-15")

    assert shop.conversions() == []


def test_the_code_stands_in_the_file_of_conversions(shop):
    _owned(shop)
    shop.sell(slug=None, code="SAVE-15")

    header, row = shop.brand.get("/api/v1/conversions/export.csv").text.strip().splitlines()
    assert dict(zip(header.split(","), row.split(","), strict=True))["coupon_code"] == "SAVE-15"


def test_of_several_codes_one_that_overrides_goes_first(shop):
    shop.brand.affiliate("ben")
    mild = _owned(shop, text="MILD", overridesClickAttribution=False)
    strong = _owned(shop, "ben", text="STRONG")
    discounts = [
        {"id": f"di_{one['code']}", "promotion_code": {"id": one["processorPromotionCodeId"], "code": one["code"]}}
        for one in (mild, strong)
    ]
    sale = shop.stage.pay(Purchase(slug="jane"))

    shop.hear(shop.changed(sale.notifications[0], discounts=discounts))

    assert shop.conversions(f"affiliate_id::text, {_METHOD}") == [(strong["affiliateId"], "coupon")]


def test_a_code_that_is_still_being_minted_credits_nobody_before_it_is_known_whose_it_is(shop, drain):
    minted = _owned(shop)
    shop.change(
        "update affiliate_coupon set status = 'Minting', processor_promotion_code_id = null where id = %s", minted["id"]
    )

    shop.sell(slug=None, code="SAVE-15")
    assert (shop.conversions(), _count(shop, minted)) == ([], 0)

    minted_id = minted["processorPromotionCodeId"]
    shop.change(
        "update affiliate_coupon set status = 'Active', processor_promotion_code_id = %s where id = %s",
        minted_id,
        minted["id"],
    )
    shop.change("update job set run_at = now() where queue = 'gateways'")
    drain()
    assert shop.conversions(_METHOD) == [("coupon",)]


def test_a_code_that_an_affiliate_minted_is_theirs_where_it_was_minted_alone(shop, drain):
    minted = _owned(shop)
    shop.change("update affiliate_coupon set origin = 'self_minted' where id = %s", minted["id"])
    with play_gateway("shopify") as store:
        there = connect_gateway(shop.brand.person("Owner"), store)
        sale = store.pay(Purchase(slug=None, code="SAVE-15"))
        path = "/" + there["webhookUrl"].split("/", 3)[3]
        for sent in sale.notifications:
            shop.brand.app.test_client().post(path, data=sent.body, headers=dict(sent.headers))
        drain()

    assert (shop.conversions(), _count(shop, minted)) == ([], 0)
