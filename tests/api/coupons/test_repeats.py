"""Repeated and concurrent requests for codes, and gateways whose answers are lost."""

from tests.support.api.concurrency import run_concurrently, start_call
from tests.support.coupons import COUPON, create_coupon, mint_code

MINT = "/api/me/coupons/mint"
_AGE_BY_AN_HOUR = "update {} set created_at = created_at - interval '61 minutes' where id = %s returning id"


def _create_code_body(shop, **fields):
    return {"campaignCouponId": create_coupon(shop.brand, selfMintMode="AllAffiliates")["id"]} | fields


def test_rate_limit_of_the_processor_refuses_the_code(shop):
    body = _create_code_body(shop)
    shop.stage.faults.append("busy")

    answer = shop.brand.post(shop.codes, body)

    assert (answer.status_code, answer.json["error"]) == (422, "processor_create_failed")
    assert shop.brand.get(shop.codes).json["items"] == []


def test_possibly_minted_code_remains_while_the_processor_refuses_requests(shop, drain):
    body = _create_code_body(shop, code="SPRING")
    shop.stage.faults.extend(["cut", "fail"])  # minted, but neither its answer nor the look-up's arrives
    assert shop.brand.post(shop.codes, body).status_code == 503

    for fault in ("refuse", "busy"):
        shop.stage.faults.append(fault)
        assert shop.brand.post(shop.codes, body).status_code == 503
    shop.make_jobs_due()
    drain()

    (minted,) = shop.brand.get(shop.codes).json["items"]
    assert (minted["status"], len(shop.stage.codes.active("SPRING"))) == ("Active", 1)


def test_possibly_created_coupon_is_looked_up_before_it_is_created_again(shop, drain):
    shop.stage.faults.extend(["cut", "fail"])
    assert shop.brand.post(shop.coupons, COUPON).status_code == 503
    shop.stage.codes.forget_keys()  # as a processor does after a day

    shop.make_jobs_due()
    drain()

    (coupon,) = shop.brand.get(shop.coupons).json["items"]
    assert [row["id"] for row in shop.stage.codes.coupons] == [coupon["processorCouponId"]]


def test_concurrent_request_with_the_same_key_mints_no_second_code(shop, drain):
    body = _create_code_body(shop, code="SPRING")
    codes = shop.stage.codes
    codes.is_asked.clear()
    codes.may_answer.clear()

    first = start_call(lambda: shop.brand.post(shop.codes, body, Idempotency_Key="k"), until=codes.is_asked.is_set)
    second = shop.brand.post(shop.codes, body, Idempotency_Key="k")
    codes.may_answer.set()

    assert (first().status_code, second.status_code) == (201, 503)
    (minted,) = shop.brand.get(shop.codes).json["items"]
    assert [row["id"] for row in shop.stage.codes.active("SPRING")] == [minted["processorPromotionCodeId"]]


def test_concurrent_requests_with_one_key_mint_one_code(shop):
    coupon = create_coupon(shop.brand)
    body = {"campaignCouponId": coupon["id"]}

    answers = run_concurrently(*[lambda: shop.brand.post(shop.codes, body, Idempotency_Key="k")] * 6)
    answers.append(shop.brand.post(shop.codes, body, Idempotency_Key="k"))

    # A request that comes while the first one waits for the processor may be asked to retry.
    assert {(answer.status_code, answer.json.get("error")) for answer in answers} <= {
        (201, None),
        (409, "idempotency_conflict"),
        (503, "gateway_unreachable"),
    }
    assert answers[-1].status_code == 201
    assert len({answer.json["id"] for answer in answers if answer.status_code == 201}) == 1
    assert len(shop.stage.codes.promotion_codes) == len(shop.list_event_data("affiliate_coupon.created")) == 1


def test_key_of_another_request_mints_nothing(shop, drain):
    body = _create_code_body(shop)
    assert shop.signed_in_jane.post(MINT, body, Idempotency_Key="k").status_code == 201

    other = shop.signed_in_jane.post(MINT, body | {"code": "OTHER"}, Idempotency_Key="k")
    shop.make_jobs_due()
    drain()

    assert (other.status_code, other.json["error"]) == (409, "idempotency_conflict")
    assert shop.stage.codes.active("OTHER") == []


def test_affiliates_repeated_request_returns_the_first_answer(shop):
    body = _create_code_body(shop)
    first = shop.signed_in_jane.post(MINT, body, Idempotency_Key="k")
    shop.signed_in_jane.call("DELETE", f"/api/me/coupons/{first.json['id']}")

    repeated = shop.signed_in_jane.post(MINT, body, Idempotency_Key="k")

    assert (repeated.status_code, repeated.json) == (201, first.json)
    assert repeated.headers["Idempotency-Replayed"] == "true"


def test_idempotency_key_expires_after_an_hour(shop):
    body = COUPON | {"selfMintMode": "SpecificAffiliates", "grantedAffiliateIds": [str(shop.jane)]}
    coupon = shop.brand.post(shop.coupons, body, Idempotency_Key="k").json
    minted = shop.brand.post(shop.codes, {"campaignCouponId": coupon["id"]}, Idempotency_Key="k").json
    shop.brand.call("PATCH", f"{shop.coupons}/{coupon['id']}", {"grantedAffiliateIds": []})
    shop.brand.rows(_AGE_BY_AN_HOUR.format("campaign_coupon"), coupon["id"])
    shop.brand.rows(_AGE_BY_AN_HOUR.format("affiliate_coupon"), minted["id"])
    shop.brand.rows("update stored_answer set created_at = created_at - interval '61 minutes' returning 1")

    other = shop.brand.post(shop.coupons, body, Idempotency_Key="k")
    other_code = shop.brand.post(shop.codes, {"campaignCouponId": coupon["id"]}, Idempotency_Key="k")

    assert (other.status_code, other_code.status_code) == (201, 201)
    assert (other.json["id"] != coupon["id"], other_code.json["id"] != minted["id"]) == (True, True)
    assert shop.brand.get(f"{shop.coupons}/{coupon['id']}").json["grantedAffiliateIds"] == []


def test_creation_finished_by_a_job_is_audited_once(shop, drain):
    shop.stage.faults.extend(["cut", "fail"])
    shop.brand.post(shop.coupons, COUPON)
    shop.make_jobs_due()
    drain()
    (coupon,) = shop.brand.get(shop.coupons).json["items"]
    shop.stage.faults.extend(["cut", "fail"])
    shop.brand.post(shop.codes, {"campaignCouponId": coupon["id"]})
    shop.make_jobs_due()
    drain()
    mint_code(shop.brand, shop.jane, coupon["id"])

    entries = shop.brand.rows("select action, actor_type from audit_entry where action like '%%_coupon.%%' order by id")
    assert entries == [
        ("campaign_coupon.created", "system"),
        ("affiliate_coupon.created", "system"),
        ("affiliate_coupon.created", "api_key"),
    ]
