"""The pages of the documentation, and the visitors to whom they show the demo's key. Source: core spec, section 9."""

import gzip
import html
import json
import re
import time
from pathlib import Path

import pytest

from api.description import guide
from api.service import description
from pages import documents
from pages.docs import documentation
from schemas import refusals
from tests.support.settings_overrides import override_settings

DEMO = {"apiKey": "ff_live_the-key-of-the-demo", "programId": "11111111-2222-4333-8444-555555555555"}
_MAX_BYTES = 60_000
_GZIP = {"Accept-Encoding": "gzip"}


@pytest.fixture(scope="module")
def sections(app):
    with app.test_request_context():
        return description.describe(app).sections


@pytest.fixture(scope="module")
def addresses(app, sections):
    """The address of every page."""
    names = [*guide.CHAPTERS, "events", "errors", *(section.tag for section in sections)]
    return ["/docs", *(f"/docs/{name}" for name in names)]


@pytest.fixture
def demo(app, tmp_path, monkeypatch):
    """A client of a service started by `make run`: embedded servers, and a demo in the data folder."""
    (tmp_path / "demo.json").write_text(json.dumps(DEMO))
    override_settings(monkeypatch, servers={"database_url": None, "data_dir": tmp_path})
    return app.test_client()


def _get_docs(client, **environ):
    return client.get("/docs/programs", base_url=environ.pop("base_url", "http://127.0.0.1:8000"), **environ)


def test_local_visitor_gets_commands_with_the_demo_key(demo):
    page = _get_docs(demo)

    assert f"Authorization: Bearer {DEMO['apiKey']}" in html.unescape(page.text)
    assert f"/api/v1/programs/{DEMO['programId']}" in page.text
    assert page.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    "request_",
    [
        {"environ_base": {"REMOTE_ADDR": "203.0.113.7"}},
        {"base_url": "http://acme.example"},
        {"base_url": "http://127.0.0.1.acme.example"},
        {"headers": {"X-Forwarded-For": "203.0.113.7"}},
        {"headers": {"Forwarded": "for=203.0.113.7"}},
        {"headers": {"Origin": "https://partners.acme.example"}},
    ],
)
def test_remote_visitor_does_not_get_the_demo_key(demo, request_):
    page = _get_docs(demo, **request_)

    assert page.status_code == 200
    assert DEMO["apiKey"] not in page.text
    assert "Bearer $KEY" in html.unescape(page.text)


def test_installation_with_external_servers_shows_no_key(app, tmp_path, monkeypatch):
    (tmp_path / "demo.json").write_text(json.dumps(DEMO))
    override_settings(monkeypatch, servers={"database_url": "postgresql://db", "data_dir": tmp_path})

    assert DEMO["apiKey"] not in _get_docs(app.test_client()).text


def test_docs_cannot_be_read_from_other_origins(app):
    for address in ("/docs", "/docs/programs", "/docs/errors"):
        answer = app.test_client().get(address, headers={"Origin": "https://evil.example"})

        assert "Access-Control-Allow-Origin" not in answer.headers


def test_content_security_policy_allows_own_files_and_requests_only(app):
    answer = app.test_client().get("/docs/programs")
    policy = dict(part.split(" ", 1) for part in answer.headers["Content-Security-Policy"].split("; "))

    assert policy == {
        "default-src": "'none'",
        "style-src": "'self'",
        "script-src": "'self'",
        "img-src": "'self'",
        "connect-src": "'self'",
        "form-action": "'none'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
    }
    assert not re.search(r"\bstyle=|<style|<script(?! src=)|\bon[a-z]+=\"", answer.text)


def test_every_page_is_small_and_cacheable(app, addresses):
    client = app.test_client()
    for address in addresses:
        answer = client.get(address, headers=_GZIP)
        again = client.get(address, headers=_GZIP | {"If-None-Match": answer.headers["ETag"]})

        assert answer.headers["Content-Encoding"] == "gzip", address
        assert len(answer.data) <= _MAX_BYTES, address
        assert answer.headers["Cache-Control"] == "public, max-age=300", address
        assert "Accept-Encoding" in answer.headers["Vary"], address
        assert (again.status_code, again.data) == (304, b""), address
        assert client.get(address).data == gzip.decompress(answer.data), address


@pytest.mark.parametrize("address", ["/api/openapi.json", "/llms/api.txt"])
def test_documents_for_programs_are_stored_compressed(app, address):
    client = app.test_client()
    answer = client.get(address, headers=_GZIP)

    assert answer.headers["Content-Encoding"] == "gzip"
    assert client.get(address, headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304


def test_page_is_rendered_at_its_first_request_only(app):
    client = app.test_client()
    documentation._store_page.cache_clear()
    started = time.thread_time()
    client.get("/docs/programs", headers=_GZIP)
    first = time.thread_time() - started
    misses = documentation._store_page.cache_info().misses
    started = time.thread_time()
    for _ in range(10):
        client.get("/docs/programs", headers=_GZIP)
    others = time.thread_time() - started

    assert documentation._store_page.cache_info().misses == misses
    assert others / 10 < first


def test_every_operation_is_on_the_page_of_its_group_and_in_the_index(app, sections):
    client = app.test_client()
    index = client.get("/docs").text
    for section in sections:
        page = client.get(f"/docs/{section.tag}").text
        for entry in section.entries:
            article = page.partition(f'<article class="card" id="{entry.id}"')[2].partition("</article>")[0]

            assert f"{entry.method}</strong> {entry.path}" in article, entry.id
            assert "Who may call it:" in article, entry.id
            for label in ("curl", "Python", "JavaScript"):
                assert f">{label}</label>" in article, entry.id
            assert f'id="{entry.id}" data-moved' in index, entry.id
            assert f'href="/docs/{section.tag}#{entry.id}"' in index, entry.id


def test_backticks_are_rendered_as_code(app, addresses):
    client = app.test_client()
    for address in addresses:
        text = re.sub(r"<pre.*?</pre>|<[^>]*>", "", client.get(address).text, flags=re.DOTALL)

        assert "`" not in html.unescape(text), address


def test_every_link_within_the_documentation_leads_to_an_anchor(app, addresses):
    client = app.test_client()
    pages = {address: client.get(address).text for address in addresses}
    anchors = {address: set(re.findall(r'\bid="([^"]+)"', page)) for address, page in pages.items()}
    for address, page in pages.items():
        ids = re.findall(r'\bid="([^"]+)"', page)
        assert len(ids) == len(set(ids)), address
        for link in re.findall(r'href="((?:/docs|#)[^"]*)"', page):
            target, _, anchor = html.unescape(link).partition("#")
            if "{gateway}" in anchor:
                continue
            assert (target or address) in pages, (address, link)
            assert not anchor or anchor in anchors[target or address], (address, link)


def test_every_link_of_a_screen_leads_to_its_place_in_a_chapter(app):
    templates = Path(documents.__file__).with_name("templates")
    links = {
        link
        for path in templates.rglob("*.html")
        if path.parent.name != "docs"
        for link in re.findall(r'href="(/docs[^"{]*)"', path.read_text())
    }
    client = app.test_client()

    assert "/docs/sales#recordSale" in links
    for link in links:
        page, _, anchor = link.partition("#")
        answer = client.get(page)
        assert answer.status_code == 200, link
        # The index only forwards the anchors of the former single page, and only with a script.
        assert not anchor or re.search(rf' id="{re.escape(anchor)}"(?! data-moved)', answer.text), link


@pytest.mark.parametrize(
    ("former", "address"),
    [
        ("createProgram", "/docs/programs#createProgram"),
        ("programs", "/docs/programs"),
        ("keys", "/docs/authentication"),
        ("signing", "/docs/signed-sales"),
        ("webhook-events", "/docs/receiving-webhooks"),
        ("event-types", "/docs/events"),
        ("event-conversion.created", "/docs/events#event-conversion.created"),
        ("limits", "/docs/rate-limits"),
    ],
)
def test_anchor_of_the_former_single_page_is_a_link_in_the_index(app, former, address):
    index = app.test_client().get("/docs").text

    assert re.search(rf'id="{re.escape(former)}" data-moved[^>]*><a href="{re.escape(address)}"', index)


def test_unknown_chapter_returns_404(app):
    answer = app.test_client().get("/docs/no-such-chapter")

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")


def test_every_error_code_has_its_paragraph(app):
    client = app.test_client()
    document, page = client.get("/api/openapi.json").json, client.get("/docs/errors").text
    statuses = {
        (code, status)
        for methods in document["paths"].values()
        for operation in methods.values()
        for status, answer in operation["responses"].items()
        for code in answer.get("x-codes", [])
    }
    for code in refusals.sentences():
        anchor = code.replace("{gateway}", "stripe")
        paragraph = page.partition(f'id="{anchor}"')[2].partition("</section>")[0]

        assert all(status in paragraph for declared, status in statuses if declared == code), code
        for part in (str(guide.render_inline(refusals.sentences()[code])), "What to do:", "Where it occurs:"):
            assert part in paragraph, code
        assert str(guide.render_inline(refusals.remedies()[code])) in paragraph, code


def test_send_is_offered_for_reads_and_test_records_only(app, sections):
    client = app.test_client()
    offered = {
        match
        for section in sections
        for match in re.findall(r'id="([^"]+)" data-send=', client.get(f"/docs/{section.tag}").text)
    }
    by_id = {entry.id: entry for section in sections for entry in section.entries}

    assert offered >= {"listPrograms", "getConversion", "createConversion"}
    assert {by_id[id].callers for id in offered} == {"brand"}
    assert {id for id in offered if by_id[id].method != "GET"} == {
        "createAffiliate",
        "createConversion",
        "previewAffiliateImport",
        "previewConversionImport",
        "previewPayouts",
    }
