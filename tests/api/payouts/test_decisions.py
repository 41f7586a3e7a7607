"""One payout retried, voided, paid by hand. Source: core spec, "Payouts" (retry) and section 3 (Payout)."""

import pytest

from adapters import clock
from models import db
from pipelines.payouts import decisions
from tests.support.api.concurrency import run_concurrently
from tests.support.api.payouts import (
    NOBODY,
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
def failed(app):
    """A payroll whose one payout has Failed, and that payout's id."""
    payroll = Payroll.create(app, rail="fail")
    payout_id = create_payout(payroll)
    payroll.pay()
    payroll.brand.set(sandboxRail="ok")
    return payroll, payout_id


def _decide(payroll, payout_id, verb, body=None, **headers):
    return owner_session(payroll).post(f"{URL}/{payout_id}/{verb}", body, **headers)


def _pay(payroll, payout_id, reference="bank 17"):
    return _decide(payroll, payout_id, "mark-paid", {"externalTransactionId": reference})


def _told(payroll):
    rows = payroll.brand.rows(
        "select type, body::jsonb->'data' from event where type like 'payout.%%' order by created_at, id"
    )
    return [(kind, data["payoutId"]) for kind, data in rows]


def test_a_failed_payout_is_sent_again_and_paid(failed):
    payroll, payout_id = failed

    answer = _decide(payroll, payout_id, "retry")
    shown = answer.json
    payroll.pay()

    assert (answer.status_code, shown["id"], shown["status"]) == (200, payout_id, "Pending")
    assert (shown["failedAt"], shown["failureReason"], shown["amountCents"]) == (None, None, 2_000)
    assert len(shown["lineItems"]) == 1
    assert payroll.payouts("status, attempt, amount_cents") == [("Paid", 2, 2_000)]
    assert payroll.balance("ann") == {"USD": 0}
    assert [kind for kind, named in _told(payroll) if named == payout_id] == [
        "payout.created",
        "payout.failed",
        "payout.created",
        "payout.paid",
    ]


def test_a_retry_is_audited_with_what_it_changed(failed):
    payroll, payout_id = failed
    _decide(payroll, payout_id, "retry")

    ((actor, entity_id, before, after),) = list_audit_entries(payroll.brand, "payout.retry")
    assert (actor, entity_id, before["status"], after["status"]) == ("member", payout_id, "Failed", "Pending")
    assert "acct_ann" not in str((before, after))


def test_a_retry_pays_to_where_the_affiliate_wants_to_be_paid_now(failed):
    payroll, payout_id = failed
    payroll.execute(
        "update affiliate set payout_method = 'Wallet', payout_destination = 'ann@example.com' where id = %s"
        " returning id",
        payroll.affiliates["ann"],
    )

    assert _decide(payroll, payout_id, "retry", {}).json["method"] == "Wallet"


def test_a_retry_pays_less_what_was_refunded_meanwhile(app):
    payroll = Payroll.create(app, rail="fail")
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000, externalEventId="first")
    payout_id = run_payouts(payroll)["payouts"][0]["payoutId"]
    payroll.pay()
    payroll.brand.refund("first", 2_500)

    assert _decide(payroll, payout_id, "retry").json["amountCents"] == 1_500


def test_with_nothing_left_a_retry_is_refused_and_the_payout_stays_failed(app):
    payroll = Payroll.create(app, rail="fail")
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000, externalEventId="first")
    payout_id = run_payouts(payroll)["payouts"][0]["payoutId"]
    payroll.pay()
    payroll.brand.refund("first")

    assert read_refusal(_decide(payroll, payout_id, "retry")) == (409, "nothing_left_to_pay")
    assert read_refusal(_pay(payroll, payout_id)) == (409, "nothing_left_to_pay")
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
def test_a_retry_needs_somebody_to_pay(failed, sql, code):
    payroll, payout_id = failed
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
def test_a_retry_passes_the_gates_of_a_run(failed, settings, code):
    payroll, payout_id = failed
    payroll.brand.set(**settings)

    assert read_refusal(_decide(payroll, payout_id, "retry")) == (409, code)
    assert payroll.payouts("status, attempt") == [("Failed", 1)]


def test_a_retry_counts_against_the_cap_also_when_two_come_at_once(app):
    payroll = Payroll.create(app, rail="fail")
    made = [create_payout(payroll, slug, 300_000) for slug in ("ann", "ben")]
    payroll.pay()
    payroll.brand.set(verified="off")

    answers = run_concurrently(
        *[lambda payout_id=payout_id: _decide(payroll, payout_id, "retry") for payout_id in made]
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
def test_twice_at_once_it_is_decided_once(failed, verb):
    payroll, payout_id = failed

    answers = run_concurrently(*[lambda: _decide(payroll, payout_id, verb) for _ in range(3)])

    assert sorted(answer.status_code for answer in answers) == [200, 409, 409]
    assert len(list_audit_entries(payroll.brand, f"payout.{verb}")) == 1


def test_a_voided_payout_is_due_again_and_never_retried(failed):
    payroll, payout_id = failed

    shown = _decide(payroll, payout_id, "void").json

    assert (shown["status"], shown["amountCents"]) == ("Failed", 2_000)
    assert shown["voidedAt"]
    assert len(shown["lineItems"]) == 1
    for verb in ("retry", "void"):
        assert read_refusal(_decide(payroll, payout_id, verb)) == (409, "payout_voided")
    assert read_refusal(_pay(payroll, payout_id)) == (409, "payout_voided")
    run_payouts(payroll)
    payroll.pay()
    assert payroll.payouts("status, amount_cents") == [("Failed", 2_000), ("Paid", 2_000)]
    assert payroll.balance("ann") == {"USD": 0}


def test_a_void_is_audited(failed):
    payroll, payout_id = failed
    _decide(payroll, payout_id, "void")

    ((_, entity_id, before, after),) = list_audit_entries(payroll.brand, "payout.void")
    assert (entity_id, before["voidedAt"], bool(after["voidedAt"])) == (payout_id, None, True)


@pytest.mark.parametrize("state", ["Pending", "Failed"])
def test_a_payout_that_no_rail_has_is_marked_paid_with_its_reference(app, state):
    payroll = Payroll.create(app, rail="fail")
    payout_id = create_payout(payroll)
    if state == "Failed":
        payroll.pay()

    answer = _pay(payroll, payout_id, " Überweisung 17 ")
    payroll.pay()

    shown = answer.json
    assert (answer.status_code, shown["status"], shown["method"]) == (200, "Paid", "Manual")
    assert (shown["externalTransactionId"], shown["failureReason"]) == ("Überweisung 17", None)
    assert payroll.balance("ann") == {"USD": 0}
    assert payroll.payouts() == [("Paid", 2_000)]
    assert _told(payroll)[-1] == ("payout.paid", payout_id)
    assert list_audit_entries(payroll.brand, "payout.mark_paid")[0][1] == payout_id


def test_a_paid_payout_is_not_marked_again(payroll):
    payout_id = create_payout(payroll)
    payroll.pay()

    assert read_refusal(_pay(payroll, payout_id)) == (409, "invalid_status_transition")


def test_a_payout_that_a_rail_is_at_work_on_is_left_to_it(app):
    payroll = Payroll.create(app, rail="slow")
    payout_id = create_payout(payroll)
    payroll.pay()

    assert payroll.payouts() == [("Processing", 2_000)]
    assert read_refusal(_pay(payroll, payout_id)) == (409, "invalid_status_transition")
    for verb in ("retry", "void"):
        assert read_refusal(_decide(payroll, payout_id, verb)) == (409, "invalid_status_transition")


def test_marked_paid_twice_at_once_it_is_booked_once(payroll):
    payout_id = create_payout(payroll)

    answers = run_concurrently(*[lambda: _pay(payroll, payout_id) for _ in range(3)])

    assert sorted(answer.status_code for answer in answers) == [200, 409, 409]
    assert payroll.balance("ann") == {"USD": 0}


def test_nothing_is_paid_by_hand_before_its_run_was_reviewed(payroll):
    payroll.brand.set(needsReview="on")
    payout_id = create_payout(payroll)

    assert read_refusal(_pay(payroll, payout_id)) == (409, "review_pending")


def test_what_a_reviewer_rejected_is_voided_and_neither_sent_nor_paid(payroll):
    payroll.brand.set(needsReview="on")
    payout_id = create_payout(payroll)
    run_id = payroll.brand.rows("select id from payout_run")[0][0]
    with db.unit_of_work(payroll.brand.id):
        decisions.decide_review(organization_id=payroll.brand.id, run_id=run_id, is_approved=False, now=clock.now())

    assert read_refusal(_decide(payroll, payout_id, "retry")) == (409, "review_rejected")
    assert read_refusal(_pay(payroll, payout_id)) == (409, "review_rejected")
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
def test_a_payment_by_hand_needs_its_reference(payroll, body):
    payout_id = create_payout(payroll)

    assert problem_fields(_decide(payroll, payout_id, "mark-paid", body)) == {"externalTransactionId"}
    assert payroll.payouts() == [("Pending", 2_000)]


@pytest.mark.parametrize("raw", [b"[]", b"{", b'{"a": 1, "a": 2}'])
@pytest.mark.parametrize("verb", ["retry", "void", "mark-paid"])
def test_a_body_that_is_no_object_isrefused(failed, verb, raw):
    payroll, payout_id = failed

    assert problem_fields(_decide(payroll, payout_id, verb, raw)) == {"body"}


@pytest.mark.parametrize("verb", ["retry", "void", "mark-paid"])
@pytest.mark.parametrize("payout_id", [NOBODY, "x", "%00", "run"])
def test_an_unknown_payout_is_404_whatever_is_sent_with_it(payroll, verb, payout_id):
    assert read_refusal(_decide(payroll, payout_id, verb, b"{")) == (404, "not_found")


@pytest.mark.parametrize("verb", ["retry", "void", "mark-paid"])
def test_another_organizations_payout_is_not_there(failed, rival, verb):
    payroll, payout_id = failed

    answer = rival.person("Owner").post(f"{URL}/{payout_id}/{verb}", {"externalTransactionId": "x"})

    assert read_refusal(answer) == (404, "not_found")
    assert payroll.payouts("status, voided_at is null") == [("Failed", True)]


def test_an_idempotency_key_gives_the_first_answer_again(failed):
    payroll, payout_id = failed

    first = _decide(payroll, payout_id, "retry", {}, Idempotency_Key="k")
    again = _decide(payroll, payout_id, "retry", {}, Idempotency_Key="k")

    assert (again.status_code, again.json) == (200, first.json)
    assert payroll.payouts("attempt") == [(2,)]
