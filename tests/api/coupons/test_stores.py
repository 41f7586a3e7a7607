"""Codes minted at the brand's store and credited when they are redeemed there.

Source: tracking spec, "Coupons" (storefront discount codes, refusals), "Attribution method taxonomy".
"""

import pytest

from adapters.coupons.registry import MINTABLE, PROCESSOR, STOREFRONTS
from tests.support.coupons import create_coupon, mint_code
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway, switch_to_test_mode
from tests.support.gateways.stage import Purchase
from tests.support.job_queues import drain

_OTHER_GATEWAYS = [name for name in MINTABLE if name != PROCESSOR]


def _request_code(shop, coupon, text="SPRING15"):
    return shop.brand.post(shop.codes, {"campaignCouponId": coupon["id"], "code": text})


def _sell(shop, store, connection, **purchase):
    """Pay for a purchase at the store, deliver its notifications and run the jobs."""
    sale = store.pay(Purchase(slug=None, **purchase))
    path = "/" + connection["webhookUrl"].split("/", 3)[3]
    for notification in sale.notifications:
        headers, query = dict(notification.headers), dict(notification.query)
        answer = shop.brand.app.test_client().post(path, data=notification.body, headers=headers, query_string=query)
        assert answer.status_code == 200
    drain()
    return sale


@pytest.fixture
def store(request, shop):
    """Return a simulated store, connected in addition to the processor, and its connection."""
    with play_gateway(getattr(request, "param", "shopify")) as simulation:
        yield simulation, connect_gateway(shop.brand.person("Owner"), simulation)


every_store = pytest.mark.parametrize("store", list(STOREFRONTS), indirect=True)


@every_store
def test_brands_code_is_minted_at_the_store_and_credits_by_the_stores_method(shop, store):
    simulation, connection = store
    coupon = create_coupon(shop.brand)

    minted = mint_code(shop.brand, shop.jane, coupon["id"], "SPRING15")

    assert simulation.codes.list_live_ids("SPRING15") == [minted["processorPromotionCodeId"]]
    assert simulation.codes.terms("SPRING15").percent == 15
    assert shop.stage.codes.promotion_codes == []
    _sell(shop, simulation, connection, code="SPRING15")
    (sale,) = shop.brand.get("/api/v1/conversions").json["items"]
    assert (sale["affiliateId"], sale["couponCode"]) == (str(shop.jane), "SPRING15")
    assert sale["attributionMethod"] == f"{simulation.gateway.name}_coupon_code"
    (code,) = shop.brand.get(shop.codes).json["items"]
    assert code["redemptionCount"] == 1


@every_store
def test_product_limits_of_the_processor_do_not_apply_at_the_store(shop, store):
    simulation, _ = store

    mint_code(shop.brand, shop.jane, create_coupon(shop.brand, productRefs=["prod_11"])["id"], "SPRING15")

    assert simulation.codes.terms("SPRING15").products == ()


@every_store
def test_revoked_code_is_disabled_at_the_store(shop, store):
    simulation, _ = store
    minted = mint_code(shop.brand, shop.jane, create_coupon(shop.brand)["id"], "SPRING15")

    assert shop.brand.call("DELETE", f"{shop.codes}/{minted['id']}").status_code == 204

    assert simulation.codes.list_live_ids("SPRING15") == []


@every_store
def test_archiving_a_coupon_disables_its_codes_at_the_store_and_the_processor(shop, store):
    simulation, _ = store
    coupon = create_coupon(shop.brand, selfMintMode="AllAffiliates")
    mint_code(shop.brand, shop.jane, coupon["id"], "SPRING15")
    self_minted = shop.signed_in_jane.post("/api/me/coupons/mint", {"campaignCouponId": coupon["id"], "code": "JANES"})
    assert self_minted.status_code == 201

    shop.brand.post(f"{shop.coupons}/{coupon['id']}/archive")
    drain()

    assert (simulation.codes.list_live_ids("SPRING15"), shop.stage.codes.list_live_ids("JANES")) == ([], [])
    assert [event["deactivatedChildCount"] for event in shop.list_event_data("campaign_coupon.deactivated")] == [2]


@every_store
def test_existing_code_of_the_store_is_refused(shop, store):
    simulation, _ = store
    existing_id = simulation.codes.create_as_brand("SPRING15")

    answer = _request_code(shop, create_coupon(shop.brand))

    assert (answer.status_code, answer.json["error"]) == (422, "code_already_taken")
    assert simulation.codes.list_live_ids("SPRING15") == [existing_id]
    assert shop.brand.get(shop.codes).json["items"] == []


@every_store
@pytest.mark.parametrize("fault", ["refuse", "forbid"])
def test_store_that_refuses_access_must_be_reconnected(shop, store, fault):
    simulation, _ = store
    coupon = create_coupon(shop.brand)
    simulation.faults.extend([fault] * 9)

    answer = _request_code(shop, coupon)

    assert (answer.status_code, answer.json["error"]) == (422, "storefront_reconnect_required")
    assert shop.brand.get(shop.codes).json["items"] == []
    simulation.faults.clear()
    assert _request_code(shop, coupon).status_code == 201


def test_app_without_the_discount_permission_must_be_reconnected(shop, store):
    simulation, _ = store
    simulation.codes.has_scope = False

    answer = _request_code(shop, create_coupon(shop.brand))

    assert (answer.status_code, answer.json["error"]) == (422, "storefront_reconnect_required")


@pytest.mark.parametrize("store", ["wix"], indirect=True)
def test_unsupported_code_is_refused_with_its_reason(shop, store):
    simulation, _ = store
    forever = create_coupon(shop.brand, duration="Forever")

    too_long = _request_code(shop, create_coupon(shop.brand), "A" * 21)
    unsupported = _request_code(shop, forever)

    assert (too_long.status_code, too_long.json["error"]) == (400, "code_not_supported")
    assert "20 characters" in too_long.json["message"]
    assert (unsupported.status_code, unsupported.json["error"]) == (422, "processor_create_failed")
    assert "only one order" in unsupported.json["message"]
    assert shop.brand.get(shop.codes).json["items"] == simulation.codes.rows == []


@every_store
def test_lost_answer_of_the_store_creates_no_second_code(shop, store):
    simulation, _ = store
    coupon = create_coupon(shop.brand)
    calls_before = len(simulation.calls)
    mint_code(shop.brand, shop.jane, coupon["id"], "FIRST")
    simulation.faults.extend([*[""] * (len(simulation.calls) - calls_before - 1), "cut"])

    minted = mint_code(shop.brand, shop.jane, coupon["id"], "SPRING15")

    assert simulation.codes.list_live_ids("SPRING15") == [minted["processorPromotionCodeId"]]


def test_self_minted_code_is_minted_at_the_processor(shop, store):
    simulation, _ = store
    coupon = create_coupon(shop.brand, selfMintMode="AllAffiliates")

    answer = shop.signed_in_jane.post("/api/me/coupons/mint", {"campaignCouponId": coupon["id"], "code": "JANES"})

    assert answer.status_code == 201
    assert shop.stage.codes.list_live_ids("JANES") == [answer.json["processorPromotionCodeId"]]
    assert simulation.codes.rows == []


def test_first_of_several_stores_mints_the_code(shop, store):
    simulation, _ = store
    with play_gateway("woocommerce") as other:
        connect_gateway(shop.brand.person("Owner"), other)

        minted = mint_code(shop.brand, shop.jane, create_coupon(shop.brand)["id"])

    assert simulation.codes.list_live_ids(minted["code"]) == [minted["processorPromotionCodeId"]]
    assert other.codes.rows == []


def test_store_in_test_mode_mints_nothing_when_a_live_processor_is_connected(shop):
    with play_gateway("shopify") as simulation:
        switch_to_test_mode(simulation)
        connect_gateway(shop.brand.person("Owner"), simulation)

        minted = mint_code(shop.brand, shop.jane, create_coupon(shop.brand)["id"])

    assert shop.stage.codes.list_live_ids(minted["code"]) == [minted["processorPromotionCodeId"]]
    assert simulation.codes.rows == []


@pytest.mark.parametrize("name", [name for name in _OTHER_GATEWAYS if name not in STOREFRONTS])
def test_processor_is_preferred_to_other_gateways(shop, name):
    coupon = create_coupon(shop.brand)
    owner = shop.brand.person("Owner")
    with play_gateway(name) as simulation:
        connection = connect_gateway(owner, simulation)

        first = mint_code(shop.brand, shop.jane, coupon["id"], "FIRST15")
        owner.call("DELETE", f"/api/v1/connections/{shop.connection['id']}")
        second = mint_code(shop.brand, shop.jane, coupon["id"], "SECOND15")

        assert shop.stage.codes.list_live_ids("FIRST15") == [first["processorPromotionCodeId"]]
        assert simulation.codes.list_live_ids("SECOND15") == [second["processorPromotionCodeId"]]
        assert simulation.codes.list_live_ids("FIRST15") == []
        _sell(shop, simulation, connection, code="SECOND15")
        (sale,) = shop.brand.get("/api/v1/conversions").json["items"]
        assert (sale["attributionMethod"], sale["couponCode"]) == (f"{name}_coupon_code", "SECOND15")


def test_gateway_without_codes_returns_processor_not_connected(shop):
    coupon = create_coupon(shop.brand)
    owner = shop.brand.person("Owner")
    with play_gateway("thrivecart") as simulation:
        connect_gateway(owner, simulation)
        owner.call("DELETE", f"/api/v1/connections/{shop.connection['id']}")

        answer = _request_code(shop, coupon)

    assert (answer.status_code, answer.json["error"]) == (422, "processor_not_connected")
