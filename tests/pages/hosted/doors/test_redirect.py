"""Checkout doors that record the visit and redirect to the checkout. Source: core spec, "Program" (checkout door)."""

from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

import pytest

from tests.support.api.doors import create_door_program, door_path, list_door_visits, visit_door
from tests.support.databases import run_as_brand
from tests.support.rows.link_visits import (
    create_limiter,
    list_stream_clicks,
    lose_stream,
    new_slug,
    point_at_missing_database,
    read_counter,
    visit,
)

_THANKS = "https://acme.test/thanks?lang=de#top"


def _visit_unknown_door(brand):
    return visit(brand.app, f"/door/{uuid4()}/{new_slug()}")


def test_buyer_is_redirected_with_the_checkouts_parameters(brand):
    slug = create_door_program(brand)

    answer = visit_door(brand, slug)

    assert answer.status_code == 302
    target = f"https://buy.stripe.com/test_1?quantity=2&via={slug}&client_reference_id={slug}#pay"
    assert answer.headers["Location"] == target
    assert (answer.headers["Cache-Control"], answer.headers["X-Robots-Tag"]) == ("no-store", "noindex")
    assert "Set-Cookie" not in answer.headers


def test_visit_is_a_click_and_remembered_once_for_the_cookie_window(brand):
    slug = create_door_program(brand, cookie_window_days=12)

    for _ in range(3):
        visit_door(brand, slug)
    visit_door(brand, slug, ip="203.0.113.8")

    assert [click.slug for click in list_stream_clicks()] == [slug] * 4
    assert list_door_visits(brand) == [(slug, True, None)] * 2
    window = "expires_at - last_at = interval '12 days', last_at > first_at, affiliate_id is not null"
    assert sorted(list_door_visits(brand, window)) == [(True, False, True), (True, True, True)]


@pytest.mark.parametrize(
    ("site", "gateways", "added"),
    [
        ("https://acme.lemonsqueezy.com/buy/1", [], {"checkout[custom][via]"}),
        ("https://acme.thrivecart.com/mug", ["stripe"], {"passthrough[via]"}),
        ("https://acme.gumroad.com/l/mug?via=x", ["stripe"], set()),
        ("https://acme.test/pay", [], set()),
        ("https://pay.acme.test/mug", ["thrivecart", "lemonsqueezy"], {"passthrough[via]", "checkout[custom][via]"}),
        ("https://buy.stripe.com.evil.test/a", [], set()),
        ("https://buy.stripe.com/a?client_reference_id=own", [], set()),
    ],
)
def test_each_checkout_gets_its_own_parameter(brand, site, gateways, added):
    slug = create_door_program(brand, site=site)
    run_as_brand(brand, "update organization set connected_gateways = %s", gateways)

    target_query = dict(parse_qsl(urlsplit(visit_door(brand, slug).headers["Location"]).query))

    site_query = dict(parse_qsl(urlsplit(site).query))
    assert target_query == {**site_query, "via": slug, **dict.fromkeys(added, slug)}


def test_slug_with_a_dot_is_not_sent_as_client_reference_id(brand):
    create_door_program(brand)
    run_as_brand(brand, "update tracking_link set slug = %s", slug := f"{new_slug()}.x")

    assert visit_door(brand, slug).headers["Location"] == f"https://buy.stripe.com/test_1?quantity=2&via={slug}#pay"


@pytest.mark.parametrize("query", ["url=https://evil.test", "via=somebody", "client_reference_id=x", "%0d%0aX: 1"])
def test_query_does_not_change_the_target(brand, query):
    slug = create_door_program(brand)

    answer = visit(brand.app, f"{door_path(brand, slug)}?{query}")

    assert answer.headers["Location"] == visit_door(brand, slug).headers["Location"]


def test_channel_tag_is_added_to_the_target(brand):
    slug = create_door_program(brand, site="https://acme.test/pay")

    assert visit_door(brand, slug, query_string={"subId": "News May"}).headers["Location"].endswith("&subId=newsmay")


@pytest.mark.parametrize(
    "change",
    [
        "program set hosted_checkout_door_enabled = false",
        "program set referral_destination_url = null",
        "program set is_active = false",
        "program set archived_at = now()",
        "program set suspended_at = now()",
        "affiliate set status = 'Paused'",
        "affiliate set status = 'Pending'",
        "affiliate set deleted_at = now()",
        "tracking_link set deleted_at = now()",
    ],
)
@pytest.mark.parametrize("mode", ["redirect", "email"])
def test_closed_door_looks_like_an_unknown_one(brand, change, mode):
    slug = create_door_program(brand, mode=mode)
    run_as_brand(brand, f"update {change}")

    for method in ("GET", "POST"):
        answer = visit_door(brand, slug, method=method)
        assert (answer.status_code, answer.data) == (404, _visit_unknown_door(brand).data)
    assert "Brand" not in answer.text
    assert list_door_visits(brand) == []


@pytest.mark.parametrize(
    "path", ["%00/a", "a/%00", "a/" + "x" * 500, "x" * 500 + "/a", "ü/ü", "1/2", "a/thanks/b", "a", "%2e%2e/a"]
)
def test_unknown_door_returns_404(brand, path):
    for method in ("GET", "POST"):
        assert visit(brand.app, f"/door/{path}", method=method).status_code in (404, 405)


def test_unique_slug_identifies_the_door(brand, rival):
    slug = create_door_program(brand, slug=(name := f"shared-{uuid4().hex[:8]}"))
    path = f"/door/{name.upper()}/{slug}"
    assert visit(brand.app, path).status_code == 302

    create_door_program(rival, slug=name)
    assert visit(brand.app, path).data == _visit_unknown_door(brand).data
    assert visit_door(brand, slug).status_code == 302

    run_as_brand(rival, "update program set hosted_checkout_door_enabled = false")
    assert visit(brand.app, path).status_code == 302


def test_slug_of_another_brand_returns_404(brand, rival):
    slug = create_door_program(brand)
    create_door_program(rival)

    assert visit(brand.app, door_path(rival, slug)).status_code == 404


@pytest.mark.parametrize("headers", [{"Purpose": "prefetch"}, {"User-Agent": "Googlebot/2.1"}])
def test_prefetch_is_redirected_and_not_remembered(brand, headers):
    slug = create_door_program(brand)

    assert visit_door(brand, slug, headers=headers).status_code == 302
    assert visit_door(brand, slug, method="HEAD").status_code == 302
    assert (list_door_visits(brand), list_stream_clicks()) == ([], [])


def test_slug_guessing_is_limited_without_blocking_buyers(brand, monkeypatch):
    slug = create_door_program(brand)
    monkeypatch.setitem(brand.app.extensions, "limiter", create_limiter(anonymous_tracking=2))

    answers = [visit_door(brand, slug).status_code for _ in range(4)]
    assert answers == [302] * 4
    assert _visit_unknown_door(brand).status_code == 429


def test_buyer_is_redirected_without_database_and_stream(brand, monkeypatch, tmp_path):
    slug = create_door_program(brand)
    target = visit_door(brand, slug).headers["Location"]
    lose_stream(brand.app, monkeypatch)
    before = read_counter("finderfee_clicks_lost_total")

    with point_at_missing_database(tmp_path):
        assert visit_door(brand, slug).headers["Location"] == target
    assert read_counter("finderfee_clicks_lost_total") == before + 1


def test_buyers_are_thanked_on_the_brands_own_page(brand):
    create_door_program(brand, hosted_checkout_thank_you_url=_THANKS)
    path = f"/door/{brand.programs[-1]}/thanks"

    assert visit(brand.app, path).headers["Location"] == _THANKS
    answer = visit(brand.app, f"{path}?session_id=cs_1&url=https%3A%2F%2Fevil.test&x=%0d%0a")
    target = "https://acme.test/thanks?lang=de&session_id=cs_1&url=https%3A%2F%2Fevil.test&x=%0d%0a#top"
    assert (answer.status_code, answer.headers["Location"]) == (302, target)


@pytest.mark.parametrize(
    "change",
    [
        "hosted_checkout_thank_you_url = null",
        "hosted_checkout_door_enabled = false",
        "archived_at = now()",
        "is_active = false",
    ],
)
def test_missing_thank_you_page_returns_404(brand, change):
    create_door_program(brand, hosted_checkout_thank_you_url=_THANKS)
    run_as_brand(brand, f"update program set {change}")

    answer = visit(brand.app, f"/door/{brand.programs[-1]}/thanks")
    assert (answer.status_code, answer.data) == (404, _visit_unknown_door(brand).data)


def test_thanks_is_refused_as_a_link_alias(brand):
    affiliate_id = brand.affiliate(create_door_program(brand).replace("s-", "z-"))

    answer = brand.person("Owner").post(f"/api/v1/affiliates/{affiliate_id}/links", {"customAlias": "thanks"})

    assert (answer.status_code, list(answer.json["errors"])) == (400, ["customAlias"])
