"""Codes minted where the brand sells, and credited when they are redeemed there.

Source: tracking spec, "Coupons" (storefront discount codes, refusals), "Attribution method taxonomy".
"""

import pytest

from adapters.coupons.registry import MINTABLE, PROCESSOR, STOREFRONTS
from tests.support.coupons import create_coupon, mint_code
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway, switch_to_test_mode
from tests.support.gateways.stage import Purchase
from tests.support.job_queues import drain

_OTHERS = [name for name in MINTABLE if name != PROCESSOR]


def _mint(shop, made, text="SPRING15"):
    return shop.brand.post(shop.codes, {"campaignCouponId": made["id"], "code": text})


def _sold(shop, store, connection, **purchase):
    """Let somebody buy at the store, and have what it tells booked."""
    sale = store.pay(Purchase(slug=None, **purchase))
    path = "/" + connection["webhookUrl"].split("/", 3)[3]
    for sent in sale.notifications:
        query = dict(sent.query)
        answer = shop.brand.app.test_client().post(path, data=sent.body, headers=dict(sent.headers), query_string=query)
        assert answer.status_code == 200
    drain()
    return sale


@pytest.fixture
def store(request, shop):
    """Return a store that is played and connected beside the processor, with its connection."""
    with play_gateway(getattr(request, "param", "shopify")) as playing:
        yield playing, connect_gateway(shop.brand.person("Owner"), playing)


every_store = pytest.mark.parametrize("store", list(STOREFRONTS), indirect=True)


@every_store
def test_on_a_workspace_with_a_store_the_brands_code_is_minted_there_and_credited_by_its_own_method(shop, store):
    playing, connection = store
    made = create_coupon(shop.brand)

    minted = mint_code(shop.brand, shop.jane, made["id"], "SPRING15")

    assert playing.codes.list_live_ids("SPRING15") == [minted["processorPromotionCodeId"]]
    assert playing.codes.terms("SPRING15").percent == 15
    assert shop.stage.codes.promotion_codes == []
    _sold(shop, playing, connection, code="SPRING15")
    (sale,) = shop.brand.get("/api/v1/conversions").json["items"]
    assert (sale["affiliateId"], sale["couponCode"]) == (str(shop.jane), "SPRING15")
    assert sale["attributionMethod"] == f"{playing.gateway.name}_coupon_code"
    (shown,) = shop.brand.get(shop.codes).json["items"]
    assert shown["redemptionCount"] == 1


@every_store
def test_the_processors_products_are_none_of_the_stores(shop, store):
    playing, _ = store

    mint_code(shop.brand, shop.jane, create_coupon(shop.brand, productRefs=["prod_11"])["id"], "SPRING15")

    assert playing.codes.terms("SPRING15").products == ()


@every_store
def test_a_code_that_is_revoked_ends_at_the_store(shop, store):
    playing, _ = store
    minted = mint_code(shop.brand, shop.jane, create_coupon(shop.brand)["id"], "SPRING15")

    assert shop.brand.call("DELETE", f"{shop.codes}/{minted['id']}").status_code == 204

    assert playing.codes.list_live_ids("SPRING15") == []


@every_store
def test_an_archived_coupon_ends_its_codes_at_the_store_and_its_processor(shop, store):
    playing, _ = store
    made = create_coupon(shop.brand, selfMintMode="AllAffiliates")
    mint_code(shop.brand, shop.jane, made["id"], "SPRING15")
    own = shop.jane_herself.post("/api/me/coupons/mint", {"campaignCouponId": made["id"], "code": "JANES"})
    assert own.status_code == 201

    shop.brand.post(f"{shop.coupons}/{made['id']}/archive")
    drain()

    assert (playing.codes.list_live_ids("SPRING15"), shop.stage.codes.list_live_ids("JANES")) == ([], [])
    assert [told["deactivatedChildCount"] for told in shop.told("campaign_coupon.deactivated")] == [2]


@every_store
def test_a_code_that_the_store_has_already_is_refused(shop, store):
    playing, _ = store
    theirs = playing.codes.create_as_brand("SPRING15")

    answer = _mint(shop, create_coupon(shop.brand))

    assert (answer.status_code, answer.json["error"]) == (422, "code_already_taken")
    assert playing.codes.list_live_ids("SPRING15") == [theirs]
    assert shop.brand.get(shop.codes).json["items"] == []


@every_store
@pytest.mark.parametrize("fault", ["refuse", "forbid"])
def test_a_store_that_refuses_our_access_wants_to_be_connected_again(shop, store, fault):
    playing, _ = store
    made = create_coupon(shop.brand)
    playing.faults.extend([fault] * 9)

    answer = _mint(shop, made)

    assert (answer.status_code, answer.json["error"]) == (422, "storefront_reconnect_required")
    assert shop.brand.get(shop.codes).json["items"] == []
    playing.faults.clear()
    assert _mint(shop, made).status_code == 201


def test_an_app_without_the_right_to_discounts_wants_to_be_connected_again(shop, store):
    playing, _ = store
    playing.codes.may = False

    answer = _mint(shop, create_coupon(shop.brand))

    assert (answer.status_code, answer.json["error"]) == (422, "storefront_reconnect_required")


@pytest.mark.parametrize("store", ["wix"], indirect=True)
def test_what_the_store_cannot_hold_is_said_and_not_kept(shop, store):
    playing, _ = store
    forever = create_coupon(shop.brand, duration="Forever")

    too_long = _mint(shop, create_coupon(shop.brand), "A" * 21)
    not_held = _mint(shop, forever)

    assert (too_long.status_code, too_long.json["error"]) == (400, "code_not_supported")
    assert "20 characters" in too_long.json["message"]
    assert (not_held.status_code, not_held.json["error"]) == (422, "processor_create_failed")
    assert "only one order" in not_held.json["message"]
    assert shop.brand.get(shop.codes).json["items"] == playing.codes.rows == []


@every_store
def test_a_lost_answer_of_the_store_makes_no_second_code(shop, store):
    playing, _ = store
    made = create_coupon(shop.brand)
    before = len(playing.calls)
    mint_code(shop.brand, shop.jane, made["id"], "FIRST")
    playing.faults.extend([*[""] * (len(playing.calls) - before - 1), "cut"])

    minted = mint_code(shop.brand, shop.jane, made["id"], "SPRING15")

    assert playing.codes.list_live_ids("SPRING15") == [minted["processorPromotionCodeId"]]


def test_codes_that_affiliates_mint_themselves_are_minted_at_the_processor(shop, store):
    playing, _ = store
    made = create_coupon(shop.brand, selfMintMode="AllAffiliates")

    answer = shop.jane_herself.post("/api/me/coupons/mint", {"campaignCouponId": made["id"], "code": "JANES"})

    assert answer.status_code == 201
    assert shop.stage.codes.list_live_ids("JANES") == [answer.json["processorPromotionCodeId"]]
    assert playing.codes.rows == []


def test_the_first_of_several_stores_mints(shop, store):
    playing, _ = store
    with play_gateway("woocommerce") as other:
        connect_gateway(shop.brand.person("Owner"), other)

        minted = mint_code(shop.brand, shop.jane, create_coupon(shop.brand)["id"])

    assert playing.codes.list_live_ids(minted["code"]) == [minted["processorPromotionCodeId"]]
    assert other.codes.rows == []


def test_a_store_that_is_connected_for_trying_out_mints_nothing_beside_a_live_processor(shop):
    with play_gateway("shopify") as playing:
        switch_to_test_mode(playing)
        connect_gateway(shop.brand.person("Owner"), playing)

        minted = mint_code(shop.brand, shop.jane, create_coupon(shop.brand)["id"])

    assert shop.stage.codes.list_live_ids(minted["code"]) == [minted["processorPromotionCodeId"]]
    assert playing.codes.rows == []


@pytest.mark.parametrize("name", [name for name in _OTHERS if name not in STOREFRONTS])
def test_the_processor_mints_before_others_that_can(shop, name):
    made = create_coupon(shop.brand)
    owner = shop.brand.person("Owner")
    with play_gateway(name) as playing:
        connection = connect_gateway(owner, playing)

        first = mint_code(shop.brand, shop.jane, made["id"], "FIRST15")
        owner.call("DELETE", f"/api/v1/connections/{shop.connection['id']}")
        second = mint_code(shop.brand, shop.jane, made["id"], "SECOND15")

        assert shop.stage.codes.list_live_ids("FIRST15") == [first["processorPromotionCodeId"]]
        assert playing.codes.list_live_ids("SECOND15") == [second["processorPromotionCodeId"]]
        assert playing.codes.list_live_ids("FIRST15") == []
        _sold(shop, playing, connection, code="SECOND15")
        (sale,) = shop.brand.get("/api/v1/conversions").json["items"]
        assert (sale["attributionMethod"], sale["couponCode"]) == (f"{name}_coupon_code", "SECOND15")


def test_a_gateway_that_mints_nothing_is_no_place_for_codes(shop):
    made = create_coupon(shop.brand)
    owner = shop.brand.person("Owner")
    with play_gateway("thrivecart") as playing:
        connect_gateway(owner, playing)
        owner.call("DELETE", f"/api/v1/connections/{shop.connection['id']}")

        answer = _mint(shop, made)

    assert (answer.status_code, answer.json["error"]) == (422, "processor_not_connected")
