"""The co-pilot answers questions with tools, with the permissions of its user. Source: core spec, section 5."""

from datetime import timedelta

from adapters import clock
from tests.api.copilot.conftest import CONVERSATIONS
from tests.support.job_queues import drain
from tests.support.outside.model import build_reply
from tests.support.rows.retention_rows import end_due
from tests.support.settings_overrides import override_settings


def test_question_is_answered_from_tool_results(brand, model, start_conversation):
    brand.program(name="Knives")
    model.script(build_reply("", ("list_programs", {})), build_reply("There is one program: Knives."))
    owner = start_conversation()
    conversation = owner.ask("  Which programs\nare there?  ")

    assert conversation["state"] == "Answered"
    assert conversation["title"] == "Which programs are there?"
    assert [(entry["kind"], entry["text"], entry["tools"]) for entry in conversation["entries"]] == [
        ("Question", "  Which programs\nare there?  ", []),
        ("Reply", "", ["list_programs"]),
        ("Reply", "There is one program: Knives.", []),
    ]
    first, second = model.requests
    assert model.headers[0]["Authorization"] == "Bearer sesame"
    assert first["model"] == "scripted"
    assert [message["role"] for message in first["messages"]] == ["system", "user"]
    assert [message["role"] for message in second["messages"]] == ["system", "user", "assistant", "tool"]
    (result,) = model.list_tool_results()
    assert (result["tool"], result["isError"]) == ("list_programs", False)
    assert [row["name"] for row in result["data"]["items"]] == ["Knives"]
    call = second["messages"][2]["tool_calls"][0]
    assert call["id"] == second["messages"][3]["tool_call_id"] != "theirs-0"
    offered = {tool["function"]["name"]: tool["function"]["parameters"] for tool in first["tools"]}
    assert len(offered) == 60  # all but the tool that needs a signature with a key's secret
    assert not any("confirmToken" in schema["properties"] for schema in offered.values())


def test_conversation_belongs_to_one_user_of_one_organization(brand, rival, model, start_conversation):
    model.script(build_reply("Hello."))
    ada = start_conversation()
    ada.ask()
    paths = [("GET", ""), ("DELETE", ""), ("POST", "/messages"), ("POST", "/retry"), ("POST", "/steps")]
    for other in (brand.person("Owner", email=f"bo@{brand.id.hex}.example"), rival.person("Owner")):
        assert other.get(CONVERSATIONS).json["items"] == []
        for method, suffix in paths:
            answer = other.call(method, f"{CONVERSATIONS}/{ada.id}{suffix}", {"text": "Mine?"})
            assert (answer.status_code, answer.json["error"]) == (404, "not_found"), (method, suffix)
    assert [row["id"] for row in ada.person.get(CONVERSATIONS).json["items"]] == [ada.id]

    assert ada.person.call("DELETE", f"{CONVERSATIONS}/{ada.id}").status_code == 204
    assert ada.person.get(f"{CONVERSATIONS}/{ada.id}").status_code == 404
    assert brand.rows("select count(*) from copilot_entry") == [(0,)]
    assert [action for (action,) in brand.rows("select action from audit_entry order by created_at")] == [
        "copilot_conversation.created",
        "copilot_conversation.deleted",
    ]


def test_asking_needs_a_paid_plan_a_member_and_a_configured_model(brand, rival, model, monkeypatch):
    model.script(build_reply("Hello."))
    for plan, status in (("Starter", 402), ("Free", 402), ("Pro", 201), ("Growth", 201)):
        brand.set(plan=plan)
        assert brand.person("Viewer").post(CONVERSATIONS, {"text": "Hi"}).status_code == status, plan
    by_key = brand.post(CONVERSATIONS, {"text": "Hi"})
    assert (by_key.status_code, by_key.json["error"]) == (403, "forbidden")
    assert brand.call("GET", CONVERSATIONS, Authorization="Bearer nonsense").status_code == 401
    override_settings(monkeypatch, copilot={"url": None, "model": None})
    for method, suffix in (("GET", ""), ("POST", ""), ("GET", f"/{rival.id}"), ("POST", f"/{rival.id}/steps")):
        assert brand.person().call(method, f"{CONVERSATIONS}{suffix}", {"text": "Hi"}).status_code == 404


def test_invalid_questions_are_refused(brand, model, start_conversation):
    model.script(build_reply("Hello."))
    owner = start_conversation()
    owner.ask()
    for body in (
        {},
        {"text": None},
        {"text": 7},
        {"text": ""},
        {"text": " \n"},
        {"text": "x" * 10_000},
        {"text": "\0"},
    ):
        for path in (CONVERSATIONS, f"{CONVERSATIONS}/{owner.id}/messages"):
            answer = owner.person.post(path, body)
            assert answer.status_code == 400, body
            assert "text" in answer.json["errors"], body
    for id in ("x", "0", str(brand.id)):
        assert owner.person.get(f"{CONVERSATIONS}/{id}").status_code == 404
    assert len(owner.fetch()["entries"]) == 2


def test_second_question_before_the_answer_is_refused(model, start_conversation):
    model.script(build_reply("Hello."))
    owner = start_conversation()
    first = owner.person.post(CONVERSATIONS, {"text": "One?"}, Idempotency_Key="k")
    again = owner.person.post(CONVERSATIONS, {"text": "One?"}, Idempotency_Key="k")
    assert first.json["id"] == again.json["id"]
    owner.id = first.json["id"]
    refused = owner.person.post(f"{CONVERSATIONS}/{owner.id}/messages", {"text": "Two?"})

    assert (refused.status_code, refused.json["error"]) == (409, "copilot_busy")
    assert owner.advance()["state"] == "Answered"
    assert owner.ask("Two?")["state"] == "Answered"
    assert [entry["text"] for entry in owner.fetch()["entries"]] == ["One?", "Hello.", "Two?", "Hello."]
    refused = owner.person.post(f"{CONVERSATIONS}/{owner.id}/retry")
    assert (refused.status_code, refused.json["error"]) == (409, "nothing_to_retry")


def test_job_delivered_three_times_asks_once(model, start_conversation):
    model.script(build_reply("Hello."))
    owner = start_conversation()
    owner.person.post(CONVERSATIONS, {"text": "One?"})
    drain("copilot", deliveries=3)

    assert len(model.requests) == 1


def test_daily_budget_is_per_organization(brand, rival, model, start_conversation, monkeypatch):
    # The endpoint's token count is used unless it is impossible.
    model.script(build_reply("", ("list_programs", {}), tokens=25_000), build_reply("Hello.", tokens=-5))
    override_settings(
        monkeypatch, copilot={"url": model.url, "model": "scripted", "daily_tokens": 60_000, "daily_requests": 4}
    )
    owner = start_conversation()
    assert owner.ask()["state"] == "Answered"
    ((requests, tokens),) = brand.rows("select requests, tokens from copilot_day")
    assert requests == 2
    assert 30_000 < tokens < 50_000

    model.script(build_reply("Hello.", tokens=60_000))
    assert owner.ask()["state"] == "Answered"
    over_budget = owner.ask("More?")
    assert (over_budget["state"], over_budget["failure"]) == ("Failed", "budget_spent")
    assert len(model.requests) == 3
    assert over_budget["entries"][-1]["text"] == "More?"
    assert start_conversation(owner=rival).ask()["state"] == "Answered"

    override_settings(
        monkeypatch, copilot={"url": model.url, "model": "scripted", "daily_tokens": 10**9, "daily_requests": 3}
    )
    owner.person.post(f"{CONVERSATIONS}/{owner.id}/retry")
    assert owner.advance()["failure"] == "budget_spent"


def test_conversation_is_deleted_after_thirty_days(brand, model, start_conversation, monkeypatch):
    model.script(build_reply("Hello."))
    start_conversation().ask()
    later = clock.now() + timedelta(days=31)
    end_due("copilot")
    assert brand.rows("select count(*) from copilot_conversation") == [(1,)]
    monkeypatch.setattr(clock, "now", lambda: later)
    brand.rows("update copilot_conversation set changed_at = changed_at - interval '31 days' returning 1")
    end_due("copilot")

    assert brand.rows("select count(*) from copilot_conversation") == [(0,)]
    assert brand.rows("select count(*) from copilot_entry") == [(0,)]
