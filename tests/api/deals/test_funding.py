"""Funding a deal charges it once, with the platform's take on top, whatever the funding source answers."""

from datetime import timedelta

import pytest

import settings
from adapters import clock
from tests.support.api.concurrency import run_concurrently
from tests.support.api.payouts import session_without_login
from tests.support.job_queues import drain
from tests.support.rows.deal_scene import URL


@pytest.fixture
def set_take(monkeypatch):
    """Return a function that sets the platform's take in basis points."""

    def set_to(bps):
        monkeypatch.setenv("DEAL_TAKE_BPS", str(bps))
        settings.current.cache_clear()

    yield set_to
    monkeypatch.undo()
    settings.current.cache_clear()


def _list_charges(scene):
    return scene.brand.rows("select kind, amount_cents, currency, state from sandbox_charge order by created_at")


def test_funding_charges_the_whole_deal_plus_the_take(scene, set_take):
    set_take(500)
    deal_id = scene.create_accepted(50_000, 30)

    funding = scene.act(deal_id, "fund").json
    drain("payouts")
    deal = scene.get_deal(deal_id)

    assert (funding["status"], funding["chargeState"], funding["escrowCents"]) == ("Accepted", "intent", 0)
    # 5 % of 30 are 1.5, which is 2: half to even.
    assert [milestone["takeCents"] for milestone in deal["milestones"]] == [2_500, 2]
    assert (deal["status"], deal["chargeState"]) == ("Funded", "paid")
    assert (deal["chargedCents"], deal["takeCents"], deal["escrowCents"]) == (52_532, 2_502, 50_030)
    assert scene.list_statuses(deal_id) == ["Funded", "Funded"]
    assert _list_charges(scene) == [("charge", 52_532, "USD", "Paid")]
    assert sorted(scene.entries()) == [("escrow_in", 32), ("escrow_in", 52_500), ("take", -2_500), ("take", -2)]


def test_funding_sends_an_event_per_milestone(scene, set_take):
    set_take(1_000)
    deal_id = scene.create_funded(50_000, 200)
    deal = scene.get_deal(deal_id)

    common = {"dealId": deal_id, "fundingChargeId": deal["fundingChargeId"], "dealStatus": "Funded"}
    first, second = (milestone["id"] for milestone in deal["milestones"])
    first_amounts = {"amountCents": 50_000, "takeCents": 5_000, "totalBrandCharge": 55_000}
    second_amounts = {"amountCents": 200, "takeCents": 20, "totalBrandCharge": 220}
    assert sorted(scene.list_event_data("deal.funded"), key=lambda data: data["seq"]) == [
        {**common, "milestoneId": first, "seq": 1, "title": "Part 1", **first_amounts},
        {**common, "milestoneId": second, "seq": 2, "title": "Part 2", **second_amounts},
    ]


def test_funding_without_a_take_books_only_escrow(scene):
    scene.create_funded(70)

    assert scene.entries() == [("escrow_in", 70)]


@pytest.mark.parametrize("rail", ["ambiguous", "slow"])
def test_charge_is_made_once_when_its_outcome_is_unknown(scene, rail):
    scene.brand.set(sandboxRail=rail)
    deal_ids = [scene.create_accepted() for _ in range(4)]
    for deal_id in deal_ids:
        scene.act(deal_id, "fund")
    drain("payouts", deliveries=2)
    for deal_id in deal_ids:
        assert scene.get_deal(deal_id)["chargeState"] in ("unknown", "accepted")
        assert scene.act(deal_id, "fund").status_code == 409
        assert scene.act(deal_id, "cancel").status_code == 409

    for _ in range(3):
        scene.pass_retry_delay()

    assert [scene.get_deal(deal_id)["status"] for deal_id in deal_ids] == ["Funded"] * 4
    assert _list_charges(scene) == [("charge", 50_000, "USD", "Paid" if rail == "ambiguous" else "Accepted")] * 4
    assert len(scene.list_event_data("deal.funded")) == 4


def test_funding_can_be_retried_after_a_refused_charge(scene):
    scene.brand.set(sandboxRail="fail")
    deal_id = scene.create_accepted()
    scene.act(deal_id, "fund")
    drain("payouts")
    refused = scene.get_deal(deal_id)

    scene.brand.set(sandboxRail="ok")
    again = scene.act(deal_id, "fund")
    drain("payouts")

    assert (refused["status"], refused["chargeState"], refused["escrowCents"]) == ("Accepted", "rejected", 0)
    assert "rejected" in refused["chargeDetail"]
    assert again.status_code == 200
    assert scene.get_deal(deal_id)["status"] == "Funded"
    assert [state for *_, state in _list_charges(scene)] == ["Rejected", "Paid"]


def test_deal_can_be_cancelled_after_a_refused_charge(scene):
    scene.brand.set(sandboxRail="fail")
    deal_id = scene.create_accepted()
    scene.act(deal_id, "fund")
    drain("payouts")

    assert scene.act(deal_id, "cancel").json["status"] == "Cancelled"


def test_concurrent_funding_charges_once(scene):
    deal_id = scene.create_accepted()

    answers = run_concurrently(*[lambda: scene.act(deal_id, "fund")] * 4)
    drain("payouts", deliveries=3)

    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
    assert len(_list_charges(scene)) == 1
    assert scene.get_deal(deal_id)["escrowCents"] == 50_000


def test_cancelling_or_funding_a_funded_deal_returns_409(scene):
    deal_id = scene.create_funded()

    for verb in ("cancel", "fund", "offer"):
        answer = scene.act(deal_id, verb)
        assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition")


@pytest.mark.parametrize("stage", ["draft", "create_offered"])
def test_funding_before_acceptance_returns_409(scene, stage):
    answer = scene.act(getattr(scene, stage)(), "fund")

    assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition")


def test_funding_needs_an_owner_with_an_interactive_session(scene):
    deal_id = scene.create_accepted()

    for who in (scene.brand, session_without_login(scene.brand)):
        answer = who.post(f"{URL}/{deal_id}/fund")
        assert (answer.status_code, answer.json["error"]) == (403, "interactive_session_required")
    admin = scene.brand.person("Admin").post(f"{URL}/{deal_id}/fund")
    assert (admin.status_code, admin.json["error"]) == (403, "forbidden")
    assert _list_charges(scene) == []


def test_funding_by_another_brand_returns_404(scene, rival):
    answer = rival.person("Owner").post(f"{URL}/{scene.create_accepted()}/fund")

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
def test_payout_restriction_blocks_funding(scene, setting, code):
    deal_id = scene.create_accepted()
    scene.brand.set(**setting)

    answer = scene.act(deal_id, "fund")
    drain("payouts")

    assert (answer.status_code, answer.json["error"]) == (409, code)
    assert (scene.get_deal(deal_id)["chargeState"], _list_charges(scene)) == (None, [])


def test_unverified_cap_counts_each_deal_once(scene):
    scene.brand.set(verified="off")
    first, second = scene.create_accepted(60_000), scene.create_accepted(40_001)
    assert scene.act(first, "fund").status_code == 200
    drain("payouts")

    over_cap = scene.act(second, "fund")
    scene.submit(first)
    scene.approve(first)

    assert (over_cap.status_code, over_cap.json["error"]) == (409, "unverified_cap_exceeded")
    rules = scene.owner.get("/api/v1/payouts/funding/status").json["unverifiedRules"]
    assert (rules["capUsedCents"], rules["capRemainingCents"]) == (60_000, 40_000)


def test_funding_a_deal_with_a_banned_affiliate_returns_409(scene):
    deal_id = scene.create_accepted()
    scene.execute("update affiliate set status = 'Banned' returning 1")

    answer = scene.act(deal_id, "fund")

    assert (answer.status_code, answer.json["error"]) == (409, "affiliate_not_approved")


def test_funding_without_a_fresh_exchange_rate_returns_409(scene):
    deal_id = scene.create_accepted(currency="ZMW")

    answer = scene.act(deal_id, "fund")

    assert (answer.status_code, answer.json["error"]) == (409, "fx_unavailable")


def test_charge_is_in_the_currency_of_the_deal(scene):
    scene.rate("KES", "129.5")
    scene.create_funded(1_000, currency="KES")

    assert _list_charges(scene) == [("charge", 1_000, "KES", "Paid")]


def test_deal_drafted_with_a_test_key_is_never_charged(scene):
    key = scene.brand.other_key(is_test=True)
    deal_id = key.post(URL, scene.body()).json["id"]
    scene.act(deal_id, "offer")
    scene.act(deal_id, "accept", who=scene.creator)

    answer = scene.act(deal_id, "fund")

    assert scene.get_deal(deal_id)["isTest"] is True
    assert (answer.status_code, answer.json["error"]) == (409, "test_deal")


def test_milestone_actions_before_funding_return_409(scene):
    deal_id = scene.create_accepted()

    for answer in (scene.submit(deal_id), scene.approve(deal_id), scene.dispute(deal_id)):
        assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition")


def test_funding_writes_an_audit_entry(scene):
    deal_id = scene.create_funded()

    rows = scene.brand.rows("select actor_type, after from audit_entry where action = 'deal.charged'")

    assert rows == [("member", {"status": "Accepted"})]
    assert scene.get_deal(deal_id)["fundedAt"] is not None
    assert clock.now() - timedelta(minutes=5) < scene.brand.rows("select funded_at from deal")[0][0]
