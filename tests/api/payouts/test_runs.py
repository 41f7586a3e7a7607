"""A payout run through HTTP. Source: core spec, "Payouts" (run, additional 409 codes)."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from uuid import UUID

import pytest

from api.payouts import runs
from tests.support.api.concurrency import run_concurrently
from tests.support.api.payouts import (
    RUN,
    UNKNOWN_ID,
    URL,
    list_audit_entries,
    owner_session,
    problem_fields,
    read_refusal,
    run_payouts,
)


def test_run_returns_its_receipt(due_payroll):
    answer = owner_session(due_payroll).post(RUN, {"confirmTotalCents": 2_000})

    receipt = answer.json
    assert answer.status_code == 200
    run_id, (payout,) = receipt.pop("runId"), receipt.pop("payouts")
    assert UUID(run_id)
    assert receipt == {
        "totalCents": 2_000,
        "currency": "USD",
        "nativeTotalsForRun": {"USD": 2_000},
        "needsManualReview": False,
        "reviewStatus": None,
        "holdUntil": None,
    }
    assert due_payroll.brand.get(f"{URL}/{payout.pop('payoutId')}").json["runId"] == run_id
    assert payout == {
        "affiliateId": str(due_payroll.affiliates["ann"]),
        "amountCents": 2_000,
        "currency": "USD",
        "method": "ProcessorConnect",
        "status": "Pending",
        "needsManualReview": False,
        "reviewStatus": None,
        "holdUntil": None,
    }


def test_every_recipient_gets_one_usd_payout_with_its_event(due_payroll):
    due_payroll.rate("EUR", "0.8")
    due_payroll.sell("ann", 10_000, "EUR")
    due_payroll.affiliate("ben", method="Wallet")
    due_payroll.sell("ben", 10_000)
    due_payroll.brand.endpoint("https://localhost/hook")

    receipt = run_payouts(due_payroll)

    assert receipt["totalCents"] == 2_000 + 2_500 + 2_000
    assert receipt["nativeTotalsForRun"] == {"EUR": 2_000, "USD": 4_000}
    assert {(payout["method"], payout["amountCents"]) for payout in receipt["payouts"]} == {
        ("ProcessorConnect", 4_500),
        ("Wallet", 2_000),
    }
    event_rows = due_payroll.brand.rows(
        "select body::jsonb->'data'->>'payoutId' from event where type = 'payout.created'"
    )
    assert {row[0] for row in event_rows} == {payout["payoutId"] for payout in receipt["payouts"]}
    due_payroll.pay()
    assert due_payroll.brand.rows("select count(*) from event where type = 'payout.paid'") == [(2,)]


def test_run_is_audited_with_the_confirmed_values(due_payroll):
    person = owner_session(due_payroll)
    receipt = person.post(RUN, {"confirmTotalCents": 2_000, "notes": " März ", "method": "ProcessorConnect"}).json

    ((actor, entity_id, before, after),) = list_audit_entries(due_payroll.brand, "payout.run")
    assert (actor, entity_id, before) == ("member", receipt["runId"], None)
    assert after["nativeTotalsForRun"] == {"USD": 2_000}
    assert (after["payoutCount"], after["notes"], after["filters"]) == (1, "März", {"method": "ProcessorConnect"})
    ((member_id, filters, notes),) = due_payroll.brand.rows("select confirmed_by, filters, notes from payout_run")
    assert due_payroll.brand.rows("select email from member where id = %s", member_id) == [("owner@example.com",)]
    assert (filters, notes) == ({"method": "ProcessorConnect"}, "März")


@pytest.mark.parametrize("total", [0, 1_999, 2_001, 10**18])
def test_wrong_total_is_refused_with_the_current_one_and_nothing_is_written(due_payroll, total):
    answer = owner_session(due_payroll).post(RUN, {"confirmTotalCents": total})

    assert read_refusal(answer) == (409, "confirm_total_mismatch")
    assert answer.json["expectedTotalCents"] == 2_000
    assert answer.json["nativeTotalsForRun"] == {"USD": 2_000}
    assert due_payroll.payouts() == due_payroll.lines() == list_audit_entries(due_payroll.brand, "payout.run") == []
    assert due_payroll.brand.rows("select count(*) from payout_run") == [(0,)]


@pytest.mark.parametrize(
    ("totals", "status"),
    [({"USD": 2_000}, 200), (None, 200), ({}, 409), ({"EUR": 2_000}, 409), ({"USD": 1_999, "EUR": 1}, 409)],
)
def test_map_of_totals_is_checked_when_sent(due_payroll, totals, status):
    answer = owner_session(due_payroll).post(RUN, {"confirmTotalCents": 2_000, "confirmTotals": totals})

    assert answer.status_code == status


def test_run_with_nothing_due_returns_nothing_to_pay(payroll):
    assert read_refusal(owner_session(payroll).post(RUN, {"confirmTotalCents": 0})) == (409, "nothing_to_pay")


def test_filters_apply_to_payouts_and_total(due_payroll):
    due_payroll.affiliate("ben", method="Wallet")
    second = due_payroll.sell("ben", 20_000)
    person, ben = owner_session(due_payroll), str(due_payroll.affiliates["ben"])

    assert read_refusal(person.post(RUN, {"confirmTotalCents": 6_000, "affiliateIds": [ben]}))[0] == 409
    assert read_refusal(person.post(RUN, {"confirmTotalCents": 4_000, "method": "ProcessorConnect"}))[0] == 409
    yesterday = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    body = {
        "confirmTotalCents": 4_000,
        "affiliateIds": [ben, ben],
        "conversionIds": [second],
        "programId": str(due_payroll.brand.programs[0]),
        "since": yesterday,
        "currency": "USD",
        "method": "Auto",
    }
    receipt = person.post(RUN, body).json
    assert [payout["affiliateId"] for payout in receipt["payouts"]] == [ben]
    assert due_payroll.payouts() == [("Pending", 4_000)]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"confirmTotalCents": ...}, "confirmTotalCents"),
        ({"confirmTotalCents": None}, "confirmTotalCents"),
        ({"confirmTotalCents": "2000"}, "confirmTotalCents"),
        ({"confirmTotalCents": 2000.0}, "confirmTotalCents"),
        ({"confirmTotalCents": 2000.5}, "confirmTotalCents"),
        ({"confirmTotalCents": True}, "confirmTotalCents"),
        ({"confirmTotalCents": -1}, "confirmTotalCents"),
        ({"confirmTotalCents": []}, "confirmTotalCents"),
        ({"confirmTotalCents": 10**30}, "confirmTotalCents"),
        ({"confirmTotals": [["USD", 2000]]}, "confirmTotals"),
        ({"confirmTotals": {"USD": "2000"}}, "confirmTotals"),
        ({"confirmTotals": {"USD": -2000.5}}, "confirmTotals"),
        ({"confirmTotals": {"USD": 2000.0}}, "confirmTotals"),
        ({"confirmTotals": {"DOLLARS": 2000}}, "confirmTotals"),
        ({"confirmFxRates": []}, "confirmFxRates"),
        ({"confirmFxRates": {"EUR": 0.8}}, "confirmFxRates"),
        ({"confirmFxRates": {"EUR": {"rate": "0.8", "asOf": "2026-01-01"}}}, "confirmFxRates"),
        ({"confirmFxRates": {"EUR": {"rate": 0.8, "asOf": "soon"}}}, "confirmFxRates"),
        ({"affiliateIds": []}, "affiliateIds"),
        ({"affiliateIds": None}, "affiliateIds"),
        ({"affiliateIds": "all"}, "affiliateIds"),
        ({"affiliateIds": [1]}, "affiliateIds"),
        ({"conversionIds": []}, "conversionIds"),
        ({"conversionIds": None}, "conversionIds"),
        ({"conversionIds": ["\x00"]}, "conversionIds"),
        ({"programId": "campaign"}, "programId"),
        ({"since": "yesterday"}, "since"),
        ({"currency": 5}, "currency"),
        ({"method": ["Auto"]}, "method"),
        ({"notes": "n" * 2_001}, "notes"),
        ({"notes": "a\x00b"}, "notes"),
        ({"notes": 7}, "notes"),
        ({"externalTransactionId": "x" * 256}, "externalTransactionId"),
        ({"externalTransactionId": "\x00"}, "externalTransactionId"),
        ({"externalTransactionId": {}}, "externalTransactionId"),
    ],
)
def test_malformed_body_is_refused_and_nothing_is_written(due_payroll, change, field):
    body = {"confirmTotalCents": 2_000} | change

    answer = owner_session(due_payroll).post(RUN, {name: value for name, value in body.items() if value is not ...})

    assert problem_fields(answer) == {field}
    assert due_payroll.payouts() == []


@pytest.mark.parametrize(
    "raw", [b"", b"[]", b"null", b"{", b'{"confirmTotalCents": 1, "confirmTotalCents": 2000}', b"\xff"]
)
def test_non_object_body_is_refused(due_payroll, raw):
    assert problem_fields(owner_session(due_payroll).post(RUN, raw)) == {"body"}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"currency": "EUR"}, "unsupported_currency"),
        ({"currency": ""}, "unsupported_currency"),
        ({"method": "Wise"}, "unsupported_method"),
        ({"method": "Wallet"}, "unsupported_method"),
        ({"affiliateIds": [UNKNOWN_ID]}, "invalid_affiliate_ids"),
    ],
)
def test_unsupported_value_is_refused_with_its_code(due_payroll, change, code):
    assert read_refusal(owner_session(due_payroll).post(RUN, {"confirmTotalCents": 2_000} | change)) == (400, code)
    assert due_payroll.payouts() == []


def test_other_tenants_id_is_refused(due_payroll, rival):
    program_id = str(rival.program())
    affiliate_id = str(rival.affiliate("ben"))
    person = owner_session(due_payroll)

    assert read_refusal(person.post(RUN, {"confirmTotalCents": 0, "programId": program_id})) == (404, "not_found")
    answer = person.post(RUN, {"confirmTotalCents": 0, "affiliateIds": [affiliate_id]})
    assert (read_refusal(answer), answer.json["invalid"]) == ((400, "invalid_affiliate_ids"), [affiliate_id])


def test_repeated_idempotency_key_returns_the_first_receipt(due_payroll):
    person, body = owner_session(due_payroll), {"confirmTotalCents": 2_000}

    first = person.post(RUN, body, Idempotency_Key="march")
    repeated = person.post(RUN, body, Idempotency_Key="march")

    assert (repeated.status_code, repeated.json) == (200, first.json)
    assert repeated.headers["Idempotency-Replayed"] == "true"
    assert read_refusal(person.post(RUN, {"confirmTotalCents": 1}, Idempotency_Key="march")) == (
        409,
        "idempotency_conflict",
    )
    assert len(due_payroll.payouts()) == 1


def test_concurrent_runs_pay_once_and_the_others_get_a_mismatch(due_payroll):
    person = owner_session(due_payroll)

    answers = run_concurrently(*[lambda: person.post(RUN, {"confirmTotalCents": 2_000}) for _ in range(4)])

    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
    refusals = [answer.json for answer in answers if answer.status_code == 409]
    assert {(body["error"], body["expectedTotalCents"]) for body in refusals} == {("confirm_total_mismatch", 0)}
    assert due_payroll.payouts() == [("Pending", 2_000)]


def test_concurrent_runs_with_one_key_return_the_same_receipt(due_payroll):
    person = owner_session(due_payroll)

    answers = run_concurrently(
        *[lambda: person.post(RUN, {"confirmTotalCents": 2_000}, Idempotency_Key="march") for _ in range(2)]
    )

    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json == answers[1].json
    assert len(due_payroll.payouts()) == 1


def test_run_uses_the_current_rate(payroll):
    payroll.rate("EUR", "0.8")
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000, "EUR")
    payroll.rate("EUR", "0.5")

    receipt = run_payouts(payroll)

    assert (receipt["totalCents"], receipt["nativeTotalsForRun"]) == (4_000, {"EUR": 2_000})


def test_changed_rate_is_refused_if_rates_were_confirmed(payroll):
    payroll.rate("EUR", "0.800000000123")
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000, "EUR")
    payroll.sell("ann", 10_000)
    person = owner_session(payroll)
    preview = person.post(f"{URL}/preview").json
    body = {"confirmTotalCents": 4_000, "confirmFxRates": preview["fxRunRates"]}
    payroll.rate("EUR", "0.800000000124")

    answer = person.post(RUN, body)
    assert (read_refusal(answer), answer.json["changedFxRates"]) == ((409, "confirm_total_mismatch"), ["EUR"])
    assert payroll.payouts() == []
    assert person.post(RUN, body | {"confirmFxRates": {}}).status_code == 409
    payroll.rate("EUR", "0.800000000123")
    assert person.post(RUN, body).status_code == 200


def test_rate_gone_stale_after_the_preview_is_a_mismatch(payroll, monkeypatch):
    payroll.rate("EUR", "0.8")
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000, "EUR")
    assert owner_session(payroll).post(f"{URL}/preview").json["totalEligibleCents"] == 2_000
    later = datetime.now(UTC) + timedelta(days=4)
    monkeypatch.setattr(runs, "clock", SimpleNamespace(now=lambda: later))  # the login stays fresh

    answer = owner_session(payroll).post(RUN, {"confirmTotalCents": 2_000})

    assert (read_refusal(answer), answer.json["nativeTotalsForRun"]) == ((409, "confirm_total_mismatch"), {})
    assert payroll.payouts() == []


def test_test_sales_are_not_paid(payroll):
    payroll.affiliate("ann")
    payroll.brand.other_key(is_test=True).sale(affiliateSlug="ann")

    assert read_refusal(owner_session(payroll).post(RUN, {"confirmTotalCents": 0})) == (409, "nothing_to_pay")


def test_notes_and_reference_are_stored_verbatim(due_payroll):
    person = owner_session(due_payroll)
    receipt = person.post(RUN, {"confirmTotalCents": 2_000, "notes": "Ж" * 2_000, "externalTransactionId": "=1+1"}).json

    payout = due_payroll.brand.get(f"{URL}/{receipt['payouts'][0]['payoutId']}").json
    assert (payout["notes"], payout["externalTransactionId"]) == ("Ж" * 2_000, "=1+1")
