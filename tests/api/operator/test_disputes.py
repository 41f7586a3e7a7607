"""Disputes about milestones and their settlement by an operator. Source: docs/deals.md."""

import threading

import pytest

from tests.support.api.payouts import UNKNOWN_ID
from tests.support.job_queues import drain
from tests.support.outside.console import list_audit_entries
from tests.support.rows.deal_scene import REASON, DealScene


@pytest.fixture
def scene(app):
    return DealScene.create(app)


@pytest.fixture
def deal_id(scene):
    """A deal of two milestones, 500.00 and 200.00 USD, of which the affiliate disputes the second."""
    deal_id = scene.create_funded(50_000, 20_000)
    assert scene.dispute(deal_id, 2, who=scene.creator).status_code == 200
    return deal_id


def _settle(console, deal_id, cents, seq=2, **more):
    body = {"toAffiliateCents": cents, "why": "both were late"} | more
    return console.post(f"deals/{deal_id}/milestones/{seq}/settle", body)


def _list_open(console, scene):
    return [dispute for dispute in console.get("disputes") if dispute["organizationId"] == str(scene.brand.id)]


def test_open_dispute_is_listed_until_settled(console, scene, deal_id):
    (item,) = _list_open(console, scene)
    before = console.get("attention")["disputes"]
    answer = _settle(console, deal_id, 15_000)

    assert (item["dealId"], item["seq"], item["title"], item["deal"]) == (deal_id, 2, "Part 2", "Autumn video")
    assert (item["amountCents"], item["currency"], item["openedBy"]) == (20_000, "USD", "affiliate")
    assert item["disputeReason"] == REASON["reason"]
    assert answer.status_code == 200, answer.get_data(as_text=True)
    assert _list_open(console, scene) == []
    assert console.get("attention")["disputes"] == before - 1


def test_partial_settlement_pays_the_affiliate_and_refunds_the_brand(console, scene, deal_id):
    settled = _settle(console, deal_id, 15_000)
    drain("payouts")
    deal = console.get(f"deals/{deal_id}")

    assert settled.json["milestones"][1]["status"] == "Settled"
    assert settled.json["milestones"][1]["toAffiliateCents"] == 15_000
    part = deal["milestones"][1]
    assert (part["paidCents"], part["returnedCents"]) == (15_000, 5_000)
    assert [(request["kind"], request["amountCents"], request["state"]) for request in deal["requests"]][1:] == [
        ("refund", 5_000, "paid")
    ]
    assert scene.payouts() == [("Paid", 15_000)]
    assert deal["escrowCents"] == 50_000
    assert list_audit_entries("deal.settled", deal_id) == [
        (
            "operator",
            "ops@example.com",
            scene.brand.id,
            {
                "dealId": deal_id,
                "seq": 2,
                "status": "Settled",
                "toAffiliateCents": 15_000,
                "toBrandCents": 5_000,
                "currency": "USD",
                "why": "both were late",
            },
        )
    ]


@pytest.mark.parametrize(("cents", "end"), [(0, (0, 20_000)), (20_000, (20_000, 0))])
def test_whole_amount_can_go_to_either_side(console, scene, deal_id, cents, end):
    _settle(console, deal_id, cents)
    drain("payouts")
    part = console.get(f"deals/{deal_id}")["milestones"][1]

    assert (part["paidCents"], part["returnedCents"]) == end


def test_deal_shows_both_sides(console, scene, deal_id):
    deal = console.get(f"deals/{deal_id}")

    assert (deal["organization"], deal["organizationId"]) == ("Brand", str(scene.brand.id))
    assert [(deal["affiliateEmail"],)] == scene.brand.rows("select email from affiliate")
    assert [part["status"] for part in deal["milestones"]] == ["Funded", "Disputed"]
    assert (deal["chargedCents"], deal["escrowCents"]) == (70_000 + deal["takeCents"], 70_000)
    assert [(part["kind"], part["state"]) for part in deal["requests"]] == [("charge", "paid")]


def test_undisputed_milestone_cannot_be_settled(console, scene, deal_id):
    refused = _settle(console, deal_id, 1, seq=1)
    _settle(console, deal_id, 1)
    again = _settle(console, deal_id, 2)
    drain("payouts")

    for answer in (refused, again):
        assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition")
    assert scene.payouts() == [("Paid", 1)]
    assert len(list_audit_entries("deal.settled", deal_id)) == 1


def test_invalid_amounts_and_reasons_settle_nothing(console, scene, deal_id):
    for cents in (-1, 20_001, 2**63, -(2**63), 1e30, "20000", 1.5, True, None):
        assert _settle(console, deal_id, cents).status_code == 400, cents
    for why in ("", " ", "\x00", "x" * 10_000, None, 1):
        assert _settle(console, deal_id, 1, why=why).status_code == 400, why
    for other_id, seq in ((deal_id, 3), (deal_id, 0), (deal_id, "x"), (UNKNOWN_ID, 1), (deal_id, 10**12)):
        assert _settle(console, other_id, 1, seq=seq).status_code == 404, (other_id, seq)

    assert scene.list_statuses(deal_id) == ["Funded", "Disputed"]
    assert list_audit_entries("deal.settled", deal_id) == []


def test_concurrent_settlements_settle_once(console, scene, deal_id):
    answers = []
    threads = [
        threading.Thread(target=lambda cents=cents: answers.append(_settle(console, deal_id, cents)))
        for cents in (5_000, 20_000)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    drain("payouts")

    assert sorted(answer.status_code for answer in answers) == [200, 409]
    part = console.get(f"deals/{deal_id}")["milestones"][1]
    assert (part["paidCents"], part["paidCents"] + part["returnedCents"]) == (part["toAffiliateCents"], 20_000)


def test_repeated_idempotency_key_settles_once(console, scene, deal_id):
    body = {"toAffiliateCents": 7, "why": "w"}
    path = f"deals/{deal_id}/milestones/2/settle"
    first, second = (console.post(path, body, Idempotency_Key=f"settle-{deal_id}") for _ in range(2))

    assert (first.status_code, second.status_code, first.json) == (200, 200, second.json)
    assert len(list_audit_entries("deal.settled", deal_id)) == 1


def test_rejected_refund_can_be_requested_again(console, scene, deal_id):
    path = f"deals/{deal_id}/milestones/2/refund"
    early = console.post(path, {"why": "w"})
    scene.brand.set(sandboxRail="fail")
    _settle(console, deal_id, 0)
    drain("payouts")
    scene.brand.set(sandboxRail="ok")
    answer = console.post(path, {"why": "they have mended it"})
    repeated = console.post(path, {"why": "w"})
    drain("payouts")

    assert (early.status_code, early.json["error"]) == (409, "invalid_status_transition")
    assert answer.status_code == 200
    assert (repeated.status_code, repeated.json["error"]) == (409, "invalid_status_transition")
    deal = console.get(f"deals/{deal_id}")
    assert [(request["number"], request["state"]) for request in deal["requests"] if request["kind"] == "refund"] == [
        (1, "rejected"),
        (2, "paid"),
    ]
    assert list_audit_entries("deal.refund_asked", deal_id)[0][3] == {"seq": 2, "why": "they have mended it"}


def test_settlement_needs_a_login_within_the_last_hour(console, scene, deal_id):
    answer = _settle(console.with_login_age(minutes=61), deal_id, 1)

    assert (answer.status_code, answer.json["error"]) == (403, "fresh_login_required")
    assert scene.list_statuses(deal_id) == ["Funded", "Disputed"]
