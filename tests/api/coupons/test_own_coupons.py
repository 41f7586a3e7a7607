"""Codes that affiliates mint and delete themselves. Source: tracking spec, "Coupons" (mint), section 6."""

import pytest

from models import db
from tests.support.api.concurrency import run_concurrently
from tests.support.coupons import UNKNOWN_ID, create_coupon, mint_code
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.rows.brands import Partner

MINT = "/api/me/coupons/mint"


def _mintable(shop, **fields):
    return create_coupon(shop.brand, **{"selfMintMode": "AllAffiliates"} | fields)["id"]


def test_an_affiliate_mints_a_code_of_their_own(shop):
    coupon_id = _mintable(shop)

    answer = shop.jane_herself.post(MINT, {"campaignCouponId": coupon_id, "code": "BY-JANE"})

    assert answer.status_code == 201
    minted = answer.json
    assert (minted["affiliateId"], minted["code"], minted["origin"]) == (str(shop.jane), "BY-JANE", "self_minted")
    assert minted["processorPromotionCodeId"] == shop.stage.codes.active("BY-JANE")[0]["id"]
    (told,) = shop.told("affiliate_coupon.created")
    assert (told["source"], told["code"]) == ("self_minted", "BY-JANE")
    assert shop.jane_herself.get("/api/me/coupons").json["items"] == [minted]


def test_a_code_that_is_not_said_is_drawn(shop):
    answer = shop.jane_herself.post(MINT, {"campaignCouponId": _mintable(shop)})

    assert len(answer.json["code"]) == 8


@pytest.mark.parametrize(("mode", "code"), [("Disabled", "self_mint_disabled"), ("SpecificAffiliates", "not_granted")])
def test_a_coupon_that_is_not_theirs_to_mint_from_refuses(shop, mode, code):
    ben = shop.brand.affiliate("ben")
    coupon_id = create_coupon(shop.brand, selfMintMode=mode, grantedAffiliateIds=[str(ben)])["id"]

    answer = shop.jane_herself.post(MINT, {"campaignCouponId": coupon_id})

    assert (answer.status_code, answer.json["error"]) == (403, code)
    assert shop.stage.codes.promotion_codes == []


def test_who_is_on_the_allow_list_mints(shop):
    coupon_id = create_coupon(shop.brand, selfMintMode="SpecificAffiliates", grantedAffiliateIds=[str(shop.jane)])["id"]

    assert shop.jane_herself.post(MINT, {"campaignCouponId": coupon_id}).status_code == 201


@pytest.mark.parametrize("status", ["Pending", "Paused", "Banned", "Rejected"])
def test_only_approved_affiliates_mint(shop, status):
    coupon_id = _mintable(shop)
    with db.unit_of_work(shop.brand.id):
        db.db.run("update affiliate set status = %s where id = %s", (status, shop.jane))

    answer = shop.jane_herself.post(MINT, {"campaignCouponId": coupon_id})

    assert (answer.status_code, answer.json["error"]) == (403, "affiliate_not_active")


def test_a_coupon_of_a_campaign_without_them_is_not_there(shop):
    coupon_id = _mintable(shop)
    shop.brand.program()
    email = f"ben-{shop.brand.id.hex}@example.com"
    shop.brand.affiliate("ben", email=email, email_normalized=email)

    answer = Partner(shop.brand.app, email).post(MINT, {"campaignCouponId": coupon_id})

    assert answer.status_code == 404
    assert shop.jane_herself.post(MINT, {"campaignCouponId": UNKNOWN_ID}).status_code == 404


@pytest.mark.parametrize(
    "body", [{}, {"campaignCouponId": None}, {"campaignCouponId": "x"}, [], b"no", {"campaignCouponId": 7}]
)
def test_what_is_no_request_for_a_code_is_refused(shop, body):
    assert shop.jane_herself.post(MINT, body).status_code == 400


@pytest.mark.parametrize("text", ["lower", "A", "A" * 33, "J\x00E", 5])
def test_a_bad_code_is_refused(shop, text):
    assert shop.jane_herself.post(MINT, {"campaignCouponId": _mintable(shop), "code": text}).status_code == 400
    assert shop.stage.codes.promotion_codes == []


def test_a_cap_holds_whoever_mints(shop):
    coupon_id = _mintable(shop, maxCodesPerAffiliate=2)
    mint_code(shop.brand, shop.jane, coupon_id)

    answers = run_concurrently(*[lambda: shop.jane_herself.post(MINT, {"campaignCouponId": coupon_id})] * 6)

    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 5
    assert {answer.json["error"] for answer in answers if answer.status_code == 409} == {"code_limit_reached"}


def test_a_store_mints_no_codes_of_affiliates_themselves(shop):
    coupon_id = _mintable(shop)
    owner = shop.brand.person("Owner")
    owner.call("DELETE", f"/api/v1/connections/{shop.connection['id']}")
    with play_gateway("shopify") as store:
        connect_gateway(owner, store)

        answer = shop.jane_herself.post(MINT, {"campaignCouponId": coupon_id})

    assert (answer.status_code, answer.json["error"]) == (422, "processor_not_connected")


def test_an_affiliate_deletes_a_code_of_their_own(shop):
    minted = shop.jane_herself.post(MINT, {"campaignCouponId": _mintable(shop), "code": "BY-JANE"}).json

    assert shop.jane_herself.call("DELETE", f"/api/me/coupons/{minted['id']}").status_code == 204

    assert shop.stage.codes.active("BY-JANE") == []
    (told,) = shop.told("affiliate_coupon.revoked")
    assert (told["source"], told["affiliateCouponId"], "revokedAt" in told) == ("self_deleted", minted["id"], True)
    assert shop.told("affiliate_coupon.deactivated") == []
    assert shop.jane_herself.call("DELETE", f"/api/me/coupons/{minted['id']}").status_code == 404


def test_somebody_elses_code_is_not_there(shop):
    minted = mint_code(shop.brand, shop.jane, _mintable(shop))
    ben = Partner(shop.brand.app, f"ben-{shop.brand.id.hex}@example.com")

    assert ben.call("DELETE", f"/api/me/coupons/{minted['id']}").status_code == 404
    assert ben.get("/api/me/coupons").json["items"] == []
    assert ben.call("DELETE", "/api/me/coupons/x").status_code == 404


def test_an_email_that_is_not_proven_owns_nothing(shop):
    coupon_id = _mintable(shop)
    mint_code(shop.brand, shop.jane, coupon_id)
    somebody = Partner(shop.brand.app, shop.janes_email, is_email_verified=False)

    assert somebody.get("/api/me/coupons").json["items"] == []
    assert somebody.post(MINT, {"campaignCouponId": coupon_id}).status_code == 404


def test_whoever_leaves_the_allow_list_loses_what_they_minted(shop, drain):
    coupon_id = create_coupon(shop.brand, selfMintMode="SpecificAffiliates", grantedAffiliateIds=[str(shop.jane)])["id"]
    shop.jane_herself.post(MINT, {"campaignCouponId": coupon_id, "code": "OWN"})
    mint_code(shop.brand, shop.jane, coupon_id, "GIVEN")

    shop.brand.call("PATCH", f"{shop.coupons}/{coupon_id}", {"grantedAffiliateIds": []})
    drain()

    assert (shop.stage.codes.active("OWN"), len(shop.stage.codes.active("GIVEN"))) == ([], 1)
    (told,) = shop.told("affiliate_coupon.deactivated")
    assert (told["code"], told["affiliateId"]) == ("OWN", str(shop.jane))


def test_a_brands_key_does_not_mint_for_an_affiliate(shop):
    assert shop.brand.post(MINT, {"campaignCouponId": _mintable(shop)}).status_code in (401, 403)


def test_coupons_that_one_may_mint_from_are_listed_with_what_one_holds(shop):
    coupon_id = _mintable(shop, maxCodesPerAffiliate=3)
    _mintable(shop, selfMintMode="Disabled")
    ben = shop.brand.affiliate("ben")
    create_coupon(shop.brand, selfMintMode="SpecificAffiliates", grantedAffiliateIds=[str(ben)])
    shop.jane_herself.post(MINT, {"campaignCouponId": coupon_id, "code": "BY-JANE"})

    (found,) = shop.jane_herself.get("/api/me/coupons/mintable").json
    assert (found["id"], found["maxCodesPerAffiliate"], found["codesHeld"]) == (coupon_id, 3, 1)
    assert found["programId"] == str(shop.brand.programs[-1])


@pytest.mark.parametrize("status", ["Pending", "Paused", "Banned"])
def test_who_is_not_approved_is_shown_no_coupon_to_mint_from(shop, status):
    _mintable(shop)
    with db.unit_of_work(shop.brand.id):
        db.db.run("update affiliate set status = %s where id = %s", (status, shop.jane))

    assert shop.jane_herself.get("/api/me/coupons/mintable").json == []
