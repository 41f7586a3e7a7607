"""Tests, history and redelivery of webhooks, through HTTP and to a real HTTPS receiver."""

import hashlib
import hmac
from datetime import UTC, datetime, timedelta

import pytest

from domain.webhooks import events
from tests.support.api.lists import assert_foreign_cursors_refused
from tests.support.outside import receiver as receivers

URL = "/api/v1/webhooks"
HOOK = "https://localhost/hook"
MILLISECOND = timedelta(milliseconds=1)


def _create(brand, **fields):
    return brand.post(URL, {"url": HOOK, "events": ["*"]} | fields)


def test_rotated_secret_signs_new_deliveries(brand, endpoint, receiver, drain):
    rotated = brand.post(f"{URL}/{endpoint['id']}/rotate-secret")
    brand.post(f"{URL}/{endpoint['id']}/test")
    drain()

    (received,) = receiver.received
    assert rotated.status_code == 200
    assert rotated.json["secret"] != endpoint["secret"]
    assert _is_signed(received, rotated.json["secret"])
    assert not _is_signed(received, endpoint["secret"])


@pytest.mark.parametrize("body", [None, {}, {"type": None}, {"type": ""}, {"type": "test"}])
def test_test_without_a_type_sends_the_generic_event(brand, endpoint, receiver, drain, body):
    answer = brand.post(f"{URL}/{endpoint['id']}/test", body)
    drain()

    (received,) = receiver.received
    assert answer.status_code == 200
    assert received.headers["x-service-delivery-id"] == answer.json["deliveryId"]
    assert received.headers["x-service-event"] == received.event["type"] == "test"
    assert received.event["id"] == answer.json["eventId"]
    assert received.event["organizationId"] == str(brand.id)
    assert _is_signed(received, endpoint["secret"])


@pytest.mark.parametrize("type", events.TESTABLE)
def test_every_testable_event_has_a_sample(brand, receiver, drain, type):
    endpoint = brand.endpoint(receiver.url, [type])
    brand.endpoint(f"{receiver.url}/other", ["*"])

    answer = brand.post(f"{URL}/{endpoint['id']}/test", {"type": type})
    drain()

    assert answer.status_code == 200
    assert [event["type"] for event in receiver.events] == [type]
    assert receiver.events[0]["data"] == events.sample(type)


@pytest.mark.parametrize(
    ("type", "code"),
    [
        ("payout.paid", "event_not_subscribed"),
        ("conversion.denied", "sample_not_available"),
        ("deal.funded", "sample_not_available"),
        ("*", "unknown_event"),
        ("nope", "unknown_event"),
    ],
)
def test_unavailable_test_event_is_refused(brand, type, code):
    endpoint_id = _create(brand, events=["conversion.created", "conversion.denied"]).json["id"]

    answer = brand.post(f"{URL}/{endpoint_id}/test", {"type": type})

    assert (answer.status_code, answer.json["error"]) == (400, code)
    assert brand.rows("select count(*) from delivery") == [(0,)]


@pytest.mark.parametrize("body", [[], {"type": 5}, {"type": ["test"]}, {"type": "x" * 101}, b"{"])
def test_malformed_test_returns_400(brand, endpoint, body):
    assert brand.post(f"{URL}/{endpoint['id']}/test", body).status_code == 400


def test_delivery_is_listed_in_the_history(brand, endpoint, receiver, drain):
    receiver.answers = [receivers.status(503, b"busy " * 200, Retry_After="60")]
    created = brand.post(f"{URL}/{endpoint['id']}/test").json

    pending = brand.get(f"{URL}/{endpoint['id']}/deliveries").json["items"][0]
    drain()
    tried = brand.get(f"{URL}/{endpoint['id']}/deliveries").json["items"][0]

    assert set(tried) == {
        "id", "eventId", "eventType", "status", "attemptCount", "responseStatus", "responseExcerpt", "failureReason",
        "nextAttemptAt", "createdAt", "settledAt",
    }  # fmt: skip
    assert (pending["id"], pending["eventId"], pending["eventType"]) == (
        created["deliveryId"],
        created["eventId"],
        "test",
    )
    assert (pending["status"], pending["attemptCount"], pending["responseStatus"]) == ("Pending", 0, None)
    assert (tried["status"], tried["attemptCount"], tried["responseStatus"]) == ("Pending", 1, 503)
    assert tried["responseExcerpt"] == ("busy " * 100)
    assert tried["nextAttemptAt"].endswith("Z")
    assert tried["settledAt"] is None


def test_delivered_delivery_shows_when_it_settled(brand, endpoint, receiver, drain):
    receiver.answers = [receivers.status(500), receivers.status(200)]
    brand.post(f"{URL}/{endpoint['id']}/test")
    drain()
    failed = brand.get(f"{URL}/{endpoint['id']}/deliveries").json["items"][0]
    brand.rows("update job set run_at = now() where name = 'webhook.deliver' returning id")
    started = datetime.now(UTC)
    drain()

    settled = brand.get(f"{URL}/{endpoint['id']}/deliveries").json["items"][0]

    assert (failed["status"], failed["settledAt"]) == ("Pending", None)
    assert (settled["status"], settled["attemptCount"], settled["responseStatus"]) == ("Delivered", 2, 200)
    assert (settled["nextAttemptAt"], settled["settledAt"][-1]) == (None, "Z")
    assert started - MILLISECOND <= datetime.fromisoformat(settled["settledAt"]) <= datetime.now(UTC)


def test_history_has_fifty_rows_per_page(brand, rival):
    endpoint_id = _create(brand).json["id"]
    other_id = _create(brand, url=f"{HOOK}/2").json["id"]
    rival_id = _create(rival).json["id"]
    delivery_ids = [brand.post(f"{URL}/{endpoint_id}/test").json["deliveryId"] for _ in range(52)]
    for owner, id in ((brand, other_id), (brand, other_id), (rival, rival_id), (rival, rival_id)):
        owner.post(f"{URL}/{id}/test")
    url = f"{URL}/{endpoint_id}/deliveries"

    first = brand.get(f"{url}?take=200").json
    second = brand.get(f"{url}?cursor={first['nextCursor']}").json

    assert [row["id"] for row in first["items"]] == delivery_ids[:1:-1]
    assert [row["id"] for row in second["items"]] == delivery_ids[1::-1]
    assert (second["hasMore"], second["nextCursor"]) == (False, None)
    assert_foreign_cursors_refused(
        brand, url, foreign=(rival, f"{URL}/{rival_id}/deliveries"), other=(brand, f"{URL}/{other_id}/deliveries")
    )


def test_settled_delivery_is_redelivered_under_its_id(brand, endpoint, receiver, drain):
    receiver.answers = [receivers.status(200), receivers.status(500)]
    delivery_id = brand.post(f"{URL}/{endpoint['id']}/test").json["deliveryId"]
    drain()

    answer = brand.post(f"{URL}/{endpoint['id']}/deliveries/{delivery_id}/redeliver")
    again = brand.post(f"{URL}/{endpoint['id']}/deliveries/{delivery_id}/redeliver")
    drain()

    row = brand.get(f"{URL}/{endpoint['id']}/deliveries").json["items"][0]
    assert (answer.status_code, answer.json) == (200, {"deliveryId": delivery_id})
    assert (again.status_code, again.json["error"]) == (409, "invalid_status_transition")
    assert [received.headers["x-service-delivery-id"] for received in receiver.received] == [delivery_id] * 2
    assert receiver.received[0].body == receiver.received[1].body
    assert (row["status"], row["attemptCount"], row["responseStatus"]) == ("Failed", 2, 500)
    assert brand.rows("select count(*) from job where name = 'webhook.deliver'") == [(0,)]


def test_pending_delivery_is_retried_at_once(brand, endpoint, receiver, drain):
    receiver.answers = [receivers.status(500), receivers.status(500), receivers.status(200)]
    brand.program()
    brand.affiliate("ada")
    brand.sale(affiliateSlug="ada")
    drain()
    (row,) = brand.get(f"{URL}/{endpoint['id']}/deliveries").json["items"]
    address = f"{URL}/{endpoint['id']}/deliveries/{row['id']}/redeliver"

    assert (row["status"], row["attemptCount"], drain()) == ("Pending", 1, 0)
    answers = [brand.post(address), brand.post(address)]  # the second finds an attempt that is due
    drain()
    (after_failing,) = brand.get(f"{URL}/{endpoint['id']}/deliveries").json["items"]
    brand.post(address)
    drain()
    (delivered,) = brand.get(f"{URL}/{endpoint['id']}/deliveries").json["items"]

    assert [answer.status_code for answer in answers] == [200, 409]
    assert (after_failing["status"], after_failing["attemptCount"]) == ("Pending", 2)
    # The schedule continues as if the attempt had been due.
    assert after_failing["nextAttemptAt"] > row["nextAttemptAt"]
    assert (delivered["status"], delivered["attemptCount"], delivered["nextAttemptAt"]) == ("Delivered", 3, None)
    assert brand.rows("select count(*) from job where name = 'webhook.deliver'") == [(0,)]


def test_delivery_belongs_to_its_endpoint(brand, rival, endpoint, drain):
    delivery_id = brand.post(f"{URL}/{endpoint['id']}/test").json["deliveryId"]
    drain()
    other_id, rival_id = _create(brand).json["id"], _create(rival).json["id"]

    through_another = brand.post(f"{URL}/{other_id}/deliveries/{delivery_id}/redeliver")
    by_a_rival = rival.post(f"{URL}/{rival_id}/deliveries/{delivery_id}/redeliver")
    no_id = brand.post(f"{URL}/{endpoint['id']}/deliveries/latest/redeliver")

    assert [answer.status_code for answer in (through_another, by_a_rival, no_id)] == [404, 404, 404]


def test_deleted_endpoint_returns_404_and_receives_nothing(brand, endpoint, receiver, drain):
    brand.program()
    brand.post("/api/v1/affiliates", {"programId": str(brand.programs[-1]), "email": "a@x.test"})

    deleted = brand.call("DELETE", f"{URL}/{endpoint['id']}")
    brand.post("/api/v1/affiliates", {"programId": str(brand.programs[-1]), "email": "b@x.test"})
    drain()

    assert (deleted.status_code, deleted.data) == (204, b"")
    assert receiver.received == []
    assert brand.get(URL).json["items"] == []
    for method, path in (("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/test"), ("GET", "/deliveries")):
        assert brand.call(method, f"{URL}/{endpoint['id']}{path}", {}).status_code == 404


def _is_signed(received, secret):
    t, v1 = (part.split("=")[1] for part in received.headers["x-service-signature"].split(","))
    return hmac.compare_digest(
        v1, hmac.new(secret.encode(), f"{t}.".encode() + received.body, hashlib.sha256).hexdigest()
    )


def test_event_without_a_sample_names_the_generic_test(brand):
    endpoint_id = _create(brand, events=["*"]).json["id"]

    refused = {
        type: brand.post(f"{URL}/{endpoint_id}/test", {"type": type})
        for type in events.TYPES
        if type not in events.TESTABLE
    }

    assert len(refused) == 15
    for type, answer in refused.items():
        assert (answer.status_code, answer.json["error"]) == (400, "sample_not_available"), type
        assert "`test`" in answer.json["message"]
        assert answer.json["valid"][0] == "test"
