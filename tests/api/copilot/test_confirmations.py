"""What the co-pilot proposes is done when its person confirms it, once, as it was shown."""

from datetime import timedelta

import pytest

from adapters import clock
from api.mcp.operation_calls.client import OperationClient, ToolAnswer
from tests.api.copilot.conftest import HERE
from tests.support.api.concurrency import run_concurrently
from tests.support.outside.model import build_reply


@pytest.fixture
def applicant(brand):
    """Somebody who waits for a decision."""
    brand.program()
    return str(brand.affiliate("ada", status="Pending", approved_at=None, full_name="Ada Ek"))


@pytest.fixture
def proposed(model, talk, applicant):
    """A conversation in which the co-pilot proposed to approve the applicant."""
    model.script(build_reply("Shall I?", ("approve_affiliate", {"affiliateId": applicant})), build_reply("It is done."))
    owner = talk()
    found = owner.ask("Approve Ada.")
    assert found["state"] == "Asking"
    return owner


def _status(brand):
    return brand.rows("select status from affiliate")[0][0]


def test_a_proposed_act_shows_what_it_would_do_and_is_done_once(brand, model, proposed, applicant):
    (act,) = proposed.shown()["acts"]
    assert (act["tool"], act["arguments"], act["state"]) == (
        "approve_affiliate",
        {"affiliateId": applicant},
        "Proposed",
    )
    assert act["preview"]["about"]["affiliateId"]["fullName"] == "Ada Ek"
    assert _status(brand) == "Pending"

    for _ in range(2):
        answer = proposed.decide("confirm")
        assert answer.status_code == 200
        assert answer.json["acts"][0]["state"] == "Done"
    assert _status(brand) == "Approved"
    assert proposed.go_on()["entries"][-1]["text"] == "It is done."
    (told,) = model.list_tool_results()
    assert told["status"] == "Approved"
    entries = brand.rows("select action, via, client, actor_type from audit_entry where action like 'affiliate.%%'")
    assert entries == [("affiliate.approved", "copilot", "scripted", "member")]
    proposed.decide("decline")
    assert proposed.shown()["acts"][0]["state"] == "Done"


def test_confirmed_twice_at_once_it_is_done_once(brand, proposed):
    answers = run_concurrently(*[lambda: proposed.decide("confirm")] * 3)

    assert {answer.status_code for answer in answers} == {200}
    assert brand.rows("select count(*) from audit_entry where action = 'affiliate.approved'") == [(1,)]
    assert brand.rows("select count(*) from copilot_entry where kind = 'Result'") == [(1,)]


def test_declined_it_is_not_done_and_the_model_is_told(brand, model, proposed):
    assert proposed.decide("decline").json["acts"][0]["state"] == "Declined"
    proposed.go_on()
    proposed.decide("confirm")

    assert _status(brand) == "Pending"
    assert model.list_tool_results()[0]["error"] == "declined_by_user"


def test_only_the_person_it_was_proposed_to_decides(brand, rival, proposed):
    act = proposed.shown()["acts"][0]["id"]
    for other in (brand.person("Owner", email=f"bo@{brand.id.hex}.example"), rival.person("Owner")):
        for word in ("confirm", "decline"):
            for path in (f"{HERE}/{proposed.id}/acts/{act}", f"{HERE}/{proposed.id}/acts/x"):
                assert other.post(f"{path}/{word}").status_code == 404
    assert brand.post(f"{HERE}/{proposed.id}/acts/{act}/confirm").status_code == 403  # a key
    assert proposed.decide("confirm", proposed.id).status_code == 404
    assert _status(brand) == "Pending"
    assert proposed.shown()["acts"][0]["state"] == "Proposed"


def test_an_act_of_another_conversation_of_the_same_person_is_not_there(brand, model, proposed, talk):
    act = proposed.shown()["acts"][0]["id"]
    model.script(build_reply("Hello."))
    other = talk()
    other.ask()

    assert other.decide("confirm", act).status_code == 404
    assert _status(brand) == "Pending"


def test_a_person_who_lost_the_role_confirms_nothing(brand, model, talk, applicant):
    model.script(build_reply("", ("approve_affiliate", {"affiliateId": applicant})), build_reply("Oh."))
    manager = talk("Manager")
    act = manager.ask()["acts"][0]["id"]
    manager.person = brand.person("Viewer", email="manager@example.com")
    found = manager.decide("confirm", act).json

    assert found["acts"][0]["state"] == "Failed"
    assert found["acts"][0]["result"]["error"] == "forbidden"
    assert _status(brand) == "Pending"


def test_what_was_proposed_too_long_ago_is_not_done(brand, model, proposed, monkeypatch):
    at = clock.now() + timedelta(minutes=15.1)
    with monkeypatch.context() as late:
        late.setattr(clock, "now", lambda: at)
        proposed.person = brand.person("Owner")  # the token of before has expired by then, too
        assert proposed.shown()["acts"][0]["state"] == "Expired"
        refused = proposed.decide("confirm")
        assert (refused.status_code, refused.json["error"]) == (409, "copilot_act_expired")
        assert proposed.decide("decline").json["acts"][0]["state"] == "Expired"
    proposed.person = brand.person("Owner")
    assert proposed.go_on()["state"] == "Answered"
    assert model.list_tool_results()[0]["error"] == "expired"
    assert _status(brand) == "Pending"


def test_one_that_died_in_the_middle_is_confirmed_again_and_done_once(brand, proposed, monkeypatch):
    proposed.decide("confirm")
    assert _status(brand) == "Approved"
    # As it stands when the process dies between the operation's commit and ours.
    brand.rows("delete from copilot_entry where kind = 'Result' returning 1")
    brand.rows("update copilot_conversation set state = 'Asking', entries = 2 returning 1")
    brand.rows("update copilot_act set state = 'Running', result = null returning 1")
    assert proposed.decide("confirm").json["acts"][0]["state"] == "Running"
    at = clock.now() + timedelta(seconds=61)
    monkeypatch.setattr(clock, "now", lambda: at)
    assert proposed.decide("confirm").json["acts"][0]["state"] == "Done"

    assert brand.rows("select count(*) from audit_entry where action = 'affiliate.approved'") == [(1,)]


def test_one_that_cannot_be_done_now_may_be_confirmed_again(brand, proposed, monkeypatch):
    for code, status, state in (
        ("rate_limited", 429, "Proposed"),
        ("temporarily_unavailable", 503, "Proposed"),
        ("fresh_login_required", 403, "Proposed"),
        ("idempotency_conflict", 200, "Running"),
    ):
        with monkeypatch.context() as now:
            now.setattr(OperationClient, "call", lambda *_, code=code, **__: ToolAnswer(True, {"error": code}))
            assert proposed.decide("confirm").status_code == status, code
        assert proposed.shown()["acts"][0]["state"] == state, code
    at = clock.now() + timedelta(seconds=61)
    monkeypatch.setattr(clock, "now", lambda: at)

    assert proposed.decide("confirm").json["acts"][0]["state"] == "Done"
    assert _status(brand) == "Approved"


def test_several_acts_are_decided_one_by_one_and_then_the_model_goes_on(brand, model, talk, applicant):
    call = ("create_program", {"name": "Forks", "defaultCommissionType": "Fixed", "defaultCommissionValue": 1})
    model.script(
        build_reply("", ("approve_affiliate", {"affiliateId": applicant}), call, ("list_programs", {})),
        build_reply("Oh."),
    )
    owner = talk()
    first, second = owner.ask()["acts"]
    assert second["arguments"] == call[1]
    assert owner.decide("decline", first["id"]).json["state"] == "Asking"
    assert owner.decide("confirm", second["id"]).json["state"] == "Thinking"
    owner.go_on()

    assert [one.get("error") or one.get("name") or one["tool"] for one in model.list_tool_results()] == [
        "declined_by_user",
        "Forks",
        "list_programs",
    ]
    assert (_status(brand), brand.rows("select count(*) from program where name = 'Forks'")) == ("Pending", [(1,)])


def test_what_the_operation_refuses_is_told(brand, model, proposed, applicant):
    assert brand.post(f"/api/v1/fraud-events/ban-affiliate/{applicant}").status_code == 200
    found = proposed.decide("confirm").json

    assert found["acts"][0]["state"] == "Failed"
    assert found["acts"][0]["result"]["error"]
    proposed.go_on()
    assert model.list_tool_results()[0]["error"] == found["acts"][0]["result"]["error"]
