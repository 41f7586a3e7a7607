"""A workflow from end to end: it subscribes, acts, finds what it did, is told of it; what comes twice is done once."""

import time

import pytest

from tests.support import coupons
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway

AUTOMATION = "/api/v1/automation"
TRIGGERS = (
    "conversion.created",
    "conversion.refunded",
    "affiliate.created",
    "affiliate.approved",
    "campaign_coupon.created",
    "affiliate_coupon.created",
)


@pytest.fixture
def shop(brand):
    """A brand that takes sales itself and mints codes at a gateway, which would bring its sales as well."""
    brand.program(slug="spring")
    brand.affiliate("ben", email=f"ben@{brand.id.hex}.test")
    return brand


def _found(brand, what, **asked):
    query = "&".join(f"{name}={value}" for name, value in asked.items())
    return brand.get(f"{AUTOMATION}/search/{what}?{query}").json


def _twice(send, key):
    first, again = send(Idempotency_Key=key), send(Idempotency_Key=key)
    assert first.status_code in (200, 201), (key, first.get_data(as_text=True))
    assert (again.status_code, again.json) == (first.status_code, first.json), key
    return first.json


def test_nine_actions_are_found_again_and_told_and_each_is_done_once(shop, receiver, drain):
    for event in TRIGGERS:
        body = {"event": event, "targetUrl": f"{receiver.url}/{event}"}
        assert shop.post(f"{AUTOMATION}/hooks", body).status_code == 201
    (campaign,) = _found(shop, "campaigns", slug="spring")
    (ben,) = _found(shop, "affiliates", slug="ben")
    email = f"ann@{shop.id.hex}.test"

    sale = {"externalEventId": "order-1", "affiliateSlug": "ben", "amountCents": 4900, "currency": "USD"}
    lead = {"affiliateSlug": "ben", "email": f"lea@{shop.id.hex}.test", "programId": campaign["id"]}
    refund = {"externalEventId": "order-1", "refundAmountCents": 900}
    assert shop.sale(**sale).status_code == shop.sale(**sale).status_code == 200
    assert "leadId" in shop.post_signed("/api/tracking/lead", lead).json
    assert shop.post_signed("/api/tracking/lead", lead, at=int(time.time()) + 1).json == {"ok": True, "deduped": True}
    _twice(lambda **key: shop.post_signed("/api/tracking/refund", refund, **key), "refund")

    ann = _twice(
        lambda **key: shop.post(
            "/api/v1/affiliates", {"programId": campaign["id"], "email": email, "status": "Pending"}, **key
        ),
        "create",
    )
    whose = f"/api/v1/affiliates/{ann['id']}"
    _twice(lambda **key: shop.call("PATCH", whose, {"tags": ["vip"]}, **key), "update")
    _twice(lambda **key: shop.post(f"{whose}/approve", {}, **key), "approve")
    asked = {"programId": campaign["id"], "email": f"eve@{shop.id.hex}.test", "fullName": "Eve"}
    assert "acceptUrl" in _twice(lambda **key: shop.post("/api/affiliate-invites", asked, **key), "invite")
    bonus = {"programId": campaign["id"], "affiliateId": ben["id"], "kind": "bonus", "commissionCents": 500}
    _twice(lambda **key: shop.post("/api/v1/conversions", bonus, **key), "bonus")
    with play_gateway() as stage:
        connect_gateway(shop.person("Owner"), stage)
        coupon = coupons.create_coupon(shop)
        code = {"campaignCouponId": coupon["id"], "code": f"ANN{shop.id.hex[:8].upper()}"}
        _twice(lambda **key: shop.post(f"{whose}/coupons", code, **key), "code")
    drain()

    (found,) = _found(shop, "conversions", externalEventId="order-1")
    assert (found["amountCents"], found["refundedAmountCents"], found["affiliateId"]) == (4900, 900, ben["id"])
    (again,) = _found(shop, "affiliates", email=email.upper())
    assert (again["id"], again["status"], again["tags"]) == (ann["id"], "Approved", ["vip"])
    told = [event["type"] for event in receiver.events]
    of_sales = [event["data"]["type"] for event in receiver.events if event["type"] == "conversion.created"]
    assert {event: told.count(event) for event in TRIGGERS[1:]} == dict.fromkeys(TRIGGERS[1:], 1)
    assert sorted(of_sales) == ["Bonus", "LeadReward", "OneTime"]
    for received in receiver.received:
        assert received.path.endswith(f"/{received.event['type']}")
        shown = shop.get(f"{AUTOMATION}/events/{received.event['type']}/samples?limit=10").json
        assert received.event in shown
