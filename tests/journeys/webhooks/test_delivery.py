"""What a brand's receiver is sent, and about what (tracking spec, sections 2 "Webhook delivery" and 6)."""

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


def test_a_delivery_says_what_it_is_and_proves_who_sent_it(shop, receiver, drain):
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


def test_the_envelope_frames_the_data_and_drops_what_is_null(shop, receiver, drain):
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


def test_a_tagged_sale_is_told_with_its_tag(shop, receiver, drain):
    Endpoint.create(shop, receiver.url)

    shop.sale(subId="News.1")
    drain()

    assert [data["subId"] for data in receiver.of_type("conversion.created")] == ["news.1"]


def test_a_sale_and_its_refunds_arrive_as_three_events(shop, receiver, drain):
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


def test_the_first_attempt_goes_out_at_once(shop, receiver, drain):
    Endpoint.create(shop, receiver.url)

    shop.sale()
    drain()  # runs what is due and waits for nothing

    assert len(receiver.received) == 1


@pytest.mark.parametrize(
    ("subscribed", "told"),
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
def test_an_endpoint_is_told_what_it_asked_for_by_its_exact_name(shop, receiver, drain, subscribed, told):
    endpoint = Endpoint.create(shop, receiver.url, *subscribed)

    shop.sale(externalEventId="order-a")
    drain()
    post_refund(shop, "order-a")
    drain()

    assert [event["type"] for event in receiver.events] == told
    assert len(endpoint.deliveries("d.id")) == len(told)


def test_every_subscribed_endpoint_is_told_under_its_own_secret_and_delivery_id(shop, receiver, drain):
    first, second = Endpoint.create(shop, receiver.url), Endpoint.create(shop, receiver.url + "?second")

    shop.sale()
    drain()

    by_path = {received.path: received for received in receiver.received}
    assert set(by_path) == {"/hook", "/hook?second"}
    assert _signed_with(first.secret, by_path["/hook"])
    assert _signed_with(second.secret, by_path["/hook?second"])
    assert by_path["/hook"].body == by_path["/hook?second"].body
    assert len({received.headers["x-service-delivery-id"] for received in receiver.received}) == 2


def test_an_organization_is_told_its_own_events_alone(shop, rival, receiver, drain):
    rival.program()
    rival.affiliate("ben")
    Endpoint.create(shop, receiver.url + "/ours")
    Endpoint.create(rival, receiver.url + "/theirs")

    ours, theirs = shop.sale().json["conversionId"], rival.sale().json["conversionId"]
    drain()

    assert {(r.path, r.event["organizationId"], r.event["data"]["conversionId"]) for r in receiver.received} == {
        ("/hook/ours", str(shop.id), ours),
        ("/hook/theirs", str(rival.id), theirs),
    }


def test_an_endpoint_is_not_told_what_happened_before_it(shop, receiver, drain):
    shop.sale()
    drain()

    Endpoint.create(shop, receiver.url)
    drain()

    assert receiver.received == []


def test_a_deleted_endpoint_is_not_told(shop, receiver, drain):
    endpoint = Endpoint.create(shop, receiver.url)
    endpoint.delete()

    shop.sale()
    drain()

    assert receiver.received == []
    assert endpoint.deliveries("d.id") == []


def test_an_endpoint_keeps_being_told_after_the_subscription_lapsed(shop, receiver, drain):
    Endpoint.create(shop, receiver.url)
    shop.sale()

    shop.set(plan="Free", status="Canceled")
    drain()

    assert len(receiver.received) == 1


def test_an_endpoint_that_is_down_does_not_hold_up_another(shop, receiver, drain):
    down, up = Endpoint.create(shop, "https://localhost:1/hook"), Endpoint.create(shop, receiver.url)

    shop.sale()
    drain()

    assert up.deliveries("d.status, response_status") == [("Delivered", 200)]
    assert down.deliveries("d.status, response_status, attempt_count") == [("Pending", None, 1)]
    assert len(receiver.received) == 1


def test_the_payload_is_frozen_when_it_happens(shop, receiver, drain):
    endpoint = Endpoint.create(shop, receiver.url)
    receiver.answers = [status(500), status(200)]
    shop.sale()
    drain()

    with db.unit_of_work(shop.id):
        db.db.run("update conversion set status = 'Approved', commission_cents = 1")
    endpoint.hurry()
    drain()

    first, second = receiver.received
    assert first.body == second.body


def test_a_job_that_is_handed_out_again_sends_nothing_again(shop, receiver, drain):
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
def test_the_first_500_characters_of_the_answer_are_kept_without_nul(shop, receiver, drain, *, code, body, excerpt):
    endpoint = Endpoint.create(shop, receiver.url)
    receiver.answers = [status(code, body)]

    shop.sale()
    drain()

    assert endpoint.deliveries("response_status, response_excerpt") == [(code, excerpt)]
