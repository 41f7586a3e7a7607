"""Codes that affiliates mint and delete themselves. Source: tracking spec, "Coupons" (mint), section 6."""

import pytest

from models import db
from tests.support.api.concurrency import run_concurrently
from tests.support.coupons import UNKNOWN_ID, create_coupon, mint_code
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.rows.brands import Partner

MINT = "/api/me/coupons/mint"


def _create_mintable_coupon(shop, **fields):
    return create_coupon(shop.brand, **{"selfMintMode": "AllAffiliates"} | fields)["id"]


def test_affiliate_mints_their_own_code(shop):
    coupon_id = _create_mintable_coupon(shop)

    answer = shop.signed_in_jane.post(MINT, {"campaignCouponId": coupon_id, "code": "BY-JANE"})

    assert answer.status_code == 201
    minted = answer.json
    assert (minted["affiliateId"], minted["code"], minted["origin"]) == (str(shop.jane), "BY-JANE", "self_minted")
    assert minted["processorPromotionCodeId"] == shop.stage.codes.active("BY-JANE")[0]["id"]
    (event,) = shop.list_event_data("affiliate_coupon.created")
    assert (event["source"], event["code"]) == ("self_minted", "BY-JANE")
    assert shop.signed_in_jane.get("/api/me/coupons").json["items"] == [minted]


def test_omitted_code_is_generated(shop):
    answer = shop.signed_in_jane.post(MINT, {"campaignCouponId": _create_mintable_coupon(shop)})

    assert len(answer.json["code"]) == 8


@pytest.mark.parametrize(("mode", "code"), [("Disabled", "self_mint_disabled"), ("SpecificAffiliates", "not_granted")])
def test_affiliate_cannot_mint_from_an_unavailable_coupon(shop, mode, code):
    ben = shop.brand.affiliate("ben")
    coupon_id = create_coupon(shop.brand, selfMintMode=mode, grantedAffiliateIds=[str(ben)])["id"]

    answer = shop.signed_in_jane.post(MINT, {"campaignCouponId": coupon_id})

    assert (answer.status_code, answer.json["error"]) == (403, code)
    assert shop.stage.codes.promotion_codes == []


def test_affiliate_on_the_allow_list_mints(shop):
    coupon_id = create_coupon(shop.brand, selfMintMode="SpecificAffiliates", grantedAffiliateIds=[str(shop.jane)])["id"]

    assert shop.signed_in_jane.post(MINT, {"campaignCouponId": coupon_id}).status_code == 201


@pytest.mark.parametrize("status", ["Pending", "Paused", "Banned", "Rejected"])
def test_only_approved_affiliates_mint(shop, status):
    coupon_id = _create_mintable_coupon(shop)
    with db.unit_of_work(shop.brand.id):
        db.db.run("update affiliate set status = %s where id = %s", (status, shop.jane))

    answer = shop.signed_in_jane.post(MINT, {"campaignCouponId": coupon_id})

    assert (answer.status_code, answer.json["error"]) == (403, "affiliate_not_active")


def test_coupon_of_another_campaign_returns_404(shop):
    coupon_id = _create_mintable_coupon(shop)
    shop.brand.program()
    email = f"ben-{shop.brand.id.hex}@example.com"
    shop.brand.affiliate("ben", email=email, email_normalized=email)

    answer = Partner(shop.brand.app, email).post(MINT, {"campaignCouponId": coupon_id})

    assert answer.status_code == 404
    assert shop.signed_in_jane.post(MINT, {"campaignCouponId": UNKNOWN_ID}).status_code == 404


@pytest.mark.parametrize(
    "body", [{}, {"campaignCouponId": None}, {"campaignCouponId": "x"}, [], b"no", {"campaignCouponId": 7}]
)
def test_malformed_body_returns_400(shop, body):
    assert shop.signed_in_jane.post(MINT, body).status_code == 400


@pytest.mark.parametrize("text", ["lower", "A", "A" * 33, "J\x00E", 5])
def test_malformed_code_returns_400(shop, text):
    assert (
        shop.signed_in_jane.post(MINT, {"campaignCouponId": _create_mintable_coupon(shop), "code": text}).status_code
        == 400
    )
    assert shop.stage.codes.promotion_codes == []


def test_cap_counts_codes_of_the_brand_and_of_the_affiliate(shop):
    coupon_id = _create_mintable_coupon(shop, maxCodesPerAffiliate=2)
    mint_code(shop.brand, shop.jane, coupon_id)

    answers = run_concurrently(*[lambda: shop.signed_in_jane.post(MINT, {"campaignCouponId": coupon_id})] * 6)

    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 5
    assert {answer.json["error"] for answer in answers if answer.status_code == 409} == {"code_limit_reached"}


def test_affiliates_cannot_mint_at_a_store(shop):
    coupon_id = _create_mintable_coupon(shop)
    owner = shop.brand.person("Owner")
    owner.call("DELETE", f"/api/v1/connections/{shop.connection['id']}")
    with play_gateway("shopify") as store:
        connect_gateway(owner, store)

        answer = shop.signed_in_jane.post(MINT, {"campaignCouponId": coupon_id})

    assert (answer.status_code, answer.json["error"]) == (422, "processor_not_connected")


def test_affiliate_deletes_their_own_code(shop):
    minted = shop.signed_in_jane.post(MINT, {"campaignCouponId": _create_mintable_coupon(shop), "code": "BY-JANE"}).json

    assert shop.signed_in_jane.call("DELETE", f"/api/me/coupons/{minted['id']}").status_code == 204

    assert shop.stage.codes.active("BY-JANE") == []
    (event,) = shop.list_event_data("affiliate_coupon.revoked")
    assert (event["source"], event["affiliateCouponId"], "revokedAt" in event) == ("self_deleted", minted["id"], True)
    assert shop.list_event_data("affiliate_coupon.deactivated") == []
    assert shop.signed_in_jane.call("DELETE", f"/api/me/coupons/{minted['id']}").status_code == 404


def test_other_affiliates_code_returns_404(shop):
    minted = mint_code(shop.brand, shop.jane, _create_mintable_coupon(shop))
    ben = Partner(shop.brand.app, f"ben-{shop.brand.id.hex}@example.com")

    assert ben.call("DELETE", f"/api/me/coupons/{minted['id']}").status_code == 404
    assert ben.get("/api/me/coupons").json["items"] == []
    assert ben.call("DELETE", "/api/me/coupons/x").status_code == 404


def test_unverified_email_sees_and_mints_nothing(shop):
    coupon_id = _create_mintable_coupon(shop)
    mint_code(shop.brand, shop.jane, coupon_id)
    unverified = Partner(shop.brand.app, shop.janes_email, is_email_verified=False)

    assert unverified.get("/api/me/coupons").json["items"] == []
    assert unverified.post(MINT, {"campaignCouponId": coupon_id}).status_code == 404


def test_affiliate_removed_from_the_allow_list_loses_self_minted_codes(shop, drain):
    coupon_id = create_coupon(shop.brand, selfMintMode="SpecificAffiliates", grantedAffiliateIds=[str(shop.jane)])["id"]
    shop.signed_in_jane.post(MINT, {"campaignCouponId": coupon_id, "code": "OWN"})
    mint_code(shop.brand, shop.jane, coupon_id, "GIVEN")

    shop.brand.call("PATCH", f"{shop.coupons}/{coupon_id}", {"grantedAffiliateIds": []})
    drain()

    assert (shop.stage.codes.active("OWN"), len(shop.stage.codes.active("GIVEN"))) == ([], 1)
    (event,) = shop.list_event_data("affiliate_coupon.deactivated")
    assert (event["code"], event["affiliateId"]) == ("OWN", str(shop.jane))


def test_brands_key_cannot_mint_as_an_affiliate(shop):
    assert shop.brand.post(MINT, {"campaignCouponId": _create_mintable_coupon(shop)}).status_code in (401, 403)


def test_mintable_coupons_are_listed_with_the_number_of_codes_held(shop):
    coupon_id = _create_mintable_coupon(shop, maxCodesPerAffiliate=3)
    _create_mintable_coupon(shop, selfMintMode="Disabled")
    ben = shop.brand.affiliate("ben")
    create_coupon(shop.brand, selfMintMode="SpecificAffiliates", grantedAffiliateIds=[str(ben)])
    shop.signed_in_jane.post(MINT, {"campaignCouponId": coupon_id, "code": "BY-JANE"})

    (mintable,) = shop.signed_in_jane.get("/api/me/coupons/mintable").json
    assert (mintable["id"], mintable["maxCodesPerAffiliate"], mintable["codesHeld"]) == (coupon_id, 3, 1)
    assert mintable["programId"] == str(shop.brand.programs[-1])


@pytest.mark.parametrize("status", ["Pending", "Paused", "Banned"])
def test_unapproved_affiliate_sees_no_mintable_coupon(shop, status):
    _create_mintable_coupon(shop)
    with db.unit_of_work(shop.brand.id):
        db.db.run("update affiliate set status = %s where id = %s", (status, shop.jane))

    assert shop.signed_in_jane.get("/api/me/coupons/mintable").json == []
