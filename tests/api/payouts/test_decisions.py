"""Decisions on one payout: retry, void, payment by hand.

Source: core spec, "Payouts" (retry) and section 3 (Payout).
"""

import pytest

from adapters import clock
from models import db
from pipelines.payouts import decisions
from tests.support.api.concurrency import run_concurrently
from tests.support.api.payouts import (
    UNKNOWN_ID,
    URL,
    create_payout,
    list_audit_entries,
    owner_session,
    problem_fields,
    read_refusal,
    run_payouts,
)
from tests.support.rows.payroll import Payroll


@pytest.fixture
def failed_payout(app):
    """Return a payroll with one failed payout, and the payout's id."""
    payroll = Payroll.create(app, rail="fail")
    payout_id = create_payout(payroll)
    payroll.pay()
    payroll.brand.set(sandboxRail="ok")
    return payroll, payout_id


def _decide(payroll, payout_id, verb, body=None, **headers):
    return owner_session(payroll).post(f"{URL}/{payout_id}/{verb}", body, **headers)


def _mark_paid(payroll, payout_id, reference="bank 17"):
    return _decide(payroll, payout_id, "mark-paid", {"externalTransactionId": reference})


def _list_events(payroll):
    rows = payroll.brand.rows(
        "select type, body::jsonb->'data' from event where type like 'payout.%%' order by created_at, id"
    )
    return [(kind, data["payoutId"]) for kind, data in rows]


def test_failed_payout_is_retried_and_paid(failed_payout):
    payroll, payout_id = failed_payout

    answer = _decide(payroll, payout_id, "retry")
    retried = answer.json
    payroll.pay()

    assert (answer.status_code, retried["id"], retried["status"]) == (200, payout_id, "Pending")
    assert (retried["failedAt"], retried["failureReason"], retried["amountCents"]) == (None, None, 2_000)
    assert len(retried["lineItems"]) == 1
    assert payroll.payouts("status, attempt, amount_cents") == [("Paid", 2, 2_000)]
    assert payroll.balance("ann") == {"USD": 0}
    assert [kind for kind, event_payout_id in _list_events(payroll) if event_payout_id == payout_id] == [
        "payout.created",
        "payout.failed",
        "payout.created",
        "payout.paid",
    ]


def test_retry_is_audited_with_its_changes(failed_payout):
    payroll, payout_id = failed_payout
    _decide(payroll, payout_id, "retry")

    ((actor, entity_id, before, after),) = list_audit_entries(payroll.brand, "payout.retry")
    assert (actor, entity_id, before["status"], after["status"]) == ("member", payout_id, "Failed", "Pending")
    assert "acct_ann" not in str((before, after))


def test_retry_uses_the_current_account(failed_payout):
    payroll, payout_id = failed_payout
    payroll.execute(
        "update affiliate set payout_method = 'Wallet', payout_destination = 'ann@example.com' where id = %s"
        " returning id",
        payroll.affiliates["ann"],
    )

    assert _decide(payroll, payout_id, "retry", {}).json["method"] == "Wallet"


def test_retry_pays_less_after_a_refund(app):
    payroll = Payroll.create(app, rail="fail")
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000, externalEventId="first")
    payout_id = run_payouts(payroll)["payouts"][0]["payoutId"]
    payroll.pay()
    payroll.brand.refund("first", 2_500)

    assert _decide(payroll, payout_id, "retry").json["amountCents"] == 1_500


def test_retry_with_nothing_left_is_refused(app):
    payroll = Payroll.create(app, rail="fail")
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000, externalEventId="first")
    payout_id = run_payouts(payroll)["payouts"][0]["payoutId"]
    payroll.pay()
    payroll.brand.refund("first")

    assert read_refusal(_decide(payroll, payout_id, "retry")) == (409, "nothing_left_to_pay")
    assert read_refusal(_mark_paid(payroll, payout_id)) == (409, "nothing_left_to_pay")
    assert payroll.payouts("status, amount_cents") == [("Failed", 0)]


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("update affiliate set status = 'Paused' where id = %s returning id", "affiliate_not_approved"),
        (
            "update affiliate set payout_method = null, payout_destination = null where id = %s returning id",
            "no_payout_account",
        ),
    ],
)
def test_retry_needs_an_approved_affiliate_with_an_account(failed_payout, sql, code):
    payroll, payout_id = failed_payout
    payroll.execute(sql, payroll.affiliates["ann"])

    assert read_refusal(_decide(payroll, payout_id, "retry")) == (409, code)


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"status": "Canceled"}, "payouts_require_active_subscription"),
        ({"identityRequired": "on"}, "identity_required"),
        ({"verified": "off", "fraudScore": "60"}, "high_risk_unverified"),
        ({"verified": "off", "fundingMode": "debit"}, "unverified_prefund_only"),
        ({"fundingFrozen": "on"}, "funding_frozen"),
    ],
)
def test_retry_passes_the_gates_of_a_run(failed_payout, settings, code):
    payroll, payout_id = failed_payout
    payroll.brand.set(**settings)

    assert read_refusal(_decide(payroll, payout_id, "retry")) == (409, code)
    assert payroll.payouts("status, attempt") == [("Failed", 1)]


def test_concurrent_retries_count_against_the_cap(app):
    payroll = Payroll.create(app, rail="fail")
    payout_ids = [create_payout(payroll, slug, 300_000) for slug in ("ann", "ben")]
    payroll.pay()
    payroll.brand.set(verified="off")

    answers = run_concurrently(
        *[lambda payout_id=payout_id: _decide(payroll, payout_id, "retry") for payout_id in payout_ids]
    )

    assert sorted(answer.status_code for answer in answers) == [200, 409]
    assert {answer.json.get("error") for answer in answers} == {None, "unverified_cap_exceeded"}


@pytest.mark.parametrize("verb", ["retry", "void"])
def test_only_a_failed_payout_is_retried_or_voided(payroll, verb):
    payout_id = create_payout(payroll)

    assert read_refusal(_decide(payroll, payout_id, verb)) == (409, "invalid_status_transition")
    payroll.pay()
    assert read_refusal(_decide(payroll, payout_id, verb)) == (409, "invalid_status_transition")
    assert payroll.payouts() == [("Paid", 2_000)]


@pytest.mark.parametrize("verb", ["retry", "void"])
def test_concurrent_decisions_decide_once(failed_payout, verb):
    payroll, payout_id = failed_payout

    answers = run_concurrently(*[lambda: _decide(payroll, payout_id, verb) for _ in range(3)])

    assert sorted(answer.status_code for answer in answers) == [200, 409, 409]
    assert len(list_audit_entries(payroll.brand, f"payout.{verb}")) == 1


def test_voided_payout_is_due_again_and_never_retried(failed_payout):
    payroll, payout_id = failed_payout

    voided = _decide(payroll, payout_id, "void").json

    assert (voided["status"], voided["amountCents"]) == ("Failed", 2_000)
    assert voided["voidedAt"]
    assert len(voided["lineItems"]) == 1
    for verb in ("retry", "void"):
        assert read_refusal(_decide(payroll, payout_id, verb)) == (409, "payout_voided")
    assert read_refusal(_mark_paid(payroll, payout_id)) == (409, "payout_voided")
    run_payouts(payroll)
    payroll.pay()
    assert payroll.payouts("status, amount_cents") == [("Failed", 2_000), ("Paid", 2_000)]
    assert payroll.balance("ann") == {"USD": 0}


def test_void_is_audited(failed_payout):
    payroll, payout_id = failed_payout
    _decide(payroll, payout_id, "void")

    ((_, entity_id, before, after),) = list_audit_entries(payroll.brand, "payout.void")
    assert (entity_id, before["voidedAt"], bool(after["voidedAt"])) == (payout_id, None, True)


@pytest.mark.parametrize("state", ["Pending", "Failed"])
def test_unsent_payout_is_marked_paid_with_its_reference(app, state):
    payroll = Payroll.create(app, rail="fail")
    payout_id = create_payout(payroll)
    if state == "Failed":
        payroll.pay()

    answer = _mark_paid(payroll, payout_id, " Überweisung 17 ")
    payroll.pay()

    marked = answer.json
    assert (answer.status_code, marked["status"], marked["method"]) == (200, "Paid", "Manual")
    assert (marked["externalTransactionId"], marked["failureReason"]) == ("Überweisung 17", None)
    assert payroll.balance("ann") == {"USD": 0}
    assert payroll.payouts() == [("Paid", 2_000)]
    assert _list_events(payroll)[-1] == ("payout.paid", payout_id)
    assert list_audit_entries(payroll.brand, "payout.mark_paid")[0][1] == payout_id


def test_paid_payout_is_not_marked_again(payroll):
    payout_id = create_payout(payroll)
    payroll.pay()

    assert read_refusal(_mark_paid(payroll, payout_id)) == (409, "invalid_status_transition")


def test_processing_payout_cannot_be_decided(app):
    payroll = Payroll.create(app, rail="slow")
    payout_id = create_payout(payroll)
    payroll.pay()

    assert payroll.payouts() == [("Processing", 2_000)]
    assert read_refusal(_mark_paid(payroll, payout_id)) == (409, "invalid_status_transition")
    for verb in ("retry", "void"):
        assert read_refusal(_decide(payroll, payout_id, verb)) == (409, "invalid_status_transition")


def test_concurrent_marks_are_booked_once(payroll):
    payout_id = create_payout(payroll)

    answers = run_concurrently(*[lambda: _mark_paid(payroll, payout_id) for _ in range(3)])

    assert sorted(answer.status_code for answer in answers) == [200, 409, 409]
    assert payroll.balance("ann") == {"USD": 0}


def test_payout_under_review_cannot_be_marked_paid(payroll):
    payroll.brand.set(needsReview="on")
    payout_id = create_payout(payroll)

    assert read_refusal(_mark_paid(payroll, payout_id)) == (409, "review_pending")


def test_rejected_payout_can_only_be_voided(payroll):
    payroll.brand.set(needsReview="on")
    payout_id = create_payout(payroll)
    run_id = payroll.brand.rows("select id from payout_run")[0][0]
    with db.unit_of_work(payroll.brand.id):
        decisions.decide_review(organization_id=payroll.brand.id, run_id=run_id, is_approved=False, now=clock.now())

    assert read_refusal(_decide(payroll, payout_id, "retry")) == (409, "review_rejected")
    assert read_refusal(_mark_paid(payroll, payout_id)) == (409, "review_rejected")
    assert _decide(payroll, payout_id, "void").status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"externalTransactionId": None},
        {"externalTransactionId": ""},
        {"externalTransactionId": "  "},
        {"externalTransactionId": 17},
        {"externalTransactionId": ["x"]},
        {"externalTransactionId": "a\x00"},
        {"externalTransactionId": "x" * 256},
    ],
)
def test_marking_paid_needs_a_reference(payroll, body):
    payout_id = create_payout(payroll)

    assert problem_fields(_decide(payroll, payout_id, "mark-paid", body)) == {"externalTransactionId"}
    assert payroll.payouts() == [("Pending", 2_000)]


@pytest.mark.parametrize("raw", [b"[]", b"{", b'{"a": 1, "a": 2}'])
@pytest.mark.parametrize("verb", ["retry", "void", "mark-paid"])
def test_non_object_body_is_refused(failed_payout, verb, raw):
    payroll, payout_id = failed_payout

    assert problem_fields(_decide(payroll, payout_id, verb, raw)) == {"body"}


@pytest.mark.parametrize("verb", ["retry", "void", "mark-paid"])
@pytest.mark.parametrize("payout_id", [UNKNOWN_ID, "x", "%00", "run"])
def test_unknown_payout_returns_404_for_any_body(payroll, verb, payout_id):
    assert read_refusal(_decide(payroll, payout_id, verb, b"{")) == (404, "not_found")


@pytest.mark.parametrize("verb", ["retry", "void", "mark-paid"])
def test_other_tenants_payout_returns_404(failed_payout, rival, verb):
    payroll, payout_id = failed_payout

    answer = rival.person("Owner").post(f"{URL}/{payout_id}/{verb}", {"externalTransactionId": "x"})

    assert read_refusal(answer) == (404, "not_found")
    assert payroll.payouts("status, voided_at is null") == [("Failed", True)]


def test_repeated_idempotency_key_returns_the_first_response(failed_payout):
    payroll, payout_id = failed_payout

    first = _decide(payroll, payout_id, "retry", {}, Idempotency_Key="k")
    repeated = _decide(payroll, payout_id, "retry", {}, Idempotency_Key="k")

    assert (repeated.status_code, repeated.json) == (200, first.json)
    assert payroll.payouts("attempt") == [(2,)]
