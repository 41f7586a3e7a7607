"""The form of mapping and options, and its refusals. Source: the switch-over rules, "Screens and command"."""

import re

import pytest

from models import db
from models.switches import switches
from tests.support.switches.switch_states import insert_switch

_AS_STORED = {
    "campaign-0": "camp-1",
    "program-0": "",
    "unpaid": "history",
    "withoutReferrals": "on",
    "groups": "tag",
    "codes": "on",
    "customerIdIs": "auto",
    "cutOverAt": "",
}


def _page(switch_id):
    return f"/dashboard/switch/{switch_id}"


def _assume(value):
    return {"assumedType": "Percentage", "assumedValue": value}


def test_save_without_a_change_writes_nothing(brand, people, read_text):
    browser, switch_id = people(), insert_switch(brand, "Connected", cut_over_at="2026-05-01T10:00:33Z")

    answer = browser.send(f"{_page(switch_id)}/settings", _AS_STORED | {"cutOverAt": "2026-05-01T10:00"})

    assert (answer.status_code, answer.headers["Location"]) == (303, f"{_page(switch_id)}?done=same")
    assert brand.rows("select count(*) from audit_entry where action = 'switch.changed'") == [(0,)]
    assert "Nothing was changed." in read_text(browser.open(answer.headers["Location"]))


def test_only_what_changed_is_saved(brand, people):
    browser, switch_id = people(), insert_switch(brand, "Connected", cut_over_at="2026-05-01T10:00:33Z")

    answer = browser.send(
        f"{_page(switch_id)}/settings", _AS_STORED | {"cutOverAt": "2026-05-01T10:00", "groups": "none"}
    )

    assert answer.headers["Location"] == f"{_page(switch_id)}?done=saved"
    assert brand.rows("select options->>'groups', cut_over_at = '2026-05-01T10:00:33Z' from switch") == [("none", True)]


@pytest.mark.parametrize(
    ("source", "typed", "error"),
    [
        ("firstpromoter", {"currency": "XXX"}, ("currency", "Enter a supported currency code")),
        ("lemonsqueezy", _assume("many"), ("assumedValue", "Enter a number")),
        ("lemonsqueezy", _assume("101"), ("assumedValue", "at most 100")),
        ("rewardful", {"program-0": "", "then": "read"}, ("program-0", "Choose a program")),
        ("firstpromoter", {"currency": "", "then": "read"}, ("currency", "urrency")),
    ],
)
def test_mistake_is_reported_at_its_field(brand, people, source, typed, error):
    field, words = error
    browser, switch_id = people(), insert_switch(brand, "Connected", source=source, credentials_sealed=None)
    program = str(brand.program()) if field == "currency" else ""

    answer = browser.send(f"{_page(switch_id)}/settings", _AS_STORED | {"program-0": program} | typed)

    assert answer.status_code in (409, 422)
    message = re.search(rf'id="set-{field}-error">([^<]*)<', answer.text)[1]
    assert words in message
    assert "options" not in message
    assert "campaigns:" not in answer.text


def test_too_many_saves_keep_the_input(app, brand, people, read_text, monkeypatch):
    browser, switch_id = people(), insert_switch(brand, "Connected")
    typed = _AS_STORED | {"groups": "none", "cutOverAt": "2026-05-01T10:00"}

    with monkeypatch.context() as limited:
        limited.setattr(app.extensions["limiter"], "allows", lambda bucket, caller: bucket != "strict_write")
        answer = browser.send(f"{_page(switch_id)}/settings", typed)

    assert answer.status_code == 429
    assert "too often within a minute" in read_text(answer)
    assert 'value="2026-05-01T10:00"' in answer.text


@pytest.mark.parametrize("form", ["settings", "read", "cancel", "resume", "run", "files", "columns"])
def test_address_of_a_form_leads_to_the_switch(brand, people, form):
    switch_id = insert_switch(brand, "Connected")

    answer = people().open(f"{_page(switch_id)}/{form}")

    assert (answer.status_code, answer.headers["Location"]) == (303, _page(switch_id))


def test_second_switch_proposes_the_former_programs(brand, people, read_text):
    program_id = brand.program()
    other_program_id = brand.program()
    former, other = insert_switch(brand, "Completed"), insert_switch(brand, "Cancelled", account_reference="other")
    for former_id, chosen_id in ((former, program_id), (other, other_program_id)):
        key = {"organization_id": brand.id, "switch_id": former_id}
        with db.unit_of_work(brand.id):
            switches.stage_program(**key, source_id="camp-1", program_id=chosen_id)
    browser, switch_id = people(), insert_switch(brand, "Connected")

    answer = browser.open(_page(switch_id))

    assert f'<option value="{program_id}" selected>' in answer.text
    assert "nothing is saved yet" in read_text(answer)
    assert brand.rows("select program_id from switch_campaign where switch_id = %s", switch_id) == [(None,)]


def test_new_switch_beside_an_open_one_leads_to_it(brand, people, read_text):
    switch_id = insert_switch(brand, "Reading")

    answer = people().open("/dashboard/switch/new?source=tolt")

    assert "Another switch is open." in read_text(answer)
    assert f'href="{_page(switch_id)}"' in answer.text
    assert 'name="apiKey"' not in answer.text


def test_pages_without_scripts_offer_a_reload(brand, people):
    switch_id = insert_switch(brand, "Reading")

    assert re.search(rf'<noscript>.*href="{_page(switch_id)}"', people().open(_page(switch_id)).text)
