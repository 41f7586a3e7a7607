"""A campaign's own questions on its landing page. Source: tracking spec, "Public storefront" (apply)."""

import re

import pytest

from tests.support.api.applications import build_form, build_question, build_two_step_form, list_second_step_links
from tests.support.job_queues import drain


def _set_form(shop, form):
    path = f"/api/v1/programs/{shop.brand.programs[0]}"
    assert shop.brand.call("PATCH", path, {"applicationForm": form}).status_code == 200


def _stored_answers(shop):
    return shop.brand.rows("select application_data from affiliate order by created_at")


@pytest.fixture
def form_of_all_types():
    """A question of every type."""
    return build_form(
        build_question("team", required=True, label="Your <b>team</b>?"),
        build_question("story", "long"),
        build_question("place", "choice", options=["Blog", '<i>"News"</i>']),
        build_question("site", "url"),
        build_question("reach", "number"),
    )


def test_own_questions_replace_the_default_and_are_stored(shop, form_of_all_types):
    _set_form(shop, form_of_all_types)
    page = shop.open().text
    answers = {
        "team": "Tea",
        "story": "One\r\ntwo",
        "place": '<i>"News"</i>',
        "site": "https://a.example",
        "reach": "5",
    }

    assert "Your &lt;b&gt;team&lt;/b&gt;?</label>" in page
    assert 'name="audience"' not in page
    assert re.findall(r"<i>", page) == []
    assert shop.apply(**{f"answers.{key}": text for key, text in answers.items()}).status_code == 303
    assert _stored_answers(shop) == [(answers | {"story": "One\ntwo", "reach": 5},)]


def test_error_is_shown_at_its_question_with_the_typed_values(shop, form_of_all_types):
    _set_form(shop, form_of_all_types)

    answer = shop.apply(**{"answers.team": "", "answers.reach": "many", "answers.story": "x" * 10_000})

    assert answer.status_code == 400
    for key in ("team", "reach", "story"):
        assert f'id="answers.{key}-error"' in answer.text
        assert f'href="#answers.{key}"' in answer.text
    assert 'value="many"' in answer.text
    assert "at most 5,000 characters" in answer.text
    assert _stored_answers(shop) == []


def test_unknown_answers_are_refused_or_ignored(shop):
    assert shop.apply(**{"answers.team": "Tea", "email": "ada@example.com"}).status_code == 303
    _set_form(shop, build_two_step_form())
    for field in ("answers.reach", "answers.__proto__", "answers.email", "answers."):
        assert shop.apply(**{"answers.team": "Tea", field: "x", "email": "eve@example.com"}).status_code == 400, field
    assert _stored_answers(shop) == [(None,)]


def test_visitor_applies_in_two_steps(shop):
    _set_form(shop, build_two_step_form())
    email = f"ada-{shop.brand.id.hex}@example.com"

    assert shop.apply(**{"answers.team": "Tea", "email": email}).status_code == 303
    drain("mail")
    (link,) = list_second_step_links(shop.brand, email)
    assert shop.visitor.send(link, {"answers.reach": "7"}).status_code == 200

    assert _stored_answers(shop) == [({"team": "Tea", "reach": 7},)]


def test_application_in_two_steps_announces_the_email(shop):
    announcement = "a few more questions"
    assert announcement not in shop.open().text.lower()
    _set_form(shop, build_two_step_form())

    for path in (shop.path, f"{shop.path}?applied=1"):
        assert announcement in shop.open(path).text.lower(), path
