"""Redelivery of a time window, through HTTP and to a real HTTPS receiver."""

from datetime import UTC, datetime, timedelta

import pytest

from models import db
from pipelines.webhooks import redelivery
from tests.support.api.lists import count_round_trips
from tests.support.outside import receiver as receivers

URL = "/api/v1/webhooks"


def _minutes_ago(minutes: float) -> str:
    return (datetime.now(UTC) - timedelta(minutes=minutes)).isoformat()


def _send_tests(brand, endpoint, drain, number: int) -> list[str]:
    """Send tests until each is settled, and return their ids, oldest first."""
    ids = [brand.post(f"{URL}/{endpoint['id']}/test").json["deliveryId"] for _ in range(number)]
    for _ in range(5):
        brand.rows("update job set run_at = now() where name = 'webhook.deliver' returning id")
        drain()
    return ids


def _age_deliveries(brand, minutes: float, *ids: str):
    brand.rows(
        "update delivery set created_at = created_at - %s * interval '1 minute' where id = any(%s::uuid[])"
        " returning id",
        minutes,
        list(ids),
    )


def _list_scheduled(brand) -> list[tuple[str, float]]:
    """Return scheduled delivery ids with seconds after the first."""
    return brand.rows(
        "select args ->> 'delivery_id', extract(epoch from run_at - min(run_at) over ())::float from job"
        " where name = 'webhook.deliver' order by run_at, id"
    )


def _run_due_deliveries(brand, drain):
    brand.rows("update job set run_at = run_at - interval '1 hour' where name = 'webhook.deliver' returning id")
    drain()


def _redeliver(brand, endpoint, **body):
    return brand.post(f"{URL}/{endpoint['id']}/redeliver", body)


def test_failed_deliveries_of_a_window_are_redelivered_unchanged(brand, endpoint, receiver, drain):
    receiver.answers = [receivers.status(500)]
    ids = _send_tests(brand, endpoint, drain, 3)
    first = {request.headers["x-service-delivery-id"]: request.body for request in receiver.received}
    receiver.received.clear()
    receiver.answers = [receivers.status(200)]

    answer = _redeliver(brand, endpoint, since=_minutes_ago(5))
    pending = {row["status"] for row in brand.get(f"{URL}/{endpoint['id']}/deliveries").json["items"]}
    repeated = _redeliver(brand, endpoint, since=_minutes_ago(5)).json
    _run_due_deliveries(brand, drain)

    assert answer.status_code == 202
    assert {name: answer.json[name] for name in ("count", "nextCursor", "hasMore")} == {
        "count": 3,
        "nextCursor": None,
        "hasMore": False,
    }
    assert answer.json["lastAttemptAt"].endswith("Z")
    assert (pending, repeated["count"], repeated["lastAttemptAt"]) == ({"Pending"}, 0, None)
    assert sorted(request.headers["x-service-delivery-id"] for request in receiver.received) == sorted(ids)
    assert {request.headers["x-service-delivery-id"]: request.body for request in receiver.received} == first
    assert {row["status"] for row in brand.get(f"{URL}/{endpoint['id']}/deliveries").json["items"]} == {"Delivered"}


def test_redelivery_failing_again_is_failed_after_one_attempt(brand, endpoint, receiver, drain):
    receiver.answers = [receivers.status(500)]
    _send_tests(brand, endpoint, drain, 1)

    _redeliver(brand, endpoint, since=_minutes_ago(5))
    _run_due_deliveries(brand, drain)

    (row,) = brand.get(f"{URL}/{endpoint['id']}/deliveries").json["items"]
    assert (row["status"], row["attemptCount"]) == ("Failed", 6)
    assert _list_scheduled(brand) == []


def test_window_includes_since_excludes_until_and_filters_one_status(brand, endpoint, receiver, drain):
    receiver.answers = [receivers.status(500)]
    old_id, failed_id, recent_id = _send_tests(brand, endpoint, drain, 3)
    receiver.answers = [receivers.status(200)]
    (delivered_id,) = _send_tests(brand, endpoint, drain, 1)
    pending_id = brand.post(f"{URL}/{endpoint['id']}/test").json["deliveryId"]
    brand.rows("delete from job where args ->> 'delivery_id' = %s returning id", pending_id)
    _age_deliveries(brand, 60, old_id)
    _age_deliveries(brand, 30, failed_id, delivered_id, pending_id)
    (at,) = brand.rows("select created_at from delivery where id = %s", failed_id)[0]

    count_before_window = _redeliver(brand, endpoint, since=_minutes_ago(50), until=at.isoformat()).json["count"]
    count = _redeliver(brand, endpoint, since=at.isoformat(), until=_minutes_ago(20)).json["count"]
    of_failed = _list_scheduled(brand)
    other = _redeliver(brand, endpoint, since=_minutes_ago(50), until=_minutes_ago(20), status="Delivered").json[
        "count"
    ]

    assert (count_before_window, count, other) == (0, 1, 1)
    assert [id for id, _ in of_failed] == [failed_id]
    assert [id for id, _ in _list_scheduled(brand)] == [failed_id, delivered_id]
    assert recent_id not in dict(_list_scheduled(brand))


def test_redeliveries_are_paced_across_calls_and_yield_to_new_events(brand, endpoint, receiver, drain):
    receiver.answers = [receivers.status(500)]
    older, younger = _send_tests(brand, endpoint, drain, 2), _send_tests(brand, endpoint, drain, 2)
    _age_deliveries(brand, 30, *older)

    _redeliver(brand, endpoint, since=_minutes_ago(40), until=_minutes_ago(20))
    # The first batch must still be pending when the next call starts, however late that is.
    brand.rows("update job set run_at = run_at + interval '10 minutes' returning id")
    _redeliver(brand, endpoint, since=_minutes_ago(20))

    assert [id for id, _ in _list_scheduled(brand)] == [*older, *younger]
    assert [after for _, after in _list_scheduled(brand)] == pytest.approx([0, 0.1, 0.2, 0.3], abs=0.01)
    live_id = brand.post(f"{URL}/{endpoint['id']}/test").json["deliveryId"]
    assert _list_scheduled(brand)[0][0] == live_id


def test_call_queues_a_batch_and_a_cursor_continues(brand, rival, endpoint, receiver, drain, *, monkeypatch):
    monkeypatch.setattr(redelivery, "MAX_BATCH", 2)
    receiver.answers = [receivers.status(500)]
    ids = _send_tests(brand, endpoint, drain, 3)
    # Equal timestamps: the cursor must order rows by id.
    brand.rows("update delivery set created_at = (select min(created_at) from delivery) returning id")
    since = _minutes_ago(5)

    first = _redeliver(brand, endpoint, since=since, status="Failed").json
    second = _redeliver(brand, endpoint, since=since, status="Failed", cursor=first["nextCursor"]).json
    forged = _redeliver(brand, endpoint, since=since, cursor=first["nextCursor"][:-4] + "AAAA")
    rival_endpoint = rival.endpoint(receiver.url)
    by_rival = _redeliver(rival, rival_endpoint, since=since, cursor=first["nextCursor"])

    assert (first["count"], first["hasMore"], second["count"], second["hasMore"]) == (2, True, 1, False)
    assert sorted(id for id, _ in _list_scheduled(brand)) == sorted(ids)
    assert [answer.status_code for answer in (forged, by_rival)] == [400, 400]


def test_other_endpoint_and_tenant_are_unaffected(brand, rival, endpoint, receiver, drain):
    receiver.answers = [receivers.status(500)]
    rival_endpoint, other = rival.endpoint(receiver.url), brand.endpoint(f"{receiver.url}/other")
    _send_tests(brand, endpoint, drain, 1)

    answers = [
        _redeliver(brand, rival_endpoint, since=_minutes_ago(5)),
        _redeliver(rival, endpoint, since=_minutes_ago(5)),
    ]
    empty = [
        _redeliver(brand, other, since=_minutes_ago(5)).json["count"],
        _redeliver(rival, rival_endpoint, since=_minutes_ago(5)).json["count"],
    ]

    assert [(answer.status_code, answer.json["error"]) for answer in answers] == [(404, "not_found")] * 2
    assert empty == [0, 0]
    assert _list_scheduled(brand) == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "since"),
        ({"since": None}, "since"),
        ({"since": "yesterday"}, "since"),
        ({"since": 5}, "since"),
        ({"since": "2026-05-04", "until": "soon"}, "until"),
        ({"since": "2026-05-04", "until": "2026-05-04"}, "until"),
        ({"since": "2026-05-04", "until": "2026-05-03T23:59:59Z"}, "until"),
        ({"since": "2026-05-04", "status": "Pending"}, "status"),
        ({"since": "2026-05-04", "status": "failed"}, "status"),
        ({"since": "2026-05-04", "cursor": "x"}, "cursor"),
        ({"since": "2026-05-04", "cursor": "x" * 201}, "cursor"),
    ],
)
def test_malformed_window_is_named_in_problem_details(brand, endpoint, body, field):
    answer = brand.post(f"{URL}/{endpoint['id']}/redeliver", body)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == [field]


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"null"])
def test_non_object_body_returns_400(brand, endpoint, body):
    assert brand.post(f"{URL}/{endpoint['id']}/redeliver", body).status_code == 400


def test_bulk_redelivery_is_guarded_like_a_single_one_and_audited(brand, endpoint, receiver, drain):
    receiver.answers = [receivers.status(500)]
    _send_tests(brand, endpoint, drain, 1)
    brand.set(plan="Free")

    by_read_key = _redeliver(brand.other_key(scope="read"), endpoint, since="2026-01-01")
    by_viewer = _redeliver(brand.person("Viewer"), endpoint, since="2026-01-01")
    lapsed = _redeliver(brand, endpoint, since=_minutes_ago(5), until="2099-01-01T00:00:00Z")

    assert [answer.status_code for answer in (by_read_key, by_viewer, lapsed)] == [403, 403, 202]
    ((entity, after),) = brand.rows(
        "select entity_id, after from audit_entry where action = 'webhook_endpoint.redelivered'"
    )
    assert (entity, after["count"], after["status"]) == (endpoint["id"], 1, "Failed")
    assert after["until"] == "2099-01-01T00:00:00+00:00"


def test_repeated_idempotency_key_queues_once(brand, endpoint, receiver, drain):
    receiver.answers = [receivers.status(500)]
    _send_tests(brand, endpoint, drain, 2)
    body = {"since": _minutes_ago(5)}

    answers = [brand.post(f"{URL}/{endpoint['id']}/redeliver", body, Idempotency_Key="k") for _ in range(2)]

    assert [answer.json["count"] for answer in answers] == [2, 2]
    assert len(_list_scheduled(brand)) == 2


def test_round_trips_do_not_grow_with_deliveries(brand, endpoint, receiver, drain):
    receiver.answers = [receivers.status(500)]
    _send_tests(brand, endpoint, drain, 1)
    trips_of_one = count_round_trips(lambda: _redeliver(brand, endpoint, since=_minutes_ago(5)))
    with db.any_org_work():
        db.db.run("update delivery set status = 'Failed'")
    _send_tests(brand, endpoint, drain, 9)

    assert count_round_trips(lambda: _redeliver(brand, endpoint, since=_minutes_ago(5))) == trips_of_one
