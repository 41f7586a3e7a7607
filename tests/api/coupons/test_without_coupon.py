"""Codes with a discount of their own, minted at the brand's store or another gateway without a campaign's coupon.

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

_OTHERS = [str(name) for name in registry.MINTABLE if name != registry.PROCESSOR]
_HELD = read_supported_discounts()

every_other = pytest.mark.parametrize("store", _OTHERS, indirect=True)


@every_other
def test_code_is_minted_at_the_gateway_and_credits_its_owner(store):
    store.brand.affiliate("ben")

    minted = store.minted()

    assert store.stage.codes.list_live_ids("SPRING15") == [minted["processorPromotionCodeId"]]
    assert store.stage.codes.terms("SPRING15") == PlayedTerms(percent=15)
    assert (minted["processor"], minted["campaignCouponId"], minted["origin"]) == (store.name, None, "brand")
    assert (minted["discountType"], minted["discountValue"], minted["discountCurrency"]) == ("PercentOff", 15, None)
    assert (minted["expiresAt"], minted["maxRedemptions"], minted["status"]) == (None, None, "Active")
    assert store.listed() == [minted]
    (listed,) = store.brand.get("/api/v1/coupon-codes").json["items"]
    assert {name: listed[name] for name in minted} == minted

    store.sell(slug="ben", code="SPRING15")

    (sale,) = store.brand.get("/api/v1/conversions").json["items"]
    assert (sale["affiliateId"], sale["couponCode"]) == (store.jane, "SPRING15")
    assert sale["attributionMethod"] == f"{store.name}_coupon_code"
    assert [row["redemptionCount"] for row in store.listed()] == [1]


@every_other
@pytest.mark.parametrize(
    ("column", "fields", "terms"),
    [
        ("Amounts off in", {"discountType": "AmountOff", "discountValue": 500, "discountCurrency": "usd"}, "cents"),
        ("Cap", {"maxRedemptions": 7}, "cap"),
        ("Expiry", {"expiresAt": "2031-05-06T07:08:09Z"}, "expires_at"),
    ],
)
def test_terms_are_kept_or_refused_as_the_gateway_can_hold_them(store, column, fields, terms):
    answer = store.mint(**fields)

    if _HELD[store.name][column] == "no":
        assert (answer.status_code, answer.json["error"]) == (422, "processor_create_failed")
        assert store.listed() == []
        assert store.stage.codes.list_live_ids("SPRING15") == []
        return
    assert answer.status_code == 201, answer.get_data(as_text=True)
    value = getattr(store.stage.codes.terms("SPRING15"), terms)
    requested = {"cents": 500, "cap": 7, "expires_at": datetime.fromisoformat("2031-05-06T07:08:09+00:00")}[terms]
    assert value == requested or (column, store.name) == ("Expiry", "recurly")  # by day


def test_text_that_is_not_sent_is_drawn(store):
    drawn = {store.minted(code=None)["code"] for _ in range(3)}

    assert len(drawn) == 3
    assert all(store.stage.codes.list_live_ids(text) for text in drawn)


def test_creation_is_an_event_without_a_coupon(store):
    minted = store.minted()

    ((body,),) = store.brand.rows("select body::jsonb -> 'data' from event where type = 'affiliate_coupon.created'")
    assert body == {
        "affiliateCouponId": minted["id"],
        "affiliateId": store.jane,
        "programId": str(store.brand.programs[0]),
        "code": "SPRING15",
        "createdAt": minted["createdAt"],
    }


@pytest.mark.parametrize("store", ["paddle"], indirect=True)
def test_store_mints_before_another_gateway_and_the_processor(store):
    owner = store.brand.person("Owner")
    with play_gateway("stripe") as processor, play_gateway("woocommerce") as shop:
        connect_gateway(owner, processor)
        assert store.minted(code="FIRST15")["processor"] == "paddle"
        connection = connect_gateway(owner, shop)
        assert store.minted(code="SECOND15")["processor"] == "woocommerce"
        store.brand.rows("update gateway_connection set status = 'Broken' where id = %s returning id", connection["id"])
        answer = store.mint(code="THIRD15")

    assert (answer.status_code, answer.json["error"]) == (422, "storefront_reconnect_required")
    assert processor.codes.promotion_codes == []


def test_live_gateway_mints_before_one_for_trying_out(store):
    with play_gateway("bigcommerce") as other:
        switch_to_test_mode(other)
        connect_gateway(store.brand.person("Owner"), other)

        assert store.minted()["processor"] == "shopify"
        assert other.codes.rows == []


@every_other
def test_revoked_code_ends_at_the_gateway_and_frees_its_text(store):
    first = store.minted()

    assert store.brand.call("DELETE", f"{store.url}/{first['id']}").status_code == 204

    assert store.stage.codes.list_live_ids("SPRING15") == []
    assert [row["status"] for row in store.listed()] == ["Revoked"]
    assert store.minted()["id"] != first["id"]


@every_other
def test_code_of_the_brand_with_this_text_is_never_adopted(store):
    theirs = store.stage.codes.create_as_brand("SPRING15")

    answer = store.mint()

    assert (answer.status_code, answer.json["error"]) == (422, "code_already_taken")
    assert store.stage.codes.list_live_ids("SPRING15") == [theirs]
    assert store.listed() == []


@every_other
def test_lost_answer_makes_no_second_code(store):
    store.minted(code="FIRST15")
    before = len(store.stage.calls)
    store.minted(code="OTHER15")
    store.stage.faults.extend([*[""] * (len(store.stage.calls) - before - 1), "cut", *["fail"] * 3])

    answer = store.mint()
    store.stage.faults.clear()
    store.later()
    repeated = store.mint()

    assert answer.status_code in (201, 503)
    assert repeated.status_code == 422  # the job has finished it
    (minted,) = [row for row in store.listed() if row["code"] == "SPRING15"]
    assert store.stage.codes.list_live_ids("SPRING15") == [minted["processorPromotionCodeId"]]
    assert minted["status"] == "Active"


def test_code_of_a_connection_that_ended_while_it_was_minted_is_removed(store):
    store.stage.faults.extend(["fail"] * 9)
    assert store.mint().status_code == 503
    store.brand.person("Owner").call("DELETE", f"/api/v1/connections/{store.connection['id']}")
    store.stage.faults.clear()

    store.later()

    assert store.listed() == []


def test_one_text_requested_by_many_at_once_is_one_code(store):
    answers = run_concurrently(*[store.mint] * 6)

    assert sorted(answer.status_code for answer in answers) == [201] + [422] * 5
    assert {answer.json["error"] for answer in answers if answer.status_code == 422} == {"code_already_taken"}
    assert len(store.stage.codes.list_live_ids("SPRING15")) == len(store.listed()) == 1


@pytest.mark.parametrize("text", ["SPRING15", None])
def test_repeated_key_returns_the_first_answer(store, text):
    body = PERCENT_CODE | {"code": text}

    first = store.brand.post(store.url, body, Idempotency_Key="k")
    again = store.brand.post(store.url, body, Idempotency_Key="k")

    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json == first.json
    assert len(store.listed()) == len(store.stage.codes.rows) == 1


def test_twins_with_one_key_leave_one_code(store):
    body = PERCENT_CODE | {"code": None}

    answers = run_concurrently(*[lambda: store.brand.post(store.url, body, Idempotency_Key="k")] * 4)

    assert {answer.status_code for answer in answers} <= {201, 409, 503}
    assert len({answer.json["id"] for answer in answers if answer.status_code == 201}) == 1
    assert len(store.listed()) == len(store.stage.codes.rows) == 1


def test_codes_of_a_deleted_affiliate_end_at_the_gateway(store):
    store.minted()

    body = {"action": "delete", "affiliateIds": [store.jane]}
    assert store.brand.post("/api/v1/affiliates/bulk-action", body).status_code == 200
    drain()

    assert store.stage.codes.list_live_ids("SPRING15") == []


def test_code_of_a_coupon_has_its_processor_and_no_discount_of_its_own(shop):
    minted = mint_code(shop.brand, shop.jane, create_coupon(shop.brand)["id"], "SPRING15")
    external = shop.brand.post(shop.codes, {"code": "OWN", "external": True}).json

    assert (minted["processor"], external["processor"]) == ("stripe", None)
    assert {minted["discountType"], external["discountType"], minted["maxRedemptions"]} == {None}
    (own, _) = shop.jane_herself.get("/api/me/coupons").json["items"]
    assert own["id"] == external["id"]
