"""`flask deal`: listing deals, and recording the outcome of charges and refunds that the source never reported."""

import pytest

from tests.support.job_queues import drain
from tests.support.rows.deal_scene import REASON, DealScene

_UNKNOWN_ID = "01890000-0000-7000-8000-000000000000"


@pytest.fixture
def scene(app):
    return DealScene.create(app)


def _create_unanswered_charge(scene, *, mode="slow"):
    """Return a deal with a charge that its source accepted and never settled, and the charge's id."""
    scene.brand.set(sandboxRail=mode)
    deal_id = scene.create_accepted()
    scene.act(deal_id, "fund")
    drain("payouts")
    ((request_id,),) = scene.brand.rows("select id from deal_request")
    return deal_id, request_id


def test_deals_are_listed(scene, flask):
    draft, funded = scene.draft(), scene.create_funded(100, 200)
    scene.dispute(funded, 2)
    organization = f"--org={scene.brand.id}"

    all_deals = flask.json("deal", "list", organization)
    disputed = flask.json("deal", "list", organization, "--disputed")
    drafts = flask.json("deal", "list", organization, "--status=Draft")

    assert [row["id"] for row in all_deals] == [funded, draft]
    assert [(row["status"], row["escrow_cents"], row["disputed"], row["charge_state"]) for row in all_deals] == [
        ("Funded", 300, 1, "paid"),
        ("Draft", 0, 0, None),
    ]
    assert ([row["id"] for row in disputed], [row["id"] for row in drafts]) == ([funded], [draft])
    assert funded in flask("deal", "list", organization)[1]


def test_show_prints_milestones_requests_and_payouts(scene, flask):
    deal_id = scene.create_funded(100, 200)
    scene.submit(deal_id, 1)
    scene.approve(deal_id, 1)
    drain("payouts")
    scene.dispute(deal_id, 2)

    view, output = flask.json("deal", "show", deal_id), flask("deal", "show", deal_id)[1]

    assert [row["status"] for row in view["milestones"]] == ["Released", "Disputed"]
    assert [(row["kind"], row["state"]) for row in view["requests"]] == [("charge", "paid")]
    assert [(row["seq"], row["status"]) for row in view["payouts"]] == [(1, "Paid")]
    for words in (REASON["reason"], REASON["proposedResolution"], f"deal:{deal_id}:charge:1"):
        assert words in output


def test_unknown_deal_is_reported(flask):
    for words in (("show", _UNKNOWN_ID), ("refund", _UNKNOWN_ID), ("answer", _UNKNOWN_ID, "--paid=x")):
        code, output = flask("deal", *words)
        assert (code, "There is no" in output) == (1, True)


def test_charge_confirmed_by_the_operator_is_booked(scene, flask):
    deal_id, request_id = _create_unanswered_charge(scene)

    answered = flask.json("deal", "answer", request_id, "--paid=pi_17")
    drain("payouts")

    assert (answered["state"], answered["reference"]) == ("paid", "pi_17")
    assert (scene.get_deal(deal_id)["status"], scene.get_deal(deal_id)["fundingChargeId"]) == ("Funded", "pi_17")
    assert scene.brand.rows("select action from audit_entry where actor_type = 'operator'")[-1] == ("deal.answered",)


def test_charge_rejected_by_the_operator_can_be_repeated(scene, flask):
    deal_id, request_id = _create_unanswered_charge(scene)

    flask.json("deal", "answer", request_id, "--failed=not in their books")
    scene.brand.set(sandboxRail="ok")
    scene.act(deal_id, "fund")
    drain("payouts")

    assert scene.get_deal(deal_id)["status"] == "Funded"
    assert scene.brand.rows("select number, state from deal_request order by number") == [
        (1, "rejected"),
        (2, "paid"),
    ]


def test_answered_charge_cannot_be_answered_again(scene, flask):
    _, request_id = _create_unanswered_charge(scene)
    flask.json("deal", "answer", request_id, "--paid=pi_17")

    second_answer = flask("deal", "answer", request_id, "--failed=after all")

    assert "only one that waits for its source" in second_answer[1]
    assert scene.entries() == [("escrow_in", 50_000)]


def test_answer_requires_exactly_one_outcome(flask):
    for words in ((), ("--paid=x", "--failed=y")):
        assert "Give either" in flask("deal", "answer", _UNKNOWN_ID, *words)[1]


def test_rejected_refund_can_be_confirmed_as_paid_otherwise(scene, flask):
    deal_id = scene.create_funded()
    scene.dispute(deal_id)
    scene.brand.set(sandboxRail="fail")
    flask.json("deal", "settle", scene.get_deal(deal_id)["milestones"][0]["id"], "--to-affiliate=0")
    drain("payouts")
    ((request_id,),) = scene.brand.rows("select id from deal_request where kind = 'refund'")

    flask.json("deal", "answer", request_id, "--paid=bank 17")

    assert (scene.get_deal(deal_id)["status"], scene.get_deal(deal_id)["returnedCents"]) == ("Completed", 50_000)


@pytest.mark.parametrize("value", ["acct_1", "cus_1", "cus_1/", "cus_1/x", "a" * 300])
def test_malformed_funding_source_is_refused(scene, flask, value):
    code, output = flask("org", "set", scene.brand.id, f"dealFundingSource={value}")

    assert (code, "CUSTOMER" in output) == (1, True)


def test_funding_source_is_set_and_removed(scene, flask):
    flask.json("org", "set", scene.brand.id, "dealFundingSource=cus_N1/pm_1Q")
    source_after_set = scene.brand.rows("select deal_funding_source from organization")
    flask.json("org", "set", scene.brand.id, "dealFundingSource=none")

    assert (source_after_set, scene.brand.rows("select deal_funding_source from organization")) == (
        [("cus_N1/pm_1Q",)],
        [(None,)],
    )
