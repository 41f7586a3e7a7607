"""Applying on the landing page, without scripts. Source: tracking spec, "Public storefront" (apply)."""

import os
import re

import pytest

import settings
from api.access import limits

_FOREIGN = [
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Origin": "https://evil.test"},
    {"X": ""},
]


def _affiliates(shop, columns="email"):
    return shop.brand.rows(f"select {columns} from affiliate order by created_at, id")


def _field_errors(answer):
    """Return the messages of the invalid fields, by field."""
    return dict(re.findall(r'<p class="small wrong" id="(\w+)-error">([^<]*)</p>', answer.text))


def test_application_gets_the_same_answer_for_everyone(shop):
    answers = {"fullName": "Ada", "website": "ada.example", "audience": "Cooks\r\nand bakers", "whyInterested": "Tea"}
    first = shop.apply(**answers)
    again = shop.apply(**answers)

    for answer in (first, again):
        assert (answer.status_code, answer.headers["Location"]) == (303, f"{shop.path}?applied=1#apply")
    thanks = shop.open(f"{shop.path}?applied=1").text
    assert "We received your application." in thanks
    assert 'method="post"' not in thanks
    assert _affiliates(shop, "email, full_name, application_data, source") == [
        (
            "ada@example.com",
            "Ada",
            {"website": "ada.example", "audience": "Cooks\nand bakers", "whyInterested": "Tea"},
            "Public",
        )
    ]


def test_double_click_applies_once_and_gets_the_same_answer(shop):
    form = {"email": "ada@example.com", "_key": "pressed-twice"}

    first, second = shop.send(form), shop.send(form)
    other = shop.send(form | {"email": "eve@example.com"})

    assert (first.status_code, first.headers["Location"]) == (second.status_code, second.headers["Location"])
    assert other.status_code == 409
    assert "already sent with different answers" in other.text
    assert 'value="eve@example.com"' in other.text
    assert _affiliates(shop) == [("ada@example.com",)]
    assert shop.brand.rows("select count(*) from audit_entry where action = 'affiliate.applied_again'") == [(0,)]


def test_recruiter_survives_a_refused_form(shop):
    shop.brand.rows("update program set sub_affiliate_enabled = true returning id")
    rita = shop.brand.affiliate("rita")
    path = f"{shop.path}?recruited_by=RITA"

    refused = shop.apply(path, email="nobody")
    assert '<input type="hidden" name="recruited_by" value="RITA">' in refused.text
    shop.apply(path)

    assert _affiliates(shop, "email, recruited_by_affiliate_id")[1] == ("ada@example.com", rita)
    for recruiter in ("%00", "x" * 256, "%22%3E%3Cscript%3E", "nobody"):
        page = shop.open(f"{shop.path}?recruited_by={recruiter}")
        assert page.status_code == 200
        assert "<script" not in page.text
        assert shop.apply(f"{shop.path}?recruited_by={recruiter}", email="eve@example.com").status_code == 303


def test_error_is_shown_at_its_field_with_the_typed_values(shop):
    shop.brand.affiliate("taken")
    cases = {
        "email": ("", 400, "Enter an email address, such as name@example.com."),
        "fullName": ("x" * 201, 400, "Length must be"),
        "website": ("x" * 2049, 400, "Length must be"),
        "audience": ("x" * 10_000, 400, "Length must be"),
        "whyInterested": ("a\0b", 400, "NUL"),
        "customAlias": ("taken", 409, "taken"),
    }
    assert "Digits alone could be an order number" in _field_errors(shop.apply(customAlias="54830"))["customAlias"]
    for name, (typed, status, message) in cases.items():
        answer = shop.apply(**{"fullName": "Ada <b>", name: typed})

        assert answer.status_code == status, name
        assert set(_field_errors(answer)) == {name}
        assert message in _field_errors(answer)[name]
        assert re.findall(r'id="(\w+)"[^>]* aria-invalid="true"', answer.text) == [name]
        assert "<title>Error: " in answer.text
        assert 'role="alert"' in answer.text
        assert name == "fullName" or 'value="Ada &lt;b&gt;"' in answer.text
    assert _field_errors(shop.apply(email="ada"))["email"] == "Enter an email address, such as name@example.com."
    assert _affiliates(shop) == [("taken@example.com",)]


def test_answers_of_5000_characters_are_stored_and_longer_ones_return_413(shop):
    assert shop.apply(audience="\u8336" * 5000, whyInterested="\u8336" * 5000).status_code == 303
    too_long = shop.apply(email="eve@example.com", audience="x" * 300_000)
    far_too_long = shop.send({"email": "eve@example.com", "audience": "x" * 900_000})

    assert (too_long.status_code, far_too_long.status_code) == (413, 413)
    assert "Your answers are too long" in too_long.text
    assert far_too_long.mimetype == "text/html"
    assert _affiliates(shop) == [("ada@example.com",)]


@pytest.mark.parametrize("headers", _FOREIGN, ids=str)
def test_form_of_another_site_is_refused(shop, headers):
    answer = shop.send({"email": "ada@example.com"}, proof=headers)

    assert (answer.status_code, answer.mimetype) == (403, "text/html")
    assert _affiliates(shop) == []


def test_full_program_shows_a_message(shop):
    shop.brand.set(affiliateLimit="0")

    answer = shop.apply(fullName="Ada")

    assert answer.status_code == 409
    assert "accepts no more affiliates at the moment" in answer.text
    assert 'value="Ada"' in answer.text


def test_rate_limited_applicant_keeps_the_form(shop, monkeypatch):
    per_min = {**settings.current().web.limits_per_min, "apply": 5}
    monkeypatch.setitem(shop.brand.app.extensions, "limiter", limits.Limiter(os.environ["REDIS_URL"], per_min))

    answers = [shop.apply(email=f"ada{number}@example.com", fullName="Ada") for number in range(6)]

    assert [answer.status_code for answer in answers] == [303] * 5 + [429]
    assert "Please wait a minute" in answers[-1].text
    assert 'value="Ada"' in answers[-1].text
    assert len(_affiliates(shop)) == 5


def test_form_applies_to_its_own_campaign_only(shop, rival):
    rivals_program = rival.program(slug="theirs")

    shop.apply(program_id=str(rivals_program), programId=str(rivals_program), organizationId=str(rival.id))

    assert _affiliates(shop) == [("ada@example.com",)]
    assert rival.rows("select count(*) from affiliate") == [(0,)]
