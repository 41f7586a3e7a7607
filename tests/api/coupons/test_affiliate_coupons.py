"""Codes of an affiliate, minted by the brand. Source: tracking spec, "Affiliate coupon", "Coupons", section 6."""

import re

import pytest

from tests.support.api.concurrency import run_concurrently
from tests.support.coupons import UNKNOWN_ID, create_coupon, mint_code
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway


def test_code_is_minted_at_the_processor_with_its_event(shop):
    coupon = create_coupon(shop.brand, maxRedemptionsPerCode=7)

    minted = mint_code(shop.brand, shop.jane, coupon["id"], "JANE-15")

    (promotion_code,) = shop.stage.codes.promotion_codes
    assert minted["processorPromotionCodeId"] == promotion_code["id"]
    assert promotion_code["metadata"] == {"finderfee_id": minted["id"]}
    assert (promotion_code["code"], promotion_code["max_redemptions"], promotion_code["active"]) == ("JANE-15", 7, True)
    key = next(call.headers["Idempotency-Key"] for call in shop.stage.calls if call.path == "/v1/promotion_codes")
    assert key == f"coupon:{minted['id']}"
    assert (minted["campaignCouponId"], minted["affiliateId"]) == (coupon["id"], str(shop.jane))
    assert (minted["code"], minted["status"], minted["redemptionCount"]) == ("JANE-15", "Active", 0)
    assert minted["lastRedeemedAt"] is None
    assert shop.brand.get(shop.codes).json["items"] == [minted]
    assert shop.list_event_data("affiliate_coupon.created") == [
        {
            "affiliateCouponId": minted["id"],
            "campaignCouponId": coupon["id"],
            "affiliateId": str(shop.jane),
            "programId": str(shop.brand.programs[0]),
            "code": "JANE-15",
            "createdAt": minted["createdAt"],
        }
    ]


def test_generated_code_has_no_ambiguous_characters(shop):
    coupon = create_coupon(shop.brand)

    texts = {mint_code(shop.brand, shop.jane, coupon["id"])["code"] for _ in range(5)}

    assert len(texts) == 5
    assert all(re.fullmatch("[ABCDEFGHJKMNPQRSTUVWXYZ23456789]{8}", text) for text in texts)


@pytest.mark.parametrize(
    "text", ["ab", "jane", "AB", "A" * 33, "JÄNE", "JA NE", "", "A\x00B", "JANE!", "A" * 201, 5, True]
)
def test_malformed_code_returns_400(shop, text):
    coupon = create_coupon(shop.brand)

    answer = shop.brand.post(shop.codes, {"campaignCouponId": coupon["id"], "code": text})

    assert answer.status_code == 400
    assert shop.stage.codes.promotion_codes == shop.brand.get(shop.codes).json["items"] == []


def test_code_unsupported_by_the_processor_is_refused(shop):
    coupon = create_coupon(shop.brand)

    answer = shop.brand.post(shop.codes, {"campaignCouponId": coupon["id"], "code": "JANE_15"})

    assert (answer.status_code, answer.json["error"]) == (400, "code_not_supported")
    assert "_" in answer.json["message"]


@pytest.mark.parametrize("coupon_id", [None, "x", UNKNOWN_ID, 7])
def test_invalid_or_unknown_coupon_id_is_refused(shop, coupon_id):
    answer = shop.brand.post(shop.codes, {"campaignCouponId": coupon_id})

    assert answer.status_code == (404 if isinstance(coupon_id, str) and len(coupon_id) == 36 else 400)


def test_coupon_of_another_campaign_returns_404(shop):
    coupon = create_coupon(shop.brand)
    shop.brand.program()
    ben = shop.brand.affiliate("ben")

    answer = shop.brand.post(f"/api/v1/affiliates/{ben}/coupons", {"campaignCouponId": coupon["id"]})

    assert answer.status_code == 404


def test_text_of_a_code_is_unique_until_the_code_is_revoked(shop):
    coupon = create_coupon(shop.brand)
    first = mint_code(shop.brand, shop.jane, coupon["id"], "SPRING")

    duplicate = shop.brand.post(shop.codes, {"campaignCouponId": coupon["id"], "code": "SPRING"})
    assert (duplicate.status_code, duplicate.json["error"]) == (422, "code_already_taken")
    assert shop.brand.call("DELETE", f"{shop.codes}/{first['id']}").status_code == 204
    second = mint_code(shop.brand, shop.jane, coupon["id"], "SPRING")

    assert [code["id"] for code in shop.stage.codes.active("spring")] == [second["processorPromotionCodeId"]]
    assert second["id"] != first["id"]


def test_two_brands_may_have_the_same_code(shop, rival):
    mint_code(shop.brand, shop.jane, create_coupon(shop.brand)["id"], "SPRING")
    rival.program()
    ben = rival.affiliate("ben")

    answer = rival.post(f"/api/v1/affiliates/{ben}/coupons", {"code": "SPRING", "external": True})

    assert answer.status_code == 201


def test_existing_promotion_code_of_the_processor_is_not_adopted(shop):
    coupon = create_coupon(shop.brand)
    existing = {"id": "promo_x", "created": 1, "code": "SPRING", "active": True, "metadata": {}}
    shop.stage.codes.promotion_codes.append(existing)

    answer = shop.brand.post(shop.codes, {"campaignCouponId": coupon["id"], "code": "SPRING"})

    assert (answer.status_code, answer.json["error"]) == (422, "code_already_taken")
    assert shop.brand.get(shop.codes).json["items"] == []
    assert shop.stage.codes.promotion_codes == [existing]


def test_code_refused_by_the_processor_is_not_stored(shop):
    coupon = create_coupon(shop.brand)
    shop.stage.codes.coupons.clear()

    answer = shop.brand.post(shop.codes, {"campaignCouponId": coupon["id"]})

    assert (answer.status_code, answer.json["error"]) == (422, "processor_create_failed")
    assert "No such coupon" in answer.json["message"]
    assert shop.brand.get(shop.codes).json["items"] == []


def test_lost_answer_creates_no_second_code(shop):
    coupon = create_coupon(shop.brand)
    shop.stage.faults.append("cut")

    minted = mint_code(shop.brand, shop.jane, coupon["id"], "SPRING")

    assert [code["id"] for code in shop.stage.codes.promotion_codes] == [minted["processorPromotionCodeId"]]


def test_repeated_request_after_a_503_leaves_one_code(shop):
    coupon = create_coupon(shop.brand)
    shop.stage.faults.extend(["cut", "fail"])
    body = {"campaignCouponId": coupon["id"], "code": "SPRING"}

    first = shop.brand.post(shop.codes, body)
    (pending,) = shop.brand.get(shop.codes).json["items"]
    second = shop.brand.post(shop.codes, body)

    assert (first.status_code, first.json["error"], pending["status"]) == (503, "gateway_unreachable", "Minting")
    assert second.status_code == 201
    assert len(shop.stage.codes.promotion_codes) == len(shop.list_event_data("affiliate_coupon.created")) == 1


def test_code_is_minted_by_jobs_when_the_gateway_is_back(shop, drain):
    coupon = create_coupon(shop.brand)
    shop.stage.faults.extend(["fail"] * 4)

    assert shop.brand.post(shop.codes, {"campaignCouponId": coupon["id"]}).status_code == 503
    for _ in range(3):
        shop.make_jobs_due()
        drain()

    (minted,) = shop.brand.get(shop.codes).json["items"]
    assert minted["status"] == "Active"
    assert [code["id"] for code in shop.stage.codes.promotion_codes] == [minted["processorPromotionCodeId"]]
    assert len(shop.list_event_data("affiliate_coupon.created")) == 1


def test_code_with_a_lost_answer_remains_while_the_gateway_refuses_access(shop, drain):
    coupon = create_coupon(shop.brand)
    shop.stage.faults.extend(["cut", "fail"])
    body = {"campaignCouponId": coupon["id"], "code": "SPRING"}
    assert shop.brand.post(shop.codes, body).status_code == 503
    shop.stage.faults.extend(["refuse"] * 9)

    assert shop.brand.post(shop.codes, body).status_code == 503
    shop.make_jobs_due()
    drain()
    assert [code["status"] for code in shop.brand.get(shop.codes).json["items"]] == ["Minting"]
    shop.stage.faults.clear()
    shop.make_jobs_due()
    drain()

    (minted,) = shop.brand.get(shop.codes).json["items"]
    assert minted["status"] == "Active"
    assert shop.stage.codes.list_live_ids("SPRING") == [minted["processorPromotionCodeId"]]


def test_code_revoked_during_minting_is_disabled(shop, drain):
    coupon = create_coupon(shop.brand)
    shop.stage.faults.extend(["cut", "fail"])
    shop.brand.post(shop.codes, {"campaignCouponId": coupon["id"], "code": "SPRING"})
    (pending,) = shop.brand.get(shop.codes).json["items"]

    assert shop.brand.call("DELETE", f"{shop.codes}/{pending['id']}").status_code == 204
    shop.make_jobs_due()
    drain()

    assert shop.stage.codes.active("SPRING") == []
    assert [code["status"] for code in shop.brand.get(shop.codes).json["items"]] == ["Revoked"]
    assert shop.list_event_data("affiliate_coupon.created") == []


def test_brand_cannot_exceed_the_cap_of_codes_per_affiliate(shop):
    coupon = create_coupon(shop.brand, maxCodesPerAffiliate=2)
    first, _ = (mint_code(shop.brand, shop.jane, coupon["id"]) for _ in range(2))

    third = shop.brand.post(shop.codes, {"campaignCouponId": coupon["id"]})
    assert (third.status_code, third.json["error"]) == (409, "code_limit_reached")
    shop.brand.call("DELETE", f"{shop.codes}/{first['id']}")

    assert shop.brand.post(shop.codes, {"campaignCouponId": coupon["id"]}).status_code == 201


def test_concurrent_mints_stop_at_the_cap(shop):
    coupon = create_coupon(shop.brand, maxCodesPerAffiliate=3)

    answers = run_concurrently(*[lambda: shop.brand.post(shop.codes, {"campaignCouponId": coupon["id"]})] * 20)

    assert sorted(answer.status_code for answer in answers) == [201] * 3 + [409] * 17
    assert len(shop.stage.codes.promotion_codes) == 3


def test_concurrent_requests_for_one_text_mint_one_code(shop):
    body = {"campaignCouponId": create_coupon(shop.brand)["id"], "code": "SPRING"}
    answers = run_concurrently(*[lambda: shop.brand.post(shop.codes, body)] * 8)

    assert sorted(answer.status_code for answer in answers) == [201] + [422] * 7
    assert len(shop.stage.codes.promotion_codes) == len(shop.list_event_data("affiliate_coupon.created")) == 1


def test_revoked_code_is_disabled_at_the_processor_with_an_event(shop):
    minted = mint_code(shop.brand, shop.jane, create_coupon(shop.brand)["id"], "SPRING")

    answer = shop.brand.call("DELETE", f"{shop.codes}/{minted['id']}")

    assert answer.status_code == 204
    assert shop.stage.codes.active("SPRING") == []
    (revoked,) = shop.brand.get(shop.codes).json["items"]
    assert revoked["status"] == "Revoked"
    assert shop.list_event_data("affiliate_coupon.deactivated") == [
        {
            "affiliateCouponId": minted["id"],
            "campaignCouponId": minted["campaignCouponId"],
            "affiliateId": str(shop.jane),
            "programId": minted["programId"],
            "code": "SPRING",
            "revokedAt": revoked["revokedAt"],
        }
    ]
    assert shop.brand.call("DELETE", f"{shop.codes}/{minted['id']}").status_code == 404


def test_revoked_code_is_disabled_once_the_processor_is_back(shop, drain):
    minted = mint_code(shop.brand, shop.jane, create_coupon(shop.brand)["id"], "SPRING")
    shop.stage.faults.append("fail")

    assert shop.brand.call("DELETE", f"{shop.codes}/{minted['id']}").status_code == 204
    assert len(shop.stage.codes.active("SPRING")) == 1
    shop.make_jobs_due()
    drain()

    assert shop.stage.codes.active("SPRING") == []


def test_external_code_is_registered(shop):
    answer = shop.brand.post(shop.codes, {"code": "OLD_CODE", "external": True})

    assert answer.status_code == 201
    assert (answer.json["status"], answer.json["origin"]) == ("Active", "external")
    assert answer.json["campaignCouponId"] is answer.json["processorPromotionCodeId"] is None
    assert shop.stage.codes.promotion_codes == []
    assert [event["code"] for event in shop.list_event_data("affiliate_coupon.created")] == ["OLD_CODE"]
    assert shop.brand.post(shop.codes, {"code": "OLD_CODE", "external": True}).json["error"] == "code_already_taken"
    assert shop.brand.call("DELETE", f"{shop.codes}/{answer.json['id']}").status_code == 204


@pytest.mark.parametrize("body", [{}, {"code": None}, {"code": "no"}, {"code": "GOOD", "campaignCouponId": UNKNOWN_ID}])
def test_invalid_external_code_is_refused(shop, body):
    answer = shop.brand.post(shop.codes, {"external": True} | body)

    assert answer.status_code == (404 if "campaignCouponId" in body else 400)
    assert shop.brand.get(shop.codes).json["items"] == []


def test_external_code_needs_no_gateway(brand):
    brand.program()
    jane = brand.affiliate("jane")

    answer = brand.post(f"/api/v1/affiliates/{jane}/coupons", {"code": "OLD-CODE", "external": True})

    assert answer.status_code == 201


def test_coupon_of_a_disconnected_processor_mints_nothing(shop):
    coupon = create_coupon(shop.brand)
    shop.brand.person("Owner").call("DELETE", f"/api/v1/connections/{shop.connection['id']}")

    answer = shop.brand.post(shop.codes, {"campaignCouponId": coupon["id"]})

    assert (answer.status_code, answer.json["error"]) == (422, "processor_not_connected")


def test_reconnected_account_mints_codes_again(shop):
    coupon = create_coupon(shop.brand)
    owner = shop.brand.person("Owner")
    owner.call("DELETE", f"/api/v1/connections/{shop.connection['id']}")
    connect_gateway(owner, shop.stage)

    assert mint_code(shop.brand, shop.jane, coupon["id"])["status"] == "Active"


def test_code_of_a_reconnected_renamed_account_can_be_revoked(shop):
    minted = mint_code(shop.brand, shop.jane, create_coupon(shop.brand)["id"], "SPRING")
    owner = shop.brand.person("Owner")
    owner.call("DELETE", f"/api/v1/connections/{shop.connection['id']}")
    shop.brand.rows("update gateway_connection set account = 'former name' returning id")
    connect_gateway(owner, shop.stage)

    assert shop.brand.call("DELETE", f"{shop.codes}/{minted['id']}").status_code == 204

    assert shop.stage.codes.active("SPRING") == []


def test_store_with_broken_access_must_be_reconnected(shop):
    coupon = create_coupon(shop.brand)
    with play_gateway("shopify") as store:
        connection = connect_gateway(shop.brand.person("Owner"), store)
        shop.brand.rows("update gateway_connection set status = 'Broken' where id = %s returning id", connection["id"])

        answer = shop.brand.post(shop.codes, {"campaignCouponId": coupon["id"]})

    assert (answer.status_code, answer.json["error"]) == (422, "storefront_reconnect_required")


def test_other_tenants_or_affiliates_codes_return_404(shop, rival):
    minted = mint_code(shop.brand, shop.jane, create_coupon(shop.brand)["id"])
    rival.program()
    ben = rival.affiliate("ben")

    assert rival.get(shop.codes).status_code == 404
    assert rival.post(shop.codes, {"campaignCouponId": minted["campaignCouponId"]}).status_code == 404
    body = {"campaignCouponId": minted["campaignCouponId"]}
    assert rival.post(f"/api/v1/affiliates/{ben}/coupons", body).status_code == 404
    assert rival.call("DELETE", f"{shop.codes}/{minted['id']}").status_code == 404
    assert rival.call("DELETE", f"/api/v1/affiliates/{ben}/coupons/{minted['id']}").status_code == 404
    ann = shop.brand.affiliate("ann")
    assert shop.brand.call("DELETE", f"/api/v1/affiliates/{ann}/coupons/{minted['id']}").status_code == 404
