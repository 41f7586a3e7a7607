"""A proposed action runs once, when its user confirms it, with the arguments that were previewed."""

from datetime import timedelta

import pytest

from adapters import clock
from api.mcp.operation_calls.client import OperationClient, ToolAnswer
from tests.api.copilot.conftest import CONVERSATIONS
from tests.support.api.concurrency import run_concurrently
from tests.support.outside.model import build_reply


@pytest.fixture
def applicant(brand):
    """The id of an affiliate whose application is Pending."""
    brand.program()
    return str(brand.affiliate("ada", status="Pending", approved_at=None, full_name="Ada Ek"))


@pytest.fixture
def proposal(model, start_conversation, applicant):
    """A conversation in which the co-pilot proposed to approve the applicant."""
    model.script(build_reply("Shall I?", ("approve_affiliate", {"affiliateId": applicant})), build_reply("It is done."))
    owner = start_conversation()
    conversation = owner.ask("Approve Ada.")
    assert conversation["state"] == "Asking"
    return owner


def _get_affiliate_status(brand):
    return brand.rows("select status from affiliate")[0][0]


def test_proposed_action_has_a_preview_and_runs_once(brand, model, proposal, applicant):
    (act,) = proposal.fetch()["acts"]
    assert (act["tool"], act["arguments"], act["state"]) == (
        "approve_affiliate",
        {"affiliateId": applicant},
        "Proposed",
    )
    assert act["preview"]["about"]["affiliateId"]["fullName"] == "Ada Ek"
    assert _get_affiliate_status(brand) == "Pending"

    for _ in range(2):
        answer = proposal.decide("confirm")
        assert answer.status_code == 200
        assert answer.json["acts"][0]["state"] == "Done"
    assert _get_affiliate_status(brand) == "Approved"
    assert proposal.advance()["entries"][-1]["text"] == "It is done."
    (result,) = model.list_tool_results()
    assert result["status"] == "Approved"
    entries = brand.rows("select action, via, client, actor_type from audit_entry where action like 'affiliate.%%'")
    assert entries == [("affiliate.approved", "copilot", "scripted", "member")]
    proposal.decide("decline")
    assert proposal.fetch()["acts"][0]["state"] == "Done"


def test_concurrent_confirmations_run_the_action_once(brand, proposal):
    answers = run_concurrently(*[lambda: proposal.decide("confirm")] * 3)

    assert {answer.status_code for answer in answers} == {200}
    assert brand.rows("select count(*) from audit_entry where action = 'affiliate.approved'") == [(1,)]
    assert brand.rows("select count(*) from copilot_entry where kind = 'Result'") == [(1,)]


def test_declined_action_does_not_run_and_the_model_is_informed(brand, model, proposal):
    assert proposal.decide("decline").json["acts"][0]["state"] == "Declined"
    proposal.advance()
    proposal.decide("confirm")

    assert _get_affiliate_status(brand) == "Pending"
    assert model.list_tool_results()[0]["error"] == "declined_by_user"


def test_only_the_user_of_the_conversation_decides(brand, rival, proposal):
    act_id = proposal.fetch()["acts"][0]["id"]
    for other in (brand.person("Owner", email=f"bo@{brand.id.hex}.example"), rival.person("Owner")):
        for decision in ("confirm", "decline"):
            for path in (f"{CONVERSATIONS}/{proposal.id}/acts/{act_id}", f"{CONVERSATIONS}/{proposal.id}/acts/x"):
                assert other.post(f"{path}/{decision}").status_code == 404
    assert brand.post(f"{CONVERSATIONS}/{proposal.id}/acts/{act_id}/confirm").status_code == 403  # a key
    assert proposal.decide("confirm", proposal.id).status_code == 404
    assert _get_affiliate_status(brand) == "Pending"
    assert proposal.fetch()["acts"][0]["state"] == "Proposed"


def test_action_of_another_conversation_returns_404(brand, model, proposal, start_conversation):
    act_id = proposal.fetch()["acts"][0]["id"]
    model.script(build_reply("Hello."))
    other = start_conversation()
    other.ask()

    assert other.decide("confirm", act_id).status_code == 404
    assert _get_affiliate_status(brand) == "Pending"


def test_confirming_fails_after_the_role_is_lost(brand, model, start_conversation, applicant):
    model.script(build_reply("", ("approve_affiliate", {"affiliateId": applicant})), build_reply("Oh."))
    manager = start_conversation("Manager")
    act_id = manager.ask()["acts"][0]["id"]
    manager.person = brand.person("Viewer", email="manager@example.com")
    conversation = manager.decide("confirm", act_id).json

    assert conversation["acts"][0]["state"] == "Failed"
    assert conversation["acts"][0]["result"]["error"] == "forbidden"
    assert _get_affiliate_status(brand) == "Pending"


def test_proposal_expires_after_fifteen_minutes(brand, model, proposal, monkeypatch):
    later = clock.now() + timedelta(minutes=15.1)
    with monkeypatch.context() as patched:
        patched.setattr(clock, "now", lambda: later)
        proposal.person = brand.person("Owner")  # the earlier session has expired by then, too
        assert proposal.fetch()["acts"][0]["state"] == "Expired"
        refused = proposal.decide("confirm")
        assert (refused.status_code, refused.json["error"]) == (409, "copilot_act_expired")
        assert proposal.decide("decline").json["acts"][0]["state"] == "Expired"
    proposal.person = brand.person("Owner")
    assert proposal.advance()["state"] == "Answered"
    assert model.list_tool_results()[0]["error"] == "expired"
    assert _get_affiliate_status(brand) == "Pending"


def test_confirming_again_after_a_crash_runs_the_action_once(brand, proposal, monkeypatch):
    proposal.decide("confirm")
    assert _get_affiliate_status(brand) == "Approved"
    # The state after a crash between the commit of the operation and the commit of the conversation.
    brand.rows("delete from copilot_entry where kind = 'Result' returning 1")
    brand.rows("update copilot_conversation set state = 'Asking', entries = 2 returning 1")
    brand.rows("update copilot_act set state = 'Running', result = null returning 1")
    assert proposal.decide("confirm").json["acts"][0]["state"] == "Running"
    later = clock.now() + timedelta(seconds=61)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert proposal.decide("confirm").json["acts"][0]["state"] == "Done"

    assert brand.rows("select count(*) from audit_entry where action = 'affiliate.approved'") == [(1,)]


def test_action_that_failed_for_now_can_be_confirmed_again(brand, proposal, monkeypatch):
    for code, status, state in (
        ("rate_limited", 429, "Proposed"),
        ("temporarily_unavailable", 503, "Proposed"),
        ("fresh_login_required", 403, "Proposed"),
        ("idempotency_conflict", 200, "Running"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(OperationClient, "call", lambda *_, code=code, **__: ToolAnswer(True, {"error": code}))
            assert proposal.decide("confirm").status_code == status, code
        assert proposal.fetch()["acts"][0]["state"] == state, code
    later = clock.now() + timedelta(seconds=61)
    monkeypatch.setattr(clock, "now", lambda: later)

    assert proposal.decide("confirm").json["acts"][0]["state"] == "Done"
    assert _get_affiliate_status(brand) == "Approved"


def test_model_continues_after_each_action_is_decided(brand, model, start_conversation, applicant):
    call = ("create_program", {"name": "Forks", "defaultCommissionType": "Fixed", "defaultCommissionValue": 1})
    model.script(
        build_reply("", ("approve_affiliate", {"affiliateId": applicant}), call, ("list_programs", {})),
        build_reply("Oh."),
    )
    owner = start_conversation()
    first, second = owner.ask()["acts"]
    assert second["arguments"] == call[1]
    assert owner.decide("decline", first["id"]).json["state"] == "Asking"
    assert owner.decide("confirm", second["id"]).json["state"] == "Thinking"
    owner.advance()

    assert [result.get("error") or result.get("name") or result["tool"] for result in model.list_tool_results()] == [
        "declined_by_user",
        "Forks",
        "list_programs",
    ]
    assert (_get_affiliate_status(brand), brand.rows("select count(*) from program where name = 'Forks'")) == (
        "Pending",
        [(1,)],
    )


def test_refusal_of_the_operation_reaches_the_model(brand, model, proposal, applicant):
    assert brand.post(f"/api/v1/fraud-events/ban-affiliate/{applicant}").status_code == 200
    conversation = proposal.decide("confirm").json

    assert conversation["acts"][0]["state"] == "Failed"
    assert conversation["acts"][0]["result"]["error"]
    proposal.advance()
    assert model.list_tool_results()[0]["error"] == conversation["acts"][0]["result"]["error"]
