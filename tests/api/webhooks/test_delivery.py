"""One delivery with its request and attempts, and filters of the history."""

from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode
from uuid import uuid4

import pytest

from tests.support.outside import receiver as receivers

URL = "/api/v1/webhooks"


def _send_test(brand, endpoint, **body):
    return brand.post(f"{URL}/{endpoint['id']}/test", body).json["deliveryId"]


def _run_due_deliveries(brand):
    brand.rows("update job set run_at = now() where name = 'webhook.deliver' returning id")


def test_delivery_shows_request_and_each_attempt(brand, endpoint, receiver, drain):
    receiver.answers = [receivers.status(503, b"upstream \x00 timed out"), receivers.status(200, b"thanks")]
    started = datetime.now(UTC).replace(microsecond=0)
    delivery_id = _send_test(brand, endpoint)
    drain()
    _run_due_deliveries(brand)
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


def test_unanswered_attempt_has_a_failure_reason(brand, drain):
    endpoint = brand.endpoint("https://localhost:1/hook")
    delivery_id = _send_test(brand, endpoint)
    drain()

    (attempt,) = brand.get(f"{URL}/{endpoint['id']}/deliveries/{delivery_id}").json["attempts"]

    assert (attempt["responseStatus"], attempt["responseExcerpt"]) == (None, None)
    assert attempt["failureReason"]


def test_pending_delivery_has_no_attempts(brand, endpoint):
    delivery = brand.get(f"{URL}/{endpoint['id']}/deliveries/{_send_test(brand, endpoint)}").json

    assert (delivery["status"], delivery["attempts"]) == ("Pending", [])


def test_redelivery_is_another_attempt(brand, endpoint, receiver, drain):
    delivery_id = _send_test(brand, endpoint)
    drain()
    brand.post(f"{URL}/{endpoint['id']}/deliveries/{delivery_id}/redeliver")
    drain()

    delivery = brand.get(f"{URL}/{endpoint['id']}/deliveries/{delivery_id}").json

    assert [attempt["number"] for attempt in delivery["attempts"]] == [2, 1]


def test_delivery_belongs_to_its_endpoint_and_tenant(brand, rival, endpoint):
    delivery_id = _send_test(brand, endpoint)
    other = brand.endpoint("https://localhost/other")
    rival_endpoint = rival.endpoint("https://localhost/hook")

    answers = [
        brand.get(f"{URL}/{other['id']}/deliveries/{delivery_id}"),
        rival.get(f"{URL}/{rival_endpoint['id']}/deliveries/{delivery_id}"),
        rival.get(f"{URL}/{endpoint['id']}/deliveries/{delivery_id}"),
        brand.get(f"{URL}/{endpoint['id']}/deliveries/{uuid4()}"),
        brand.get(f"{URL}/{endpoint['id']}/deliveries/latest"),
    ]

    assert [answer.status_code for answer in answers] == [404] * 5


def test_history_filters_by_status_type_and_time(brand, endpoint, receiver, drain):
    failed_id = _send_test(brand, endpoint)
    brand.rows("update delivery set status = 'Failed', settled_at = now() where id = %s returning id", failed_id)
    pending_id = _send_test(brand, endpoint, type="conversion.created")
    address = f"{URL}/{endpoint['id']}/deliveries"
    in_an_hour = (datetime.now(UTC) + timedelta(hours=1)).isoformat()

    def list_ids(**query):
        return [row["id"] for row in brand.get(f"{address}?{urlencode(query)}").json["items"]]

    assert list_ids() == [pending_id, failed_id]
    assert list_ids(status="Failed") == [failed_id]
    assert list_ids(eventType="conversion.created") == [pending_id]
    assert list_ids(status="Failed", eventType="conversion.created") == []
    assert list_ids(until=in_an_hour) == [pending_id, failed_id]
    assert list_ids(since=in_an_hour) == []


@pytest.mark.parametrize("query", ["status=failed", "status=", "eventType=*", "eventType=nope", "since=yesterday"])
def test_malformed_query_returns_400(brand, endpoint, query):
    assert brand.get(f"{URL}/{endpoint['id']}/deliveries?{query}").status_code == 400


def test_endpoint_shows_since_when_it_fails(brand, endpoint, receiver, drain):
    receiver.answers = [receivers.status(500)]
    _send_test(brand, endpoint)
    before = brand.get(f"{URL}/{endpoint['id']}").json["failingSince"]
    drain()

    assert before is None
    assert brand.get(f"{URL}/{endpoint['id']}").json["failingSince"].endswith("Z")
