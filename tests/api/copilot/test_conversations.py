"""What is asked at the co-pilot is answered by the tools, as the person who asks. Source: core spec, section 5."""

from datetime import timedelta

from adapters import clock
from tests.api.copilot.conftest import HERE
from tests.support.job_queues import drain
from tests.support.outside.model import build_reply
from tests.support.rows.retention_rows import end_due
from tests.support.settings_overrides import override_settings


def test_a_question_is_answered_by_what_the_tools_find(brand, model, talk):
    brand.program(name="Knives")
    model.script(build_reply("", ("list_programs", {})), build_reply("There is one program: Knives."))
    owner = talk()
    found = owner.ask("  Which programs\nare there?  ")

    assert found["state"] == "Answered"
    assert found["title"] == "Which programs are there?"
    assert [(one["kind"], one["text"], one["tools"]) for one in found["entries"]] == [
        ("Question", "  Which programs\nare there?  ", []),
        ("Reply", "", ["list_programs"]),
        ("Reply", "There is one program: Knives.", []),
    ]
    first, second = model.requests
    assert model.headers[0]["Authorization"] == "Bearer sesame"
    assert first["model"] == "scripted"
    assert [one["role"] for one in first["messages"]] == ["system", "user"]
    assert [one["role"] for one in second["messages"]] == ["system", "user", "assistant", "tool"]
    (told,) = model.list_tool_results()
    assert (told["tool"], told["isError"]) == ("list_programs", False)
    assert [row["name"] for row in told["data"]["items"]] == ["Knives"]
    call = second["messages"][2]["tool_calls"][0]
    assert call["id"] == second["messages"][3]["tool_call_id"] != "theirs-0"
    offered = {tool["function"]["name"]: tool["function"]["parameters"] for tool in first["tools"]}
    assert len(offered) == 60  # but for the one that is signed with a key's secret
    assert not any("confirmToken" in one["properties"] for one in offered.values())


def test_a_conversation_is_one_persons_in_one_organization_and_ends(brand, rival, model, talk):
    model.script(build_reply("Hello."))
    ada = talk()
    ada.ask()
    paths = [("GET", ""), ("DELETE", ""), ("POST", "/messages"), ("POST", "/retry"), ("POST", "/steps")]
    for other in (brand.person("Owner", email=f"bo@{brand.id.hex}.example"), rival.person("Owner")):
        assert other.get(HERE).json["items"] == []
        for method, more in paths:
            answer = other.call(method, f"{HERE}/{ada.id}{more}", {"text": "Mine?"})
            assert (answer.status_code, answer.json["error"]) == (404, "not_found"), (method, more)
    assert [one["id"] for one in ada.person.get(HERE).json["items"]] == [ada.id]

    assert ada.person.call("DELETE", f"{HERE}/{ada.id}").status_code == 204
    assert ada.person.get(f"{HERE}/{ada.id}").status_code == 404
    assert brand.rows("select count(*) from copilot_entry") == [(0,)]
    assert [row for (row,) in brand.rows("select action from audit_entry order by created_at")] == [
        "copilot_conversation.created",
        "copilot_conversation.deleted",
    ]


def test_who_may_ask(brand, rival, model, monkeypatch):
    model.script(build_reply("Hello."))
    for plan, status in (("Starter", 402), ("Free", 402), ("Pro", 201), ("Growth", 201)):
        brand.set(plan=plan)
        assert brand.person("Viewer").post(HERE, {"text": "Hi"}).status_code == status, plan
    told = brand.post(HERE, {"text": "Hi"})
    assert (told.status_code, told.json["error"]) == (403, "forbidden")  # a key
    assert brand.call("GET", HERE, Authorization="Bearer nonsense").status_code == 401
    override_settings(monkeypatch, copilot={"url": None, "model": None})
    for method, more in (("GET", ""), ("POST", ""), ("GET", f"/{rival.id}"), ("POST", f"/{rival.id}/steps")):
        assert brand.person().call(method, f"{HERE}{more}", {"text": "Hi"}).status_code == 404


def test_questions_that_are_none(brand, model, talk):
    model.script(build_reply("Hello."))
    owner = talk()
    owner.ask()
    for sent in (
        {},
        {"text": None},
        {"text": 7},
        {"text": ""},
        {"text": " \n"},
        {"text": "x" * 10_000},
        {"text": "\0"},
    ):
        for path in (HERE, f"{HERE}/{owner.id}/messages"):
            answer = owner.person.post(path, sent)
            assert answer.status_code == 400, sent
            assert "text" in answer.json["errors"], sent
    for id in ("x", "0", str(brand.id)):
        assert owner.person.get(f"{HERE}/{id}").status_code == 404
    assert len(owner.shown()["entries"]) == 2


def test_two_questions_at_once_are_one_and_a_refusal(model, talk):
    model.script(build_reply("Hello."))
    owner = talk()
    first = owner.person.post(HERE, {"text": "One?"}, Idempotency_Key="k")
    again = owner.person.post(HERE, {"text": "One?"}, Idempotency_Key="k")
    assert first.json["id"] == again.json["id"]
    owner.id = first.json["id"]
    refused = owner.person.post(f"{HERE}/{owner.id}/messages", {"text": "Two?"})

    assert (refused.status_code, refused.json["error"]) == (409, "copilot_busy")
    assert owner.go_on()["state"] == "Answered"
    assert owner.ask("Two?")["state"] == "Answered"
    assert [one["text"] for one in owner.shown()["entries"]] == ["One?", "Hello.", "Two?", "Hello."]
    refused = owner.person.post(f"{HERE}/{owner.id}/retry")
    assert (refused.status_code, refused.json["error"]) == (409, "nothing_to_retry")


def test_a_pointer_that_comes_three_times_asks_once(model, talk):
    model.script(build_reply("Hello."))
    owner = talk()
    owner.person.post(HERE, {"text": "One?"})
    drain("copilot", deliveries=3)

    assert len(model.requests) == 1


def test_a_day_has_a_budget_for_each_organization(brand, rival, model, talk, monkeypatch):
    # The endpoint's own count holds; a made-up one does not.
    model.script(build_reply("", ("list_programs", {}), tokens=25_000), build_reply("Hello.", tokens=-5))
    override_settings(
        monkeypatch, copilot={"url": model.url, "model": "scripted", "daily_tokens": 60_000, "daily_requests": 4}
    )
    owner = talk()
    assert owner.ask()["state"] == "Answered"
    ((requests, tokens),) = brand.rows("select requests, tokens from copilot_day")
    assert requests == 2
    assert 30_000 < tokens < 50_000

    model.script(build_reply("Hello.", tokens=60_000))
    assert owner.ask()["state"] == "Answered"
    spent = owner.ask("More?")
    assert (spent["state"], spent["failure"]) == ("Failed", "budget_spent")
    assert len(model.requests) == 3
    assert spent["entries"][-1]["text"] == "More?"
    assert talk(owner=rival).ask()["state"] == "Answered"

    override_settings(
        monkeypatch, copilot={"url": model.url, "model": "scripted", "daily_tokens": 10**9, "daily_requests": 3}
    )
    owner.person.post(f"{HERE}/{owner.id}/retry")
    assert owner.go_on()["failure"] == "budget_spent"


def test_a_conversation_ends_by_itself(brand, model, talk, monkeypatch):
    model.script(build_reply("Hello."))
    talk().ask()
    at = clock.now() + timedelta(days=31)
    end_due("copilot")
    assert brand.rows("select count(*) from copilot_conversation") == [(1,)]
    monkeypatch.setattr(clock, "now", lambda: at)
    brand.rows("update copilot_conversation set changed_at = changed_at - interval '31 days' returning 1")
    end_due("copilot")

    assert brand.rows("select count(*) from copilot_conversation") == [(0,)]
    assert brand.rows("select count(*) from copilot_entry") == [(0,)]
