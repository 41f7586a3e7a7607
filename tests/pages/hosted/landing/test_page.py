"""The landing page of a campaign, through HTTP.

Source: core spec, "Program" (isPubliclyDiscoverable); tracking spec, "Public storefront" and its program.
"""

import re

from models import db

_CLOSING_CHANGES = ("is_active = false", "archived_at = now()", "suspended_at = now()")


def _set_columns(shop, assignment, *values):
    shop.brand.rows(f"update program set {assignment} where slug = 'tea' returning id", *values)


def test_landing_page_shows_commission_and_brand(shop):
    shop.set(description="We make tea.")
    _set_columns(shop, "recurring_months = 12, terms_url = 'https://acme.example/terms'")

    answer = shop.open()

    assert (answer.status_code, answer.content_type) == (200, "text/html; charset=utf-8")
    for text in (
        '<h1 itemprop="name">Tea</h1>',
        "20 % of each payment in a customer&#39;s first 12 months.",
        "30-day cookie, last click wins.",
        "Sell our tea.",
        "We make tea.",
        'href="https://acme.example/terms"',
        "Send application",
    ):
        assert text in answer.text, text
    assert '<h1 itemprop="name">Tea</h1>' in shop.open(f"/p/{shop.handle.upper()}/").text
    assert str(shop.brand.id) not in answer.text


def test_page_loads_nothing_external_and_runs_no_script(shop):
    shop.set(primary_brand_color="#b3541e")
    answer = shop.open()

    policy = dict(part.split(" ", 1) for part in answer.headers["Content-Security-Policy"].split("; "))
    assert policy == {
        "default-src": "'none'",
        "style-src": "'self'",
        "img-src": "'self'",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
    }
    assert (answer.headers["Cache-Control"], answer.headers["Referrer-Policy"]) == ("no-store", "no-referrer")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "Cookie" in answer.headers["Vary"]
    assert "Set-Cookie" not in answer.headers
    assert not re.search(r"<script|<style|\sstyle=|\son[a-z]+=", answer.text)
    paths = re.findall(r'<(?:img[^>]* src|link rel="(?:icon|stylesheet)" href)="([^"]+)"', answer.text)
    assert len(paths) == 2
    for path in paths:
        file = shop.open(path)
        assert (path[0], file.status_code) == ("/", 200)
        assert "immutable" in file.headers["Cache-Control"]


def test_inline_style_contains_only_the_colour(shop):
    shop.set(primary_brand_color="#fff000")
    (path,) = re.findall(r'rel="stylesheet" href="([^"]+)"', shop.open().text)

    sheet = shop.open(path)

    assert path.endswith("/fff000.css")
    assert (sheet.status_code, sheet.content_type) == (200, "text/css; charset=utf-8")
    assert "--on-accent: light-dark(#ffffff, #000000)" in sheet.text  # yellow on white was made darker
    for other in ("FFF000", "fff", "fff0000", "../app", "%00", "plain2"):
        assert shop.open(f"{path.rpartition('/')[0]}/{other}.css").status_code == 404
    assert shop.open("/landing/another/fff000.css").status_code == 404


def test_texts_of_the_brand_are_escaped(shop):
    hostile_text = "</p><script>alert(1)</script>\"'&{{ 7*7 }}"
    sections = [{"title": hostile_text, "text": f"{hostile_text}\n\nMore."}, {"title": "Second", "text": "Words"}]
    answer = shop.update_page(headline=hostile_text, intro=hostile_text, sections=sections, accentColor="#B3541E")
    shop.set(name=hostile_text, description=hostile_text)

    page = shop.open().text

    assert answer.status_code == 200
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "{{ 7*7 }}" in page
    assert page.index("More.") < page.index("Second")
    assert "About the program" in page
    assert "Sell our tea." in page
    assert "/b3541e.css" in page


def test_terms_are_hidden_when_configured(shop):
    assert ">Terms<" in shop.open().text
    shop.update_page(showTerms=False)

    assert ">Terms<" not in shop.open().text
    assert "20 % of each payment." in shop.open().text


def test_page_has_metadata_for_sharing_and_search(shop):
    shop.update_page(headline="Recommend our tea", intro="It is good.")
    address = f"http://127.0.0.1:8000{shop.path}"

    answer = shop.open()
    page = answer.text

    assert f'<link rel="canonical" href="{address}">' in page
    metadata = dict(re.findall(r'<meta property="og:([a-z_]+)" content="([^"]*)">', page))
    assert metadata == {
        "type": "website",
        "site_name": "Acme",
        "title": "Recommend our tea",
        "description": "It is good.",
        "url": address,
    }
    assert '<meta name="description" content="It is good.">' in page
    assert 'itemtype="https://schema.org/WebPage"' in page
    assert 'itemtype="https://schema.org/Organization"' in page
    assert "noindex" not in page
    assert "X-Robots-Tag" not in answer.headers


def test_undiscoverable_page_is_noindex(shop):
    _set_columns(shop, "is_publicly_discoverable = false")

    answer = shop.open()

    assert answer.status_code == 200
    assert '<meta name="robots" content="noindex">' in answer.text
    assert answer.headers["X-Robots-Tag"] == "noindex"
    assert 'rel="canonical"' not in answer.text


def test_former_slug_redirects_with_its_query(shop):
    shop.brand.call("PATCH", f"/api/v1/programs/{shop.brand.programs[0]}", {"slug": "green-tea"})

    answer = shop.open(f"/p/{shop.handle}/TEA?recruited_by=ann&x=1%262")
    post_answer = shop.send({"email": "ada@example.com"})

    assert (answer.status_code, answer.headers["Location"]) == (
        301,
        f"/p/{shop.handle}/green-tea?recruited_by=ann&x=1%262",
    )
    assert (post_answer.status_code, post_answer.headers["Location"]) == (308, f"/p/{shop.handle}/green-tea")


def test_unknown_and_closed_pages_return_the_same_404(shop):
    unknown = shop.open("/p/nobody-has-this/tea")
    answers = [unknown, shop.open(f"/p/{shop.handle}/coffee"), shop.open("/p/%00"), shop.open(f"/p/{'x' * 3000}")]
    for assignment in _CLOSING_CHANGES:
        with db.unit_of_work(shop.brand.id):
            db.db.stage(f"update program set {assignment}")
        answers += [shop.open(), shop.open(f"/p/{shop.handle}"), shop.send({"email": "ada@example.com"})]
        with db.unit_of_work(shop.brand.id):
            db.db.stage("update program set is_active = true, archived_at = null, suspended_at = null")

    assert {(answer.status_code, answer.text) for answer in answers} == {(404, unknown.text)}
    assert '<meta name="robots" content="noindex">' in unknown.text
    assert "Acme" not in unknown.text
    assert "data:" not in unknown.text  # its policy would block an inline icon
    assert shop.open().status_code == 200


def test_campaign_of_another_brand_returns_404_under_this_handle(shop, rival):
    rival.program(slug="theirs")

    assert shop.open(f"/p/{shop.handle}/theirs").status_code == 404
