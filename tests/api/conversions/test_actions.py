"""Validate, invalidate, approve and deny, through HTTP. Source: core spec, "States" and "Conversions"."""

import json
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from tests.support.api.concurrency import run_concurrently
from tests.support.api.decisions import ROUTES, post_action
from tests.support.recruits import Recruits
from tests.support.rows.brands import Brand
from tests.support.rows.program_rows import insert_conversion

_ALLOWED = {
    ("Invalidated", "validate"): "Pending",
    ("Pending", "invalidate"): "Invalidated",
    ("Approved", "invalidate"): "Invalidated",
    ("Pending", "approve"): "Approved",
    ("Pending", "deny"): "Denied",
    ("Approved", "deny"): "Denied",
}

_STATUSES = ("Pending", "Approved", "Paid", "Refunded", "Denied", "Invalidated")


@pytest.fixture
def manager(brand):
    """Return a manager's session at the brand, which has one campaign and the affiliate ben."""
    brand.program()
    brand.affiliate("ben")
    return brand.person("Manager")


def _insert_conversion(brand, **columns):
    return insert_conversion(brand, brand.rows("select id from affiliate")[0][0], **columns)


def _list_events(brand, type):
    return [json.loads(body)["data"] for (body,) in brand.rows("select body from event where type = %s", type)]


@pytest.mark.parametrize("action", ROUTES)
def test_action_is_refused_in_other_statuses(brand, manager, action):
    for status in _STATUSES:
        conversion_id = _insert_conversion(brand, status=status)
        answer = post_action(manager, action, conversion_id)

        expected = _ALLOWED.get((status, action))
        if expected:
            assert (answer.status_code, answer.json["status"], answer.json["id"]) == (
                200,
                expected,
                str(conversion_id),
            ), status
        else:
            assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition"), status
        assert brand.rows("select status from conversion where id = %s", conversion_id) == [(expected or status,)]


@pytest.mark.parametrize(
    ("action", "event"), [("invalidate", "invalidated"), ("deny", "denied"), ("validate", "validated")]
)
def test_action_sends_an_event_with_the_result(brand, manager, action, event):
    status = "Invalidated" if action == "validate" else "Approved"
    conversion_id = _insert_conversion(brand, status=status, attribution_method="coupon")

    status_after = post_action(manager, action, conversion_id, {"reason": "Chargeback"}).json["status"]
    without_reason = _insert_conversion(brand, status=status)
    post_action(manager, action, without_reason)

    events_by_id = {data["conversionId"]: data for data in _list_events(brand, f"conversion.{event}")}
    assert events_by_id[str(conversion_id)] == {
        "conversionId": str(conversion_id),
        "affiliateId": str(brand.rows("select id from affiliate")[0][0]),
        "programId": str(brand.programs[0]),
        "amountCents": 10_000,
        "currency": "USD",
        "commissionCents": 1_000,
        "status": status_after,
        "previousStatus": status,
        "reason": "Chargeback",
        "attributionMethod": "coupon",
    }
    assert "reason" not in events_by_id[str(without_reason)]


def test_approval_event_contains_only_the_id(brand, manager):
    conversion_id = _insert_conversion(brand)

    post_action(manager, "approve", conversion_id, {"reason": "Fine"})

    assert _list_events(brand, "conversion.approved") == [{"conversionId": str(conversion_id)}]


def test_refused_action_sends_and_writes_nothing(brand, manager):
    conversion_id = _insert_conversion(brand, status="Paid")

    post_action(manager, "invalidate", conversion_id)

    assert brand.rows("select count(*) from event") == [(0,)]
    assert brand.rows("select count(*) from audit_entry") == [(0,)]


def test_validated_conversion_is_held_from_its_occurrence(brand, manager):
    occurred = datetime.now(UTC) - timedelta(days=3)
    conversion_id = _insert_conversion(
        brand, status="Invalidated", occurred_at=occurred, hold_until=occurred + timedelta(days=90)
    )

    post_action(manager, "validate", conversion_id)

    assert brand.rows("select hold_until - occurred_at from conversion") == [(timedelta(days=30),)]


def test_locked_history_cannot_be_approved(brand, manager):
    answer = post_action(manager, "approve", _insert_conversion(brand, payout_locked=True))

    assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition")


def test_locked_history_is_not_in_the_ledger(brand, manager):
    post_action(manager, "deny", _insert_conversion(brand, payout_locked=True))

    assert brand.rows("select count(*) from ledger_entry") == [(0,)]


def test_invalidated_sale_earns_nothing_until_validated(brand, drain):
    recruits = Recruits.create(brand)
    sale_id = recruits.sell()
    drain()

    post_action(brand, "invalidate", sale_id)
    balances_without = recruits.balance(recruits.ben), recruits.balance(recruits.ann)
    override_statuses = recruits.overrides("status")
    post_action(brand, "validate", sale_id)

    assert (balances_without, override_statuses) == ((0, 0), [("Invalidated",)])
    assert (recruits.balance(recruits.ben), recruits.balance(recruits.ann)) == (2_000, 200)
    assert recruits.overrides("status, commission_cents, reversed_cents") == [("Pending", 200, 0)]


def test_unsettled_sale_is_settled_before_the_action(brand, manager):
    sale_id = brand.sale().json["conversionId"]

    assert post_action(manager, "invalidate", sale_id).json["status"] == "Invalidated"


@pytest.mark.parametrize(
    ("action", "status"), [("validate", "Invalidated"), ("invalidate", "Approved"), ("deny", "Pending")]
)
def test_concurrent_actions_succeed_once(brand, manager, action, status):
    conversion_id = _insert_conversion(brand, status=status)

    answers = run_concurrently(*[lambda: post_action(manager, action, conversion_id)] * 3)

    assert sorted(answer.status_code for answer in answers) == [200, 409, 409]
    assert brand.rows("select count(*) from ledger_entry") == [(1,)]
    assert brand.rows("select count(*) from event") == [(1,)]


def test_repeated_idempotency_key_returns_the_first_response(brand, manager):
    conversion_id = _insert_conversion(brand)

    answers = [post_action(manager, "deny", conversion_id, {}, Idempotency_Key="k") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json == answers[1].json
    assert brand.rows("select count(*) from event") == [(1,)]


def test_action_is_audited_with_its_reason(brand, manager):
    conversion_id = _insert_conversion(brand)

    post_action(manager, "deny", conversion_id, {"reason": "Fraud ü"})

    ((action, entity_id, before, after),) = brand.rows("select action, entity_id, before, after from audit_entry")
    assert (action, entity_id) == ("conversion.denied", str(conversion_id))
    assert (before["status"], after["status"], after["reason"]) == ("Pending", "Denied", "Fraud ü")


@pytest.mark.parametrize("body", [{"reason": 1}, {"reason": "x" * 1001}, {"reason": "a\x00"}, [], b"{"])
@pytest.mark.parametrize("action", ["invalidate", "deny"])
def test_invalid_body_is_refused(brand, manager, action, body):
    conversion_id = _insert_conversion(brand)

    answer = post_action(manager, action, conversion_id, body)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert brand.rows("select status from conversion") == [("Pending",)]


@pytest.mark.parametrize("action", ROUTES)
def test_missing_conversion_is_reported_before_invalid_body(manager, rival, action):
    rival.program()
    other_tenants_id = insert_conversion(rival, rival.affiliate("ben"))

    for conversion_id in (other_tenants_id, uuid4(), "nonsense"):
        answer = post_action(manager, action, conversion_id, {"reason": 1})
        assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert rival.rows("select status from conversion") == [("Pending",)]


@pytest.mark.parametrize("action", ["validate", "invalidate"])
def test_read_key_viewer_and_free_plan_are_refused(app, brand, action):
    reader, viewer = brand.other_key(scope="read"), brand.person("Viewer")
    free = Brand.create(app, plan="Free")

    refused = post_action(reader, action, uuid4())
    assert (refused.status_code, "read_write" in refused.json["message"]) == (403, True)
    assert post_action(viewer, action, uuid4()).status_code == 403
    answer = post_action(free, action, uuid4())
    assert answer.status_code == 402
    assert set(answer.json) == {"error", "message", "required", "current", "trialing", "doc_url"}
    assert post_action(free.person("Manager"), action, uuid4()).status_code == 404


@pytest.mark.parametrize("action", ["approve", "deny"])
def test_key_cannot_approve_or_deny(brand, action):
    assert post_action(brand, action, uuid4()).status_code == 403
    assert post_action(brand.person("Viewer"), action, uuid4()).status_code == 403


def test_bonus_is_reviewed_like_a_sale(brand, manager):
    ((affiliate_id,),) = brand.rows("select id from affiliate")
    bonus = {"programId": str(brand.programs[0]), "affiliateId": str(affiliate_id), "kind": "bonus"}
    conversion_id = brand.post("/api/v1/conversions", bonus | {"commissionCents": 500}).json["conversion"]["id"]

    for action in ("invalidate", "validate", "deny"):
        assert post_action(manager, action, conversion_id).status_code == 200

    assert brand.rows("select sum(amount_cents), count(*) from ledger_entry") == [(0, 4)]
