"""What the fraud rules kept out of a campaign, summed up, through HTTP."""

from decimal import Decimal
from uuid import uuid4

import pytest

from models import db
from tests.support.api.lists import count_round_trips
from tests.support.rows.fraud_rows import record_blocked_click
from tests.support.rows.program_rows import time_ago

URL = "/api/v1/fraud-events/summary"


def _summary(brand, **query):
    sent = {"programId": str(brand.programs[-1])} | query
    return brand.get(f"{URL}?" + "&".join(f"{name}={value}" for name, value in sent.items()))


def test_a_program_without_events_has_a_summary_of_zeros(brand):
    brand.program()

    answer = _summary(brand)

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


def test_the_summary_counts_what_was_kept_out_closed_or_not(brand):
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

    found = _summary(brand).json

    assert found == {
        "windowDays": 30,
        "blockedClicks": 2,
        "blockedClicksByReason": {"bot_agent": 2, "rapid": 1},
        "heldClicks": 1,
        "quarantinedLeads": 1,
        "estimatedNotBilledCents": 3 * 25 + 2 * 500,
        "currency": "USD",
        "fraudStrictness": "strict",
    }


def test_the_summary_leaves_other_programs_and_brands_out(brand, rival, affiliate_id):
    record_blocked_click(brand, affiliate_id)
    rival.program()
    record_blocked_click(rival, rival.affiliate("rita"))
    brand.program()

    assert _summary(brand).json["blockedClicks"] == 0


@pytest.mark.parametrize(("model", "clicks", "leads"), [("Cpc", 150, 0), ("Cpl", 0, 150), ("Cps", 0, 0)])
def test_a_primary_fee_is_what_was_not_billed(brand, model, clicks, leads):
    brand.program(
        default_commission_model=model, default_commission_type="Fixed", default_commission_value=Decimal("1.5")
    )
    affiliate_id = brand.affiliate("ben")
    record_blocked_click(brand, affiliate_id)
    assert _summary(brand).json["estimatedNotBilledCents"] == clicks

    record_blocked_click(brand, affiliate_id, subject="lead")
    assert _summary(brand).json["estimatedNotBilledCents"] == clicks + leads


@pytest.mark.parametrize(("home", "estimate"), [("MNT", None), ("USD", 70)])
def test_an_estimate_that_needs_a_missing_rate_is_unknown(brand, home, estimate):
    brand.program(click_reward_cents=70)
    record_blocked_click(brand, brand.affiliate("ben"))
    with db.unit_of_work(brand.id):
        db.db.stage("update organization set home_currency = %s", (home,))

    found = _summary(brand).json

    assert (found["currency"], found["estimatedNotBilledCents"]) == (home, estimate)


@pytest.mark.parametrize(
    ("days", "window"), [("1", 1), ("365", 365), ("366", 365), ("0", 1), ("-7", 1), (str(10**18), 365), ("007", 7)]
)
def test_the_window_is_clamped(brand, days, window):
    brand.program()

    assert _summary(brand, days=days).json["windowDays"] == window


@pytest.mark.parametrize("days", ["x", "1.5", "", "1e3", "٣", "%00", "9" * 40])
def test_days_that_are_no_number_are_a_problem(brand, days):
    brand.program()

    answer = _summary(brand, days=days)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")


@pytest.mark.parametrize("query", ["", "?programId=", "?programId=x", "?programId=%00", "?days=7"])
def test_a_summary_without_a_program_is_refused(brand, query):
    answer = brand.get(f"{URL}{query}")

    assert (answer.status_code, answer.json["error"]) == (400, "program_id_required")
    assert answer.json["field"] == "programId"


def test_a_summary_of_a_program_that_is_not_there_is_not_found(brand, rival):
    brand.program()
    for program_id in (uuid4(), rival.program()):
        answer = _summary(brand, programId=program_id)

        assert (answer.status_code, answer.json["error"]) == (404, "not_found")


def test_the_summary_costs_the_same_for_any_number_of_events(brand, affiliate_id):
    record_blocked_click(brand, affiliate_id)
    one = count_round_trips(lambda: _summary(brand))
    for reason in ("headless", "rapid", "burst"):
        record_blocked_click(brand, affiliate_id, reason)
        record_blocked_click(brand, affiliate_id, reason, subject="lead")

    assert count_round_trips(lambda: _summary(brand)) == one
