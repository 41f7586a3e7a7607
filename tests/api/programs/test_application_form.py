"""A program's application form, through HTTP."""

import pytest

from tests.support.api.applications import build_form, build_question, build_two_step_form

URL = "/api/v1/programs"
_PROGRAM = {"name": "Tea", "defaultCommissionType": "Percentage", "defaultCommissionValue": 20}


@pytest.fixture(scope="module")
def full_form():
    """Return a form with a field of each type, with unicode and markup in its texts."""
    return build_form(
        build_question("team", label="Your <b>team</b> ☕ & co", required=True),
        build_question("story", "long"),
        build_question("place", "choice", options=["Blog", "<i>News</i>", "خبرنامه\u200cها"]),
        build_question("site", "url"),
        build_question("reach_2", "number"),
    )


def _set_form(brand, program_id, form):
    return brand.call("PATCH", f"{URL}/{program_id}", {"applicationForm": form})


def test_form_is_set_changed_cleared_and_audited(brand, full_form):
    created = brand.post(URL, _PROGRAM | {"applicationForm": full_form})
    program_id = created.json["id"]
    assert (created.status_code, created.json["applicationForm"]) == (201, full_form)

    changed = _set_form(brand, program_id, build_two_step_form())
    repeated = _set_form(brand, program_id, build_two_step_form())
    renamed = brand.call("PATCH", f"{URL}/{program_id}", {"name": "Coffee"})
    cleared = _set_form(brand, program_id, None)

    assert changed.json["applicationForm"] == repeated.json["applicationForm"] == renamed.json["applicationForm"]
    assert changed.json["applicationForm"] == build_two_step_form()
    assert cleared.json["applicationForm"] is None
    assert brand.get(f"{URL}/{program_id}").json["applicationForm"] is None
    entries = brand.rows(
        "select before->'applicationForm', after->'applicationForm' from audit_entry order by created_at, id"
    )
    assert entries == [
        (None, full_form),
        (full_form, build_two_step_form()),
        (build_two_step_form(), build_two_step_form()),
        (build_two_step_form(), None),
    ]


def test_program_without_a_form_returns_null(brand):
    assert brand.post(URL, _PROGRAM).json["applicationForm"] is None
    assert brand.post(URL, _PROGRAM | {"applicationForm": None}).json["applicationForm"] is None


def test_omitted_values_get_defaults_and_texts_are_trimmed(brand):
    form = {"fields": [{"key": "team", "label": " Your team? ", "type": "choice", "options": [" Tea ", "Milk"]}]}

    answer = brand.post(URL, _PROGRAM | {"applicationForm": form | {"madeUp": 1}})

    assert answer.json["applicationForm"] == build_form(build_question("team", "choice", options=["Tea", "Milk"]))


_INVALID_KEYS = (
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
_INVALID_FORMS = [
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
    *(build_form(build_question(key)) for key in _INVALID_KEYS),
]


def test_malformed_form_is_refused_and_changes_nothing(brand):
    program_id = brand.program(application_form=build_two_step_form())

    for form in _INVALID_FORMS:
        answer = _set_form(brand, program_id, form)
        assert (answer.status_code, list(answer.json["errors"])) == (400, ["applicationForm"]), form

    assert brand.get(f"{URL}/{program_id}").json["applicationForm"] == build_two_step_form()
    assert brand.rows("select count(*) from audit_entry") == [(0,)]


def test_error_names_the_position_in_the_form(brand):
    answer = _set_form(brand, brand.program(), build_form(build_question("team"), build_question("email")))

    assert list(answer.json["errors"]["applicationForm"]["fields"]) == ["1"]
    assert list(answer.json["errors"]["applicationForm"]["fields"]["1"]) == ["key"]


def test_largest_allowed_form_is_accepted(brand):
    options = [f"{number:02} {'x' * 20}" for number in range(50)]
    form = build_form(*(build_question(f"k{number:02}{'x' * 37}", "choice", options=options) for number in range(20)))

    assert _set_form(brand, brand.program(), form).json["applicationForm"] == form


def test_public_form_shows_only_its_first_step(brand):
    handle = f"forms-{brand.id.hex}"
    brand.rows("update organization set subdomain = %s returning id", handle)
    get = brand.app.test_client().get
    forms = {}
    for slug, form in (("none", None), ("one", build_form()), ("two", build_two_step_form())):
        brand.program(slug=slug, application_form=form)
        forms[slug] = get(f"/api/p/by-handle/{handle}/{slug}").json["applicationForm"]

    assert forms == {
        "none": None,
        "one": build_form(),
        "two": {"steps": 2, "fields": [build_question("team", required=True)]},
    }


def test_viewer_and_other_tenant_cannot_change_the_form(brand, rival):
    program_id = brand.program()

    assert _set_form(brand.person("Viewer"), program_id, build_form()).status_code == 403
    assert _set_form(rival, program_id, build_form()).status_code == 404
    assert brand.get(f"{URL}/{program_id}").json["applicationForm"] is None
