"""An automation workflow end to end: subscribe, act, search, receive events; repeated actions run once."""

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
    """A brand that records sales itself and mints codes at a gateway."""
    brand.program(slug="spring")
    brand.affiliate("ben", email=f"ben@{brand.id.hex}.test")
    return brand


def _search(brand, what, **params):
    query = "&".join(f"{name}={value}" for name, value in params.items())
    return brand.get(f"{AUTOMATION}/search/{what}?{query}").json


def _send_twice(send, key):
    first, again = send(Idempotency_Key=key), send(Idempotency_Key=key)
    assert first.status_code in (200, 201), (key, first.get_data(as_text=True))
    assert (again.status_code, again.json) == (first.status_code, first.json), key
    return first.json


def test_nine_actions_are_searchable_and_reported_and_run_once(shop, receiver, drain):
    for event in TRIGGERS:
        body = {"event": event, "targetUrl": f"{receiver.url}/{event}"}
        assert shop.post(f"{AUTOMATION}/hooks", body).status_code == 201
    (campaign,) = _search(shop, "campaigns", slug="spring")
    (ben,) = _search(shop, "affiliates", slug="ben")
    email = f"ann@{shop.id.hex}.test"

    sale = {"externalEventId": "order-1", "affiliateSlug": "ben", "amountCents": 4900, "currency": "USD"}
    lead = {"affiliateSlug": "ben", "email": f"lea@{shop.id.hex}.test", "programId": campaign["id"]}
    refund = {"externalEventId": "order-1", "refundAmountCents": 900}
    assert shop.sale(**sale).status_code == shop.sale(**sale).status_code == 200
    assert "leadId" in shop.post_signed("/api/tracking/lead", lead).json
    assert shop.post_signed("/api/tracking/lead", lead, at=int(time.time()) + 1).json == {"ok": True, "deduped": True}
    _send_twice(lambda **key: shop.post_signed("/api/tracking/refund", refund, **key), "refund")

    ann = _send_twice(
        lambda **key: shop.post(
            "/api/v1/affiliates", {"programId": campaign["id"], "email": email, "status": "Pending"}, **key
        ),
        "create",
    )
    affiliate_path = f"/api/v1/affiliates/{ann['id']}"
    _send_twice(lambda **key: shop.call("PATCH", affiliate_path, {"tags": ["vip"]}, **key), "update")
    _send_twice(lambda **key: shop.post(f"{affiliate_path}/approve", {}, **key), "approve")
    invite = {"programId": campaign["id"], "email": f"eve@{shop.id.hex}.test", "fullName": "Eve"}
    assert "acceptUrl" in _send_twice(lambda **key: shop.post("/api/affiliate-invites", invite, **key), "invite")
    bonus = {"programId": campaign["id"], "affiliateId": ben["id"], "kind": "bonus", "commissionCents": 500}
    _send_twice(lambda **key: shop.post("/api/v1/conversions", bonus, **key), "bonus")
    with play_gateway() as stage:
        connect_gateway(shop.person("Owner"), stage)
        coupon = coupons.create_coupon(shop)
        code = {"campaignCouponId": coupon["id"], "code": f"ANN{shop.id.hex[:8].upper()}"}
        _send_twice(lambda **key: shop.post(f"{affiliate_path}/coupons", code, **key), "code")
    drain()

    (sale_row,) = _search(shop, "conversions", externalEventId="order-1")
    assert (sale_row["amountCents"], sale_row["refundedAmountCents"], sale_row["affiliateId"]) == (4900, 900, ben["id"])
    (ann_row,) = _search(shop, "affiliates", email=email.upper())
    assert (ann_row["id"], ann_row["status"], ann_row["tags"]) == (ann["id"], "Approved", ["vip"])
    event_types = [event["type"] for event in receiver.events]
    conversion_types = [event["data"]["type"] for event in receiver.events if event["type"] == "conversion.created"]
    assert {event: event_types.count(event) for event in TRIGGERS[1:]} == dict.fromkeys(TRIGGERS[1:], 1)
    assert sorted(conversion_types) == ["Bonus", "LeadReward", "OneTime"]
    for received in receiver.received:
        assert received.path.endswith(f"/{received.event['type']}")
        samples = shop.get(f"{AUTOMATION}/events/{received.event['type']}/samples?limit=10").json
        assert received.event in samples
