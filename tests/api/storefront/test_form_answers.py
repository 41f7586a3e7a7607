"""Answers to a campaign's own form in an application, through HTTP."""

import json

import pytest

from tests.support.api.applications import (
    apply,
    build_form,
    build_question,
    build_two_step_form,
    list_applicants,
    list_events,
)

_FORM = build_form(
    build_question("team", required=True),
    build_question("story", "long"),
    build_question("place", "choice", options=["Blog", "News"]),
    build_question("site", "url"),
    build_question("reach", "number"),
)


@pytest.fixture
def brand_with_form(brand):
    """The brand with a campaign that has its own form."""
    brand.program(application_form=_FORM)
    return brand


def test_answers_are_stored_and_sent_by_key(brand_with_form):
    answers = {"team": " Tea ☕ ", "place": "News", "reach": "12.50", "site": "", "story": None}

    answer = apply(brand_with_form, website="ada.example", answers=answers)

    expected = {"website": "ada.example", "team": "Tea ☕", "place": "News", "reach": 12.5}
    assert answer.status_code == 200
    assert list_applicants(brand_with_form, "application_data") == [(expected,)]
    ((type, data),) = list_events(brand_with_form)
    assert (type, data["applicationAnswers"]) == ("affiliate.created", expected)
    assert [key for key in data if "fraud" in key.lower() or "score" in key.lower()] == []


def test_auto_approved_application_sends_answers_in_both_events(brand_with_form):
    brand_with_form.program(application_form=_FORM, auto_approve=True)

    apply(brand_with_form, answers={"team": "Tea"})

    assert [(type, data["applicationAnswers"]) for type, data in list_events(brand_with_form)] == [
        ("affiliate.created", {"team": "Tea"}),
        ("affiliate.approved", {"team": "Tea"}),
    ]


def test_response_is_the_same_as_without_a_form(brand_with_form):
    ada, ben = (f"{name}-{brand_with_form.id.hex}@example.com" for name in ("ada", "ben"))
    first = apply(brand_with_form, email=ada, answers={"team": "Tea"})
    again = apply(brand_with_form, email=ada, answers={"team": "Coffee"})
    brand_with_form.program()
    without_form = apply(brand_with_form, email=ben)

    assert first.data == again.data
    assert first.json == without_form.json | {"email": ada}
    assert list_applicants(brand_with_form, "application_data->>'team'")[0] == ("Tea",)


def test_invalid_answers_are_refused_and_create_no_affiliate(brand_with_form):
    cases = [
        ({}, "team"),
        ({"team": ""}, "team"),
        ({"team": "Tea", "website": "x"}, "website"),
        ({"team": "Tea", "__proto__": "x"}, "__proto__"),
        ({"team": "Tea", "plan": "x"}, "plan"),
        ({"team": "Tea", "story": "x" * 10_000}, "story"),
        ({"team": "Tea", "place": "Radio"}, "place"),
        ({"team": "Tea", "site": "javascript:alert(1)"}, "site"),
        ({"team": "Tea", "reach": True}, "reach"),
        ({"team": "Tea", "reach": "1\n2"}, "reach"),
        ({"team": ["Tea"]}, "team"),
        ({"team": {"a": 1}}, "team"),
        ({"team": "nul\x00"}, "team"),
    ]
    for answers, key in cases:
        answer = apply(brand_with_form, answers=answers)
        refusal = (answer.status_code, answer.json["error"], answer.json["field"])
        assert refusal == (400, "invalid_request", f"answers.{key}"), answers
        assert list(answer.json["errors"]) == [f"answers.{key}"], answers

    assert list_applicants(brand_with_form, "id") == []
    assert list_events(brand_with_form) == []


def test_non_object_answers_return_400(brand_with_form):
    for answers in (5, "team", [], [{"team": "Tea"}], True):
        answer = apply(brand_with_form, answers=answers)
        assert (answer.status_code, list(answer.json["errors"])) == (400, ["answers"]), answers


def test_proto_key_is_an_unknown_answer(brand_with_form):
    raw = b'{"email": "ada@example.com", "answers": {"team": "Tea", "__proto__": {"status": "Approved"}}}'

    answer = brand_with_form.app.test_client().post(f"/api/p/id/{brand_with_form.programs[-1]}/apply", data=raw)

    assert (answer.status_code, answer.json["field"]) == (400, "answers.__proto__")


def test_campaign_without_a_form_accepts_no_answers(campaign):
    assert apply(campaign, answers={}).status_code == 200
    assert apply(campaign, email="ben@example.com", answers=None).status_code == 200
    assert apply(campaign, email="eve@example.com", answers={"team": "Tea"}).json["field"] == "answers.team"


def test_second_step_answers_are_refused(brand):
    brand.program(application_form=build_two_step_form())

    assert apply(brand, answers={"team": "Tea", "reach": 5}).json["field"] == "answers.reach"
    assert apply(brand, answers={"team": "Tea"}).status_code == 200


def test_closed_campaign_does_not_reveal_its_form(brand):
    brand.program(application_form=_FORM, is_active=False)

    assert apply(brand, answers={"anything": 1}).json["error"] == "not_found"


def test_long_answers_in_any_script_are_accepted(brand):
    brand.program(application_form=build_form(*(build_question(f"story{number}", "long") for number in range(10))))
    answers = {f"story{number}": "茶" * 5000 for number in range(10)}

    answer = apply(brand, body=json.loads(json.dumps({"email": "ada@example.com", "answers": answers})))

    assert answer.status_code == 200
    assert list_applicants(brand, "application_data") == [(answers,)]


def test_keys_never_see_answers(brand_with_form):
    apply(brand_with_form, answers={"team": "Secret tea"})
    affiliate_id = list_applicants(brand_with_form, "id")[0][0]
    paths = ("", f"/{affiliate_id}", "/applications")

    by_key = [brand_with_form.get(f"/api/v1/affiliates{path}") for path in paths]
    by_person = [brand_with_form.person("Owner").get(f"/api/v1/affiliates{path}") for path in paths]

    assert [answer.status_code for answer in by_key] == [200] * 3
    assert [b"Secret tea" in answer.data for answer in by_key] == [False] * 3
    assert [b"Secret tea" in answer.data for answer in by_person] == [True] * 3
    approved = brand_with_form.post(f"/api/v1/affiliates/{affiliate_id}/approve", {})
    assert b"Secret tea" not in approved.data
    assert b"Secret tea" not in brand_with_form.get("/api/v1/audit-log").data
