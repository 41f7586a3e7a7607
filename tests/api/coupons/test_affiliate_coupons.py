"""Codes of an affiliate, minted by the brand. Source: tracking spec, "Affiliate coupon", "Coupons", section 6."""

import re

import pytest

from tests.support.api.concurrency import run_concurrently
from tests.support.coupons import UNKNOWN_ID, create_coupon, mint_code
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway


def test_a_code_is_minted_at_the_processor(shop):
    made = create_coupon(shop.brand, maxRedemptionsPerCode=7)

    minted = mint_code(shop.brand, shop.jane, made["id"], "JANE-15")

    (there,) = shop.stage.codes.promotion_codes
    assert minted["processorPromotionCodeId"] == there["id"]
    assert there["metadata"] == {"finderfee_id": minted["id"]}
    assert (there["code"], there["max_redemptions"], there["active"]) == ("JANE-15", 7, True)
    key = next(asked.headers["Idempotency-Key"] for asked in shop.stage.calls if asked.path == "/v1/promotion_codes")
    assert key == f"coupon:{minted['id']}"
    assert (minted["campaignCouponId"], minted["affiliateId"]) == (made["id"], str(shop.jane))
    assert (minted["code"], minted["status"], minted["redemptionCount"]) == ("JANE-15", "Active", 0)
    assert minted["lastRedeemedAt"] is None
    assert shop.brand.get(shop.codes).json["items"] == [minted]
    assert shop.told("affiliate_coupon.created") == [
        {
            "affiliateCouponId": minted["id"],
            "campaignCouponId": made["id"],
            "affiliateId": str(shop.jane),
            "programId": str(shop.brand.programs[0]),
            "code": "JANE-15",
            "createdAt": minted["createdAt"],
        }
    ]


def test_a_code_that_is_drawn_can_be_read_aloud(shop):
    made = create_coupon(shop.brand)

    drawn = {mint_code(shop.brand, shop.jane, made["id"])["code"] for _ in range(5)}

    assert len(drawn) == 5
    assert all(re.fullmatch("[ABCDEFGHJKMNPQRSTUVWXYZ23456789]{8}", text) for text in drawn)


@pytest.mark.parametrize(
    "text", ["ab", "jane", "AB", "A" * 33, "JÄNE", "JA NE", "", "A\x00B", "JANE!", "A" * 201, 5, True]
)
def test_a_code_that_is_not_written_as_codes_are_is_refused(shop, text):
    made = create_coupon(shop.brand)

    answer = shop.brand.post(shop.codes, {"campaignCouponId": made["id"], "code": text})

    assert answer.status_code == 400
    assert shop.stage.codes.promotion_codes == shop.brand.get(shop.codes).json["items"] == []


def test_a_code_that_the_processor_cannot_hold_is_refused(shop):
    made = create_coupon(shop.brand)

    answer = shop.brand.post(shop.codes, {"campaignCouponId": made["id"], "code": "JANE_15"})

    assert (answer.status_code, answer.json["error"]) == (400, "code_not_supported")
    assert "_" in answer.json["message"]


@pytest.mark.parametrize("coupon_id", [None, "x", UNKNOWN_ID, 7])
def test_a_code_needs_a_coupon_of_the_affiliates_campaign(shop, coupon_id):
    answer = shop.brand.post(shop.codes, {"campaignCouponId": coupon_id})

    assert answer.status_code == (404 if isinstance(coupon_id, str) and len(coupon_id) == 36 else 400)


def test_a_coupon_of_another_campaign_mints_nothing(shop):
    made = create_coupon(shop.brand)
    shop.brand.program()
    ben = shop.brand.affiliate("ben")

    answer = shop.brand.post(f"/api/v1/affiliates/{ben}/coupons", {"campaignCouponId": made["id"]})

    assert answer.status_code == 404


def test_a_code_in_force_stands_once_and_a_revoked_one_is_free_again(shop):
    made = create_coupon(shop.brand)
    first = mint_code(shop.brand, shop.jane, made["id"], "SPRING")

    taken = shop.brand.post(shop.codes, {"campaignCouponId": made["id"], "code": "SPRING"})
    assert (taken.status_code, taken.json["error"]) == (422, "code_already_taken")
    assert shop.brand.call("DELETE", f"{shop.codes}/{first['id']}").status_code == 204
    again = mint_code(shop.brand, shop.jane, made["id"], "SPRING")

    assert [one["id"] for one in shop.stage.codes.active("spring")] == [again["processorPromotionCodeId"]]
    assert again["id"] != first["id"]


def test_another_brand_may_have_the_same_code(shop, rival):
    mint_code(shop.brand, shop.jane, create_coupon(shop.brand)["id"], "SPRING")
    rival.program()
    ben = rival.affiliate("ben")

    answer = rival.post(f"/api/v1/affiliates/{ben}/coupons", {"code": "SPRING", "external": True})

    assert answer.status_code == 201


def test_a_code_of_somebody_else_at_the_processor_is_never_adopted(shop):
    made = create_coupon(shop.brand)
    theirs = {"id": "promo_x", "created": 1, "code": "SPRING", "active": True, "metadata": {}}
    shop.stage.codes.promotion_codes.append(theirs)

    answer = shop.brand.post(shop.codes, {"campaignCouponId": made["id"], "code": "SPRING"})

    assert (answer.status_code, answer.json["error"]) == (422, "code_already_taken")
    assert shop.brand.get(shop.codes).json["items"] == []
    assert shop.stage.codes.promotion_codes == [theirs]


def test_what_the_processor_refuses_is_not_kept(shop):
    made = create_coupon(shop.brand)
    shop.stage.codes.coupons.clear()

    answer = shop.brand.post(shop.codes, {"campaignCouponId": made["id"]})

    assert (answer.status_code, answer.json["error"]) == (422, "processor_create_failed")
    assert "No such coupon" in answer.json["message"]
    assert shop.brand.get(shop.codes).json["items"] == []


def test_a_lost_answer_makes_no_second_code(shop):
    made = create_coupon(shop.brand)
    shop.stage.faults.append("cut")

    minted = mint_code(shop.brand, shop.jane, made["id"], "SPRING")

    assert [one["id"] for one in shop.stage.codes.promotion_codes] == [minted["processorPromotionCodeId"]]


def test_asking_again_after_a_503_ends_with_one_code(shop):
    made = create_coupon(shop.brand)
    shop.stage.faults.extend(["cut", "fail"])
    body = {"campaignCouponId": made["id"], "code": "SPRING"}

    first = shop.brand.post(shop.codes, body)
    (waiting,) = shop.brand.get(shop.codes).json["items"]
    second = shop.brand.post(shop.codes, body)

    assert (first.status_code, first.json["error"], waiting["status"]) == (503, "gateway_unreachable", "Minting")
    assert second.status_code == 201
    assert len(shop.stage.codes.promotion_codes) == len(shop.told("affiliate_coupon.created")) == 1


def test_a_gateway_that_is_away_leaves_nothing_undone(shop, drain):
    made = create_coupon(shop.brand)
    shop.stage.faults.extend(["fail"] * 4)

    assert shop.brand.post(shop.codes, {"campaignCouponId": made["id"]}).status_code == 503
    for _ in range(3):
        shop.later()
        drain()

    (minted,) = shop.brand.get(shop.codes).json["items"]
    assert minted["status"] == "Active"
    assert [one["id"] for one in shop.stage.codes.promotion_codes] == [minted["processorPromotionCodeId"]]
    assert len(shop.told("affiliate_coupon.created")) == 1


def test_a_code_whose_answer_was_lost_stays_while_the_gateway_refuses_us(shop, drain):
    made = create_coupon(shop.brand)
    shop.stage.faults.extend(["cut", "fail"])
    body = {"campaignCouponId": made["id"], "code": "SPRING"}
    assert shop.brand.post(shop.codes, body).status_code == 503
    shop.stage.faults.extend(["refuse"] * 9)

    assert shop.brand.post(shop.codes, body).status_code == 503
    shop.later()
    drain()
    assert [one["status"] for one in shop.brand.get(shop.codes).json["items"]] == ["Minting"]
    shop.stage.faults.clear()
    shop.later()
    drain()

    (minted,) = shop.brand.get(shop.codes).json["items"]
    assert minted["status"] == "Active"
    assert shop.stage.codes.list_live_ids("SPRING") == [minted["processorPromotionCodeId"]]


def test_a_code_that_is_revoked_while_it_is_being_minted_ends(shop, drain):
    made = create_coupon(shop.brand)
    shop.stage.faults.extend(["cut", "fail"])
    shop.brand.post(shop.codes, {"campaignCouponId": made["id"], "code": "SPRING"})
    (waiting,) = shop.brand.get(shop.codes).json["items"]

    assert shop.brand.call("DELETE", f"{shop.codes}/{waiting['id']}").status_code == 204
    shop.later()
    drain()

    assert shop.stage.codes.active("SPRING") == []
    assert [one["status"] for one in shop.brand.get(shop.codes).json["items"]] == ["Revoked"]
    assert shop.told("affiliate_coupon.created") == []


def test_a_cap_holds_for_the_brand_too(shop):
    made = create_coupon(shop.brand, maxCodesPerAffiliate=2)
    first, _ = (mint_code(shop.brand, shop.jane, made["id"]) for _ in range(2))

    third = shop.brand.post(shop.codes, {"campaignCouponId": made["id"]})
    assert (third.status_code, third.json["error"]) == (409, "code_limit_reached")
    shop.brand.call("DELETE", f"{shop.codes}/{first['id']}")

    assert shop.brand.post(shop.codes, {"campaignCouponId": made["id"]}).status_code == 201


def test_twenty_mints_at_once_stop_at_the_cap(shop):
    made = create_coupon(shop.brand, maxCodesPerAffiliate=3)

    answers = run_concurrently(*[lambda: shop.brand.post(shop.codes, {"campaignCouponId": made["id"]})] * 20)

    assert sorted(answer.status_code for answer in answers) == [201] * 3 + [409] * 17
    assert len(shop.stage.codes.promotion_codes) == 3


def test_one_text_asked_for_by_many_at_once_is_one_code(shop):
    body = {"campaignCouponId": create_coupon(shop.brand)["id"], "code": "SPRING"}
    answers = run_concurrently(*[lambda: shop.brand.post(shop.codes, body)] * 8)

    assert sorted(answer.status_code for answer in answers) == [201] + [422] * 7
    assert len(shop.stage.codes.promotion_codes) == len(shop.told("affiliate_coupon.created")) == 1


def test_a_revoked_code_ends_at_the_processor_and_is_told(shop):
    minted = mint_code(shop.brand, shop.jane, create_coupon(shop.brand)["id"], "SPRING")

    answer = shop.brand.call("DELETE", f"{shop.codes}/{minted['id']}")

    assert answer.status_code == 204
    assert shop.stage.codes.active("SPRING") == []
    (revoked,) = shop.brand.get(shop.codes).json["items"]
    assert revoked["status"] == "Revoked"
    assert shop.told("affiliate_coupon.deactivated") == [
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


def test_a_code_whose_processor_is_away_ends_later(shop, drain):
    minted = mint_code(shop.brand, shop.jane, create_coupon(shop.brand)["id"], "SPRING")
    shop.stage.faults.append("fail")

    assert shop.brand.call("DELETE", f"{shop.codes}/{minted['id']}").status_code == 204
    assert len(shop.stage.codes.active("SPRING")) == 1
    shop.later()
    drain()

    assert shop.stage.codes.active("SPRING") == []


def test_a_code_that_was_made_elsewhere_is_registered(shop):
    answer = shop.brand.post(shop.codes, {"code": "OLD_CODE", "external": True})

    assert answer.status_code == 201
    assert (answer.json["status"], answer.json["origin"]) == ("Active", "external")
    assert answer.json["campaignCouponId"] is answer.json["processorPromotionCodeId"] is None
    assert shop.stage.codes.promotion_codes == []
    assert [told["code"] for told in shop.told("affiliate_coupon.created")] == ["OLD_CODE"]
    assert shop.brand.post(shop.codes, {"code": "OLD_CODE", "external": True}).json["error"] == "code_already_taken"
    assert shop.brand.call("DELETE", f"{shop.codes}/{answer.json['id']}").status_code == 204


@pytest.mark.parametrize("body", [{}, {"code": None}, {"code": "no"}, {"code": "GOOD", "campaignCouponId": UNKNOWN_ID}])
def test_a_bad_external_code_is_refused(shop, body):
    answer = shop.brand.post(shop.codes, {"external": True} | body)

    assert answer.status_code == (404 if "campaignCouponId" in body else 400)
    assert shop.brand.get(shop.codes).json["items"] == []


def test_external_codes_need_no_gateway(brand):
    brand.program()
    jane = brand.affiliate("jane")

    answer = brand.post(f"/api/v1/affiliates/{jane}/coupons", {"code": "OLD-CODE", "external": True})

    assert answer.status_code == 201


def test_a_coupon_of_a_processor_that_is_gone_mints_nothing(shop):
    made = create_coupon(shop.brand)
    shop.brand.person("Owner").call("DELETE", f"/api/v1/connections/{shop.connection['id']}")

    answer = shop.brand.post(shop.codes, {"campaignCouponId": made["id"]})

    assert (answer.status_code, answer.json["error"]) == (422, "processor_not_connected")


def test_the_same_account_connected_again_goes_on(shop):
    made = create_coupon(shop.brand)
    owner = shop.brand.person("Owner")
    owner.call("DELETE", f"/api/v1/connections/{shop.connection['id']}")
    connect_gateway(owner, shop.stage)

    assert mint_code(shop.brand, shop.jane, made["id"])["status"] == "Active"


def test_renamed_account_connected_again_ends_its_codes(shop):
    minted = mint_code(shop.brand, shop.jane, create_coupon(shop.brand)["id"], "SPRING")
    owner = shop.brand.person("Owner")
    owner.call("DELETE", f"/api/v1/connections/{shop.connection['id']}")
    shop.brand.rows("update gateway_connection set account = 'former name' returning id")
    connect_gateway(owner, shop.stage)

    assert shop.brand.call("DELETE", f"{shop.codes}/{minted['id']}").status_code == 204

    assert shop.stage.codes.active("SPRING") == []


def test_a_store_whose_access_is_stale_wants_to_be_connected_again(shop):
    made = create_coupon(shop.brand)
    with play_gateway("shopify") as store:
        there = connect_gateway(shop.brand.person("Owner"), store)
        shop.brand.rows("update gateway_connection set status = 'Broken' where id = %s returning id", there["id"])

        answer = shop.brand.post(shop.codes, {"campaignCouponId": made["id"]})

    assert (answer.status_code, answer.json["error"]) == (422, "storefront_reconnect_required")


def test_another_brands_codes_are_not_there(shop, rival):
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
