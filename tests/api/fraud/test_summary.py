"""The summary of fraud events of a campaign, through HTTP."""

from decimal import Decimal
from uuid import uuid4

import pytest

from models import db
from tests.support.api.lists import count_round_trips
from tests.support.rows.fraud_rows import record_blocked_click
from tests.support.rows.program_rows import time_ago

URL = "/api/v1/fraud-events/summary"


def _get_summary(brand, **query):
    params = {"programId": str(brand.programs[-1])} | query
    return brand.get(f"{URL}?" + "&".join(f"{name}={value}" for name, value in params.items()))


def test_summary_without_events_is_zero(brand):
    brand.program()

    answer = _get_summary(brand)

    assert answer.status_code == 200
    assert answer.json == {
        "windowDays": 30,
        "blockedClicks": 0,
        "blockedClicksByReason": {},
        "heldClicks": 0,
        "quarantinedLeads": 0,
        "estimatedNotBilledCents": 0,
        "currency": "USD",
        "fraudStrictness": "balanced",
    }


def test_summary_counts_open_and_closed_events_of_the_window(brand):
    brand.program(click_reward_cents=25, lead_bounty_cents=500)
    affiliate_id = brand.affiliate("ben")
    closed = record_blocked_click(brand, affiliate_id, "bot_agent", "rapid")
    record_blocked_click(brand, affiliate_id, "bot_agent")
    record_blocked_click(brand, affiliate_id, "burst", score=50, action="held")
    record_blocked_click(brand, affiliate_id, "no_mx", score=60, subject="lead", action="held")
    record_blocked_click(brand, affiliate_id, "self_lead", subject="lead")
    record_blocked_click(brand, affiliate_id, "headless", at=time_ago(days=31))
    brand.call("PATCH", f"/api/v1/fraud-events/{closed}", {"action": "dismiss"})
    brand.set(fraudStrictness="strict")

    summary = _get_summary(brand).json

    assert summary == {
        "windowDays": 30,
        "blockedClicks": 2,
        "blockedClicksByReason": {"bot_agent": 2, "rapid": 1},
        "heldClicks": 1,
        "quarantinedLeads": 1,
        "estimatedNotBilledCents": 3 * 25 + 2 * 500,
        "currency": "USD",
        "fraudStrictness": "strict",
    }


def test_summary_excludes_other_programs_and_brands(brand, rival, affiliate_id):
    record_blocked_click(brand, affiliate_id)
    rival.program()
    record_blocked_click(rival, rival.affiliate("rita"))
    brand.program()

    assert _get_summary(brand).json["blockedClicks"] == 0


@pytest.mark.parametrize(("model", "clicks", "leads"), [("Cpc", 150, 0), ("Cpl", 0, 150), ("Cps", 0, 0)])
def test_estimate_uses_the_fee_of_the_commission_model(brand, model, clicks, leads):
    brand.program(
        default_commission_model=model, default_commission_type="Fixed", default_commission_value=Decimal("1.5")
    )
    affiliate_id = brand.affiliate("ben")
    record_blocked_click(brand, affiliate_id)
    assert _get_summary(brand).json["estimatedNotBilledCents"] == clicks

    record_blocked_click(brand, affiliate_id, subject="lead")
    assert _get_summary(brand).json["estimatedNotBilledCents"] == clicks + leads


@pytest.mark.parametrize(("home", "estimate"), [("MNT", None), ("USD", 70)])
def test_estimate_is_null_without_an_exchange_rate(brand, home, estimate):
    brand.program(click_reward_cents=70)
    record_blocked_click(brand, brand.affiliate("ben"))
    with db.unit_of_work(brand.id):
        db.db.stage("update organization set home_currency = %s", (home,))

    summary = _get_summary(brand).json

    assert (summary["currency"], summary["estimatedNotBilledCents"]) == (home, estimate)


@pytest.mark.parametrize(
    ("days", "window"), [("1", 1), ("365", 365), ("366", 365), ("0", 1), ("-7", 1), (str(10**18), 365), ("007", 7)]
)
def test_window_is_clamped_to_1_to_365_days(brand, days, window):
    brand.program()

    assert _get_summary(brand, days=days).json["windowDays"] == window


@pytest.mark.parametrize("days", ["x", "1.5", "", "1e3", "٣", "%00", "9" * 40])
def test_non_numeric_days_return_400(brand, days):
    brand.program()

    answer = _get_summary(brand, days=days)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")


@pytest.mark.parametrize("query", ["", "?programId=", "?programId=x", "?programId=%00", "?days=7"])
def test_missing_program_id_returns_400(brand, query):
    answer = brand.get(f"{URL}{query}")

    assert (answer.status_code, answer.json["error"]) == (400, "program_id_required")
    assert answer.json["field"] == "programId"


def test_unknown_or_rivals_program_returns_404(brand, rival):
    brand.program()
    for program_id in (uuid4(), rival.program()):
        answer = _get_summary(brand, programId=program_id)

        assert (answer.status_code, answer.json["error"]) == (404, "not_found")


def test_summary_round_trips_do_not_grow_with_events(brand, affiliate_id):
    record_blocked_click(brand, affiliate_id)
    trips_for_one = count_round_trips(lambda: _get_summary(brand))
    for reason in ("headless", "rapid", "burst"):
        record_blocked_click(brand, affiliate_id, reason)
        record_blocked_click(brand, affiliate_id, reason, subject="lead")

    assert count_round_trips(lambda: _get_summary(brand)) == trips_for_one
