"""The application form of a program on the dashboard, built without scripts, and answers next to their questions."""

import json
import re

import pytest

from tests.support.api.applications import apply, build_form, build_question, build_two_step_form

_ROW = {"label": "Your team?", "key": "team", "type": "text", "step": "1"}


@pytest.fixture
def form_page(brand):
    """Return the address of the form's page of a program."""
    return f"/dashboard/programs/{brand.program()}/application-form"


def _form(*rows, steps="1", **extra):
    fields = {f"{part}-{number}": text for number, row in enumerate(rows) for part, text in row.items()}
    return {"steps": steps, "rows": str(len(rows)), **fields, **extra}


def _labels(html):
    return re.findall(r'name="label-\d+" type="text" value="([^"]*)"', html)


def _stored_form(brand):
    return brand.rows("select application_form from program")[0][0]


def test_form_is_built_row_by_row_and_stored_on_save(brand, people, form_page):
    owner = people()
    assert "No questions yet." in owner.open(form_page).text
    rows = [{**_ROW, "label": f"Which {name}?", "key": name} for name in ("first", "second", "third")]
    orders = {"add": "first second third ", "up-1": "second first third", "down-0": "second first third"}
    orders |= {"remove-1": "first third", "up-0": "first second third", "down-2": "first second third"}

    for button, names in orders.items():
        answer = owner.send(form_page, _form(*rows, do=button))
        assert answer.status_code == 200
        labels = [f"Which {name}?" if name else "" for name in names.split(" ")]
        assert _labels(answer.text) == labels, button
    assert _stored_form(brand) is None

    choice = {**_ROW, "label": "Where, <b>mostly</b>?", "key": "", "type": "choice", "options": "Blog\r\n\r\n News "}
    saved = owner.send(form_page, _form({**_ROW, "required": "on"}, {**choice, "step": "2"}, steps="2"))
    assert (saved.status_code, saved.headers["Location"]) == (303, f"{form_page}?saved=1")
    place_question = build_question(
        "whereBMostlyB", "choice", label="Where, <b>mostly</b>?", step=2, options=["Blog", "News"]
    )
    assert _stored_form(brand) == build_form(build_question("team", required=True), place_question, steps=2)
    assert _labels(owner.open(form_page).text) == ["Your team?", "Where, &lt;b&gt;mostly&lt;/b&gt;?"]

    assert owner.send(form_page, _form()).status_code == 303
    assert _stored_form(brand) is None


def test_error_is_shown_at_its_row_with_the_typed_values(brand, people, form_page):
    owner = people()
    cases = {
        "label-1": {"label": " ", "key": "other"},
        "key-1": {"key": "website"},
        "type-1": {"key": "other", "type": "letter"},
        "step-1": {"key": "other", "step": "2"},
        "options-1": {"key": "other", "type": "choice"},
    }
    for name, change in cases.items():
        answer = owner.send(form_page, _form(_ROW, {**_ROW, "label": "Typed <i>", **change}))
        assert answer.status_code == 400, name
        assert f'id="{name}-error"' in answer.text, name
        assert f'href="#{name}"' in answer.text, name
    assert _labels(answer.text) == ["Your team?", "Typed &lt;i&gt;"]
    steps = owner.send(form_page, _form(_ROW, steps="2"))
    assert (steps.status_code, 'id="steps-error"' in steps.text) == (400, True)
    too_many = owner.send(form_page, _form(*({**_ROW, "key": f"key{number}"} for number in range(21))))
    assert (too_many.status_code, 'role="alert"' in too_many.text) == (400, True)
    assert _stored_form(brand) is None


def test_odd_forms_return_no_server_error(brand, people, form_page):
    owner = people()
    for form in (
        *({"rows": rows, "do": "add"} for rows in ("", "-1", "x", "٣", "1e3", "9" * 20)),
        *(
            _form(_ROW, do=button)
            for button in ("up-0", "down-9", "remove--1", "remove-x", "remove-٣", "up", "-", "x-0")
        ),
    ):
        assert owner.send(form_page, form).status_code == 200, form
    for form in (_form(_ROW, steps="x"), _form({**_ROW, "label": "nul\x00"}), _form({**_ROW, "key": "nul\x00"})):
        assert owner.send(form_page, form).status_code == 400, form
    assert len(_labels(owner.send(form_page, _form(*[_ROW] * 20, do="add")).text)) == 20
    assert _stored_form(brand) is None


def test_equal_questions_get_distinct_keys(brand, people, form_page):
    labels = ("Your reach?", "Your reach?", "Status", "3 best pages", "茶?", "茶?", "x" * 60)

    answer = people().send(form_page, _form(*({**_ROW, "label": label, "key": ""} for label in labels)))

    assert answer.status_code == 303
    keys = [field["key"] for field in _stored_form(brand)["fields"]]
    assert keys[:4] == ["yourReach", "yourReach2", "status2", "answer3BestPages"]
    assert len(set(keys)) == 7
    assert all(re.fullmatch("[a-z][a-zA-Z0-9_]{0,39}", key) for key in keys)


def test_member_without_permission_reads_the_form(brand, people, form_page):
    brand.rows("update program set application_form = %s::jsonb returning id", json.dumps(build_two_step_form()))
    viewer = people("Viewer")

    html = viewer.open(form_page).text
    assert "Your reach?" in html
    assert f'action="{form_page}"' not in html
    assert viewer.send(form_page, _form(_ROW)).status_code == 403
    assert _stored_form(brand) == build_two_step_form()
    brand.rows("update program set archived_at = now() returning id")
    assert f'action="{form_page}"' not in people("Owner").open(form_page).text


def test_answers_keep_their_questions_when_the_form_changes(brand, people):
    form = build_form(build_question("team", "long", label="Your <b>team</b>?"), build_question("reach", "number"))
    program_id = brand.program(application_form=form)
    apply(brand, answers={"team": "Tea <i>\nmilk", "reach": "12.5"})
    ((affiliate_id,),) = brand.rows("select id from affiliate")
    addresses = ("/dashboard/affiliates/applications", f"/dashboard/affiliates/{affiliate_id}")
    owner = people()

    for address in addresses:
        html = owner.open(address).text
        assert "<b>Your &lt;b&gt;team&lt;/b&gt;?</b>" in html
        assert "Tea &lt;i&gt;\nmilk" in html
        assert '<span class="said">12.5</span>' in html
    brand.call(
        "PATCH",
        f"/api/v1/programs/{program_id}",
        {"applicationForm": build_form(build_question("reach", label="Reach"))},
    )
    for address in addresses:
        html = owner.open(address).text
        assert "<b>team</b><br>" in html
        assert "<b>Reach</b><br>" in html
