"""`flask deal`: what an operator sees of deals, and what they say of money whose source never said."""

import pytest

from tests.support.job_queues import drain
from tests.support.rows.deal_scene import REASON, DealScene

_NOBODY = "01890000-0000-7000-8000-000000000000"


@pytest.fixture
def dealing(app):
    return DealScene.create(app)


def _asked_in_vain(dealing, *, mode="slow"):
    """Return a deal whose charge its source has taken and not settled, and the charge's id."""
    dealing.brand.set(sandboxRail=mode)
    deal_id = dealing.create_accepted()
    dealing.act(deal_id, "fund")
    drain("payouts")
    ((request_id,),) = dealing.brand.rows("select id from deal_request")
    return deal_id, request_id


def test_deals_are_listed(dealing, flask):
    draft, funded = dealing.draft(), dealing.create_funded(100, 200)
    dealing.dispute(funded, 2)
    organization = f"--org={dealing.brand.id}"

    listed = flask.json("deal", "list", organization)
    disputed = flask.json("deal", "list", organization, "--disputed")
    drafts = flask.json("deal", "list", organization, "--status=Draft")

    assert [one["id"] for one in listed] == [funded, draft]
    assert [(one["status"], one["escrow_cents"], one["disputed"], one["charge_state"]) for one in listed] == [
        ("Funded", 300, 1, "paid"),
        ("Draft", 0, 0, None),
    ]
    assert ([one["id"] for one in disputed], [one["id"] for one in drafts]) == ([funded], [draft])
    assert funded in flask("deal", "list", organization)[1]


def test_a_deal_is_shown_with_everything_about_it(dealing, flask):
    deal_id = dealing.create_funded(100, 200)
    dealing.submit(deal_id, 1)
    dealing.approve(deal_id, 1)
    drain("payouts")
    dealing.dispute(deal_id, 2)

    shown, said = flask.json("deal", "show", deal_id), flask("deal", "show", deal_id)[1]

    assert [one["status"] for one in shown["milestones"]] == ["Released", "Disputed"]
    assert [(one["kind"], one["state"]) for one in shown["requests"]] == [("charge", "paid")]
    assert [(one["seq"], one["status"]) for one in shown["payouts"]] == [(1, "Paid")]
    for words in (REASON["reason"], REASON["proposedResolution"], f"deal:{deal_id}:charge:1"):
        assert words in said


def test_an_unknown_deal_is_said(flask):
    for words in (("show", _NOBODY), ("refund", _NOBODY), ("answer", _NOBODY, "--paid=x")):
        code, said = flask("deal", *words)
        assert (code, "There is no" in said) == (1, True)


def test_a_charge_that_went_through_is_booked_by_the_operators_word(dealing, flask):
    deal_id, request_id = _asked_in_vain(dealing)

    told = flask.json("deal", "answer", request_id, "--paid=pi_17")
    drain("payouts")

    assert (told["state"], told["reference"]) == ("paid", "pi_17")
    assert (dealing.get_deal(deal_id)["status"], dealing.get_deal(deal_id)["fundingChargeId"]) == ("Funded", "pi_17")
    assert dealing.brand.rows("select action from audit_entry where actor_type = 'operator'")[-1] == ("deal.answered",)


def test_a_charge_that_did_not_is_free_again(dealing, flask):
    deal_id, request_id = _asked_in_vain(dealing)

    flask.json("deal", "answer", request_id, "--failed=not in their books")
    dealing.brand.set(sandboxRail="ok")
    dealing.act(deal_id, "fund")
    drain("payouts")

    assert dealing.get_deal(deal_id)["status"] == "Funded"
    assert dealing.brand.rows("select number, state from deal_request order by number") == [
        (1, "rejected"),
        (2, "paid"),
    ]


def test_what_is_over_is_not_answered_again(dealing, flask):
    _, request_id = _asked_in_vain(dealing)
    flask.json("deal", "answer", request_id, "--paid=pi_17")

    again = flask("deal", "answer", request_id, "--failed=after all")

    assert "only one that waits for its source" in again[1]
    assert dealing.entries() == [("escrow_in", 50_000)]


def test_one_of_two_answers_is_needed(flask):
    for words in ((), ("--paid=x", "--failed=y")):
        assert "Say either" in flask("deal", "answer", _NOBODY, *words)[1]


def test_a_refused_refund_may_be_paid_by_other_means(dealing, flask):
    deal_id = dealing.create_funded()
    dealing.dispute(deal_id)
    dealing.brand.set(sandboxRail="fail")
    flask.json("deal", "settle", dealing.get_deal(deal_id)["milestones"][0]["id"], "--to-affiliate=0")
    drain("payouts")
    ((request_id,),) = dealing.brand.rows("select id from deal_request where kind = 'refund'")

    flask.json("deal", "answer", request_id, "--paid=bank 17")

    assert (dealing.get_deal(deal_id)["status"], dealing.get_deal(deal_id)["returnedCents"]) == ("Completed", 50_000)


@pytest.mark.parametrize("value", ["acct_1", "cus_1", "cus_1/", "cus_1/x", "a" * 300])
def test_a_funding_source_is_a_customer_of_the_processor(dealing, flask, value):
    code, said = flask("org", "set", dealing.brand.id, f"dealFundingSource={value}")

    assert (code, "CUSTOMER" in said) == (1, True)


def test_a_funding_source_is_set_and_taken_away(dealing, flask):
    flask.json("org", "set", dealing.brand.id, "dealFundingSource=cus_N1/pm_1Q")
    named = dealing.brand.rows("select deal_funding_source from organization")
    flask.json("org", "set", dealing.brand.id, "dealFundingSource=none")

    assert (named, dealing.brand.rows("select deal_funding_source from organization")) == (
        [("cus_N1/pm_1Q",)],
        [(None,)],
    )
