"""Checkout doors that ask for the email address. Source: core spec, "Program" (hostedCheckoutDoorMode email)."""

import re
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from adapters.fraud import human_check
from domain.organization import colors
from tests.support.api.doors import (
    create_door_program,
    door_path,
    list_door_visits,
    submit_door_form,
    token_from_page,
    visit_door,
)
from tests.support.databases import run_as_brand
from tests.support.rows.link_visits import create_limiter, list_stream_clicks, visit

_ADA = "ada@example.org"


@pytest.fixture(autouse=True)
def _accept_fast_forms(monkeypatch):
    monkeypatch.setattr(human_check, "MIN_FILLING_S", 0)


@pytest.fixture
def slug(brand):
    return create_door_program(brand, mode="email", name="<b>Spring</b>")


def test_door_page_asks_for_the_email_with_the_purpose(brand, slug):
    run_as_brand(brand, "update organization set name = '<i>Acme</i>'")

    answer = visit_door(brand, slug)

    assert (answer.status_code, answer.content_type) == (200, "text/html; charset=utf-8")
    assert "&lt;i&gt;Acme&lt;/i&gt;" in answer.text
    assert "&lt;b&gt;Spring&lt;/b&gt;" in answer.text
    assert '<label for="email">' in answer.text
    assert 'aria-describedby="consent"' in answer.text
    assert '<html lang="en">' in answer.text
    assert re.search(r"you agree that .* stores your email address", answer.text)
    assert [click.slug for click in list_stream_clicks()] == [slug]
    assert list_door_visits(brand) == []


def test_door_page_runs_no_script_and_stores_nothing(brand, slug):
    answer = visit_door(brand, slug)

    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "frame-ancestors 'none'" in policy
    assert "<script" not in answer.text
    assert "Set-Cookie" not in answer.headers
    assert (answer.headers["Cache-Control"], answer.headers["Referrer-Policy"]) == ("no-store", "no-referrer")


@pytest.mark.parametrize("color", ["#ffff00", "#101030", "#777777", "#ff0000"])
def test_brand_colour_has_readable_text(brand, slug, color):
    run_as_brand(brand, "update organization set primary_brand_color = %s", color)

    button_style = re.search(r"button\{background:(#\w{6});color:(#\w{6})\}", visit_door(brand, slug).text)

    assert button_style is not None
    assert button_style[1] == color
    assert colors.contrast(button_style[1], button_style[2]) >= 4.5


def test_door_page_loads_only_the_brands_logo(brand, slug):
    run_as_brand(
        brand,
        "insert into stored_file (id, organization_id, kind, content_type, content, created_at)"
        " values (%s, %s, 'logo', 'image/png', 'x', now())",
        file_id := str(uuid4()),
        brand.id,
    )
    run_as_brand(brand, "update organization set logo_file_id = %s", file_id)

    answer = visit_door(brand, slug)

    (image,) = re.findall(r'<img [^>]*src="([^"]+)" alt="">', answer.text)
    assert image.endswith(f"/api/brand-files/{file_id}")
    images = f"img-src {image.removesuffix(f'/api/brand-files/{file_id}')}"
    assert images in answer.headers["Content-Security-Policy"].split("; ")


def test_email_is_remembered_by_its_inbox_and_redirected(brand, slug):
    answer = submit_door_form(brand, slug, " Ada+Shop@Example.org ")

    assert answer.status_code == 303
    target = f"https://buy.stripe.com/test_1?quantity=2&via={slug}&client_reference_id={slug}#pay"
    assert answer.headers["Location"] == target
    assert list_door_visits(brand) == [(slug, False, _ADA)]
    assert list_door_visits(brand, "expires_at - last_at = interval '30 days'") == [(True,)]


def test_known_and_unknown_buyers_get_the_same_redirect(brand, slug):
    unknown_buyer, known_buyer, robot = (
        submit_door_form(brand, slug, _ADA),
        submit_door_form(brand, slug, _ADA),
        submit_door_form(brand, slug, _ADA, website="x"),
    )

    assert (
        len(
            {
                (answer.status_code, answer.headers["Location"], answer.data)
                for answer in (unknown_buyer, known_buyer, robot)
            }
        )
        == 1
    )
    assert len(list_door_visits(brand)) == 1


def test_filled_hidden_field_is_not_remembered(brand, slug):
    submit_door_form(brand, slug, _ADA, website="https://spam.test")

    assert list_door_visits(brand) == []


@pytest.mark.parametrize("email", ["", "ada", "a@b", "a" * 500 + "@example.org", "a\x00@example.org", '"><script>'])
def test_invalid_email_shows_the_form_again(brand, slug, email):
    answer = submit_door_form(brand, slug, email)

    assert answer.status_code == 400
    assert "<title>Error: " in answer.text
    assert 'role="alert"' in answer.text
    assert 'aria-invalid="true" autofocus' in answer.text
    assert 'aria-describedby="email-wrong consent"' in answer.text
    assert "<script" not in answer.text
    assert list_door_visits(brand) == []


@pytest.mark.parametrize("token", ["", "x", "1.2.3.4", "\x00", "ü" * 500, "9" * 5000])
def test_form_without_page_token_is_shown_again(brand, slug, token):
    answer = submit_door_form(brand, slug, _ADA, token=token)

    assert answer.status_code == 400
    assert f'value="{_ADA}"' in answer.text
    assert "confirm that you are human" in answer.text
    assert list_door_visits(brand) == []


def test_form_sent_too_early_or_too_late_is_shown_again(brand, slug, monkeypatch):
    monkeypatch.setattr(human_check, "MIN_FILLING_S", 60)
    assert submit_door_form(brand, slug, _ADA).status_code == 400
    monkeypatch.setattr(human_check, "LIFETIME_S", 0)
    monkeypatch.setattr(human_check, "MIN_FILLING_S", 0)
    assert submit_door_form(brand, slug, _ADA).status_code == 400
    assert list_door_visits(brand) == []


def test_odd_bodies_are_shown_again_and_huge_ones_refused(brand, slug):
    path = door_path(brand, slug)
    odd_bodies = [{"json": {"email": _ADA}}, {"data": b"\xff\xfe"}, {"data": {"email": [_ADA, "b@example.org"]}}]

    assert [visit(brand.app, path, method="POST", **body).status_code for body in odd_bodies] == [400] * 3
    assert visit(brand.app, path, method="POST", data={"email": "x" * 100_000}).status_code == 413
    assert list_door_visits(brand) == []


def test_concurrent_double_submit_is_remembered_once(brand, slug):
    token = token_from_page(visit_door(brand, slug))
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: submit_door_form(brand, slug, _ADA, token=token).status_code, range(8)))

    assert answers == [303] * 8
    assert len(list_door_visits(brand)) == 1


def test_too_many_submissions_are_refused(brand, slug, monkeypatch):
    token = token_from_page(visit_door(brand, slug))
    monkeypatch.setitem(brand.app.extensions, "limiter", create_limiter(anonymous_tracking=2))

    assert [submit_door_form(brand, slug, _ADA, token=token).status_code for _ in range(3)] == [303, 303, 429]


def test_channel_is_kept_by_the_form(brand, slug):
    path = f"{door_path(brand, slug)}?subId=mail"
    token = token_from_page(visit(brand.app, path))

    answer = visit(brand.app, path, method="POST", data={"email": _ADA, "token": token})

    assert "&subId=mail" in answer.headers["Location"]


def test_redirect_mode_ignores_an_email(brand):
    slug = create_door_program(brand)

    assert submit_door_form(brand, slug, _ADA, token="x").status_code == 303
    assert list_door_visits(brand) == []


def test_door_works_without_a_verification_service(brand, slug, monkeypatch):
    monkeypatch.setattr(human_check, "_create_check", lambda: None)

    assert submit_door_form(brand, slug, _ADA).status_code == 303
