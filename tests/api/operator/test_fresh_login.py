"""Decisions about money and permanent deletions need an operator login within the last hour."""

import pytest

from domain import jobs
from tests.support.api.payouts import UNKNOWN_ID
from tests.support.outside.console import stage_failed_job
from tests.support.rows.payroll import Payroll

_STALE = (403, "fresh_login_required")
_DECISIONS = (
    ("POST", f"payouts/runs/{UNKNOWN_ID}/review", {"decision": "approve", "why": "w"}),
    ("POST", f"payouts/{UNKNOWN_ID}/settle", {"paidAs": "tr_1"}),
    ("PATCH", f"organizations/{UNKNOWN_ID}", {"settings": {"plan": "Pro"}, "why": "w"}),
    ("POST", "rates", {"content": "currency,perUsd,date\nLAK,21000,2024-05-02\n"}),
    ("POST", "dead-letters/999999999999/discard", {"why": "w"}),
    ("POST", "dead-letters/replay", {"confirmCount": 0, "name": "no.such", "why": "w"}),
)


@pytest.fixture
def stale_operator(console):
    """An operator who logged in more than an hour ago."""
    return console.with_login_age(minutes=61)


def _refusal(answer):
    return answer.status_code, (answer.get_json(silent=True) or {}).get("error")


def test_decisions_need_a_login_within_the_last_hour(console, stale_operator):
    fresh = console.with_login_age(minutes=59)
    for method, path, body in _DECISIONS:
        assert _refusal(stale_operator.call(method, path, body)) == _STALE, path
        assert fresh.call(method, path, body).status_code in (200, 404), path


def test_decision_with_a_stale_login_changes_nothing(app, stale_operator):
    payroll = Payroll.create_owing(app)
    run_id = payroll.create_run_under_review()

    assert _refusal(stale_operator.post(f"payouts/runs/{run_id}/review", {"decision": "approve", "why": "w"})) == _STALE
    assert payroll.payouts("status") == [("Pending",)]


def test_reads_and_harmless_actions_accept_a_stale_login(brand, stale_operator):
    job_id = stage_failed_job(brand)

    for path in ("queues", "dead-letters", "payouts/runs", "payouts/doubtful", "rates", "attention"):
        assert stale_operator.call("GET", path).status_code == 200, path
    assert stale_operator.post("queues/mail/pause", {"why": "w"}).status_code == 204
    assert stale_operator.post("queues/mail/resume").status_code == 204
    assert stale_operator.post(f"dead-letters/{job_id}/replay").json == {"replayed": [job_id]}


def test_replaying_a_dead_letter_that_moves_money_needs_a_fresh_login(console, brand, stale_operator):
    job_id = stage_failed_job(brand, job=jobs.PAYOUT_TRANSFER)
    refused = stale_operator.post(f"dead-letters/{job_id}/replay", Idempotency_Key=f"replay-{job_id}")
    answers = [console.post(f"dead-letters/{job_id}/replay", Idempotency_Key=f"replay-{job_id}") for _ in range(2)]

    assert _refusal(refused) == _STALE
    assert [answer.json for answer in answers] == [{"replayed": [job_id]}] * 2
    assert _refusal(stale_operator.post("dead-letters/999999999999/replay")) == (404, "not_found")
