"""One-time sign-in links. Source: the pages' interface, "Signing in and out"."""

import pytest

from models import db
from tests.support.api.concurrency import run_concurrently
from tests.support.outside.visitor import Visitor
from tests.support.settings_overrides import override_settings

_HOMES = {
    "owner": ("/dashboard", "Overview"),
    "affiliate": ("/portal", "Home"),
    "operator": ("/console", "Now"),
}
# An affiliate of this test alone: the portal shows an affiliate's data at all brands.
_ARGUMENTS = {"owner": (), "affiliate": ("--email", "ben-of-the-links@example.com"), "operator": ()}


@pytest.mark.parametrize("who", _HOMES)
def test_link_signs_in_once_and_opens_the_start_page(visitor, links, who):
    home, heading = _HOMES[who]
    url = links(who, *_ARGUMENTS[who])

    first = visitor.open(url)
    assert (first.status_code, first.headers["Location"]) == (303, home)
    assert f"<h1>{heading}</h1>" in visitor.open(home).text

    other = Visitor(visitor.client.application)
    again = other.open(url)
    assert (again.status_code, again.headers.getlist("Set-Cookie")) == (410, [])
    assert other.open(home).status_code == 303


def test_same_browser_cannot_use_a_link_twice_and_stays_signed_in(visitor, links):
    url = links("owner")
    visitor.open(url)

    assert visitor.open(url).status_code == 410
    assert visitor.open("/dashboard").status_code == 200


@pytest.mark.parametrize("token", ["x", "%00", "é" * 300, "a" * 5000])
def test_unknown_link_is_refused(visitor, token):
    answer = visitor.open(f"/sign-in/link/{token}")

    assert (answer.status_code, answer.headers.getlist("Set-Cookie")) == (410, [])
    assert "<h1>This link has expired</h1>" in answer.text


def test_expired_link_is_refused(visitor, links):
    url = links("owner", "--email", "late@example.com")
    with db.any_org_work():
        db.db.run("update sign_in_link set expires_at = now() where email = 'late@example.com'")

    assert visitor.open(url).status_code == 410


def test_prefetch_does_not_use_up_a_link(visitor, links):
    url = links("owner")
    path = "/" + url.split("/", 3)[3]

    assert visitor.client.head(path).headers.getlist("Set-Cookie") == []
    for header in ("Sec-Purpose", "Purpose"):
        prefetched = visitor.client.get(path, headers={header: "prefetch;prerender"})
        assert (prefetched.status_code, prefetched.headers.getlist("Set-Cookie")) == (503, [])
    assert visitor.open(url).status_code == 303


def test_concurrent_uses_of_a_link_sign_in_once(app, links):
    url = links("owner")

    answers = run_concurrently(*[lambda: Visitor(app).open(url)] * 4)

    assert sorted(answer.status_code for answer in answers) == [303, 410, 410, 410]


@pytest.mark.parametrize(
    ("next_page", "redirected_to"),
    [
        ("/dashboard?status=Pending", "/dashboard?status=Pending"),
        ("//evil.test", "/dashboard"),
        ("/dashboard//evil.test", "/dashboard"),
        ("https://evil.test/dashboard", "/dashboard"),
        ("/\\evil.test", "/dashboard"),
        ("/dashboard/..//evil.test", "/dashboard"),
        ("/r/somewhere", "/dashboard"),
        ("/dashboardx", "/dashboard"),
        ("/dashboard\r\nX: y", "/dashboard"),
        ("", "/dashboard"),
    ],
)
def test_foreign_next_page_is_ignored(visitor, links, next_page, redirected_to):
    path = "/" + links("owner").split("/", 3)[3]
    answer = visitor.client.get(path, query_string={"next": next_page})

    assert (answer.status_code, answer.headers["Location"]) == (303, redirected_to)


def test_link_shows_its_expiry_and_person(flask, brand):
    link = flask.json("sign-in", "owner", "--org", brand.id, "--ttl-s", 60)

    assert set(link) == {"url", "expiresAt"}
    assert link["url"].startswith("http://127.0.0.1:8000/sign-in/link/")
    assert flask("sign-in", "owner", "--org", "0190b4e2-0000-7000-8000-000000000000")[0] == 1
    assert flask("sign-in", "affiliate", "--email", "nobody")[0] == 1


@pytest.mark.parametrize(
    ("url", "default_email"),
    [
        ("http://127.0.0.1:8000", "operator@example.com"),
        ("http://localhost:8000", "operator@example.com"),
        ("http://[::1]:8000", "operator@example.com"),
        ("https://partners.example.com", None),
        ("https://203.0.113.9", None),
    ],
)
def test_operator_link_needs_an_email_at_a_public_address(flask, app, monkeypatch, url, default_email):
    override_settings(monkeypatch, web={"public_base_url": url})
    with db.any_org_work():
        db.db.run("delete from sign_in_link where kind = 'operator' returning 1")
    code, output = flask("sign-in", "operator")
    nora_url = flask.json("sign-in", "operator", "--email", " Nora@Ops.Example ")["url"]
    with db.any_org_work():
        stored_emails = db.db.run(
            "select email from sign_in_link where kind = 'operator' order by expires_at desc limit 2"
        )

    assert code == (0 if default_email else 2)
    assert default_email or "--email YOU@EXAMPLE.COM" in output
    assert stored_emails[0] == ("nora@ops.example",)
    assert default_email is None or stored_emails[1] == (default_email,)
    assert nora_url.startswith(url)
    assert flask("sign-in", "operator", "--email", "nora")[0] == 1


def test_only_the_hash_of_a_link_is_stored(links):
    token = links("operator").rpartition("/")[2]
    with db.any_org_work():
        rows = db.db.run("select l::text from sign_in_link l")

    assert rows
    assert not any(token in row for (row,) in rows)
