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

_OWN = build_form(
    build_question("team", required=True),
    build_question("story", "long"),
    build_question("place", "choice", options=["Blog", "News"]),
    build_question("site", "url"),
    build_question("reach", "number"),
)


@pytest.fixture
def asking(brand):
    """The brand with a campaign that asks."""
    brand.program(application_form=_OWN)
    return brand


def test_answers_are_kept_beside_ours_and_told_by_key(asking):
    said = {"team": " Tea ☕ ", "place": "News", "reach": "12.50", "site": "", "story": None}

    answer = apply(asking, website="ada.example", answers=said)

    kept = {"website": "ada.example", "team": "Tea ☕", "place": "News", "reach": 12.5}
    assert answer.status_code == 200
    assert list_applicants(asking, "application_data") == [(kept,)]
    ((type, data),) = list_events(asking)
    assert (type, data["applicationAnswers"]) == ("affiliate.created", kept)
    assert [key for key in data if "fraud" in key.lower() or "score" in key.lower()] == []


def test_who_is_let_in_at_once_is_told_of_with_the_answers(asking):
    asking.program(application_form=_OWN, auto_approve=True)

    apply(asking, answers={"team": "Tea"})

    assert [(type, data["applicationAnswers"]) for type, data in list_events(asking)] == [
        ("affiliate.created", {"team": "Tea"}),
        ("affiliate.approved", {"team": "Tea"}),
    ]


def test_an_answer_tells_no_more_than_without_a_form(asking):
    ada, ben = (f"{name}-{asking.id.hex}@example.com" for name in ("ada", "ben"))
    fresh = apply(asking, email=ada, answers={"team": "Tea"})
    again = apply(asking, email=ada, answers={"team": "Coffee"})
    asking.program()
    without = apply(asking, email=ben)

    assert fresh.data == again.data
    assert fresh.json == without.json | {"email": ada}
    assert list_applicants(asking, "application_data->>'team'")[0] == ("Tea",)


def test_answers_that_do_not_fit_are_refused_and_nobody_applied(asking):
    wrong = [
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
    for sent, key in wrong:
        answer = apply(asking, answers=sent)
        found = (answer.status_code, answer.json["error"], answer.json["field"])
        assert found == (400, "invalid_request", f"answers.{key}"), sent
        assert list(answer.json["errors"]) == [f"answers.{key}"], sent

    assert list_applicants(asking, "id") == []
    assert list_events(asking) == []


def test_what_is_no_map_of_answers_is_malformed(asking):
    for sent in (5, "team", [], [{"team": "Tea"}], True):
        answer = apply(asking, answers=sent)
        assert (answer.status_code, list(answer.json["errors"])) == (400, ["answers"]), sent


def test_a_raw_proto_is_an_unknown_answer(asking):
    raw = b'{"email": "ada@example.com", "answers": {"team": "Tea", "__proto__": {"status": "Approved"}}}'

    answer = asking.app.test_client().post(f"/api/p/id/{asking.programs[-1]}/apply", data=raw)

    assert (answer.status_code, answer.json["field"]) == (400, "answers.__proto__")


def test_a_campaign_without_a_form_takes_no_answers(campaign):
    assert apply(campaign, answers={}).status_code == 200
    assert apply(campaign, email="ben@example.com", answers=None).status_code == 200
    assert apply(campaign, email="eve@example.com", answers={"team": "Tea"}).json["field"] == "answers.team"


def test_the_second_step_is_not_asked_here(brand):
    brand.program(application_form=build_two_step_form())

    assert apply(brand, answers={"team": "Tea", "reach": 5}).json["field"] == "answers.reach"
    assert apply(brand, answers={"team": "Tea"}).status_code == 200


def test_a_closed_campaign_says_nothing_of_its_form(brand):
    brand.program(application_form=_OWN, is_active=False)

    assert apply(brand, answers={"anything": 1}).json["error"] == "not_found"


def test_long_answers_in_any_script_fit_into_a_request(brand):
    brand.program(application_form=build_form(*(build_question(f"story{number}", "long") for number in range(10))))
    said = {f"story{number}": "茶" * 5000 for number in range(10)}

    answer = apply(brand, body=json.loads(json.dumps({"email": "ada@example.com", "answers": said})))

    assert answer.status_code == 200
    assert list_applicants(brand, "application_data") == [(said,)]


def test_no_key_ever_sees_an_answer(asking):
    apply(asking, answers={"team": "Secret tea"})
    affiliate_id = list_applicants(asking, "id")[0][0]
    paths = ("", f"/{affiliate_id}", "/applications")

    by_key = [asking.get(f"/api/v1/affiliates{path}") for path in paths]
    by_person = [asking.person("Owner").get(f"/api/v1/affiliates{path}") for path in paths]

    assert [answer.status_code for answer in by_key] == [200] * 3
    assert [b"Secret tea" in answer.data for answer in by_key] == [False] * 3
    assert [b"Secret tea" in answer.data for answer in by_person] == [True] * 3
    approved = asking.post(f"/api/v1/affiliates/{affiliate_id}/approve", {})
    assert b"Secret tea" not in approved.data
    assert b"Secret tea" not in asking.get("/api/v1/audit-log").data
