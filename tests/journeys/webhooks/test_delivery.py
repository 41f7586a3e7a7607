"""Deliveries to a brand's receiver, and the events that cause them (tracking spec, sections 2 and 6)."""

import hashlib
import hmac
import json
import re
import time
from uuid import UUID

import pytest

from models import db
from tests.support.endpoints import Endpoint
from tests.support.outside.receiver import status
from tests.support.rows.refund_requests import post_refund


@pytest.fixture
def shop(brand):
    brand.program()
    brand.affiliate("ben")
    return brand


def _signed_with(secret, received):
    t = received.headers["x-service-timestamp"]
    digest = hmac.new(secret.encode(), f"{t}.".encode() + received.body, hashlib.sha256).hexdigest()
    return received.headers["x-service-signature"] == f"t={t},v1={digest}"


def test_delivery_is_identified_and_signed(shop, receiver, drain):
    endpoint = Endpoint.create(shop, receiver.url)
    began_at = int(time.time())

    shop.sale()
    drain()

    (received,) = receiver.received
    ((delivery_id,),) = endpoint.deliveries("d.id::text")
    assert received.path == "/hook"
    assert received.headers["content-type"] == "application/json"
    assert received.headers["x-service-event"] == "conversion.created"
    assert received.headers["x-service-delivery-id"] == delivery_id == str(UUID(delivery_id))
    assert re.fullmatch(r"t=[0-9]{10},v1=[0-9a-f]{64}", received.headers["x-service-signature"])
    assert began_at <= int(received.headers["x-service-timestamp"]) <= received.at
    assert _signed_with(endpoint.secret, received)


def test_envelope_wraps_the_data_without_nulls(shop, receiver, drain):
    Endpoint.create(shop, receiver.url)

    shop.sale(externalEventId="order-☕", customerName="Zoë")
    drain()

    (received,) = receiver.received
    envelope = json.loads(received.body)
    assert list(envelope) == ["id", "type", "createdAt", "organizationId", "data"]
    assert re.fullmatch(r"evt_[0-9a-f]{32}", envelope["id"])
    assert re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z", envelope["createdAt"])
    assert (envelope["type"], envelope["organizationId"]) == ("conversion.created", str(shop.id))
    assert set(envelope["data"]) == {
        "conversionId",
        "affiliateId",
        "programId",
        "amountCents",
        "currency",
        "commissionCents",
        "status",
        "externalEventId",
        "type",
    }
    assert envelope["data"]["externalEventId"] == "order-☕"


def test_tagged_sale_is_delivered_with_its_tag(shop, receiver, drain):
    Endpoint.create(shop, receiver.url)

    shop.sale(subId="News.1")
    drain()

    assert [data["subId"] for data in receiver.of_type("conversion.created")] == ["news.1"]


def test_sale_and_two_refunds_arrive_as_three_events(shop, receiver, drain):
    Endpoint.create(shop, receiver.url)

    shop.sale(externalEventId="order-a")
    drain()
    post_refund(shop, "order-a", 4_000)
    drain()
    post_refund(shop, "order-a")
    drain()

    assert [event["type"] for event in receiver.events] == [
        "conversion.created",
        "conversion.refunded",
        "conversion.refunded",
    ]
    assert [data["isFullRefund"] for data in receiver.of_type("conversion.refunded")] == [False, True]
    assert len({event["id"] for event in receiver.events}) == 3
    assert len({received.headers["x-service-delivery-id"] for received in receiver.received}) == 3


def test_first_attempt_is_sent_immediately(shop, receiver, drain):
    Endpoint.create(shop, receiver.url)

    shop.sale()
    drain()  # runs only what is due

    assert len(receiver.received) == 1


@pytest.mark.parametrize(
    ("subscribed", "expected_types"),
    [
        (["*"], ["conversion.created", "conversion.refunded"]),
        (["conversion.created"], ["conversion.created"]),
        (["conversion.refunded"], ["conversion.refunded"]),
        (["payout.paid", "conversion.created"], ["conversion.created"]),
        (["conversion.created", "*"], ["conversion.created", "conversion.refunded"]),
        (["conversion.*"], []),
        (["conversion"], []),
        (["Conversion.Created"], []),
        (["conversion.create"], []),
        (["conversion_created"], []),
        (["affiliate.created"], []),
        (["**"], []),
    ],
)
def test_endpoint_gets_only_subscribed_event_types(shop, receiver, drain, subscribed, expected_types):
    endpoint = Endpoint.create(shop, receiver.url, *subscribed)

    shop.sale(externalEventId="order-a")
    drain()
    post_refund(shop, "order-a")
    drain()

    assert [event["type"] for event in receiver.events] == expected_types
    assert len(endpoint.deliveries("d.id")) == len(expected_types)


def test_each_endpoint_gets_its_own_secret_and_delivery_id(shop, receiver, drain):
    first, second = Endpoint.create(shop, receiver.url), Endpoint.create(shop, receiver.url + "?second")

    shop.sale()
    drain()

    by_path = {received.path: received for received in receiver.received}
    assert set(by_path) == {"/hook", "/hook?second"}
    assert _signed_with(first.secret, by_path["/hook"])
    assert _signed_with(second.secret, by_path["/hook?second"])
    assert by_path["/hook"].body == by_path["/hook?second"].body
    assert len({received.headers["x-service-delivery-id"] for received in receiver.received}) == 2


def test_organization_gets_only_its_own_events(shop, rival, receiver, drain):
    rival.program()
    rival.affiliate("ben")
    Endpoint.create(shop, receiver.url + "/ours")
    Endpoint.create(rival, receiver.url + "/theirs")

    own_sale_id, rival_sale_id = shop.sale().json["conversionId"], rival.sale().json["conversionId"]
    drain()

    assert {(r.path, r.event["organizationId"], r.event["data"]["conversionId"]) for r in receiver.received} == {
        ("/hook/ours", str(shop.id), own_sale_id),
        ("/hook/theirs", str(rival.id), rival_sale_id),
    }


def test_endpoint_does_not_get_earlier_events(shop, receiver, drain):
    shop.sale()
    drain()

    Endpoint.create(shop, receiver.url)
    drain()

    assert receiver.received == []


def test_deleted_endpoint_gets_nothing(shop, receiver, drain):
    endpoint = Endpoint.create(shop, receiver.url)
    endpoint.delete()

    shop.sale()
    drain()

    assert receiver.received == []
    assert endpoint.deliveries("d.id") == []


def test_endpoint_gets_events_after_the_subscription_lapsed(shop, receiver, drain):
    Endpoint.create(shop, receiver.url)
    shop.sale()

    shop.set(plan="Free", status="Canceled")
    drain()

    assert len(receiver.received) == 1


def test_failing_endpoint_does_not_delay_others(shop, receiver, drain):
    down, up = Endpoint.create(shop, "https://localhost:1/hook"), Endpoint.create(shop, receiver.url)

    shop.sale()
    drain()

    assert up.deliveries("d.status, response_status") == [("Delivered", 200)]
    assert down.deliveries("d.status, response_status, attempt_count") == [("Pending", None, 1)]
    assert len(receiver.received) == 1


def test_payload_is_fixed_when_the_event_happens(shop, receiver, drain):
    endpoint = Endpoint.create(shop, receiver.url)
    receiver.answers = [status(500), status(200)]
    shop.sale()
    drain()

    with db.unit_of_work(shop.id):
        db.db.run("update conversion set status = 'Approved', commission_cents = 1")
    endpoint.make_deliveries_due()
    drain()

    first, second = receiver.received
    assert first.body == second.body


def test_repeated_job_sends_nothing_again(shop, receiver, drain):
    Endpoint.create(shop, receiver.url)

    shop.sale()
    drain(deliveries=3)

    assert len(receiver.received) == 1


@pytest.mark.parametrize(
    ("body", "excerpt"),
    [
        (b"", ""),
        (b"thank you", "thank you"),
        (b"x" * 501, "x" * 500),
        (b"x" * 60_000, "x" * 500),
        (b"a\x00b" * 300, "ab" * 250),
        ("é☕".encode() * 300, "é☕" * 250),
        ("🎉".encode() * 600, "🎉" * 500),
        (b"\xff\xfe ok", "\ufffd\ufffd ok"),
        (b"<script>alert(1)</script>", "<script>alert(1)</script>"),
    ],
)
@pytest.mark.parametrize("code", [200, 500])
def test_first_500_characters_of_the_response_are_stored(shop, receiver, drain, *, code, body, excerpt):
    endpoint = Endpoint.create(shop, receiver.url)
    receiver.answers = [status(code, body)]

    shop.sale()
    drain()

    assert endpoint.deliveries("response_status, response_excerpt") == [(code, excerpt)]
