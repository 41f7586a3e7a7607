"""Requests for codes that are repeated, meet each other, or meet a gateway that does not say what it did."""

from tests.support.api.concurrency import run_concurrently, start_call
from tests.support.coupons import COUPON, create_coupon, mint_code

MINT = "/api/me/coupons/mint"
_AGE = "update {} set created_at = created_at - interval '61 minutes' where id = %s returning id"


def _body(shop, **fields):
    return {"campaignCouponId": create_coupon(shop.brand, selfMintMode="AllAffiliates")["id"]} | fields


def test_a_processor_that_is_asked_too_often_refuses(shop):
    body = _body(shop)
    shop.stage.faults.append("busy")

    answer = shop.brand.post(shop.codes, body)

    assert (answer.status_code, answer.json["error"]) == (422, "processor_create_failed")
    assert shop.brand.get(shop.codes).json["items"] == []


def test_what_may_have_been_minted_is_kept_when_the_processor_is_busy_or_refuses_us(shop, drain):
    body = _body(shop, code="SPRING")
    shop.stage.faults.extend(["cut", "fail"])  # it was minted; neither answer nor look-up come back
    assert shop.brand.post(shop.codes, body).status_code == 503

    for fault in ("refuse", "busy"):
        shop.stage.faults.append(fault)
        assert shop.brand.post(shop.codes, body).status_code == 503
    shop.later()
    drain()

    (minted,) = shop.brand.get(shop.codes).json["items"]
    assert (minted["status"], len(shop.stage.codes.active("SPRING"))) == ("Active", 1)


def test_what_may_have_been_made_is_looked_for_before_it_is_asked_for_again(shop, drain):
    shop.stage.faults.extend(["cut", "fail"])
    assert shop.brand.post(shop.coupons, COUPON).status_code == 503
    shop.stage.codes.forget_keys()  # as a processor does after a day

    shop.later()
    drain()

    (made,) = shop.brand.get(shop.coupons).json["items"]
    assert [there["id"] for there in shop.stage.codes.coupons] == [made["processorCouponId"]]


def test_twins_with_one_key_leave_one_code_while_the_processor_is_still_at_it(shop, drain):
    body = _body(shop, code="SPRING")
    codes = shop.stage.codes
    codes.is_asked.clear()
    codes.may_answer.clear()

    first = start_call(lambda: shop.brand.post(shop.codes, body, Idempotency_Key="k"), until=codes.is_asked.is_set)
    second = shop.brand.post(shop.codes, body, Idempotency_Key="k")
    codes.may_answer.set()

    assert (first().status_code, second.status_code) == (201, 503)
    (minted,) = shop.brand.get(shop.codes).json["items"]
    assert [there["id"] for there in shop.stage.codes.active("SPRING")] == [minted["processorPromotionCodeId"]]


def test_one_key_sent_by_many_at_once_is_one_code(shop):
    made = create_coupon(shop.brand)
    body = {"campaignCouponId": made["id"]}

    answers = run_concurrently(*[lambda: shop.brand.post(shop.codes, body, Idempotency_Key="k")] * 6)
    answers.append(shop.brand.post(shop.codes, body, Idempotency_Key="k"))

    # Who comes while the processor is at it for another may be told to come again.
    assert {(answer.status_code, answer.json.get("error")) for answer in answers} <= {
        (201, None),
        (409, "idempotency_conflict"),
        (503, "gateway_unreachable"),
    }
    assert answers[-1].status_code == 201
    assert len({answer.json["id"] for answer in answers if answer.status_code == 201}) == 1
    assert len(shop.stage.codes.promotion_codes) == len(shop.told("affiliate_coupon.created")) == 1


def test_a_key_of_another_request_mints_nothing(shop, drain):
    body = _body(shop)
    assert shop.jane_herself.post(MINT, body, Idempotency_Key="k").status_code == 201

    other = shop.jane_herself.post(MINT, body | {"code": "OTHER"}, Idempotency_Key="k")
    shop.later()
    drain()

    assert (other.status_code, other.json["error"]) == (409, "idempotency_conflict")
    assert shop.stage.codes.active("OTHER") == []


def test_an_affiliates_repeated_request_is_answered_as_before(shop):
    body = _body(shop)
    first = shop.jane_herself.post(MINT, body, Idempotency_Key="k")
    shop.jane_herself.call("DELETE", f"/api/me/coupons/{first.json['id']}")

    again = shop.jane_herself.post(MINT, body, Idempotency_Key="k")

    assert (again.status_code, again.json) == (201, first.json)
    assert again.headers["Idempotency-Replayed"] == "true"


def test_a_key_is_forgotten_after_an_hour(shop):
    wanted = COUPON | {"selfMintMode": "SpecificAffiliates", "grantedAffiliateIds": [str(shop.jane)]}
    made = shop.brand.post(shop.coupons, wanted, Idempotency_Key="k").json
    minted = shop.brand.post(shop.codes, {"campaignCouponId": made["id"]}, Idempotency_Key="k").json
    shop.brand.call("PATCH", f"{shop.coupons}/{made['id']}", {"grantedAffiliateIds": []})
    shop.brand.rows(_AGE.format("campaign_coupon"), made["id"])
    shop.brand.rows(_AGE.format("affiliate_coupon"), minted["id"])
    shop.brand.rows("update stored_answer set created_at = created_at - interval '61 minutes' returning 1")

    other = shop.brand.post(shop.coupons, wanted, Idempotency_Key="k")
    other_code = shop.brand.post(shop.codes, {"campaignCouponId": made["id"]}, Idempotency_Key="k")

    assert (other.status_code, other_code.status_code) == (201, 201)
    assert (other.json["id"] != made["id"], other_code.json["id"] != minted["id"]) == (True, True)
    assert shop.brand.get(f"{shop.coupons}/{made['id']}").json["grantedAffiliateIds"] == []


def test_what_a_job_finished_stands_in_the_audit_log_once(shop, drain):
    shop.stage.faults.extend(["cut", "fail"])
    shop.brand.post(shop.coupons, COUPON)
    shop.later()
    drain()
    (made,) = shop.brand.get(shop.coupons).json["items"]
    shop.stage.faults.extend(["cut", "fail"])
    shop.brand.post(shop.codes, {"campaignCouponId": made["id"]})
    shop.later()
    drain()
    mint_code(shop.brand, shop.jane, made["id"])

    written = shop.brand.rows("select action, actor_type from audit_entry where action like '%%_coupon.%%' order by id")
    assert written == [
        ("campaign_coupon.created", "system"),
        ("affiliate_coupon.created", "system"),
        ("affiliate_coupon.created", "api_key"),
    ]
