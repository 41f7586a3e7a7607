"""The tag of a program on the dashboard, and the four lights that show whether it works."""

import html
import re
from urllib.parse import urlencode
from uuid import uuid4

import pytest

from pages.brand.programs import install_guides
from tests.support.outside.brand_site import BrandSite
from tests.support.rows.program_rows import insert_click, insert_conversion


@pytest.fixture
def site():
    server = BrandSite()
    yield server
    server.close()


@pytest.fixture
def page_path(brand):
    return f"/dashboard/programs/{brand.program(name='Knives')}/install"


def _tag(html_text):
    return html.unescape(re.search(r'<textarea id="your-tag"[^>]*readonly>\n(.*?)</textarea>', html_text, re.DOTALL)[1])


def _lights(html_text):
    checks = re.search(r'<ol [^>]*aria-label="Checks">(.*?)</ol>', html_text, re.DOTALL)[1]
    items = [re.sub(r"<[^>]*>", " ", item) for item in re.findall(r"<li.*?</li>", checks, re.DOTALL)]
    assert all(("Seen" in item) != ("Waiting" in item) for item in items)
    return ["Seen" in item for item in items], [" ".join(item.split()) for item in items]


def test_install_page_shows_the_tag_with_the_chosen_options(brand, people, page_path):
    visitor = people("Viewer")
    with_defaults = visitor.open(page_path).text
    without_options = visitor.open(f"{page_path}?options=chosen").text

    assert _tag(with_defaults) == brand.get("/api/v1/r/install-snippet").json["snippet"]
    assert "data-email-capture" not in _tag(without_options)
    assert "checked" in re.search(r'id="option-emails"[^>]*', with_defaults)[0]
    assert "checked" not in re.search(r'id="option-emails"[^>]*', without_options)[0]


def test_tag_contains_the_pixel_or_the_page_explains_its_absence(brand, people, page_path):
    visitor = people()
    without_key = visitor.open(f"{page_path}?options=chosen&pixel=on").text
    brand.set(pixelPublicKey="px_Acme-17")
    with_key = visitor.open(f"{page_path}?options=chosen&pixel=on").text

    assert "data-pixel-org" not in _tag(without_key)
    assert "The organization has no pixel key." in without_key
    assert 'data-pixel-org="px_Acme-17"' in _tag(with_key)


def test_all_lights_wait_before_the_first_request(people, page_path):
    on, _ = _lights(people().open(page_path).text)

    assert on == [False] * 4


def test_checked_page_turns_on_two_lights(people, page_path, site):
    visitor = people("Manager")
    url = site.show(_tag(visitor.open(page_path).text))

    answer = visitor.send(f"{page_path}?options=chosen", {"url": f" {url} "})

    assert answer.status_code == 303
    assert answer.headers["Location"] == f"{page_path}?options=chosen#checks"
    html = visitor.open(page_path).text
    on, texts = _lights(html)
    assert on == [True, True, False, False]
    assert texts[0].startswith(f"The tag is on {url}")
    assert f'id="url" name="url" type="text" value="{url}"' in html


def test_page_without_the_tag_is_reported(people, page_path, site):
    visitor = people()
    visitor.send(page_path, {"url": site.show("<p>Nothing")})
    on, texts = _lights(visitor.open(page_path).text)

    assert on == [False] * 4
    assert "No tag in the HTML of" in texts[0]


def test_blocking_policy_is_reported_with_the_corrected_line(people, page_path, site):
    visitor = people()
    tag = _tag(visitor.open(page_path).text)
    visitor.send(page_path, {"url": site.show(tag, headers={"Content-Security-Policy": "script-src 'self'"})})

    text = html.unescape(visitor.open(page_path).text)

    assert "blocks the script" in text
    assert "<code>script-src 'self' http://127.0.0.1:8000</code>" in text


@pytest.mark.parametrize("url", ["", "shop", "http://shop.test/", "https://shop.test/\0", "x" * 3000])
def test_uncheckable_address_shows_the_reason(people, page_path, url):
    answer = people().send(page_path, {"url": url})

    assert answer.status_code == 400
    assert re.findall(r'<input id="([^"]+)"[^>]*aria-invalid="true"', answer.text) == ["url"]
    assert "<title>Error:" in answer.text


def test_unreachable_page_shows_an_error_at_its_field(people, page_path, site):
    answer = people().send(page_path, {"url": f"{site.url}/gone"})

    assert answer.status_code == 422
    assert "The page responded with status 404." in answer.text
    assert f'value="{site.url}/gone"' in answer.text


def test_live_lights_are_sent_only_after_a_change(brand, people, page_path):
    visitor = people("Viewer")
    address = re.search(r'hx-get="([^"]+)"', visitor.open(page_path).text)[1].replace("&amp;", "&")
    unchanged = visitor.open(address)
    ben = brand.affiliate("ben")
    insert_click(brand, ben)
    after_click = visitor.open(address)
    insert_conversion(brand, ben)
    after_sale = visitor.open(address)

    assert unchanged.status_code == 204
    assert _lights(after_click.text)[0] == [False, False, True, False]
    assert _lights(after_sale.text)[0] == [False, False, True, True]


@pytest.mark.parametrize("site", install_guides.SITES)
def test_each_guide_carries_every_attribute_of_the_tag(brand, people, page_path, site):
    brand.call("PATCH", "/api/v1/settings/attribution-params", {"custom": "pk_ref"})
    address = f"{page_path}?options=chosen&site={site}&emails=on&consent=on&gpc=on"

    text = people("Viewer").open(address).text
    code = _tag(text)

    query = "emailCapture=true&consentRequired=true&respectGpc=true"
    attributes = brand.get(f"/api/v1/r/install-snippet?{query}").json["attributes"]
    assert {
        "src",
        "data-program-id",
        "data-email-capture",
        "data-custom-params",
        "data-consent",
        "data-respect",
    } == set(attributes)
    assert [name for name, value in attributes.items() if name not in code or value not in code] == []
    assert f'<option value="{site}" selected>' in text
    assert "Finderfee('consent', true)" in html.unescape(text)


def test_unknown_site_shows_the_plain_guide(people, page_path):
    for site in ("", "nothing", "<b>", "\0", "x" * 5000):
        text = people("Viewer").open(f"{page_path}?{urlencode({'options': 'chosen', 'site': site})}").text

        assert '<option value="html" selected>' in text or "selected" not in text
        assert "<h3>Plain HTML</h3>" in text


def test_consent_calls_are_shown_only_for_a_tag_that_waits_for_them(people, page_path):
    assert "Consent calls" not in people("Viewer").open(page_path).text


def test_status_names_origin_click_and_the_way_of_the_last_sale(brand, people, page_path):
    visitor = people("Viewer")
    ben = brand.affiliate("ben")
    brand.rows("update program set script_seen_at = now(), script_origin = 'https://shop.example' returning id")
    insert_click(brand, ben)
    insert_conversion(brand, ben, source="lead")
    insert_conversion(brand, ben, source="import")
    as_lead = _lights(visitor.open(page_path).text)[1]
    insert_conversion(brand, ben, source="lemonsqueezy")
    by_gateway = _lights(visitor.open(page_path).text)[1]

    assert "Script last ran on https://shop.example," in as_lead[2]
    assert "last affiliate click" in as_lead[2]
    assert "Last one: Lead," in as_lead[3]
    assert "Last one: Lemon Squeezy," in by_gateway[3]


def test_viewer_cannot_check_a_page(people, page_path, site):
    visitor = people("Viewer")

    assert "Page to check" not in visitor.open(page_path).text
    assert visitor.send(page_path, {"url": site.url}).status_code == 403
    assert site.requested_paths == []


def test_unknown_or_other_brands_program_returns_404(rival, people):
    visitor = people()

    for program in (uuid4(), rival.program(), "x"):
        page = f"/dashboard/programs/{program}/install"
        assert visitor.open(page).status_code == 404
        assert visitor.open(f"{page}/checks").status_code == 404
        assert visitor.send(page, {"url": "https://shop.test/"}).status_code == 404
