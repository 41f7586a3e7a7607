"""The form that a program has for those who apply, through HTTP."""

import pytest

from tests.support.api.applications import build_form, build_question, build_two_step_form

URL = "/api/v1/programs"
_NEW = {"name": "Tea", "defaultCommissionType": "Percentage", "defaultCommissionValue": 20}


@pytest.fixture(scope="module")
def kinds():
    """A field of every type, with unicode and markup in its words."""
    return build_form(
        build_question("team", label="Your <b>team</b> ☕ & co", required=True),
        build_question("story", "long"),
        build_question("place", "choice", options=["Blog", "<i>News</i>", "خبرنامه\u200cها"]),
        build_question("site", "url"),
        build_question("reach_2", "number"),
    )


def _change(brand, program_id, sent):
    return brand.call("PATCH", f"{URL}/{program_id}", {"applicationForm": sent})


def test_a_form_is_set_changed_and_cleared_and_audited(brand, kinds):
    created = brand.post(URL, _NEW | {"applicationForm": kinds})
    program_id = created.json["id"]
    assert (created.status_code, created.json["applicationForm"]) == (201, kinds)

    changed = _change(brand, program_id, build_two_step_form())
    again = _change(brand, program_id, build_two_step_form())
    other = brand.call("PATCH", f"{URL}/{program_id}", {"name": "Coffee"})
    cleared = _change(brand, program_id, None)

    assert changed.json["applicationForm"] == again.json["applicationForm"] == other.json["applicationForm"]
    assert changed.json["applicationForm"] == build_two_step_form()
    assert cleared.json["applicationForm"] is None
    assert brand.get(f"{URL}/{program_id}").json["applicationForm"] is None
    kept = brand.rows(
        "select before->'applicationForm', after->'applicationForm' from audit_entry order by created_at, id"
    )
    assert kept == [
        (None, kinds),
        (kinds, build_two_step_form()),
        (build_two_step_form(), build_two_step_form()),
        (build_two_step_form(), None),
    ]


def test_a_program_without_one_says_so(brand):
    assert brand.post(URL, _NEW).json["applicationForm"] is None
    assert brand.post(URL, _NEW | {"applicationForm": None}).json["applicationForm"] is None


def test_omitted_values_get_defaults_and_texts_are_trimmed(brand):
    sent = {"fields": [{"key": "team", "label": " Your team? ", "type": "choice", "options": [" Tea ", "Milk"]}]}

    answer = brand.post(URL, _NEW | {"applicationForm": sent | {"madeUp": 1}})

    assert answer.json["applicationForm"] == build_form(build_question("team", "choice", options=["Tea", "Milk"]))


_WRONG_KEYS = (
    *("email", "fullName", "website", "audience", "whyInterested", "customAlias"),
    *("recruitedBy", "recruitedByAffiliateId", "answers", "status", "constructor", "prototype"),
    *(
        "applicationAnswers",
        "applicationData",
        "fraudScore",
        "id",
        "recruited_by",
        "toString",
        "valueOf",
        "hasOwnProperty",
    ),
    *("__proto__", "_team", "Team", "1team", "te am", "team-2", "te.am", "", "t" * 41, "téam", "team\n", "te\x00am"),
    *(5, None, True, ["team"]),
)
_WRONG_FORMS = [
    5,
    "form",
    [],
    {},
    True,
    {"fields": []},
    {"fields": None},
    {"fields": {}},
    {"fields": "team"},
    {"fields": [5]},
    {"fields": [[]]},
    {"fields": [{}]},
    {"fields": [build_question(f"key{number}") for number in range(21)]},
    build_form(steps=0),
    build_form(steps=3),
    build_form(steps="1"),
    build_form(steps=True),
    build_form(steps=2),
    build_form(build_question(), build_question(label="Another?")),
    build_form(build_question(step=2)),
    build_form(build_question(step=0)),
    build_form(build_question(step="1")),
    build_form(build_question(label="")),
    build_form(build_question(label="  ")),
    build_form(build_question(label="x" * 201)),
    build_form(build_question(label="two\nlines")),
    build_form(build_question(label="nul\x00")),
    build_form(build_question(label=5)),
    build_form(build_question(type="email")),
    build_form(build_question(type="Text")),
    build_form(build_question(type=None)),
    build_form(build_question(required="yes")),
    build_form(build_question(required=1)),
    build_form(build_question(options=["Tea"])),
    build_form(build_question(type="choice")),
    build_form(build_question(type="choice", options=None)),
    build_form(build_question(type="choice", options="Tea")),
    build_form(build_question(type="choice", options=["Tea", "Tea "])),
    build_form(build_question(type="choice", options=[" "])),
    build_form(build_question(type="choice", options=["x" * 201])),
    build_form(build_question(type="choice", options=["two\nlines"])),
    build_form(build_question(type="choice", options=[5])),
    build_form(build_question(type="choice", options=[f"Option {number}" for number in range(51)])),
    *(build_form(build_question(key)) for key in _WRONG_KEYS),
]


def test_malformed_form_is_refused_and_changes_nothing(brand):
    program_id = brand.program(application_form=build_two_step_form())

    for sent in _WRONG_FORMS:
        answer = _change(brand, program_id, sent)
        assert (answer.status_code, list(answer.json["errors"])) == (400, ["applicationForm"]), sent

    assert brand.get(f"{URL}/{program_id}").json["applicationForm"] == build_two_step_form()
    assert brand.rows("select count(*) from audit_entry") == [(0,)]


def test_error_names_the_position_in_the_form(brand):
    answer = _change(brand, brand.program(), build_form(build_question("team"), build_question("email")))

    assert list(answer.json["errors"]["applicationForm"]["fields"]) == ["1"]
    assert list(answer.json["errors"]["applicationForm"]["fields"]["1"]) == ["key"]


def test_the_most_that_a_form_holds_is_taken(brand):
    options = [f"{number:02} {'x' * 20}" for number in range(50)]
    most = build_form(*(build_question(f"k{number:02}{'x' * 37}", "choice", options=options) for number in range(20)))

    assert _change(brand, brand.program(), most).json["applicationForm"] == most


def test_strangers_see_what_they_are_asked_first_and_nothing_else(brand):
    handle = f"forms-{brand.id.hex}"
    brand.rows("update organization set subdomain = %s returning id", handle)
    look = brand.app.test_client().get
    seen = {}
    for slug, kept in (("none", None), ("one", build_form()), ("two", build_two_step_form())):
        brand.program(slug=slug, application_form=kept)
        seen[slug] = look(f"/api/p/by-handle/{handle}/{slug}").json["applicationForm"]

    assert seen == {
        "none": None,
        "one": build_form(),
        "two": {"steps": 2, "fields": [build_question("team", required=True)]},
    }


def test_a_viewer_and_another_brand_change_no_form(brand, rival):
    program_id = brand.program()

    assert _change(brand.person("Viewer"), program_id, build_form()).status_code == 403
    assert _change(rival, program_id, build_form()).status_code == 404
    assert brand.get(f"{URL}/{program_id}").json["applicationForm"] is None
