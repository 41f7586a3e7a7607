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
    """The brand through a manager's dashboard session, with one campaign and the affiliate ben."""
    brand.program()
    brand.affiliate("ben")
    return brand.person("Manager")


def _made(brand, **columns):
    return insert_conversion(brand, brand.rows("select id from affiliate")[0][0], **columns)


def _events(brand, type):
    return [json.loads(body)["data"] for (body,) in brand.rows("select body from event where type = %s", type)]


@pytest.mark.parametrize("action", ROUTES)
def test_each_action_has_the_statuses_that_it_is_taken_on(brand, manager, action):
    for status in _STATUSES:
        made = _made(brand, status=status)
        answer = post_action(manager, action, made)

        wanted = _ALLOWED.get((status, action))
        if wanted:
            assert (answer.status_code, answer.json["status"], answer.json["id"]) == (200, wanted, str(made)), status
        else:
            assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition"), status
        assert brand.rows("select status from conversion where id = %s", made) == [(wanted or status,)]


@pytest.mark.parametrize(
    ("action", "event"), [("invalidate", "invalidated"), ("deny", "denied"), ("validate", "validated")]
)
def test_the_brand_is_told_what_became_of_it(brand, manager, action, event):
    status = "Invalidated" if action == "validate" else "Approved"
    made = _made(brand, status=status, attribution_method="coupon")

    after = post_action(manager, action, made, {"reason": "Chargeback"}).json["status"]
    silent = _made(brand, status=status)
    post_action(manager, action, silent)

    told = {data["conversionId"]: data for data in _events(brand, f"conversion.{event}")}
    assert told[str(made)] == {
        "conversionId": str(made),
        "affiliateId": str(brand.rows("select id from affiliate")[0][0]),
        "programId": str(brand.programs[0]),
        "amountCents": 10_000,
        "currency": "USD",
        "commissionCents": 1_000,
        "status": after,
        "previousStatus": status,
        "reason": "Chargeback",
        "attributionMethod": "coupon",
    }
    assert "reason" not in told[str(silent)]


def test_an_approval_tells_the_id_alone(brand, manager):
    made = _made(brand)

    post_action(manager, "approve", made, {"reason": "Fine"})

    assert _events(brand, "conversion.approved") == [{"conversionId": str(made)}]


def test_a_refusal_tells_and_writes_nothing(brand, manager):
    made = _made(brand, status="Paid")

    post_action(manager, "invalidate", made)

    assert brand.rows("select count(*) from event") == [(0,)]
    assert brand.rows("select count(*) from audit_entry") == [(0,)]


def test_a_validated_conversion_is_held_from_when_it_occurred(brand, manager):
    occurred = datetime.now(UTC) - timedelta(days=3)
    made = _made(brand, status="Invalidated", occurred_at=occurred, hold_until=occurred + timedelta(days=90))

    post_action(manager, "validate", made)

    assert brand.rows("select hold_until - occurred_at from conversion") == [(timedelta(days=30),)]


def test_locked_history_is_not_approved(brand, manager):
    answer = post_action(manager, "approve", _made(brand, payout_locked=True))

    assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition")


def test_locked_history_was_never_in_the_ledger(brand, manager):
    post_action(manager, "deny", _made(brand, payout_locked=True))

    assert brand.rows("select count(*) from ledger_entry") == [(0,)]


def test_an_invalidated_sale_earns_nothing_until_it_is_validated(brand, drain):
    recruits = Recruits.create(brand)
    sale_id = recruits.sell()
    drain()

    post_action(brand, "invalidate", sale_id)
    without = recruits.balance(recruits.ben), recruits.balance(recruits.ann)
    statuses = recruits.overrides("status")
    post_action(brand, "validate", sale_id)

    assert (without, statuses) == ((0, 0), [("Invalidated",)])
    assert (recruits.balance(recruits.ben), recruits.balance(recruits.ann)) == (2_000, 200)
    assert recruits.overrides("status, commission_cents, reversed_cents") == [("Pending", 200, 0)]


def test_a_sale_that_is_accepted_and_not_settled_is_settled_first(brand, manager):
    sale_id = brand.sale().json["conversionId"]

    assert post_action(manager, "invalidate", sale_id).json["status"] == "Invalidated"


@pytest.mark.parametrize(
    ("action", "status"), [("validate", "Invalidated"), ("invalidate", "Approved"), ("deny", "Pending")]
)
def test_of_two_at_once_one_is_refused(brand, manager, action, status):
    made = _made(brand, status=status)

    answers = run_concurrently(*[lambda: post_action(manager, action, made)] * 3)

    assert sorted(answer.status_code for answer in answers) == [200, 409, 409]
    assert brand.rows("select count(*) from ledger_entry") == [(1,)]
    assert brand.rows("select count(*) from event") == [(1,)]


def test_a_repeated_key_gets_the_first_answer(brand, manager):
    made = _made(brand)

    answers = [post_action(manager, "deny", made, {}, Idempotency_Key="k") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json == answers[1].json
    assert brand.rows("select count(*) from event") == [(1,)]


def test_it_is_written_down_with_its_reason(brand, manager):
    made = _made(brand)

    post_action(manager, "deny", made, {"reason": "Fraud ü"})

    ((action, entity_id, before, after),) = brand.rows("select action, entity_id, before, after from audit_entry")
    assert (action, entity_id) == ("conversion.denied", str(made))
    assert (before["status"], after["status"], after["reason"]) == ("Pending", "Denied", "Fraud ü")


@pytest.mark.parametrize("body", [{"reason": 1}, {"reason": "x" * 1001}, {"reason": "a\x00"}, [], b"{"])
@pytest.mark.parametrize("action", ["invalidate", "deny"])
def test_a_wrong_body_is_refused(brand, manager, action, body):
    made = _made(brand)

    answer = post_action(manager, action, made, body)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert brand.rows("select status from conversion") == [("Pending",)]


@pytest.mark.parametrize("action", ROUTES)
def test_what_is_not_there_comes_before_a_wrong_body(manager, rival, action):
    rival.program()
    theirs = insert_conversion(rival, rival.affiliate("ben"))

    for conversion_id in (theirs, uuid4(), "nonsense"):
        answer = post_action(manager, action, conversion_id, {"reason": 1})
        assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert rival.rows("select status from conversion") == [("Pending",)]


@pytest.mark.parametrize("action", ["validate", "invalidate"])
def test_a_key_that_only_reads_a_viewer_and_the_free_plan_may_not(app, brand, action):
    reader, viewer = brand.other_key(scope="read"), brand.person("Viewer")
    free = Brand.create(app, plan="Free")

    refused = post_action(reader, action, uuid4())
    assert (refused.status_code, "read_write" in refused.json["message"]) == (403, True)
    assert post_action(viewer, action, uuid4()).status_code == 403
    answer = post_action(free, action, uuid4())
    assert (answer.status_code, set(answer.json)) == (402, {"error", "message", "required", "current", "trialing"})
    assert post_action(free.person("Manager"), action, uuid4()).status_code == 404


@pytest.mark.parametrize("action", ["approve", "deny"])
def test_a_key_neither_approves_nor_denies(brand, action):
    assert post_action(brand, action, uuid4()).status_code == 403
    assert post_action(brand.person("Viewer"), action, uuid4()).status_code == 403


def test_a_bonus_is_reviewed_like_a_sale(brand, manager):
    ((affiliate_id,),) = brand.rows("select id from affiliate")
    bonus = {"programId": str(brand.programs[0]), "affiliateId": str(affiliate_id), "kind": "bonus"}
    made = brand.post("/api/v1/conversions", bonus | {"commissionCents": 500}).json["conversion"]["id"]

    for action in ("invalidate", "validate", "deny"):
        assert post_action(manager, action, made).status_code == 200

    assert brand.rows("select sum(amount_cents), count(*) from ledger_entry") == [(0, 4)]
