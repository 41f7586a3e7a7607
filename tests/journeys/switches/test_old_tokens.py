"""A token of the former system works wherever a slug does, and what it records has the link's slug.

Source: the switch-over rules, "Links"; part B11, case 3.
"""

import pytest

from tests.api.gateways.conftest import Shop
from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.gateways.stages import STAGES
from tests.support.job_queues import drain
from tests.support.rows.link_visits import SHOP, follow, list_stream_clicks, new_slug, post_click, visit
from tests.support.switches.brought_rows import add_old_token

#: A token as it is stored, and as a link of the former system contains it.
TOKENS = {
    "dots and capitals": ("jo.hn", "Jo.Hn"),
    "one letter": ("q", "Q"),
    "digits": ("4711", "4711"),
    "reserved word": ("partner", "partner"),
    "umlaut": ("jörg", "j%C3%B6rg"),
    "space": ("jo hn", "Jo%20Hn"),
    "base64": ("cgfydg5lcg==", "cGFydG5lcg%3D%3D"),
    "plus sign": ("plus+sign", "Plus%2BSign"),
    "email": ("jo@example.com", "jo@example.com"),
    "markup": ("<b>jo</b>", "%3Cb%3Ejo%3C%2Fb%3E"),
    "longest": ("x" * 190, "X" * 190),
    "underscore at the end": ("jo_", "jo_"),
}
every_token = pytest.mark.parametrize(("stored", "written"), TOKENS.values(), ids=TOKENS)


def _prepare(brand, stored):
    """Insert a program with a site, and an affiliate to whose link a token leads; return its slug."""
    brand.program(referral_destination_url=SHOP)
    slug = new_slug()
    brand.affiliate(slug)
    add_old_token(brand, slug, stored)
    return slug


@every_token
def test_click_by_token_is_recorded_with_the_slug(app, brand, stored, written):
    slug = _prepare(brand, stored)

    answer = post_click(app, written, programId=str(brand.programs[-1]))

    assert answer.json["slug"] == slug
    assert [click.slug for click in list_stream_clicks()] == [slug]


@every_token
def test_short_link_with_token_redirects_with_the_slug(app, brand, stored, written):
    slug = _prepare(brand, stored)
    program = brand.programs[-1]

    answer = follow(app, f"{program}/{written.replace('%2F', '%252F')}")

    assert (answer.status_code, f"via={slug}" in answer.headers.get("Location", "")) == (302, True)


def test_short_link_with_token_needs_no_program(app, brand):
    token = f"{new_slug()}.x"
    slug = _prepare(brand, token)

    assert f"via={slug}" in follow(app, token).headers["Location"]
    assert f"via={slug}" in follow(app, f"{token}).").headers["Location"]


def test_page_without_scripts_counts_a_visit_by_token(app, brand):
    slug = _prepare(brand, "jo.hn@x")
    page = "https://shop.test/?ref=Jo.Hn%40x"

    visit(app, f"/api/v1/r/c.gif?programId={brand.programs[-1]}", headers={"Referer": page})

    assert [click.slug for click in list_stream_clicks()] == [slug]


@every_token
def test_signed_sale_by_token_credits_the_affiliate(brand, stored, written):
    slug = _prepare(brand, stored)

    assert brand.sale(affiliateSlug=written).status_code == 200
    drain()

    statement = "select l.slug from conversion c join tracking_link l on l.affiliate_id = c.affiliate_id"
    assert brand.rows(statement) == [(slug,)]


@every_token
def test_lead_by_token_credits_the_affiliate(brand, stored, written):
    slug = _prepare(brand, stored)

    answer = brand.post_signed("/api/tracking/lead", {"affiliateSlug": written, "email": "ann@example.com"})

    assert answer.status_code == 200, answer.json
    statement = "select l.slug from lead c join tracking_link l on l.affiliate_id = c.affiliate_id"
    assert brand.rows(statement) == [(slug,)]


def test_import_by_token_credits_the_affiliate(brand):
    slug = _prepare(brand, "jo.hn")

    sale = build_past_sale(affiliateSlug="Jo.Hn", affiliateEmail=None)
    assert import_sales(brand, sale).json["imported"] == 1

    statement = "select l.slug from conversion c join tracking_link l on l.affiliate_id = c.affiliate_id"
    assert brand.rows(statement) == [(slug,)]


@pytest.mark.parametrize("gateway", STAGES)
def test_payment_with_token_credits_the_affiliate(brand, gateway):
    _prepare(brand, "jo.hn" if gateway != "stripe" else "jo_h")
    with play_gateway(gateway) as stage:
        shop = Shop(brand, stage, connect_gateway(brand.person("Owner"), stage))
        shop.sell(slug="Jo.Hn" if gateway != "stripe" else "Jo_H")

    assert len(shop.conversions()) == 1


def test_affiliate_detail_shows_old_tokens(brand):
    slug = _prepare(brand, "jo.hn")
    add_old_token(brand, slug, "<b>q</b>")
    ((affiliate_id,),) = brand.rows("select id from affiliate")

    assert brand.get(f"/api/v1/affiliates/{affiliate_id}").json["oldTokens"] == ["<b>q</b>", "jo.hn"]
