"""Codes with a discount of their own, minted at the brand's store or another gateway without a campaign coupon.

Source: tracking spec, "Affiliate coupon", "Coupons".
"""

from datetime import datetime

import pytest

from adapters.coupons import registry
from tests.support.api.concurrency import run_concurrently
from tests.support.coupons import PERCENT_CODE, create_coupon, mint_code
from tests.support.gateways.code_orders import read_supported_discounts
from tests.support.gateways.codes import PlayedTerms
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway, switch_to_test_mode
from tests.support.job_queues import drain

_OTHER_GATEWAYS = [str(name) for name in registry.MINTABLE if name != registry.PROCESSOR]
_SUPPORTED_DISCOUNTS = read_supported_discounts()

every_other_gateway = pytest.mark.parametrize("store", _OTHER_GATEWAYS, indirect=True)


@every_other_gateway
def test_code_is_minted_at_the_gateway_and_credits_its_owner(store):
    store.brand.affiliate("ben")

    minted = store.mint_code()

    assert store.stage.codes.list_live_ids("SPRING15") == [minted["processorPromotionCodeId"]]
    assert store.stage.codes.terms("SPRING15") == PlayedTerms(percent=15)
    assert (minted["processor"], minted["campaignCouponId"], minted["origin"]) == (store.name, None, "brand")
    assert (minted["discountType"], minted["discountValue"], minted["discountCurrency"]) == ("PercentOff", 15, None)
    assert (minted["expiresAt"], minted["maxRedemptions"], minted["status"]) == (None, None, "Active")
    assert store.list_codes() == [minted]
    (listed,) = store.brand.get("/api/v1/coupon-codes").json["items"]
    assert {name: listed[name] for name in minted} == minted

    store.sell(slug="ben", code="SPRING15")

    (sale,) = store.brand.get("/api/v1/conversions").json["items"]
    assert (sale["affiliateId"], sale["couponCode"]) == (store.jane, "SPRING15")
    assert sale["attributionMethod"] == f"{store.name}_coupon_code"
    assert [row["redemptionCount"] for row in store.list_codes()] == [1]


@every_other_gateway
@pytest.mark.parametrize(
    ("column", "fields", "terms"),
    [
        ("Amounts off in", {"discountType": "AmountOff", "discountValue": 500, "discountCurrency": "usd"}, "cents"),
        ("Cap", {"maxRedemptions": 7}, "cap"),
        ("Expiry", {"expiresAt": "2031-05-06T07:08:09Z"}, "expires_at"),
    ],
)
def test_gateway_stores_the_terms_it_supports_and_refuses_others(store, column, fields, terms):
    answer = store.request_code(**fields)

    if _SUPPORTED_DISCOUNTS[store.name][column] == "no":
        assert (answer.status_code, answer.json["error"]) == (422, "processor_create_failed")
        assert store.list_codes() == []
        assert store.stage.codes.list_live_ids("SPRING15") == []
        return
    assert answer.status_code == 201, answer.get_data(as_text=True)
    value = getattr(store.stage.codes.terms("SPRING15"), terms)
    requested = {"cents": 500, "cap": 7, "expires_at": datetime.fromisoformat("2031-05-06T07:08:09+00:00")}[terms]
    assert value == requested or (column, store.name) == ("Expiry", "recurly")  # by day


def test_omitted_code_text_is_generated(store):
    texts = {store.mint_code(code=None)["code"] for _ in range(3)}

    assert len(texts) == 3
    assert all(store.stage.codes.list_live_ids(text) for text in texts)


def test_creation_event_has_no_campaign_coupon(store):
    minted = store.mint_code()

    ((body,),) = store.brand.rows("select body::jsonb -> 'data' from event where type = 'affiliate_coupon.created'")
    assert body == {
        "affiliateCouponId": minted["id"],
        "affiliateId": store.jane,
        "programId": str(store.brand.programs[0]),
        "code": "SPRING15",
        "createdAt": minted["createdAt"],
    }


@pytest.mark.parametrize("store", ["paddle"], indirect=True)
def test_store_is_preferred_to_another_gateway_and_to_the_processor(store):
    owner = store.brand.person("Owner")
    with play_gateway("stripe") as processor, play_gateway("woocommerce") as shop:
        connect_gateway(owner, processor)
        assert store.mint_code(code="FIRST15")["processor"] == "paddle"
        connection = connect_gateway(owner, shop)
        assert store.mint_code(code="SECOND15")["processor"] == "woocommerce"
        store.brand.rows("update gateway_connection set status = 'Broken' where id = %s returning id", connection["id"])
        answer = store.request_code(code="THIRD15")

    assert (answer.status_code, answer.json["error"]) == (422, "storefront_reconnect_required")
    assert processor.codes.promotion_codes == []


def test_live_gateway_is_preferred_to_one_in_test_mode(store):
    with play_gateway("bigcommerce") as other:
        switch_to_test_mode(other)
        connect_gateway(store.brand.person("Owner"), other)

        assert store.mint_code()["processor"] == "shopify"
        assert other.codes.rows == []


@every_other_gateway
def test_revoked_code_is_disabled_at_the_gateway_and_frees_its_text(store):
    first = store.mint_code()

    assert store.brand.call("DELETE", f"{store.url}/{first['id']}").status_code == 204

    assert store.stage.codes.list_live_ids("SPRING15") == []
    assert [row["status"] for row in store.list_codes()] == ["Revoked"]
    assert store.mint_code()["id"] != first["id"]


@every_other_gateway
def test_code_created_by_the_brand_at_the_gateway_is_not_adopted(store):
    existing_id = store.stage.codes.create_as_brand("SPRING15")

    answer = store.request_code()

    assert (answer.status_code, answer.json["error"]) == (422, "code_already_taken")
    assert store.stage.codes.list_live_ids("SPRING15") == [existing_id]
    assert store.list_codes() == []


@every_other_gateway
def test_lost_answer_creates_no_second_code(store):
    store.mint_code(code="FIRST15")
    calls_before = len(store.stage.calls)
    store.mint_code(code="OTHER15")
    store.stage.faults.extend([*[""] * (len(store.stage.calls) - calls_before - 1), "cut", *["fail"] * 3])

    answer = store.request_code()
    store.stage.faults.clear()
    store.run_waiting_jobs()
    repeated = store.request_code()

    assert answer.status_code in (201, 503)
    assert repeated.status_code == 422  # the job has finished it
    (minted,) = [row for row in store.list_codes() if row["code"] == "SPRING15"]
    assert store.stage.codes.list_live_ids("SPRING15") == [minted["processorPromotionCodeId"]]
    assert minted["status"] == "Active"


def test_code_being_minted_is_removed_when_its_connection_ends(store):
    store.stage.faults.extend(["fail"] * 9)
    assert store.request_code().status_code == 503
    store.brand.person("Owner").call("DELETE", f"/api/v1/connections/{store.connection['id']}")
    store.stage.faults.clear()

    store.run_waiting_jobs()

    assert store.list_codes() == []


def test_concurrent_requests_for_one_text_mint_one_code(store):
    answers = run_concurrently(*[store.request_code] * 6)

    assert sorted(answer.status_code for answer in answers) == [201] + [422] * 5
    assert {answer.json["error"] for answer in answers if answer.status_code == 422} == {"code_already_taken"}
    assert len(store.stage.codes.list_live_ids("SPRING15")) == len(store.list_codes()) == 1


@pytest.mark.parametrize("text", ["SPRING15", None])
def test_repeated_idempotency_key_returns_the_first_answer(store, text):
    body = PERCENT_CODE | {"code": text}

    first = store.brand.post(store.url, body, Idempotency_Key="k")
    repeated = store.brand.post(store.url, body, Idempotency_Key="k")

    assert (first.status_code, repeated.status_code) == (201, 201)
    assert repeated.json == first.json
    assert len(store.list_codes()) == len(store.stage.codes.rows) == 1


def test_concurrent_requests_with_one_idempotency_key_mint_one_code(store):
    body = PERCENT_CODE | {"code": None}

    answers = run_concurrently(*[lambda: store.brand.post(store.url, body, Idempotency_Key="k")] * 4)

    assert {answer.status_code for answer in answers} <= {201, 409, 503}
    assert len({answer.json["id"] for answer in answers if answer.status_code == 201}) == 1
    assert len(store.list_codes()) == len(store.stage.codes.rows) == 1


def test_codes_of_a_deleted_affiliate_are_disabled_at_the_gateway(store):
    store.mint_code()

    body = {"action": "delete", "affiliateIds": [store.jane]}
    assert store.brand.post("/api/v1/affiliates/bulk-action", body).status_code == 200
    drain()

    assert store.stage.codes.list_live_ids("SPRING15") == []


def test_code_of_a_campaign_coupon_has_a_processor_and_no_discount_of_its_own(shop):
    minted = mint_code(shop.brand, shop.jane, create_coupon(shop.brand)["id"], "SPRING15")
    external = shop.brand.post(shop.codes, {"code": "OWN", "external": True}).json

    assert (minted["processor"], external["processor"]) == ("stripe", None)
    assert {minted["discountType"], external["discountType"], minted["maxRedemptions"]} == {None}
    (newest, _) = shop.signed_in_jane.get("/api/me/coupons").json["items"]
    assert newest["id"] == external["id"]
