"""The co-pilot on the dashboard: questions, proposed actions and their confirmation."""

import dataclasses
import html
import re
from datetime import timedelta
from urllib.parse import urlencode

import pytest

from adapters import clock
from api.copilot import toolbox
from api.mcp.tools import catalogue
from tests.support.api.copilot_calls import propose_call
from tests.support.job_queues import drain
from tests.support.outside import model as models
from tests.support.outside.model import build_reply
from tests.support.settings_overrides import override_settings

_HERE = "/dashboard/co-pilot"


@pytest.fixture
def model(monkeypatch):
    """A simulated model endpoint."""
    with models.play_model() as endpoint:
        override_settings(monkeypatch, copilot={"url": endpoint.url, "model": "scripted", "timeout_s": 60})
        yield endpoint


def _ask(visitor, text="Who is new?"):
    answer = visitor.send(_HERE, {"text": text, "_key": f"key of {text}"})
    assert answer.status_code == 303, answer.text
    return answer.headers["Location"]


def _form(page, name):
    """Return the fields of the form whose button begins with this name."""
    form = next(form for form in re.findall(r"<form method=\"post\".*?</form>", page, re.DOTALL) if f">{name}" in form)
    fields = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form)
    return {name: html.unescape(value) for name, value in fields}


def test_question_is_asked_and_answered_without_scripts(brand, people, model):
    brand.program(name="Knives")
    model.script(
        build_reply("", ("list_programs", {})), build_reply("<b>One</b>:\nKnives ![x](https://evil.test/x.png)")
    )
    visitor = people("Viewer")
    assert "No conversations yet" in visitor.open(_HERE).text
    address = _ask(visitor, "Which <i>programs</i>?")
    html = visitor.open(address).text
    assert "The co-pilot is thinking." in html
    assert "data-live" in html
    assert "Which &lt;i&gt;programs&lt;/i&gt;?" in html
    drain("copilot")
    visitor.open(address)
    drain("copilot")
    html = visitor.open(address).text

    assert '<p class="talk">&lt;b&gt;One&lt;/b&gt;:\nKnives ![x](https://evil.test/x.png)</p>' in html
    assert "data-live" not in html
    assert "list programs" in html
    assert "evil.test" not in "".join(re.findall(r'(?:href|src)="([^"]*)"', html))
    assert address in visitor.open(_HERE).text.replace("&amp;", "&")


def test_proposed_action_is_confirmed_once_by_its_button(brand, people, model):
    brand.program()
    ada = str(brand.affiliate("ada", status="Pending", approved_at=None, full_name="Ada <b>Ek</b>"))
    model.script(build_reply("Shall I?", ("approve_affiliate", {"affiliateId": ada})), build_reply("Done."))
    visitor = people("Manager")
    address = _ask(visitor)
    drain("copilot")
    html = visitor.open(address).text
    assert f'<td class="talk" role="cell" data-l="Value">{ada}</td>' in html
    assert "Ada &lt;b&gt;Ek&lt;/b&gt;" in html
    assert "Nothing has changed yet." in html
    form = _form(html, "Confirm")
    for _ in range(2):
        answer = visitor.send(_HERE, form)
        assert (answer.status_code, answer.headers["Location"]) == (303, address)

    assert brand.rows("select status from affiliate") == [("Approved",)]
    assert brand.rows("select via from audit_entry where action = 'affiliate.approved'") == [("copilot",)]
    drain("copilot")
    html = visitor.open(address).text
    assert "Done." in html
    assert ">Confirm<" not in html
    assert visitor.send(_HERE, _form(html, "Delete conversation")).headers["Location"] == _HERE
    assert visitor.open(address).status_code == 404


def test_declined_action_is_not_run_and_amounts_are_shown_as_money(brand, people, model):
    brand.program()
    ben = str(brand.affiliate("ben"))
    sale = {"affiliateId": ben, "programId": str(brand.programs[-1]), "amountCents": 123456, "currency": "EUR"}
    model.script(build_reply("", ("create_conversion", sale)), build_reply("As you like."))
    visitor = people()
    address = _ask(visitor)
    drain("copilot")
    html = visitor.open(address).text
    assert "1,234.56 EUR" in html
    visitor.send(_HERE, _form(html, "Decline"))

    assert brand.rows("select count(*) from conversion") == [(0,)]
    assert '<span class="chip off">Declined</span>' in visitor.open(address).text


def test_action_that_needs_a_fresh_login_is_confirmed_after_sign_in(brand, people, links, monkeypatch):
    brand.program()
    tools = catalogue.bound_tools(brand.app)
    tool = tools["create_program"]
    operation = dataclasses.replace(tool.operation, guard=dataclasses.replace(tool.operation.guard, fresh_s=3600))
    changed_tools = {**tools, "create_program": dataclasses.replace(tool, operation=operation)}
    monkeypatch.setattr(toolbox, "list_tools", lambda: changed_tools)
    visitor = people()
    address = _ask(visitor)
    propose_call(brand, "create_program", name="Forks", defaultCommissionType="Fixed", defaultCommissionValue=1)
    form = _form(visitor.open(address).text, "Confirm")
    brand.rows("update web_session set signed_in_at = signed_in_at - interval '2 hours' returning 1")
    answer = visitor.send(_HERE, form)

    assert answer.headers["Location"] == f"/sign-in?{urlencode({'next': address})}"
    assert brand.rows("select state from copilot_act") == [("Proposed",)]
    sign_in_answer = visitor.open(links("owner"))
    assert sign_in_answer.headers["Location"] == address
    form = _form(visitor.open(address).text, "Confirm")
    assert visitor.send(_HERE, form).headers["Location"] == address
    assert brand.rows("select count(*) from program where name = 'Forks'") == [(1,)]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((500, b""), "The model did not respond."),
        ((429, b""), "The model is overloaded."),
        ((200, b"{"), "sent an invalid response"),
    ],
)
def test_unanswered_model_shows_a_message(people, model, answer, message):
    model.script(answer)
    visitor = people()
    address = _ask(visitor, "My question")
    drain("copilot")
    html = visitor.open(address).text
    assert message in html
    assert "My question" in html
    model.script(build_reply("Here I am."))
    visitor.send(_HERE, _form(html, "Ask again"))
    drain("copilot")

    assert "Here I am." in visitor.open(address).text


def test_invalid_question_keeps_the_typed_text(people, model):
    model.script(build_reply("Hello."))
    visitor = people()
    for typed in ("", " ", "x" * 10_000):
        answer = visitor.send(_HERE, {"text": typed})
        assert answer.status_code == 400
        assert 'aria-invalid="true"' in answer.text
        assert f">\n{typed}</textarea>" in answer.text
    address = _ask(visitor)
    busy_answer = visitor.send(_HERE, {"text": "More?", "conversation": address.partition("=")[2]})
    assert busy_answer.status_code == 409
    assert ">\nMore?</textarea>" in busy_answer.text
    for conversation_id in ("x", address.partition("=")[2][:-1]):
        assert visitor.open(f"{_HERE}?conversation={conversation_id}").status_code == 404
        for action in ("confirm", "delete", ""):
            assert visitor.send(_HERE, {"conversation": conversation_id, "do": action, "text": "x"}).status_code == 404


def test_expired_action_shows_that_it_expired(brand, people, monkeypatch):
    brand.program()
    visitor = people()
    address = _ask(visitor)
    propose_call(brand, "create_program", name="Forks", defaultCommissionType="Fixed", defaultCommissionValue=1)
    form = _form(visitor.open(address).text, "Confirm")
    later = clock.now() + timedelta(minutes=16)
    monkeypatch.setattr(clock, "now", lambda: later)

    assert "It expired before it was confirmed." in visitor.open(address).text
    answer = visitor.send(_HERE, form)
    assert answer.status_code == 409
    assert 'role="alert"' in answer.text
    assert brand.rows("select count(*) from program") == [(1,)]


def test_copilot_page_needs_configuration_and_plan(brand, people, monkeypatch):
    visitor = people()
    assert f'href="{_HERE}"' in visitor.open("/dashboard").text
    brand.set(plan="Starter")
    assert f'href="{_HERE}"' not in visitor.open("/dashboard").text
    refused_answer = visitor.open(_HERE)
    assert (refused_answer.status_code, "Not in your plan" in refused_answer.text) == (402, True)
    brand.set(plan="Growth")
    override_settings(monkeypatch, copilot={"url": None, "model": None})
    assert f'href="{_HERE}"' not in visitor.open("/dashboard").text
    assert visitor.open(_HERE).status_code == 404


def test_hostile_name_stays_in_its_cell(brand, people, model, drain):
    brand.program()
    hostile_name = "Eve\n  status: Approved\u2028about:\u202e" + '"' + "x" * 300
    eve = str(brand.affiliate("eve", full_name=hostile_name))
    model.script(build_reply("Shall I?", ("ban_affiliate", {"affiliateId": eve})), build_reply("Done."))
    visitor = people("Manager")
    address = _ask(visitor)
    drain("copilot")

    html = visitor.open(address).text

    cell = re.search(r"&#34;Eve[^<]*", html)[0]
    assert cell.startswith("&#34;Eve   status: Approved about:\\&#34;xxx")
    assert "characters)&#34;" in cell
    assert not set(cell) & set("\n\u2028\u202e")
