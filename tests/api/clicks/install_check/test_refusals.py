"""Install checks of unreadable pages, with invalid bodies, and by unauthorized callers."""

import time
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from adapters.safe_http import pages
from tests.support.outside.brand_site import SitePage
from tests.support.rows.link_visits import create_limiter
from tests.support.settings_overrides import override_settings


def _refusal(answer):
    return answer.status_code, answer.json["error"], answer.json.get("field")


def _is_nothing_stored(brand):
    return brand.rows("select count(*) from install_check") == [(0,)]


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        "https://shop.test/",
        {},
        {"url": None},
        {"url": 17},
        {"url": ["https://shop.test/"]},
        {"url": ""},
        {"url": "https://shop.test/\0"},
        {"url": "https://shop.test/" + "x" * 2048},
    ],
    ids=repr,
)
def test_malformed_body_returns_problem_details(brand, address, body):
    answer = brand.post(address, body)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("shop.test", "invalid_url"),
        ("https://", "invalid_url"),
        ("https://exämple.test/", "invalid_url"),
        ("https://shop.test:99999/", "invalid_url"),
        ("https://shop.test/a b", "invalid_url"),
        ("javascript:alert(1)", "invalid_url"),
        ("file:///etc/passwd", "https_required"),
        ("http://shop.test/", "https_required"),
        ("https://ada:pw@shop.test/", "url_not_allowed"),
    ],
)
def test_invalid_url_is_refused_at_its_field(brand, address, url, code):
    assert _refusal(brand.post(address, {"url": url})) == (400, code, "url")
    assert _is_nothing_stored(brand)


@pytest.mark.parametrize(
    "url", ["https://127.0.0.1/", "https://10.0.0.7/", "https://169.254.169.254/latest/", "https://[::1]/"]
)
def test_private_address_is_not_requested(brand, address, url, monkeypatch):
    override_settings(monkeypatch, webhooks={"allow_private": False})

    assert _refusal(brand.post(address, {"url": url})) == (400, "url_not_allowed", "url")


def test_redirect_target_is_vetted_like_the_first_url(brand, address, site):
    for to, code in (("http://shop.test/", "https_required"), ("https://ada:pw@shop.test/", "url_not_allowed")):
        assert _refusal(brand.post(address, {"url": site.move("/", to)})) == (400, code, "url")


def test_redirects_are_followed_to_the_final_page(brand, address, site, tag):
    site.show(tag, path="/shop/en")
    site.move("/shop", "en?x=1#top", 308)
    site.move("/moved", f"{site.url}/shop/", 301)
    site.pages["/shop/"] = SitePage(status=307, headers={"Location": "/shop/en?x=1"})

    check = brand.post(address, {"url": f"{site.url}/moved"}).json["check"]

    assert (check["finding"], check["pageUrl"]) == ("Newest", f"{site.url}/shop/en")
    assert site.requested_paths == ["/moved", "/shop/", "/shop/en?x=1"]


def test_endless_redirects_are_stopped(brand, address, site):
    assert _refusal(brand.post(address, {"url": site.move("/", "/")})) == (422, "page_not_read", "url")
    assert len(site.requested_paths) == 6


def _send_slowly(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 900\r\n\r\n")
    for _ in range(60):
        handler.wfile.write(b"<p>")
        handler.wfile.flush()
        time.sleep(0.05)


def _send_raw(raw):
    return lambda handler: handler.wfile.write(raw)


@pytest.mark.parametrize(
    "page",
    [
        SitePage("Gone.", 404),
        SitePage("Oops.", 500),
        SitePage("", 204),
        SitePage("", 302),
        SitePage("", 302, {"Location": "http://["}),
        SitePage("{}", headers={"Content-Type": "application/json"}),
        SitePage("\x1f\x8b", headers={"Content-Type": "text/html", "Content-Encoding": "gzip"}),
        SitePage(handler=_send_raw(b"")),
        SitePage(handler=_send_raw(b"SSH-2.0-OpenSSH\r\n")),
        SitePage(handler=_send_raw(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n<p>")),
        SitePage(handler=_send_slowly),
    ],
    ids=["404", "500", "204", "nowhere", "no address", "json", "gzip", "silent", "ssh", "cut short", "dripping"],
)
def test_unreadable_page_is_reported_and_nothing_is_stored(brand, address, site, page, monkeypatch):
    monkeypatch.setattr(pages, "_TIME_LIMIT_S", 1.0)
    site.pages["/"] = page

    answer = brand.post(address, {"url": site.url})

    assert _refusal(answer) == (422, "page_not_read", "url"), answer.text
    assert answer.json["message"].endswith(".")
    assert _is_nothing_stored(brand)


def test_unknown_host_is_reported(brand, address):
    answer = brand.post(address, {"url": "https://nobody.invalid/"})

    assert _refusal(answer) == (422, "page_not_read", "url")


def test_only_the_beginning_of_a_huge_page_is_read(brand, address, site, tag):
    early_url = site.show(tag + "x" * (3 * pages.MAX_READ_BYTES))
    late_url = site.show("x" * pages.MAX_READ_BYTES + tag, path="/late")

    check = brand.post(address, {"url": early_url}).json["check"]

    assert (check["finding"], check["pageBytes"]) == ("Newest", pages.MAX_READ_BYTES)
    assert brand.post(address, {"url": late_url}).json["check"]["finding"] == "NoTag"


@pytest.mark.parametrize("text", ["<a ", "<a b='", "<![", "<!--", "</", "<script><", "&#", "<a/", "<a\n", "\0"])
def test_pathological_html_is_parsed_in_time(brand, address, site, text):
    url = site.show(text * (pages.MAX_READ_BYTES // len(text)))

    assert brand.post(address, {"url": url}).json["check"]["finding"] == "NoTag"


def test_concurrent_checks_are_limited(brand, address, site, tag):
    url = site.show(tag)
    with pages._fetch_slot(), pages._fetch_slot():
        assert _refusal(brand.post(address, {"url": url})) == (503, "page_check_busy", "url")
    assert site.requested_paths == []

    assert brand.post(address, {"url": url}).status_code == 200


def test_checks_have_their_own_rate_limit(brand, address, site, monkeypatch):
    monkeypatch.setitem(brand.app.extensions, "limiter", create_limiter(page_check=1))
    url = site.show("")

    assert brand.post(address, {"url": url}).status_code == 200
    assert brand.post(address, {"url": url}).status_code == 429
    assert brand.get(address).status_code == 200


def test_repeated_idempotency_key_checks_once(brand, address, site, tag):
    url = site.show(tag)
    key = {"Idempotency_Key": uuid4().hex}

    first = brand.post(address, {"url": url}, **key)
    again = brand.post(address, {"url": url}, **key)

    assert (again.json, again.headers["Idempotency-Replayed"]) == (first.json, "true")
    assert site.requested_paths == ["/"]


@pytest.mark.parametrize("program_id", ["17", "0192f0c1-0000-7000-8000-000000000001", "%00", "x" * 300])
def test_missing_program_is_reported_before_invalid_body(brand, program_id):
    address = f"/api/v1/programs/{program_id}/install-check"

    assert _refusal(brand.post(address, {"url": 17}))[:2] == (404, "not_found")
    assert _refusal(brand.get(address))[:2] == (404, "not_found")


def test_other_tenants_program_returns_404(brand, rival, site):
    address = f"/api/v1/programs/{rival.program()}/install-check"

    assert _refusal(brand.post(address, {"url": site.url}))[:2] == (404, "not_found")
    assert brand.get(address).status_code == 404
    assert site.requested_paths == []


def test_archived_program_can_be_checked(brand, site):
    program = brand.program(archived_at=datetime.now(UTC))

    assert brand.post(f"/api/v1/programs/{program}/install-check", {"url": site.show("")}).status_code == 200


def test_reader_sees_lights_but_cannot_check(brand, address, site):
    for caller in (brand.other_key(scope="read"), brand.person("Viewer")):
        assert caller.get(address).status_code == 200
        assert caller.post(address, {"url": site.url}).status_code == 403
    assert site.requested_paths == []
