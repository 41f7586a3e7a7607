"""Short links, through HTTP. Source: tracking spec, "Public click endpoint"; core spec, "Affiliate" (tracking link)."""

import pytest

from models import db
from tests.support.databases import run_as_brand
from tests.support.rows.link_visits import (
    create_limiter,
    follow,
    list_stream_clicks,
    lose_stream,
    new_slug,
    point_at_missing_database,
    read_counter,
)


def test_short_link_redirects_to_the_site_with_the_slug(app, slug):
    answer = follow(app, slug)

    assert answer.status_code == 302
    assert answer.headers["Location"] == f"https://shop.test/a?x=1&y=%20&via={slug}#top"
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["X-Robots-Tag"] == "noindex"


def test_short_link_records_a_click(app, brand, slug):
    follow(app, slug, headers={"Referer": "https://news.example.com/post"}, query_string={"gclid": "1"})

    (message,) = list_stream_clicks()
    assert (message.organization_id, message.program_id, message.slug) == (str(brand.id), str(brand.programs[0]), slug)
    assert (message.referrer_host, message.query_names, message.sub_id) == ("news.example.com", ("gclid",), None)


@pytest.mark.parametrize("name", ["subId", "sub_id", "subid"])
def test_channel_tag_is_on_the_click_and_in_the_redirect(app, slug, name):
    answer = follow(app, slug, query_string={name: "Summer SALE&evil=1"})

    assert list_stream_clicks()[0].sub_id == "summersaleevil1"
    assert answer.headers["Location"] == f"https://shop.test/a?x=1&y=%20&via={slug}&subId=summersaleevil1#top"


@pytest.mark.parametrize(
    ("query", "added"),
    [
        ("utm_source=news&utm_medium=e%20mail&gclid=A-1_b.", "utm_source=news&utm_medium=e%20mail&gclid=A-1_b.&"),
        ("url=https://evil.test", "url=https://evil.test&"),
        ("to=//evil.test&next=/x", "to=//evil.test&next=/x&"),
        ("x=2&y=3&%78=4", ""),
        ("a=1&amp;b=2", "a=1&b=2&"),
        ("via=somebody&VIA=somebody&amp;via=somebody", ""),
        ("ref=somebody&aff_id=somebody", ""),
        ("client_reference_id=somebody&checkout[custom][via]=somebody&passthrough%5Bvia%5D=somebody", ""),
        ("affiliate_slug=somebody", ""),
        ("%0d%0aX: 1", ""),
        ("a=1%0d%0aX:%201&b=%00", ""),
    ],
)
def test_query_is_passed_on_without_changing_site_or_affiliate(app, slug, query, added):
    answer = follow(app, f"{slug}?{query}")

    assert answer.headers["Location"] == f"https://shop.test/a?x=1&y=%20&{added}via={slug}#top"
    assert "X" not in answer.headers


def test_custom_attribution_parameter_is_not_passed_on(app, brand, slug):
    brand.person().call("PATCH", "/api/v1/settings/attribution-params", {"custom": "pk_ref"})

    assert follow(app, f"{slug}?pk_ref=somebody").headers["Location"].endswith(f"?x=1&y=%20&via={slug}#top")


def test_query_is_passed_on_over_the_limit(app, slug, monkeypatch):
    monkeypatch.setitem(app.extensions, "limiter", create_limiter(anonymous_tracking=1))

    sites = [follow(app, f"{slug}?utm_source=news").headers["Location"] for _ in range(2)]

    assert sites == [f"https://shop.test/a?x=1&y=%20&utm_source=news&via={slug}#top"] * 2


@pytest.mark.parametrize(
    ("destination", "location"),
    [
        ("https://shop.test", "https://shop.test/?via={}"),
        ("https://shop.test/?via=old", "https://shop.test/?via={}"),
        ("https://shop.test/straße?q=ü", "https://shop.test/stra%C3%9Fe?q=%C3%BC&via={}"),
        ("http://shop.test:8080/#via=x", "http://shop.test:8080/?via={}#via=x"),
    ],
)
def test_any_destination_url_is_redirected_to(app, brand, slug, destination, location):
    with db.unit_of_work(brand.id):
        db.db.stage("update program set referral_destination_url = %s", (destination,))

    assert follow(app, slug).headers["Location"] == location.format(slug)


def test_slug_matches_in_any_case(app, slug):
    assert f"via={slug}" in follow(app, slug.upper()).headers["Location"]


@pytest.mark.parametrize(
    "path",
    [
        "nobody",
        "%00",
        "a%0d%0ab",
        "ünïcode",
        "x" * 300,
        "0192f0c1-0000-7000-8000-000000000001/nobody",
        "x/nobody",
        "%00/a",
    ],
)
def test_unknown_link_returns_a_neutral_page(app, path):
    answer = follow(app, path)

    assert answer.status_code == 404
    assert answer.content_type == "text/html; charset=utf-8"
    assert "may be mistyped or no longer active" in answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Location" not in answer.headers
    assert list_stream_clicks() == []


@pytest.mark.parametrize(
    "change",
    [
        "program set referral_destination_url = null",
        "program set archived_at = now()",
        "tracking_link set deleted_at = now()",
        "affiliate set deleted_at = now()",
    ],
)
def test_ended_link_returns_the_same_page(app, brand, slug, change):
    run_as_brand(brand, f"update {change}")

    answer = follow(app, slug)

    assert (answer.status_code, answer.data) == (404, follow(app, new_slug()).data)
    assert "Brand" not in answer.text


@pytest.mark.parametrize(
    "change",
    ["affiliate set status = 'Paused'", "affiliate set status = 'Banned'", "affiliate set status = 'Pending'",
     "program set is_active = false", "program set suspended_at = now()"],
)  # fmt: skip
def test_visitor_is_redirected_although_no_affiliate_earns(app, brand, slug, change):
    run_as_brand(brand, f"update {change}")

    assert follow(app, slug).status_code == 302
    assert list_stream_clicks() == []


@pytest.mark.parametrize(
    "request_args",
    [
        {"method": "HEAD"},
        {"headers": {"Purpose": "prefetch"}},
        {"headers": {"Sec-Purpose": "prefetch;prerender"}},
        {"headers": {"X-Moz": "prefetch"}},
        {"headers": {"User-Agent": "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"}},
    ],
    ids=str,
)
def test_prefetch_and_bot_requests_are_redirected_without_a_click(app, slug, request_args):
    assert follow(app, slug, **request_args).status_code == 302
    assert list_stream_clicks() == []


def test_visitor_over_the_limit_is_redirected_without_a_click(app, slug, monkeypatch):
    monkeypatch.setitem(app.extensions, "limiter", create_limiter(anonymous_tracking=1))

    answers = [follow(app, slug) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [302, 302, 302]
    assert len(list_stream_clicks()) == 1


def test_caller_guessing_slugs_is_stopped_at_the_limit(app, monkeypatch):
    monkeypatch.setitem(app.extensions, "limiter", create_limiter(anonymous_tracking=1))

    answers = [follow(app, new_slug()) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [404, 429, 429]
    assert answers[2].data == b""


def test_redirect_and_click_work_while_the_stream_is_down(app, brand, slug, monkeypatch):
    lose_stream(app, monkeypatch)

    assert follow(app, slug).status_code == 302
    assert brand.rows("select slug from click") == [(slug,)]


def test_cached_link_redirects_while_all_servers_are_down(app, slug, monkeypatch, tmp_path):
    follow(app, slug)
    lose_stream(app, monkeypatch)
    before = read_counter("finderfee_clicks_lost_total")

    with point_at_missing_database(tmp_path):
        assert follow(app, slug).status_code == 302
        assert follow(app, new_slug()).status_code == 503

    assert read_counter("finderfee_clicks_lost_total") - before == 2
