"""Embed tokens on the dashboard: created by hand to try an embed, listed, revoked."""

import html
import re

import pytest

_HERE = "/dashboard/embed"
_FORM = {"allowedOrigins": "https://app.acme.example\nhttp://localhost:3000", "expiresInHours": "24", "_key": "one"}


@pytest.fixture
def manager(people):
    return people("Manager")


@pytest.fixture
def page(brand):
    """Return the address of the embed form of an affiliate."""
    brand.program()
    return f"/dashboard/affiliates/{brand.affiliate('ben', full_name='Ben <1>')}/embed"


def test_new_token_is_shown_with_a_snippet_to_copy(manager, brand, page):
    assert "Get embed code" in manager.open(page).text

    answer = manager.send(page, _FORM)
    text = html.unescape(answer.text)
    (address,) = set(re.findall(r'data-finderfee-embed="([^"]+)"', text))
    (token,) = set(re.findall(r"ff_emb_[\w-]{64}", text))

    assert answer.status_code == 200
    assert f'<div data-finderfee-embed="{address}"\n     data-token="{token}"></div>' in text
    assert '<script async src="http://127.0.0.1:8000/embed.js"></script>' in text
    assert brand.rows("select allowed_origins from embed_token") == [
        (["https://app.acme.example", "http://localhost:3000"],)
    ]


def test_tokens_are_listed_and_revoked(manager, brand, page):
    assert "No tokens yet" in manager.open(_HERE).text
    manager.send(page, _FORM)
    (token_id,) = brand.rows("select id from embed_token")[0]

    list_html = manager.open(_HERE).text
    assert "Ben &lt;1&gt;" in list_html
    assert "https://app.acme.example" in list_html
    assert "ff_emb_" not in list_html
    assert "https://app.acme.example" in manager.open(page).text

    answer = manager.send(f"{_HERE}/{token_id}/revoke")
    assert (answer.status_code, answer.headers["Location"]) == (303, _HERE)
    assert "No tokens yet" in manager.open(_HERE).text
    assert manager.send(f"{_HERE}/{token_id}/revoke").status_code == 404


@pytest.mark.parametrize(
    ("field", "typed", "message"),
    [
        ("allowedOrigins", "https://*.acme.example", "is not an origin"),
        ("allowedOrigins", "", "at least one origin"),
        ("expiresInHours", "1000", "from 1 to 720 hours"),
        ("expiresInHours", "soon", "Not a valid integer"),
    ],
)
def test_error_is_shown_at_its_field_with_the_typed_values(manager, page, field, typed, message):
    answer = manager.send(page, _FORM | {field: typed})

    assert answer.status_code == 400
    assert message in html.unescape(answer.text)
    assert f'id="{field}-error"' in answer.text
    assert typed in answer.text


def test_paused_affiliate_has_no_token_form(manager, brand, page):
    brand.rows("update affiliate set status = 'Paused' where organization_id = %s returning id", brand.id)

    assert "Get embed code" not in manager.open(page).text
    assert manager.send(page, _FORM).status_code == 409


def test_viewer_sees_no_embed_tokens(people, page):
    viewer = people("Viewer")

    assert [viewer.open(path).status_code for path in (_HERE, page)] == [403, 403]
    assert "Embed in your site" not in viewer.open(page.removesuffix("/embed")).text
    assert viewer.send(page, _FORM).status_code == 403


def test_another_brands_affiliate_returns_404(manager, rival):
    rival.program()
    rivals_page = f"/dashboard/affiliates/{rival.affiliate('ray')}/embed"

    assert manager.open(rivals_page).status_code == 404
    assert manager.send(rivals_page, _FORM).status_code == 404
