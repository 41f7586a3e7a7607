"""The tag of a program at the dashboard, and its four lights."""

import html
import re
from uuid import uuid4

import pytest

from tests.support.outside.brand_site import BrandSite
from tests.support.rows.program_rows import insert_click, insert_conversion


@pytest.fixture
def site():
    made = BrandSite()
    yield made
    made.close()


@pytest.fixture
def page_path(brand):
    return f"/dashboard/programs/{brand.program(name='Knives')}/install"


def _tag(shown):
    return html.unescape(re.search(r'<textarea id="your-tag"[^>]*readonly>\n(.*?)</textarea>', shown, re.DOTALL)[1])


def _lights(shown):
    listed = re.search(r'<ol [^>]*aria-label="Checks">(.*?)</ol>', shown, re.DOTALL)[1]
    items = [re.sub(r"<[^>]*>", " ", item) for item in re.findall(r"<li.*?</li>", listed, re.DOTALL)]
    assert all(("Seen" in item) != ("Waiting" in item) for item in items)
    return ["Seen" in item for item in items], [" ".join(item.split()) for item in items]


def test_install_page_shows_the_tag_and_options_rewrite_it(brand, people, page_path):
    visitor = people("Viewer")
    usual = visitor.open(page_path).text
    without = visitor.open(f"{page_path}?options=chosen").text

    assert _tag(usual) == brand.get("/api/v1/r/install-snippet").json["snippet"]
    assert "data-email-capture" not in _tag(without)
    assert "checked" in re.search(r'id="option-emails"[^>]*', usual)[0]
    assert "checked" not in re.search(r'id="option-emails"[^>]*', without)[0]


def test_tag_contains_the_pixel_or_the_reason_against_it(brand, people, page_path):
    visitor = people()
    refused = visitor.open(f"{page_path}?options=chosen&pixel=on").text
    brand.set(pixelPublicKey="px_Acme-17")
    given = visitor.open(f"{page_path}?options=chosen&pixel=on").text

    assert "data-pixel-org" not in _tag(refused)
    assert "The organization has no pixel key." in refused
    assert 'data-pixel-org="px_Acme-17"' in _tag(given)


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
    on, said = _lights(html)
    assert on == [True, True, False, False]
    assert said[0].startswith(f"The tag is on {url}")
    assert f'id="url" name="url" type="text" value="{url}"' in html


def test_page_without_the_tag_is_reported(people, page_path, site):
    visitor = people()
    visitor.send(page_path, {"url": site.show("<p>Nothing")})
    on, said = _lights(visitor.open(page_path).text)

    assert on == [False] * 4
    assert "No tag in the HTML of" in said[0]


def test_policy_that_blocks_the_script_is_shown_with_the_line_to_copy(people, page_path, site):
    visitor = people()
    tag = _tag(visitor.open(page_path).text)
    visitor.send(page_path, {"url": site.show(tag, headers={"Content-Security-Policy": "script-src 'self'"})})

    shown = html.unescape(visitor.open(page_path).text)

    assert "keeps the script out" in shown
    assert "<code>script-src 'self' http://127.0.0.1:8000</code>" in shown


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


def test_live_lights_return_changes_or_nothing(brand, people, page_path):
    visitor = people("Viewer")
    address = re.search(r'hx-get="([^"]+)"', visitor.open(page_path).text)[1].replace("&amp;", "&")
    unchanged = visitor.open(address)
    ben = brand.affiliate("ben")
    insert_click(brand, ben)
    visited = visitor.open(address)
    insert_conversion(brand, ben)
    sold = visitor.open(address)

    assert unchanged.status_code == 204
    assert _lights(visited.text)[0] == [False, False, True, False]
    assert _lights(sold.text)[0] == [False, False, True, True]


def test_viewer_cannot_check_a_page(people, page_path, site):
    visitor = people("Viewer")

    assert "Page to check" not in visitor.open(page_path).text
    assert visitor.send(page_path, {"url": site.url}).status_code == 403
    assert site.requested_paths == []


def test_unknown_or_other_brands_program_returns_404(rival, people):
    visitor = people()

    for program in (uuid4(), rival.program(), "x"):
        here = f"/dashboard/programs/{program}/install"
        assert visitor.open(here).status_code == 404
        assert visitor.open(f"{here}/checks").status_code == 404
        assert visitor.send(here, {"url": "https://shop.test/"}).status_code == 404
