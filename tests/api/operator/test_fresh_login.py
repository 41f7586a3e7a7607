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
def stale(console):
    """An operator who logged in more than an hour ago."""
    return console.with_login_age(minutes=61)


def _refusal(answer):
    return answer.status_code, (answer.get_json(silent=True) or {}).get("error")


def test_decisions_need_a_login_within_the_last_hour(console, stale):
    fresh = console.with_login_age(minutes=59)
    for method, path, body in _DECISIONS:
        assert _refusal(stale.call(method, path, body)) == _STALE, path
        assert fresh.call(method, path, body).status_code in (200, 404), path


def test_decision_with_a_stale_login_changes_nothing(app, stale):
    payroll = Payroll.create_owing(app)
    run_id = payroll.create_run_under_review()

    assert _refusal(stale.post(f"payouts/runs/{run_id}/review", {"decision": "approve", "why": "w"})) == _STALE
    assert payroll.payouts("status") == [("Pending",)]


def test_reads_and_harmless_actions_accept_a_stale_login(brand, stale):
    letter = stage_failed_job(brand)

    for path in ("queues", "dead-letters", "payouts/runs", "payouts/doubtful", "rates", "attention"):
        assert stale.call("GET", path).status_code == 200, path
    assert stale.post("queues/mail/pause", {"why": "w"}).status_code == 204
    assert stale.post("queues/mail/resume").status_code == 204
    assert stale.post(f"dead-letters/{letter}/replay").json == {"replayed": [letter]}


def test_letter_that_moves_money_needs_a_fresh_login_to_replay(console, brand, stale):
    letter = stage_failed_job(brand, job=jobs.PAYOUT_TRANSFER)
    refused = stale.post(f"dead-letters/{letter}/replay", Idempotency_Key=f"replay-{letter}")
    answers = [console.post(f"dead-letters/{letter}/replay", Idempotency_Key=f"replay-{letter}") for _ in range(2)]

    assert _refusal(refused) == _STALE
    assert [answer.json for answer in answers] == [{"replayed": [letter]}] * 2
    assert _refusal(stale.post("dead-letters/999999999999/replay")) == (404, "not_found")
