"""What comes late, twice or never; and what the page's looks cost."""

import threading

from tests.api.copilot.conftest import HERE
from tests.support.api.concurrency import run_concurrently
from tests.support.api.lists import count_round_trips
from tests.support.job_queues import drain
from tests.support.outside.model import build_reply
from tests.support.settings_overrides import override_settings


def test_an_endpoint_that_never_answers_is_given_up(model, talk, monkeypatch):
    done = threading.Event()
    override_settings(monkeypatch, copilot={"url": model.url, "model": "scripted", "timeout_s": 0.2})

    def silent(_):
        done.wait(20)
        return build_reply("Too late.")

    model.script(silent)
    found = talk().ask()
    done.set()

    assert (found["state"], found["failure"]) == ("Failed", "endpoint_away")


def test_a_reply_to_what_was_deleted_meanwhile_is_dropped(brand, model, talk):
    owner = talk()

    def late(_):
        assert owner.person.call("DELETE", f"{HERE}/{owner.id}").status_code == 204
        return build_reply("Hello?", ("list_programs", {}))

    model.script(late)
    owner.id = owner.person.post(HERE, {"text": "One?"}).json["id"]
    drain("copilot")

    assert brand.rows("select count(*) from copilot_conversation") == [(0,)]
    assert brand.rows("select count(*) from job where queue = 'copilot'") == [(0,)]
    ((requests, tokens),) = brand.rows("select requests, tokens from copilot_day")
    assert (requests, tokens) == (1, 100)


def test_a_person_who_is_removed_takes_their_conversations_along(brand, model, talk):
    model.script(build_reply("", ("list_programs", {})))
    manager = talk("Manager")
    manager.id = manager.person.post(HERE, {"text": "One?"}).json["id"]
    brand.rows("delete from member where role = 'Manager' returning 1")
    drain("copilot")

    assert model.requests == []
    assert brand.rows("select count(*) from copilot_conversation") == [(0,)]


def test_two_looks_at_once_look_things_up_once(brand, model, talk):
    brand.program()
    model.script(build_reply("", ("list_programs", {})), build_reply("One."))
    owner = talk()
    owner.id = owner.person.post(HERE, {"text": "Which?"}).json["id"]
    drain("copilot")
    answers = run_concurrently(*[lambda: owner.person.post(f"{HERE}/{owner.id}/steps")] * 3)

    assert {answer.status_code for answer in answers} == {200}
    assert brand.rows("select count(*) from copilot_entry where kind = 'Result'") == [(1,)]
    assert brand.rows("select count(*) from job where queue = 'copilot'") == [(1,)]
    assert owner.go_on()["state"] == "Answered"


def test_a_look_at_a_conversation_that_waits_costs_one_row_more_than_reading_it(model, talk, monkeypatch):
    override_settings(monkeypatch, web={"key_cache_s": 60})
    model.script(build_reply("Hello."))
    owner = talk()
    owner.ask()
    owner.shown()
    read = count_round_trips(lambda: owner.person.get(f"{HERE}/{owner.id}"))
    looked = count_round_trips(lambda: owner.person.post(f"{HERE}/{owner.id}/steps"))

    assert (read, looked) == (3, 6)  # what writes commits as well
