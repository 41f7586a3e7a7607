"""Fraud events of a brand, through HTTP."""

from datetime import UTC, datetime

import pytest

from models import db, ids
from tests.support.api.concurrency import run_concurrently
from tests.support.api.lists import count_round_trips
from tests.support.rows.fraud_rows import record_blocked_click
from tests.support.rows.program_rows import insert_click, insert_conversion, time_ago

URL = "/api/v1/fraud-events"

UNKNOWN_ID = "01890000-0000-7000-8000-000000000000"


def _list_event_ids(answer):
    assert answer.status_code == 200, answer.json
    return [event["id"] for event in answer.json]


def test_event_has_every_field(brand, affiliate_id):
    click_id, at = ids.new_id(), datetime(2026, 3, 1, 12, tzinfo=UTC)
    event_id = record_blocked_click(brand, affiliate_id, "headless", "rapid", score=100, subject_id=click_id, at=at)

    assert brand.get(URL).json == [
        {
            "id": str(event_id),
            "programId": str(brand.programs[-1]),
            "affiliateId": str(affiliate_id),
            "subject": "click",
            "subjectId": str(click_id),
            "score": 100,
            "reasons": ["headless", "rapid"],
            "severity": "high",
            "action": "blocked",
            "status": "open",
            "occurredAt": "2026-03-01T12:00:00.000Z",
            "occurrences": 1,
            "resolvedAt": None,
            "resolvedBy": None,
            "affiliateName": "Ben",
            "affiliateEmail": "ben@example.com",
            "conversionId": None,
            "conversionStatus": None,
        }
    ]


def test_held_event_names_its_conversion(brand, affiliate_id):
    lead = insert_conversion(brand, affiliate_id, type="LeadReward", status="Invalidated")
    click_conversion = insert_conversion(brand, affiliate_id, type="ClickReward", status="Pending")
    clicked = insert_click(brand, affiliate_id, conversion_id=click_conversion)
    record_blocked_click(
        brand, affiliate_id, subject="lead", subject_id=lead, action="held", score=60, at=time_ago(hours=1)
    )
    record_blocked_click(brand, affiliate_id, subject_id=clicked, action="held", score=60, at=time_ago(hours=2))
    record_blocked_click(brand, affiliate_id, subject="lead", at=time_ago(hours=3))

    conversions = [(event["conversionId"], event["conversionStatus"]) for event in brand.get(URL).json]

    assert conversions == [(str(lead), "Invalidated"), (str(click_conversion), "Pending"), (None, None)]


def test_event_of_a_subject_is_recorded_once(brand, affiliate_id):
    click_id = ids.new_id()
    first, again = (record_blocked_click(brand, affiliate_id, subject_id=click_id, score=score) for score in (90, 100))

    assert first == again
    assert [event["score"] for event in brand.get(URL).json] == [90]


def test_events_are_listed_newest_first(brand, affiliate_id):
    middle, oldest, newest = (
        str(record_blocked_click(brand, affiliate_id, at=time_ago(hours=hours))) for hours in (2, 3, 1)
    )

    assert _list_event_ids(brand.get(URL)) == [newest, middle, oldest]


def test_status_filter_lists_closed_events(brand, affiliate_id):
    open_event, resolved, dismissed = (
        str(record_blocked_click(brand, affiliate_id, at=time_ago(hours=hours))) for hours in (1, 2, 3)
    )
    brand.call("PATCH", f"{URL}/{resolved}", {"action": "resolve"})
    brand.call("PATCH", f"{URL}/{dismissed}", {"action": "dismiss"})

    assert _list_event_ids(brand.get(URL)) == _list_event_ids(brand.get(f"{URL}?status=open")) == [open_event]
    assert _list_event_ids(brand.get(f"{URL}?status=resolved")) == [resolved]
    assert _list_event_ids(brand.get(f"{URL}?status=dismissed")) == [dismissed]
    assert _list_event_ids(brand.get(f"{URL}?status=all")) == [open_event, resolved, dismissed]


def test_program_filter_lists_events_of_one_program(brand, rival, affiliate_id):
    first = brand.programs[-1]
    record_blocked_click(brand, affiliate_id)
    second = brand.program()
    event_id = str(record_blocked_click(brand, brand.affiliate("zoe")))
    rival.program()

    assert _list_event_ids(brand.get(f"{URL}?programId={second}")) == [event_id]
    assert _list_event_ids(brand.get(f"{URL}?programId={first}&status=resolved")) == []
    assert _list_event_ids(brand.get(f"{URL}?programId={rival.programs[-1]}")) == []


@pytest.mark.parametrize(
    "query", ["status=closed", "status=Open", "status=", "programId=x", "programId=%00", f"programId={10**18}"]
)
def test_invalid_filter_returns_400(brand, query):
    answer = brand.get(f"{URL}?{query}")

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")


def test_list_ends_at_500_events_with_constant_round_trips(brand, affiliate_id):
    record_blocked_click(brand, affiliate_id)
    trips_for_one = count_round_trips(lambda: brand.get(URL))
    with db.unit_of_work(brand.id):
        db.db.run(
            "insert into fraud_event (id, organization_id, program_id, affiliate_id, subject, subject_id, score,"
            " reasons, severity, action, occurred_at) select gen_random_uuid(), %s, %s, %s, 'click',"
            " gen_random_uuid(), 80, '{headless}', 'high', 'blocked', now() from generate_series(1, 510)",
            (brand.id, brand.programs[-1], affiliate_id),
        )

    assert len(brand.get(URL).json) == 500
    assert count_round_trips(lambda: brand.get(URL)) == trips_for_one


@pytest.mark.usefixtures("isolated_database")
def test_lists_use_an_index(brand, affiliate_id):
    for condition in ("", " and status = 'open'", " and program_id = gen_random_uuid()"):
        plan = brand.rows(
            "explain select * from fraud_event where organization_id = %s"
            + condition
            + " order by occurred_at desc, id desc limit 500",
            brand.id,
        )

        assert "Seq Scan" not in str(plan), condition


@pytest.mark.parametrize(("action", "status"), [("resolve", "resolved"), ("dismiss", "dismissed")])
def test_open_event_is_closed_and_audited(brand, affiliate_id, action, status):
    event_id = record_blocked_click(brand, affiliate_id)
    before = brand.get(URL).json[0]
    manager = brand.person("Manager")

    answer = manager.call("PATCH", f"{URL}/{event_id}", {"action": action})

    ((member_id,),) = brand.rows("select id from member where email = 'manager@example.com'")
    assert answer.status_code == 200
    assert answer.json == before | {
        "status": status,
        "resolvedAt": answer.json["resolvedAt"],
        "resolvedBy": str(member_id),
    }
    assert answer.json["resolvedAt"].endswith("Z")
    assert brand.get(f"{URL}?status=all").json == [answer.json]
    assert brand.rows("select action, entity_type, entity_id, before, after from audit_entry") == [
        (f"fraud_event.{status}", "fraud_event", str(event_id), before, answer.json)
    ]


@pytest.mark.parametrize("second", ["resolve", "dismiss"])
def test_closing_a_closed_event_returns_409(brand, affiliate_id, second):
    address = f"{URL}/{record_blocked_click(brand, affiliate_id)}"
    closed = brand.call("PATCH", address, {"action": "resolve"}).json

    answer = brand.call("PATCH", address, {"action": second})

    assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition")
    assert brand.get(f"{URL}?status=all").json == [closed]


def test_concurrent_closes_succeed_once(brand, affiliate_id):
    address = f"{URL}/{record_blocked_click(brand, affiliate_id)}"

    answers = run_concurrently(*[lambda: brand.call("PATCH", address, {"action": "resolve"}) for _ in range(4)])

    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
    assert brand.rows("select count(*) from audit_entry") == [(1,)]


def test_repeated_close_with_an_idempotency_key_returns_the_first_answer(brand, affiliate_id):
    address = f"{URL}/{record_blocked_click(brand, affiliate_id)}"

    first, again = (brand.call("PATCH", address, {"action": "resolve"}, Idempotency_Key="k") for _ in range(2))

    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json == again.json
    assert again.headers["Idempotency-Replayed"] == "true"


@pytest.mark.parametrize("event_id", [UNKNOWN_ID, "x", "%00", "1" * 500])
def test_unknown_event_returns_404_with_any_body(brand, event_id):
    for body in ({"action": "resolve"}, {"action": "burn"}, b"{"):
        answer = brand.call("PATCH", f"{URL}/{event_id}", body)

        assert (answer.status_code, answer.json["error"]) == (404, "not_found")


def test_rivals_event_returns_404(brand, rival):
    rival.program()
    event_id = record_blocked_click(rival, rival.affiliate("rita"))

    assert brand.call("PATCH", f"{URL}/{event_id}", {"action": "resolve"}).status_code == 404
    assert brand.get(f"{URL}?status=all").json == []
    assert rival.get(URL).json[0]["status"] == "open"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"action": None},
        {"action": "reopen"},
        {"action": "Resolve"},
        {"action": ["resolve"]},
        {"action": 1},
        {"action": "resolve\x00"},
        {"action": "é" * 10_000},
        [],
        b"{",
    ],
)
def test_invalid_action_returns_400(brand, affiliate_id, body):
    answer = brand.call("PATCH", f"{URL}/{record_blocked_click(brand, affiliate_id)}", body)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert brand.get(URL).json[0]["status"] == "open"


def _build_calls(brand, affiliate_id):
    return {
        "list": ("GET", URL, None),
        "summary": ("GET", f"{URL}/summary?programId={brand.programs[-1]}", None),
        "close": ("PATCH", f"{URL}/{record_blocked_click(brand, affiliate_id)}", {"action": "resolve"}),
    }


@pytest.mark.parametrize(
    ("call", "viewer", "read_key"), [("list", 200, 200), ("summary", 403, 200), ("close", 403, 403)]
)
def test_viewers_and_read_keys_cannot_close_events(brand, affiliate_id, call, viewer, read_key):
    request = _build_calls(brand, affiliate_id)[call]

    by_viewer, by_key = brand.person("Viewer").call(*request), brand.other_key(scope="read").call(*request)

    assert (by_viewer.status_code, by_key.status_code) == (viewer, read_key)
    assert "read_write" in by_key.text or read_key == 200


@pytest.mark.parametrize("call", ["list", "summary", "close"])
def test_key_needs_a_paid_plan_and_a_manager_does_not(brand, affiliate_id, call):
    request = _build_calls(brand, affiliate_id)[call]
    brand.set(plan="Free")

    refused = brand.call(*request)

    assert refused.status_code == 402
    assert refused.json == refused.json | {
        "error": "plan_tier_required",
        "required": "Starter",
        "current": "Free",
        "trialing": False,
    }
    assert brand.person("Manager").call(*request).status_code == 200
