"""Slugs with surrounding text, as in links that people send: every route that takes a slug parses it alike.

Source: tracking spec, "Public click endpoint", "Install snippet" and "Browser lead capture"; core spec, "Program"
(checkout door). Gateways: tests/api/gateways/test_slugs_as_sent.py; the script: tests/browser/test_link_variants.py.
"""

from collections import Counter
from urllib.parse import parse_qsl, quote, urlsplit

import pytest

from tests.support.api.doors import PAY, list_door_visits
from tests.support.databases import run_as_brand
from tests.support.rows.leads import post_browser_lead
from tests.support.rows.link_visits import (
    CLICK,
    SHOP,
    SLUG_IN_TEXT,
    follow,
    list_stream_clicks,
    new_slug,
    post_click,
    visit,
    with_every_text_around,
)


@pytest.fixture
def slug(brand):
    """Return an Approved affiliate's slug; its campaign has a site and an open checkout door."""
    brand.program(referral_destination_url=SHOP, hosted_checkout_door_enabled=True)
    slug = new_slug()
    brand.affiliate(slug)
    return slug


def _send_body(app, brand, text):
    post_click(app, text)
    post_click(app, text, programId=str(brand.programs[0]))


def _send_query(app, brand, text):
    visit(app, CLICK, query_string={"slug": text})


def _follow_short_link(app, brand, text):
    assert follow(app, quote(text, safe="/")).status_code == 302


def _follow_short_link_of_campaign(app, brand, text):
    assert follow(app, f"{brand.programs[0]}/{quote(text, safe='')}").status_code == 302


def _load_pixel_with_parameter(app, brand, text):
    visit(app, "/api/v1/r/c.gif", headers={"Referer": f"https://shop.test/?x=1&via={quote(text)}"})


def _load_pixel_with_path(app, brand, text):
    visit(app, "/api/v1/r/c.gif", headers={"Referer": f"https://shop.test/via/{quote(text, safe='')}"})


def _visit_door(app, brand, text):
    answer = visit(app, f"/door/{brand.programs[0]}/{quote(text, safe='/')}")
    assert (answer.status_code, len(list_door_visits(brand))) == (302, 1)


_CLICKS = {
    _send_body: 2,
    _send_query: 1,
    _follow_short_link: 1,
    _follow_short_link_of_campaign: 1,
    _load_pixel_with_parameter: 1,
    _load_pixel_with_path: 1,
    _visit_door: 1,
}


@with_every_text_around
@pytest.mark.parametrize("send_visit", _CLICKS)
def test_visit_counts_for_the_intended_slug(app, brand, slug, send_visit, written):
    send_visit(app, brand, written.format(slug))

    assert [message.slug for message in list_stream_clicks()] == [slug] * _CLICKS[send_visit]


def test_page_leads_count_for_the_intended_slug(app, brand, slug, drain):
    for written in SLUG_IN_TEXT:
        post_browser_lead(brand, slug=written.format(slug.upper()))
    drain()

    assert brand.rows("select count(*), count(distinct affiliate_id) from lead") == [(len(SLUG_IN_TEXT), 1)]


@pytest.mark.parametrize(
    "path",
    ["{}", "{}/", "{}/)", "{}/),", "{}/%E2%80%8B", "{}%2F", "{}%252F", "%E2%80%8B{}", "{}&amp;utm_source=x", "{}&a=1"],
)
def test_short_link_with_trailing_text_leads_to_the_site(app, slug, path):
    answer = follow(app, path.format(slug.upper()))

    assert (answer.status_code, answer.headers["Location"]) == (302, f"https://shop.test/a?x=1&y=%20&via={slug}#top")


@pytest.mark.parametrize("path", ["/", "%2F", "%E2%80%8B", ").", "&via={}", "two%20words", "https:%2F%2F{}"])
def test_short_link_without_leading_slug_returns_404(app, slug, path):
    assert follow(app, path.format(slug)).status_code == 404


def test_slug_after_another_slug_selects_its_campaign_or_returns_404(app, brand, slug):
    other = new_slug()
    brand.affiliate(other)

    assert follow(app, f"{slug}/{other}").status_code == 404


@pytest.mark.parametrize("behind", ["/", "/?quantity=3", ".", ")"])
def test_door_redirects_with_its_own_query_only(app, brand, slug, behind):
    run_as_brand(brand, "update program set referral_destination_url = %s", PAY)

    site = visit(app, f"/door/{brand.programs[0]}/{slug}{behind}").headers["Location"]

    assert Counter(parse_qsl(urlsplit(site).query)) == Counter(
        [("quantity", "2"), ("via", slug), ("client_reference_id", slug)]
    )
