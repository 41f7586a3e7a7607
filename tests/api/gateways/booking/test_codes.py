"""Redeemed codes. Source: tracking spec, "Coupons" (rules 1 to 3, counting, free signups), section 3 (refunds)."""

import pytest

from tests.support.coupons import create_coupon, mint_code
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.gateways.stage import Purchase

_METHOD = "attribution_method"
_REDEMPTION_COUNT = "select redemption_count from affiliate_coupon where id = %s"


def _mint_code(shop, owner="jane", *, text="SAVE-15", **fields):
    """Mint a code of an affiliate from a new coupon; return it."""
    (affiliate,) = shop.brand.rows("select id from affiliate where email = %s", f"{owner}@example.com")
    return mint_code(shop.brand, affiliate[0], create_coupon(shop.brand, **fields)["id"], text)


def _count_redemptions(shop, minted):
    ((count,),) = shop.brand.rows(_REDEMPTION_COUNT, minted["id"])
    return count


def _list_conversions(shop):
    body = shop.brand.get("/api/v1/conversions").json
    return body["items"] if isinstance(body, dict) else body


def test_overriding_code_precedes_the_payments_slug(shop):
    shop.brand.affiliate("ben")
    minted = _mint_code(shop, "ben")

    shop.sell(slug="jane", code="save-15")

    (sale,) = _list_conversions(shop)
    assert (sale["affiliateId"], sale["attributionMethod"]) == (minted["affiliateId"], "coupon")
    assert (sale["couponCode"], sale["affiliateCouponId"]) == ("SAVE-15", minted["id"])
    (data,) = shop.list_webhook_data("conversion.created")
    assert (data["attributionMethod"], data["couponCode"]) == ("coupon", "SAVE-15")
    (coupon,) = shop.brand.get(f"/api/v1/affiliates/{minted['affiliateId']}/coupons").json["items"]
    assert coupon["redemptionCount"] == 1
    assert coupon["lastRedeemedAt"] is not None


@pytest.mark.parametrize(
    ("slug", "method", "is_counted"),
    [("jane", "metadata_or_customer", False), (None, "coupon", True), ("ben", "coupon_with_metadata", True)],
)
def test_non_overriding_code_comes_after_the_payments_slug(shop, slug, method, is_counted):
    shop.brand.affiliate("ben")
    minted = _mint_code(shop, "ben", overridesClickAttribution=False)

    shop.sell(slug=slug, code="SAVE-15")

    (sale,) = _list_conversions(shop)
    assert sale["attributionMethod"] == method
    assert sale["couponCode"] == ("SAVE-15" if is_counted else None)
    assert _count_redemptions(shop, minted) == int(is_counted)


def test_overriding_code_of_the_named_affiliate_has_method_coupon(shop):
    _mint_code(shop)
    shop.sell(slug="jane", code="SAVE-15")
    assert shop.conversions(_METHOD) == [("coupon",)]


@pytest.mark.parametrize(("overrides", "method"), [(True, "coupon"), (False, "coupon_with_metadata")])
def test_renewal_with_the_code_is_a_redemption_too(shop, overrides, method):
    minted = _mint_code(shop, overridesClickAttribution=overrides)
    first = shop.sell(slug=None, code="SAVE-15")
    shop.sell(slug=None, code="SAVE-15", renews=first)
    shop.sell(slug=None, renews=first)

    assert shop.conversions(f"{_METHOD}, coupon_code") == [
        ("coupon", "SAVE-15"),
        (method, "SAVE-15"),
        ("stripe_customer_history", None),
    ]
    assert _count_redemptions(shop, minted) == 2


def test_history_precedes_a_non_overriding_code(shop):
    shop.brand.affiliate("ben")
    minted = _mint_code(shop, "ben", overridesClickAttribution=False)
    first = shop.sell(slug="jane")
    shop.sell(slug=None, code="SAVE-15", renews=first)

    assert shop.conversions(_METHOD) == [("metadata_or_customer",)] * 2
    assert _count_redemptions(shop, minted) == 0


def test_unknown_code_credits_no_one(shop):
    shop.sell(slug=None, code="SUMMER")
    assert shop.events()[0] == ("invoice.paid", "Processed", "nobody_referred")


def test_revoked_code_still_redeemed_credits_its_owner_and_is_logged(shop):
    minted = _mint_code(shop)
    shop.brand.call("DELETE", f"/api/v1/affiliates/{minted['affiliateId']}/coupons/{minted['id']}")

    shop.sell(slug=None, code="SAVE-15", code_id=minted["processorPromotionCodeId"])

    ((conversion_id, method),) = shop.conversions(f"id, {_METHOD}")
    steps = shop.brand.get(f"/api/v1/conversions/{conversion_id}/attribution").json["steps"]
    assert method == "coupon"
    assert (steps[0]["outcome"], steps[0]["code"]) == ("matched", "revoked_coupon_overrides")
    assert "revoked" in steps[0]["detail"]


def test_active_code_precedes_a_revoked_one_of_the_same_text(shop):
    shop.brand.affiliate("ben")
    revoked = _mint_code(shop, "ben")
    shop.brand.call("DELETE", f"/api/v1/affiliates/{revoked['affiliateId']}/coupons/{revoked['id']}")
    minted = _mint_code(shop)

    shop.sell(slug=None, code="SAVE-15")

    assert (_count_redemptions(shop, revoked), _count_redemptions(shop, minted)) == (0, 1)


def test_external_code_credits_like_a_coupon(shop):
    ben = shop.brand.affiliate("ben")
    shop.brand.post(f"/api/v1/affiliates/{ben}/coupons", {"code": "OLD", "external": True})

    shop.sell(slug="jane", code="OLD")

    assert shop.conversions(f"affiliate_id, {_METHOD}, coupon_code") == [(ben, "coupon", "OLD")]


def test_code_of_paused_affiliate_credits_no_one(shop):
    _mint_code(shop)
    shop.brand.affiliate("ben")
    shop.change("update affiliate set status = 'Paused' where email = 'jane@example.com'")

    shop.sell(slug="ben", code="SAVE-15")

    assert shop.conversions() == []
    assert [row["reason"] for row in shop.brand.get("/api/v1/uncredited-conversions").json] == ["affiliate_not_active"]


@pytest.mark.parametrize(
    ("affiliate_rate", "rate_source", "cents"), [(None, "coupon", 1_200), (30, "affiliate", 3_000)]
)
def test_coupon_rate_yields_only_to_the_affiliates_own_rate(shop, affiliate_rate, rate_source, cents):
    _mint_code(shop, commissionType="Percentage", commissionValue=12)
    if affiliate_rate is not None:
        rate = "custom_commission_type = 'Percentage', custom_commission_value = %s"
        shop.change(f"update affiliate set {rate} where email = 'jane@example.com'", affiliate_rate)

    shop.sell(cents=10_000, slug=None, code="SAVE-15")

    assert shop.conversions("rate_source, commission_cents") == [(rate_source, cents)]


def test_coupon_rate_applies_only_to_sales_credited_by_its_codes(shop):
    shop.brand.affiliate("ben")
    _mint_code(shop, "ben", overridesClickAttribution=False, commissionType="Percentage", commissionValue=50)

    shop.sell(cents=10_000, slug="jane", code="SAVE-15")

    assert shop.conversions("rate_source, commission_cents") == [("program", 2_000)]


def test_redemption_counts_until_its_sale_is_fully_refunded(shop):
    minted = _mint_code(shop)
    sale = shop.sell(cents=10_000, slug=None, code="SAVE-15")

    shop.receive(*shop.stage.refund(sale, 4_000))
    assert _count_redemptions(shop, minted) == 1
    final_refund = shop.stage.refund(sale, 6_000)
    shop.receive(*final_refund)
    assert _count_redemptions(shop, minted) == 0
    shop.receive(*final_refund)
    assert _count_redemptions(shop, minted) == 0
    shop.advance_clock()
    shop.receive(*shop.stage.restore(sale, 6_000))
    assert _count_redemptions(shop, minted) == 1


def test_sale_delivered_after_its_refund_counts_no_redemption(shop):
    minted = _mint_code(shop)
    sale = shop.stage.pay(Purchase(cents=10_000, slug=None, code="SAVE-15"))
    shop.receive(*shop.stage.refund(sale, 10_000), *sale.notifications)

    assert shop.conversions("status") == [("Refunded",)]
    assert _count_redemptions(shop, minted) == 0


def test_free_signup_with_a_code_is_one_lead_converted_by_the_later_sale(shop):
    minted = _mint_code(shop, discountValue=100)
    buyer = {"customer": "7", "email": "eve@example.com", "slug": None}
    free = shop.stage.pay(Purchase(cents=0, code="SAVE-15", **buyer))
    subscription = {"id": "sub_7", "status": "active", "customer": "cus_7", "metadata": {}, "livemode": True}
    discount = {"id": "di_x", "promotion_code": {"id": minted["processorPromotionCodeId"], "code": "SAVE-15"}}
    shop.receive(
        shop.build_stripe_event("customer.subscription.created", {**subscription, "discounts": [discount]}),
        *free.notifications,
    )

    (lead,) = _list_conversions(shop)
    assert (lead["attributionMethod"], lead["amountCents"], lead["commissionCents"]) == ("lead_signup", 0, 0)
    assert (lead["couponCode"], lead["affiliateCouponId"], lead["type"]) == ("SAVE-15", minted["id"], "LeadReward")
    assert _count_redemptions(shop, minted) == 1

    shop.sell(**buyer, renews=free)
    assert shop.conversions(f"{_METHOD}, coupon_code") == [("email_lead_match", None)]
    assert shop.brand.rows("select state from lead") == [("Converted",)]
    assert _count_redemptions(shop, minted) == 1


def test_another_brands_code_credits_no_one(shop, rival):
    rival.program()
    ben = rival.affiliate("ben")
    rival.post(f"/api/v1/affiliates/{ben}/coupons", {"code": "SAVE-15", "external": True})

    shop.sell(slug=None, code="SAVE-15")

    assert shop.conversions() == []


def test_conversion_export_contains_the_code(shop):
    _mint_code(shop)
    shop.sell(slug=None, code="SAVE-15")

    header, row = shop.brand.get("/api/v1/conversions/export.csv").text.strip().splitlines()
    assert dict(zip(header.split(","), row.split(","), strict=True))["coupon_code"] == "SAVE-15"


def test_overriding_code_precedes_other_codes_of_a_payment(shop):
    shop.brand.affiliate("ben")
    ordinary = _mint_code(shop, text="ORDINARY", overridesClickAttribution=False)
    overriding = _mint_code(shop, "ben", text="OVERRIDING")
    discounts = [
        {
            "id": f"di_{minted['code']}",
            "promotion_code": {"id": minted["processorPromotionCodeId"], "code": minted["code"]},
        }
        for minted in (ordinary, overriding)
    ]
    sale = shop.stage.pay(Purchase(slug="jane"))

    shop.receive(shop.replace_fields(sale.notifications[0], discounts=discounts))

    assert shop.conversions(f"affiliate_id::text, {_METHOD}") == [(overriding["affiliateId"], "coupon")]


def test_code_being_minted_credits_no_one_until_it_is_active(shop, drain):
    minted = _mint_code(shop)
    shop.change(
        "update affiliate_coupon set status = 'Minting', processor_promotion_code_id = null where id = %s", minted["id"]
    )

    shop.sell(slug=None, code="SAVE-15")
    assert (shop.conversions(), _count_redemptions(shop, minted)) == ([], 0)

    promotion_code_id = minted["processorPromotionCodeId"]
    shop.change(
        "update affiliate_coupon set status = 'Active', processor_promotion_code_id = %s where id = %s",
        promotion_code_id,
        minted["id"],
    )
    shop.change("update job set run_at = now() where queue = 'gateways'")
    drain()
    assert shop.conversions(_METHOD) == [("coupon",)]


def test_self_minted_code_credits_only_at_its_own_gateway(shop, drain):
    minted = _mint_code(shop)
    shop.change("update affiliate_coupon set origin = 'self_minted' where id = %s", minted["id"])
    with play_gateway("shopify") as store:
        connection = connect_gateway(shop.brand.person("Owner"), store)
        sale = store.pay(Purchase(slug=None, code="SAVE-15"))
        path = "/" + connection["webhookUrl"].split("/", 3)[3]
        for notification in sale.notifications:
            shop.brand.app.test_client().post(path, data=notification.body, headers=dict(notification.headers))
        drain()

    assert (shop.conversions(), _count_redemptions(shop, minted)) == ([], 0)
