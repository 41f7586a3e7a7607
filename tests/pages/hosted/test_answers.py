"""The page of the application's second step, through HTTP."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest

from adapters import clock
from adapters.mail import answer_links
from adapters.mail.answer_links import Applicant
from tests.support.api.applications import (
    apply_for_second_step,
    build_form,
    build_question,
    build_two_step_form,
    list_events,
)


@pytest.fixture
def ada():
    """A unique email address."""
    return f"ada-{uuid4().hex}@example.com"


@pytest.fixture
def link(brand, ada):
    """The path of the link to Ada's second step."""
    brand.program(name="Tea <b>club</b>", application_form=build_two_step_form())
    return apply_for_second_step(brand, ada)


def _stored_answers(brand):
    return brand.rows("select application_data, application_completed_at is not null from affiliate")


def test_second_step_page_changes_nothing_when_viewed(brand, link, visitor):
    for answer in (visitor.open(link), visitor.open(link, Sec_Purpose="prefetch"), visitor.client.head(link)):
        assert answer.status_code == 200
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert "noindex" in answer.headers["X-Robots-Tag"]
        assert "Set-Cookie" not in answer.headers
    page = visitor.open(link).text

    assert "Tea &lt;b&gt;club&lt;/b&gt;" in page
    assert '<label for="answers.reach">Your reach?</label>' in page
    assert '<label for="answers.plan">Your plan? (optional)</label>' in page
    assert "Your team?" not in page
    assert _stored_answers(brand) == [({"team": "Tea"}, False)]


def test_answers_are_stored_without_scripts_and_can_change(brand, link, visitor):
    first = visitor.send(link, {"answers.reach": "12.5", "answers.plan": "One\r\ntwo <script>"})
    html = visitor.open(link).text
    second = visitor.send(link, {"answers.reach": "7", "answers.plan": ""})

    assert (first.status_code, second.status_code, "Thank you" in first.text) == (200, 200, True)
    assert 'value="12.5"' in html
    assert "One\ntwo &lt;script&gt;</textarea>" in html
    assert _stored_answers(brand) == [({"team": "Tea", "reach": 7}, True)]
    completed = [
        data["applicationAnswers"] for type, data in list_events(brand) if type == "affiliate.application_completed"
    ]
    assert completed == [{"team": "Tea", "reach": 12.5, "plan": "One\ntwo <script>"}, {"team": "Tea", "reach": 7}]
    statement = "select actor_type from audit_entry where action = 'affiliate.application_completed'"
    assert brand.rows(statement) == [("public",)] * 2


def test_error_is_shown_at_its_field_with_the_typed_values(brand, link, visitor):
    answer = visitor.send(link, {"answers.reach": 'many"><b>', "answers.plan": "Tea & more"})

    assert answer.status_code == 400
    assert "<title>Error: " in answer.text
    assert 'role="alert"' in answer.text
    assert '<a href="#answers.reach">' in answer.text
    assert 'aria-describedby="answers.reach-error" aria-invalid="true"' in answer.text
    assert 'value="many&#34;&gt;&lt;b&gt;"' in answer.text
    assert "Tea &amp; more</textarea>" in answer.text
    assert _stored_answers(brand) == [({"team": "Tea"}, False)]


def test_odd_forms_are_refused_without_server_error(brand, link, visitor):
    for form in (
        {},
        {"answers.reach": ""},
        {"answers.reach": "1", "answers.team": "Other"},
        {"answers.reach": "1", "answers.__proto__": "x"},
        {"answers.reach": "1", "answers.": "x"},
        {"answers.reach": "1\n2"},
        {"answers.reach": "1", "answers.plan": "nul\x00"},
        {"answers.reach": "1", "answers.plan": "x" * 10_000},
    ):
        answer = visitor.send(link, form)
        assert (answer.status_code, 'role="alert"' in answer.text) == (400, True), form
    assert visitor.send(link, {"answers.reach": "x" * 600_000}).status_code == 413
    assert _stored_answers(brand) == [({"team": "Tea"}, False)]


def test_invalid_links_return_the_same_page_without_names(brand, rival, link, ada, visitor):
    rival.program(application_form=build_two_step_form())
    ((affiliate_id,),) = brand.rows("select id from affiliate")
    now = clock.now()
    tokens = [
        "x",
        "%00",
        "é" * 84,
        link.removeprefix("/p/answers/")[:-1] + ("A" if link[-1] != "A" else "B"),
        answer_links.encode(Applicant(brand.id, affiliate_id), now=now - answer_links.LIFETIME),
        answer_links.encode(Applicant(rival.id, affiliate_id), now=now),
        answer_links.encode(Applicant(brand.id, uuid4()), now=now),
        answer_links.encode(Applicant(uuid4(), affiliate_id), now=now + timedelta(days=1)),
    ]

    pages = [
        page
        for token in tokens
        for page in (
            visitor.open(f"/p/answers/{token}"),
            visitor.send(f"/p/answers/{token}", {"answers.reach": "1"}),
        )
    ]

    assert {page.status_code for page in pages} == {410}
    assert len({page.data for page in pages}) == 1
    assert "Brand" not in pages[0].text
    assert _stored_answers(brand) == [({"team": "Tea"}, False)]


def test_link_of_a_decided_application_returns_410(brand, link, visitor):
    brand.rows("update affiliate set status = 'Rejected' returning id")

    assert visitor.open(link).status_code == visitor.send(link, {"answers.reach": "1"}).status_code == 410


def test_fields_of_every_type_are_shown_escaped(brand, ada, visitor):
    kinds = build_form(
        build_question("team", required=True),
        build_question("place", "choice", step=2, required=True, options=["<i>Blog</i>", 'News "& more']),
        build_question("site", "url", step=2, label='<script>alert("x")</script>'),
        build_question("story", "long", step=2),
        build_question("reach", "number", step=2),
        steps=2,
    )
    brand.program(application_form=kinds)
    link = apply_for_second_step(brand, ada)

    page = visitor.open(link).text
    answer = visitor.send(link, {"answers.place": 'News "& more', "answers.site": "https://a.example/?<b>"})

    assert re.findall(r"<(script|i)>", page) == []
    assert "&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt; (optional)</label>" in page
    assert '<option value="&lt;i&gt;Blog&lt;/i&gt;">&lt;i&gt;Blog&lt;/i&gt;</option>' in page
    assert 'type="url"' in page
    assert 'inputmode="decimal"' in page
    assert answer.status_code == 200
    assert '<option value="News &#34;&amp; more" selected>' in visitor.open(link).text


def test_double_submit_stores_once_and_a_foreign_form_is_refused(brand, link, visitor):
    (key,) = re.findall('name="_key" value="([^"]+)"', visitor.open(link).text)
    typed = {"answers.reach": "3", "_key": key}
    for site in ("cross-site", "same-site", "none"):
        assert visitor.send(link, typed, Sec_Fetch_Site=site).status_code == 403
    answers = [visitor.send(link, typed) for _ in range(2)]
    again = visitor.send(link, typed | {"answers.reach": "4"})

    assert ["Thank you" in answer.text for answer in (*answers, again)] == [True] * 3
    completed = [
        data["applicationAnswers"] for type, data in list_events(brand) if type == "affiliate.application_completed"
    ]
    assert completed == [{"team": "Tea", "reach": 3}, {"team": "Tea", "reach": 4}]
