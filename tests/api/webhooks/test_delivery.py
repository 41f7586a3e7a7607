"""One delivery: what was sent, and what came of each attempt; and finding deliveries."""

from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode
from uuid import uuid4

import pytest

from tests.support.outside import receiver as receivers

URL = "/api/v1/webhooks"


def _sent(brand, endpoint, **body):
    return brand.post(f"{URL}/{endpoint['id']}/test", body).json["deliveryId"]


def _hurry(brand):
    brand.rows("update job set run_at = now() where name = 'webhook.deliver' returning id")


def test_a_delivery_shows_what_was_sent_and_each_attempt(brand, endpoint, receiver, drain):
    receiver.answers = [receivers.status(503, b"upstream \x00 timed out"), receivers.status(200, b"thanks")]
    started = datetime.now(UTC).replace(microsecond=0)
    delivery_id = _sent(brand, endpoint)
    drain()
    _hurry(brand)
    drain()

    answer = brand.get(f"{URL}/{endpoint['id']}/deliveries/{delivery_id}")

    assert answer.status_code == 200
    first, second = receiver.received
    assert answer.json["event"]["body"].encode() == first.body == second.body
    assert answer.json["event"] | {"body": "", "createdAt": ""} == {
        "id": first.event["id"], "type": "test", "createdAt": "", "body": ""
    }  # fmt: skip
    assert answer.json["url"] == receiver.url
    assert answer.json["headers"] == {
        "Content-Type": "application/json",
        "User-Agent": "Finderfee-Webhooks/1",
        "X-Service-Event": "test",
        "X-Service-Delivery-Id": delivery_id,
    }
    for received in receiver.received:
        assert {name: received.headers[name.lower()] for name in answer.json["headers"]} == answer.json["headers"]
    latest, earlier = answer.json["attempts"]
    assert (latest["number"], latest["responseStatus"], latest["responseExcerpt"]) == (2, 200, "thanks")
    assert (earlier["number"], earlier["responseStatus"], earlier["failureReason"]) == (1, 503, None)
    assert "timed out" in earlier["responseExcerpt"]
    assert started <= datetime.fromisoformat(earlier["beganAt"]) <= datetime.fromisoformat(latest["beganAt"])
    assert latest["durationMs"] >= 0
    assert (answer.json["status"], answer.json["attemptCount"]) == ("Delivered", 2)


def test_an_attempt_that_nobody_answered_says_why(brand, drain):
    endpoint = brand.endpoint("https://localhost:1/hook")
    delivery_id = _sent(brand, endpoint)
    drain()

    (attempt,) = brand.get(f"{URL}/{endpoint['id']}/deliveries/{delivery_id}").json["attempts"]

    assert (attempt["responseStatus"], attempt["responseExcerpt"]) == (None, None)
    assert attempt["failureReason"]


def test_a_delivery_that_waits_has_no_attempt_yet(brand, endpoint):
    shown = brand.get(f"{URL}/{endpoint['id']}/deliveries/{_sent(brand, endpoint)}").json

    assert (shown["status"], shown["attempts"]) == ("Pending", [])


def test_what_was_sent_again_by_hand_is_an_attempt_more(brand, endpoint, receiver, drain):
    delivery_id = _sent(brand, endpoint)
    drain()
    brand.post(f"{URL}/{endpoint['id']}/deliveries/{delivery_id}/redeliver")
    drain()

    shown = brand.get(f"{URL}/{endpoint['id']}/deliveries/{delivery_id}").json

    assert [attempt["number"] for attempt in shown["attempts"]] == [2, 1]


def test_a_delivery_belongs_to_its_endpoint_and_its_tenant(brand, rival, endpoint):
    delivery_id = _sent(brand, endpoint)
    other = brand.endpoint("https://localhost/other")
    theirs = rival.endpoint("https://localhost/hook")

    answers = [
        brand.get(f"{URL}/{other['id']}/deliveries/{delivery_id}"),
        rival.get(f"{URL}/{theirs['id']}/deliveries/{delivery_id}"),
        rival.get(f"{URL}/{endpoint['id']}/deliveries/{delivery_id}"),
        brand.get(f"{URL}/{endpoint['id']}/deliveries/{uuid4()}"),
        brand.get(f"{URL}/{endpoint['id']}/deliveries/latest"),
    ]

    assert [answer.status_code for answer in answers] == [404] * 5


def test_the_history_is_narrowed_by_status_type_and_time(brand, endpoint, receiver, drain):
    failed = _sent(brand, endpoint)
    brand.rows("update delivery set status = 'Failed', settled_at = now() where id = %s returning id", failed)
    waiting = _sent(brand, endpoint, type="conversion.created")
    address = f"{URL}/{endpoint['id']}/deliveries"
    soon = (datetime.now(UTC) + timedelta(hours=1)).isoformat()

    def found(**query):
        return [row["id"] for row in brand.get(f"{address}?{urlencode(query)}").json["items"]]

    assert found() == [waiting, failed]
    assert found(status="Failed") == [failed]
    assert found(eventType="conversion.created") == [waiting]
    assert found(status="Failed", eventType="conversion.created") == []
    assert found(until=soon) == [waiting, failed]
    assert found(since=soon) == []


@pytest.mark.parametrize("query", ["status=failed", "status=", "eventType=*", "eventType=nope", "since=yesterday"])
def test_a_malformed_question_is_refused(brand, endpoint, query):
    assert brand.get(f"{URL}/{endpoint['id']}/deliveries?{query}").status_code == 400


def test_an_endpoint_says_since_when_it_fails(brand, endpoint, receiver, drain):
    receiver.answers = [receivers.status(500)]
    _sent(brand, endpoint)
    before = brand.get(f"{URL}/{endpoint['id']}").json["failingSince"]
    drain()

    assert before is None
    assert brand.get(f"{URL}/{endpoint['id']}").json["failingSince"].endswith("Z")
