"""API keys on the dashboard: shown once, revoked on a page of their own, and only after a fresh login."""

import re

import pytest

from models import db

_HERE = "/dashboard/api-keys"


def _secrets(text):
    return re.findall(r'value="(ff(?:_live|_test|sec)_[^"]+)"', text)


@pytest.fixture
def admin(people):
    return people("Admin")


def test_new_key_is_shown_once(admin, brand):
    answer = admin.send(_HERE, {"name": "Shop <1>", "scope": "read_write", "isTest": "on", "_key": "one"})
    key, secret = _secrets(answer.text)

    assert (answer.status_code, key[:8], secret[:6]) == (200, "ff_test_", "ffsec_")
    html = admin.open(_HERE).text
    assert _secrets(html) == []
    assert "Shop &lt;1&gt;" in html
    assert f"ff_test_…{key[-4:]}" in html
    assert "Read and write" in html
    assert brand.rows("select count(*) from api_key where name = 'Shop <1>'") == [(1,)]


def test_double_submit_creates_one_key(admin, brand):
    for _ in range(2):
        admin.send(_HERE, {"name": "Twice", "scope": "read", "_key": "twice"})

    assert brand.rows("select count(*) from api_key where name = 'Twice'") == [(1,)]


def test_error_is_shown_at_its_field_with_the_typed_values(admin):
    answer = admin.send(_HERE, {"name": "x" * 101, "scope": "read_write"})

    assert answer.status_code == 400
    assert 'role="alert"' in answer.text
    assert f'value="{"x" * 101}"' in answer.text
    assert '<option value="read_write" selected>' in answer.text


def test_key_is_rotated_and_revoked_on_its_own_page(admin, brand):
    (key_id,) = brand.rows("select id from api_key order by created_at limit 1")[0]
    page = f"{_HERE}/{key_id}"
    assert admin.open(page).status_code == 200

    assert len(_secrets(admin.send(f"{page}/rotate").text)) == 2
    assert "Revoked" in admin.open(page).text
    (new_id,) = brand.rows("select id from api_key where revoked_at is null")[0]
    answer = admin.send(f"{_HERE}/{new_id}/revoke")
    assert (answer.status_code, answer.headers["Location"]) == (303, _HERE)
    assert brand.rows("select count(*) from api_key where revoked_at is null") == [(0,)]
    assert admin.send(f"{_HERE}/{new_id}/revoke").status_code == 404


def test_old_login_signs_in_again_and_keeps_the_form(admin, links, brand):
    with db.any_org_work():
        db.db.run("update web_session set signed_in_at = now() - interval '2 hours' where email = 'admin@example.com'")
    answer = admin.send(_HERE, {"name": "Late", "scope": "read_write"})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/sign-in?next=%2Fdashboard%2Fapi-keys")

    assert admin.open(links("owner", "--role", "Admin")).headers["Location"] == _HERE
    html = admin.open(_HERE).text
    assert 'value="Late"' in html
    assert '<option value="read_write" selected>' in html
    assert brand.rows("select count(*) from api_key where name = 'Late'") == [(0,)]


def test_revocation_with_an_old_login_returns_to_the_page_of_that_key(admin, brand):
    (key_id,) = brand.rows("select id from api_key limit 1")[0]
    with db.any_org_work():
        db.db.run("update web_session set signed_in_at = now() - interval '2 hours' where email = 'admin@example.com'")
    page = f"{_HERE}/{key_id}"

    assert f'name="_page" value="{page}"' in admin.open(page).text
    answer = admin.send(f"{page}/revoke", {"_page": page})
    assert answer.headers["Location"] == f"/sign-in?next=%2Fdashboard%2Fapi-keys%2F{key_id}"
    assert brand.rows("select revoked_at from api_key where id = %s", key_id) == [(None,)]


@pytest.mark.parametrize("role", ["Manager", "Viewer"])
def test_other_roles_see_no_keys(people, role):
    visitor = people(role)

    assert visitor.open(_HERE).status_code == 403
    assert f'href="{_HERE}"' not in visitor.open("/dashboard").text


def test_unknown_key_returns_404(admin, rival):
    (rivals_key,) = rival.rows("select id from api_key limit 1")[0]

    for key_id in (rivals_key, "x", "01890000-0000-7000-8000-000000000000"):
        assert admin.open(f"{_HERE}/{key_id}").status_code == 404
        assert admin.send(f"{_HERE}/{key_id}/revoke").status_code == 404
    assert rival.rows("select revoked_at from api_key where id = %s", rivals_key) == [(None,)]
