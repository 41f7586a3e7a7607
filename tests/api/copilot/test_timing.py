"""Late, repeated and missing replies; and what one poll of the page costs."""

import threading

from tests.api.copilot.conftest import CONVERSATIONS
from tests.support.api.concurrency import run_concurrently
from tests.support.api.lists import count_round_trips
from tests.support.job_queues import drain
from tests.support.outside.model import build_reply
from tests.support.settings_overrides import override_settings


def test_endpoint_without_a_reply_times_out(model, start_conversation, monkeypatch):
    done = threading.Event()
    override_settings(monkeypatch, copilot={"url": model.url, "model": "scripted", "timeout_s": 0.2})

    def wait(_):
        done.wait(20)
        return build_reply("Too late.")

    model.script(wait)
    conversation = start_conversation().ask()
    done.set()

    assert (conversation["state"], conversation["failure"]) == ("Failed", "endpoint_away")


def test_reply_to_a_deleted_conversation_is_dropped(brand, model, start_conversation):
    owner = start_conversation()

    def delete_then_reply(_):
        assert owner.person.call("DELETE", f"{CONVERSATIONS}/{owner.id}").status_code == 204
        return build_reply("Hello?", ("list_programs", {}))

    model.script(delete_then_reply)
    owner.id = owner.person.post(CONVERSATIONS, {"text": "One?"}).json["id"]
    drain("copilot")

    assert brand.rows("select count(*) from copilot_conversation") == [(0,)]
    assert brand.rows("select count(*) from job where queue = 'copilot'") == [(0,)]
    ((requests, tokens),) = brand.rows("select requests, tokens from copilot_day")
    assert (requests, tokens) == (1, 100)


def test_removing_a_member_deletes_their_conversations(brand, model, start_conversation):
    model.script(build_reply("", ("list_programs", {})))
    manager = start_conversation("Manager")
    manager.id = manager.person.post(CONVERSATIONS, {"text": "One?"}).json["id"]
    brand.rows("delete from member where role = 'Manager' returning 1")
    drain("copilot")

    assert model.requests == []
    assert brand.rows("select count(*) from copilot_conversation") == [(0,)]


def test_concurrent_polls_run_each_tool_once(brand, model, start_conversation):
    brand.program()
    model.script(build_reply("", ("list_programs", {})), build_reply("One."))
    owner = start_conversation()
    owner.id = owner.person.post(CONVERSATIONS, {"text": "Which?"}).json["id"]
    drain("copilot")
    answers = run_concurrently(*[lambda: owner.person.post(f"{CONVERSATIONS}/{owner.id}/steps")] * 3)

    assert {answer.status_code for answer in answers} == {200}
    assert brand.rows("select count(*) from copilot_entry where kind = 'Result'") == [(1,)]
    assert brand.rows("select count(*) from job where queue = 'copilot'") == [(1,)]
    assert owner.advance()["state"] == "Answered"


def test_polling_a_finished_conversation_costs_six_round_trips(model, start_conversation, monkeypatch):
    override_settings(monkeypatch, web={"key_cache_s": 60})
    model.script(build_reply("Hello."))
    owner = start_conversation()
    owner.ask()
    owner.fetch()
    read_trips = count_round_trips(lambda: owner.person.get(f"{CONVERSATIONS}/{owner.id}"))
    poll_trips = count_round_trips(lambda: owner.person.post(f"{CONVERSATIONS}/{owner.id}/steps"))

    assert (read_trips, poll_trips) == (3, 6)  # a write also commits
