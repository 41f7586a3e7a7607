"""`flask webhook`: failing endpoints, deliveries, and redelivery of failed ones."""

import os
import re
from datetime import UTC, datetime

import pytest

from models import db
from pipelines.webhooks import redelivery
from tests.support.outside import receiver as receivers
from tests.support.outside.delivery_timeouts import short_delivery_timeout

UNKNOWN_ID = "01890000-0000-7000-8000-000000000000"


def _send_test_events(brand, endpoint, drain, number: int = 1, *, until_settled: bool = True) -> list[str]:
    ids = [brand.post(f"/api/v1/webhooks/{endpoint['id']}/test").json["deliveryId"] for _ in range(number)]
    for _ in range(5 if until_settled else 1):
        drain()
        if until_settled:
            brand.rows("update job set run_at = now() where name = 'webhook.deliver' returning id")
    return ids


@pytest.fixture
def failing_endpoint(brand, receiver, drain):
    """Return an endpoint with two failed deliveries."""
    endpoint = brand.endpoint(f"{receiver.url}?token=hush")
    receiver.answers = [receivers.status(500)]
    endpoint["sent"] = _send_test_events(brand, endpoint, drain, 2)
    return endpoint


def test_endpoints_are_listed_with_failure_time_and_daily_counts(
    flask, brand, rival, *, failing_endpoint, receiver, drain
):
    receiver.answers = [receivers.status(200)]
    healthy = rival.endpoint(f"{receiver.url}/fine")
    _send_test_events(rival, healthy, drain)
    brand.rows("update delivery set created_at = created_at - interval '25 h' where id = %s returning id",
               failing_endpoint["sent"][0])  # fmt: skip

    organization_ids, no_limit = (
        (str(brand.id), str(rival.id)),
        ("--limit", "10000"),
    )  # endpoints of other tests are listed first
    listed = [
        row for row in flask.json("webhook", "endpoints", *no_limit) if row["organization_id"] in organization_ids
    ]
    code, output = flask("webhook", "endpoints", "--org", str(brand.id))  # a table is as wide as its content
    only_failing = [row["id"] for row in flask.json("webhook", "endpoints", "--failing", *no_limit)]

    assert [(row["id"], row["state"]) for row in listed] == [(failing_endpoint["id"], "failing"), (healthy["id"], "ok")]
    assert [(row["delivered"], row["failed"], row["pending"]) for row in listed] == [(0, 1, 0), (1, 0, 0)]
    assert listed[0]["organization_id"] == str(brand.id)
    assert listed[0]["failing_since"]
    assert (listed[0]["told_at"], listed[1]["failing_since"]) == (None, None)
    assert code == 0
    assert re.search(
        rf"^{failing_endpoint['id']} +Brand +https://localhost:\d+/hook +failing +\d{{4}}-.* 0 +1 +0 *$", output, re.M
    )
    assert "hush" not in output
    assert failing_endpoint["id"] in only_failing
    assert healthy["id"] not in only_failing
    assert [row["id"] for row in flask.json("webhook", "endpoints", "--org", str(rival.id))] == [healthy["id"]]
    assert len(flask.json("webhook", "endpoints", "--limit", "1")) == 1


def test_deleted_endpoint_is_not_listed(flask, brand, failing_endpoint):
    brand.call("DELETE", f"/api/v1/webhooks/{failing_endpoint['id']}")

    assert flask("webhook", "endpoints", "--org", str(brand.id)) == (0, "There is no such endpoint.\n")
    assert len(flask.json("webhook", "deliveries", "--endpoint", failing_endpoint["id"])) == 2


def test_deliveries_are_filtered_by_organization_endpoint_status_and_age(
    flask, brand, rival, *, failing_endpoint, receiver, drain
):
    receiver.answers = [receivers.hang(60)]
    other = brand.endpoint(f"{receiver.url}/other")
    with short_delivery_timeout():
        (waiting,) = _send_test_events(brand, other, drain, until_settled=False)
    receiver.answers = [receivers.status(204, b"")]
    (theirs,) = _send_test_events(rival, rival.endpoint(receiver.url), drain)
    old, young = failing_endpoint["sent"]
    brand.rows("update delivery set created_at = created_at - interval '3 h' where id = %s returning id", old)

    def list_ids(*options: str) -> list[str]:
        deliveries = flask.json("webhook", "deliveries", "--limit", "10000", *options)
        return [
            delivery["id"] for delivery in deliveries if delivery["organization_id"] in (str(brand.id), str(rival.id))
        ]

    assert list_ids() == [theirs, waiting, young, old]
    assert list_ids("--org", str(brand.id)) == [waiting, young, old]
    assert list_ids("--endpoint", failing_endpoint["id"]) == [young, old]
    assert list_ids("--status", "Failed", "--since", "2h") == [young]
    assert list_ids("--status", "Pending") == [waiting]
    assert list_ids("--limit", "1") == [theirs]
    _, output = flask("webhook", "deliveries", "--org", str(brand.id))
    assert re.search(
        rf"^{waiting} .* test +Pending +1 +no complete response within 2 s +\d{{4}}-", output, re.MULTILINE
    )
    assert re.search(rf"^{young} .* test +Failed +5 +500 *$", output, re.MULTILINE)
    assert flask("webhook", "deliveries", "--org", UNKNOWN_ID) == (0, "There is no such delivery.\n")


def test_redeliver_reports_the_count_queues_and_audits(flask, brand, failing_endpoint, *, receiver, drain, monkeypatch):
    monkeypatch.setattr(redelivery, "MAX_BATCH", 1)  # two deliveries make two batches
    receiver.received.clear()
    receiver.answers = [receivers.status(200)]

    dry = flask("webhook", "redeliver", failing_endpoint["id"], "--since", "1h", "--dry-run")
    before = brand.rows("select count(*) from job")
    code, output = flask("webhook", "redeliver", failing_endpoint["id"], "--since", "1h")
    brand.rows("update job set run_at = run_at - interval '1 h' returning id")
    drain()

    assert dry[0] == code == 0
    assert re.fullmatch(r"2 Failed deliveries of Brand to https://localhost:\d+/hook, made from .* to .* UTC\n", dry[1])
    assert before == [(0,)]
    assert re.findall(r"Queued \d of \d", output) == ["Queued 1 of 2", "Queued 2 of 2"]
    assert output.endswith(f"Next: flask webhook deliveries --endpoint {failing_endpoint['id']}\n")
    assert sorted(request.headers["x-service-delivery-id"] for request in receiver.received) == sorted(
        failing_endpoint["sent"]
    )
    entries = brand.rows(
        "select actor_type, entity_id, after->>'count' from audit_entry where action = 'webhook_endpoint.redelivered'"
    )
    assert entries == [("operator", failing_endpoint["id"], "1")] * 2


def test_redeliver_json_is_one_document(flask, brand, failing_endpoint):
    empty = flask.json(
        "webhook", "redeliver", failing_endpoint["id"], "--since", "2020-01-01", "--until", "2020-01-02T00:00Z"
    )
    queued = flask.json("webhook", "redeliver", failing_endpoint["id"], "--since", "1h")

    assert (empty["found"], empty["queued"], empty["last_attempt_at"]) == (0, 0, None)
    assert (empty["since"], empty["until"]) == ("2020-01-01T00:00:00+00:00", "2020-01-02T00:00:00+00:00")
    assert (queued["found"], queued["queued"], queued["status"]) == (2, 2, "Failed")
    assert datetime.fromisoformat(queued["last_attempt_at"]) > datetime.now(UTC).replace(year=2020)


def test_unknown_endpoint_is_a_one_line_error(flask, brand, failing_endpoint):
    result = flask("webhook", "redeliver", UNKNOWN_ID, "--since", "1h")

    assert result == (1, f"Error: There is no endpoint {UNKNOWN_ID}. Next: flask webhook endpoints\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["redeliver", UNKNOWN_ID], "Missing option '--since'"),
        (["redeliver", "x", "--since", "1h"], "Invalid value for 'ENDPOINT'"),
        (
            ["redeliver", UNKNOWN_ID, "--since", "soon"],
            "'soon' is not a time: write 2026-05-04T12:00Z, 2026-05-04, or an age",
        ),
        (["redeliver", UNKNOWN_ID, "--since", "1h", "--status", "Pending"], "Invalid value for '--status'"),
        (["deliveries", "--since", "999999w"], "is not a time"),
        (["deliveries", "--status", "x"], "Invalid value for '--status'"),
        (["endpoints", "--limit", "0"], "Invalid value for '--limit'"),
    ],
)
def test_invalid_arguments_exit_with_2(flask, arguments, message):
    code, output = flask("webhook", *arguments)

    assert code == 2
    assert message in output


def test_until_before_since_is_refused(flask, failing_endpoint):
    code, output = flask("webhook", "redeliver", failing_endpoint["id"], "--since", "1h", "--until", "2h")

    assert code == 2
    assert "--until must be after --since." in output


@pytest.mark.parametrize("arguments", [["endpoints"], ["deliveries"], ["redeliver", UNKNOWN_ID, "--since", "1h"]])
def test_unreachable_database_is_a_one_line_error(flask, tmp_path, arguments):
    db.db.drop_connection()
    db.connect_to(f"postgresql://finderfee@/finderfee?host={tmp_path}")
    try:
        code, output = flask("webhook", *arguments)
    finally:
        db.connect_to(os.environ["DATABASE_URL"])

    assert code == 1
    assert output.startswith("Error: The database cannot be reached: ")
