"""A deal's money comes in: once, with the take on top, whatever the funding source says and when."""

from datetime import timedelta

import pytest

import settings
from adapters import clock
from tests.support.api.concurrency import run_concurrently
from tests.support.api.payouts import session_without_login
from tests.support.job_queues import drain
from tests.support.rows.deal_scene import URL


@pytest.fixture
def take(monkeypatch):
    """Return what sets the platform's take in basis points."""

    def set_to(bps):
        monkeypatch.setenv("DEAL_TAKE_BPS", str(bps))
        settings.current.cache_clear()

    yield set_to
    monkeypatch.undo()
    settings.current.cache_clear()


def _charged(dealing):
    return dealing.brand.rows("select kind, amount_cents, currency, state from sandbox_charge order by created_at")


def test_the_whole_deal_is_charged_with_the_take_on_top(dealing, take):
    take(500)
    deal_id = dealing.create_accepted(50_000, 30)

    asked = dealing.act(deal_id, "fund").json
    drain("payouts")
    shown = dealing.get_deal(deal_id)

    assert (asked["status"], asked["chargeState"], asked["escrowCents"]) == ("Accepted", "intent", 0)
    # 5 % of 30 are 1.5, which is 2: half to even.
    assert [one["takeCents"] for one in shown["milestones"]] == [2_500, 2]
    assert (shown["status"], shown["chargeState"]) == ("Funded", "paid")
    assert (shown["chargedCents"], shown["takeCents"], shown["escrowCents"]) == (52_532, 2_502, 50_030)
    assert dealing.list_statuses(deal_id) == ["Funded", "Funded"]
    assert _charged(dealing) == [("charge", 52_532, "USD", "Paid")]
    assert sorted(dealing.entries()) == [("escrow_in", 32), ("escrow_in", 52_500), ("take", -2_500), ("take", -2)]


def test_each_milestone_is_told(dealing, take):
    take(1_000)
    deal_id = dealing.create_funded(50_000, 200)
    shown = dealing.get_deal(deal_id)

    common = {"dealId": deal_id, "fundingChargeId": shown["fundingChargeId"], "dealStatus": "Funded"}
    first, second = (one["id"] for one in shown["milestones"])
    fees = {"amountCents": 50_000, "takeCents": 5_000, "totalBrandCharge": 55_000}
    small = {"amountCents": 200, "takeCents": 20, "totalBrandCharge": 220}
    assert sorted(dealing.list_event_data("deal.funded"), key=lambda data: data["seq"]) == [
        {**common, "milestoneId": first, "seq": 1, "title": "Part 1", **fees},
        {**common, "milestoneId": second, "seq": 2, "title": "Part 2", **small},
    ]


def test_without_a_take_nothing_is_kept(dealing):
    dealing.create_funded(70)

    assert dealing.entries() == [("escrow_in", 70)]


@pytest.mark.parametrize("rail", ["ambiguous", "slow"])
def test_a_source_that_does_not_say_charges_once(dealing, rail):
    dealing.brand.set(sandboxRail=rail)
    deals = [dealing.create_accepted() for _ in range(4)]
    for deal_id in deals:
        dealing.act(deal_id, "fund")
    drain("payouts", deliveries=2)
    for deal_id in deals:
        assert dealing.get_deal(deal_id)["chargeState"] in ("unknown", "accepted")
        assert dealing.act(deal_id, "fund").status_code == 409
        assert dealing.act(deal_id, "cancel").status_code == 409

    for _ in range(3):
        dealing.pass_retry_delay()

    assert [dealing.get_deal(deal_id)["status"] for deal_id in deals] == ["Funded"] * 4
    assert _charged(dealing) == [("charge", 50_000, "USD", "Paid" if rail == "ambiguous" else "Accepted")] * 4
    assert len(dealing.list_event_data("deal.funded")) == 4


def test_a_refused_charge_can_be_asked_for_again(dealing):
    dealing.brand.set(sandboxRail="fail")
    deal_id = dealing.create_accepted()
    dealing.act(deal_id, "fund")
    drain("payouts")
    refused = dealing.get_deal(deal_id)

    dealing.brand.set(sandboxRail="ok")
    again = dealing.act(deal_id, "fund")
    drain("payouts")

    assert (refused["status"], refused["chargeState"], refused["escrowCents"]) == ("Accepted", "rejected", 0)
    assert "rejected" in refused["chargeDetail"]
    assert again.status_code == 200
    assert dealing.get_deal(deal_id)["status"] == "Funded"
    assert [state for *_, state in _charged(dealing)] == ["Rejected", "Paid"]


def test_a_refused_deal_can_be_cancelled(dealing):
    dealing.brand.set(sandboxRail="fail")
    deal_id = dealing.create_accepted()
    dealing.act(deal_id, "fund")
    drain("payouts")

    assert dealing.act(deal_id, "cancel").json["status"] == "Cancelled"


def test_funding_at_once_charges_once(dealing):
    deal_id = dealing.create_accepted()

    answers = run_concurrently(*[lambda: dealing.act(deal_id, "fund")] * 4)
    drain("payouts", deliveries=3)

    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
    assert len(_charged(dealing)) == 1
    assert dealing.get_deal(deal_id)["escrowCents"] == 50_000


def test_a_funded_deal_is_not_cancelled_and_not_funded_again(dealing):
    deal_id = dealing.create_funded()

    for verb in ("cancel", "fund", "offer"):
        answer = dealing.act(deal_id, verb)
        assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition")


@pytest.mark.parametrize("stage", ["draft", "create_offered"])
def test_what_was_not_accepted_is_not_funded(dealing, stage):
    answer = dealing.act(getattr(dealing, stage)(), "fund")

    assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition")


def test_only_an_owner_who_logged_in_funds(dealing):
    deal_id = dealing.create_accepted()

    for who in (dealing.brand, session_without_login(dealing.brand)):
        answer = who.post(f"{URL}/{deal_id}/fund")
        assert (answer.status_code, answer.json["error"]) == (403, "interactive_session_required")
    admin = dealing.brand.person("Admin").post(f"{URL}/{deal_id}/fund")
    assert (admin.status_code, admin.json["error"]) == (403, "forbidden")
    assert _charged(dealing) == []


def test_another_brand_does_not_fund(dealing, rival):
    answer = rival.person("Owner").post(f"{URL}/{dealing.create_accepted()}/fund")

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("setting", "code"),
    [
        ({"plan": "Free"}, "payouts_require_active_subscription"),
        ({"identityRequired": "on"}, "identity_required"),
        ({"verified": "off", "fraudScore": "60"}, "high_risk_unverified"),
        ({"verified": "off", "fundingMode": "debit"}, "unverified_prefund_only"),
        ({"fundingFrozen": "on"}, "funding_frozen"),
        ({"sandboxRail": "none"}, "no_funding_source"),
    ],
)
def test_a_gate_that_is_shut_keeps_a_deal_from_being_funded(dealing, setting, code):
    deal_id = dealing.create_accepted()
    dealing.brand.set(**setting)

    answer = dealing.act(deal_id, "fund")
    drain("payouts")

    assert (answer.status_code, answer.json["error"]) == (409, code)
    assert (dealing.get_deal(deal_id)["chargeState"], _charged(dealing)) == (None, [])


def test_the_cap_counts_deals_and_counts_them_once(dealing):
    dealing.brand.set(verified="off")
    first, second = dealing.create_accepted(60_000), dealing.create_accepted(40_001)
    assert dealing.act(first, "fund").status_code == 200
    drain("payouts")

    over = dealing.act(second, "fund")
    dealing.submit(first)
    dealing.approve(first)

    assert (over.status_code, over.json["error"]) == (409, "unverified_cap_exceeded")
    rules = dealing.owner.get("/api/v1/payouts/funding/status").json["unverifiedRules"]
    assert (rules["capUsedCents"], rules["capRemainingCents"]) == (60_000, 40_000)


def test_nobody_is_charged_for_who_cannot_be_paid_for_it(dealing):
    deal_id = dealing.create_accepted()
    dealing.execute("update affiliate set status = 'Banned' returning 1")

    answer = dealing.act(deal_id, "fund")

    assert (answer.status_code, answer.json["error"]) == (409, "affiliate_not_approved")


def test_a_currency_without_a_fresh_rate_is_not_funded(dealing):
    deal_id = dealing.create_accepted(currency="ZMW")

    answer = dealing.act(deal_id, "fund")

    assert (answer.status_code, answer.json["error"]) == (409, "fx_unavailable")


def test_a_deal_in_another_currency_is_charged_in_it(dealing):
    dealing.rate("KES", "129.5")
    dealing.create_funded(1_000, currency="KES")

    assert _charged(dealing) == [("charge", 1_000, "KES", "Paid")]


def test_what_a_test_key_drafts_is_never_charged(dealing):
    key = dealing.brand.other_key(is_test=True)
    deal_id = key.post(URL, dealing.body()).json["id"]
    dealing.act(deal_id, "offer")
    dealing.act(deal_id, "accept", who=dealing.creator)

    answer = dealing.act(deal_id, "fund")

    assert dealing.get_deal(deal_id)["isTest"] is True
    assert (answer.status_code, answer.json["error"]) == (409, "test_deal")


def test_no_milestone_is_worked_on_before_the_money_came(dealing):
    deal_id = dealing.create_accepted()

    for answer in (dealing.submit(deal_id), dealing.approve(deal_id), dealing.dispute(deal_id)):
        assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition")


def test_funding_is_audited(dealing):
    deal_id = dealing.create_funded()

    rows = dealing.brand.rows("select actor_type, after from audit_entry where action = 'deal.charged'")

    assert rows == [("member", {"status": "Accepted"})]
    assert dealing.get_deal(deal_id)["fundedAt"] is not None
    assert clock.now() - timedelta(minutes=5) < dealing.brand.rows("select funded_at from deal")[0][0]
