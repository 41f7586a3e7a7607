"""Visits told by a page, through HTTP. Source: tracking spec, "Public click endpoint", section 8 "Limits"."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from adapters.clicks import countries, networks, serialization
from domain.clicks import countries as country_map
from models import db
from tests.support.rows.link_visits import (
    CLICK,
    list_stream_clicks,
    new_slug,
    post_click,
    visit,
)

_NOTHING = {"ok": True}


def test_a_visit_is_answered_with_its_click_and_the_terms_of_the_campaign(app, brand, slug):
    answer = post_click(app, slug)

    shown = answer.json
    assert answer.status_code == 200
    assert UUID(shown.pop("clickId")).version == 7
    assert shown == {
        "ok": True,
        "programId": str(brand.programs[0]),
        "slug": slug,
        "cookieWindowDays": 45,
        "attributionModel": "FirstTouch",
    }


def test_what_is_known_of_a_visit_travels_with_it(app, brand, slug):
    before = datetime.now(UTC)
    answer = post_click(
        app,
        slug,
        url="https://shop.test/a?via=x&gclid=1&via=y&%C3%BC=2&=3#top",
        referrer="https://News.Example.com:8443/post?secret=1",
        subId="Summer SALE!",
        visitorId="v-1",
    )

    (sent,) = list_stream_clicks()
    ((affiliate_id,),) = brand.rows("select id from affiliate")
    assert sent.id == answer.json["clickId"]
    assert (sent.organization_id, sent.program_id) == (str(brand.id), str(brand.programs[0]))
    assert (sent.affiliate_id, sent.slug) == (str(affiliate_id), slug)
    assert before <= datetime.fromisoformat(sent.occurred_at) <= datetime.now(UTC)
    assert (sent.sub_id, sent.visitor_id) == ("summersale", "v-1")
    assert sent.query_names == ("via", "gclid", "ü")
    assert sent.referrer_host == "news.example.com"
    assert sent.languages == ("de-CH", "en")
    assert sent.agent.startswith("Mozilla/5.0 (X11")
    assert (sent.is_bot, sent.is_data_centre) == (False, False)


def test_the_slug_alone_is_enough_and_null_is_nothing(app, slug):
    fields = dict.fromkeys(("programId", "url", "referrer", "subId", "visitorId"))

    assert post_click(app, slug, **fields, somethingElse=[1]).json["clickId"]
    (sent,) = list_stream_clicks()
    assert (sent.sub_id, sent.visitor_id, sent.referrer_host, sent.query_names) == (None, None, None, ())


def test_a_visit_can_be_told_in_a_query(app, brand, slug):
    query = {"slug": slug, "programId": str(brand.programs[0]), "url": "https://shop.test/?a=1", "subId": "mail"}

    answer = visit(app, CLICK, query_string=query)

    (sent,) = list_stream_clicks()
    assert (answer.status_code, answer.json["clickId"]) == (200, sent.id)
    assert (sent.sub_id, sent.query_names) == ("mail", ("a",))


@pytest.mark.parametrize("kind", ["text/plain;charset=UTF-8", "application/json", "application/octet-stream", None])
def test_a_beacon_is_read_whatever_its_content_type(app, slug, kind):
    answer = visit(app, CLICK, method="POST", data=f'{{"slug":"{slug}"}}'.encode(), content_type=kind)

    assert answer.json["clickId"]


def test_a_slug_counts_in_any_case(app, slug):
    assert post_click(app, f" {slug.upper()} ").json["slug"] == slug


def test_every_visit_is_a_click_of_its_own(app, slug):
    ids = {post_click(app, slug).json["clickId"] for _ in range(3)}

    assert {sent.id for sent in list_stream_clicks()} == ids
    assert len(ids) == 3


def test_no_address_travels_and_one_visitor_is_known_again(app, slug):
    for ip, agent in [
        ("203.0.113.7", "Firefox/140.0"),
        ("203.0.113.7", "Firefox/140.0"),
        ("203.0.113.7", "Firefox/141.0"),
        ("203.0.113.200", "Firefox/140.0"),
        ("203.0.114.7", "Firefox/140.0"),
    ]:
        post_click(app, slug, ip=ip, headers={"User-Agent": f"Mozilla/5.0 Gecko {agent}"})

    sent = list_stream_clicks()
    assert not any("203.0" in repr(one) for one in sent)
    assert sent[0].visitor == sent[1].visitor
    assert len({one.visitor for one in sent}) == 4
    assert [one.network == sent[0].network for one in sent] == [True, True, True, True, False]


def test_a_long_agent_is_cut(app, slug):
    post_click(app, slug, headers={"User-Agent": f"Mozilla/5.0 Gecko Firefox/140.0 {'x' * 600}"})

    assert len(list_stream_clicks()[0].agent) == 512


@pytest.mark.parametrize("text", ["", "nobody-has-this", "ünïcode", "🙂" * 50, "a b", "x" * 200, "%00", "' or 1=1 --"])
def test_a_slug_that_nobody_has_is_answered_with_nothing_else(app, text):
    answer = post_click(app, text or new_slug())

    assert (answer.status_code, answer.json) == (200, _NOTHING)
    assert list_stream_clicks() == []


@pytest.mark.parametrize("status", ["Pending", "Rejected", "Paused", "Banned"])
def test_an_affiliate_who_is_not_approved_gets_no_click(app, brand, slug, status):
    with db.unit_of_work(brand.id):
        db.db.stage("update affiliate set status = %s", (status,))

    assert post_click(app, slug).json == _NOTHING
    assert list_stream_clicks() == []


@pytest.mark.parametrize("change", ["is_active = false", "suspended_at = now()", "archived_at = now()"])
def test_a_closed_program_gets_no_click(app, brand, slug, change):
    with db.unit_of_work(brand.id):
        db.db.stage(f"update program set {change}")

    assert post_click(app, slug).json == _NOTHING
    assert list_stream_clicks() == []


def test_a_link_or_an_affiliate_that_ended_gets_no_click(app, brand, slug):
    with db.unit_of_work(brand.id):
        db.db.stage("update affiliate set deleted_at = now()")
    assert post_click(app, slug).json == _NOTHING

    with db.unit_of_work(brand.id):
        db.db.stage("update affiliate set deleted_at = null")
        db.db.stage("update tracking_link set deleted_at = now()")
    assert post_click(app, slug).json == _NOTHING


def test_the_program_says_which_of_several_links(app, brand, rival, slug):
    second = brand.program()
    brand.affiliate(slug, email="second@example.com")
    third = rival.program()
    rival.affiliate(slug)

    shown = [
        post_click(app, slug, programId=str(program_id).upper()).json["programId"] for program_id in (second, third)
    ]

    assert shown == [str(second), str(third)]
    assert post_click(app, slug, programId=str(uuid4())).json == _NOTHING


def test_without_a_program_who_can_earn_comes_first_and_then_the_oldest(app, brand, rival, slug):
    rival.program()
    rivals = rival.affiliate(slug)
    assert post_click(app, slug).json["programId"] == str(brand.programs[0])

    with db.unit_of_work(brand.id):
        db.db.stage("update affiliate set status = 'Paused'")
    assert post_click(app, slug).json["programId"] == str(rival.programs[0])

    with db.unit_of_work(rival.id):
        db.db.stage("update affiliate set status = 'Paused' where id = %s", (rivals,))
    assert post_click(app, slug).json == _NOTHING


def test_the_oldest_link_is_the_one_that_was_made_first(app, brand, rival, slug):
    rival.program()
    rival.affiliate(slug)
    with db.unit_of_work(rival.id):
        db.db.stage("update tracking_link set created_at = created_at - interval '1 day'")

    assert post_click(app, slug).json["programId"] == str(rival.programs[0])


@pytest.mark.parametrize(
    "headers",
    [
        {"Purpose": "prefetch"},
        {"Sec-Purpose": "prefetch;prerender"},
        {"Sec-Purpose": "PREFETCH"},
        {"X-Moz": "prefetch"},
        {"X-Purpose": "preview"},
        {"User-Agent": "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"},
        {"User-Agent": "curl/8.5.0"},
        {"User-Agent": ""},
    ],
    ids=str,
)
def test_what_nobody_looks_at_is_no_click(app, slug, headers):
    assert post_click(app, slug, headers=headers).json == _NOTHING
    assert list_stream_clicks() == []


def test_a_browser_that_a_tool_drives_is_a_click_to_be_judged(app, slug):
    agent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 HeadlessChrome/140.0.0.0 Safari/537.36"

    assert post_click(app, slug, headers={"User-Agent": agent}).json["clickId"]


def test_an_address_of_a_data_centre_is_noted_on_the_click(app, slug, monkeypatch):
    monkeypatch.setattr(networks, "load_networks", lambda: networks.parse_networks("203.0.113.0/24"))

    post_click(app, slug)
    post_click(app, slug, ip="203.0.114.7")

    assert [sent.is_data_centre for sent in list_stream_clicks()] == [True, False]


def test_the_country_of_an_address_goes_with_the_click_and_the_address_does_not(app, slug, monkeypatch):
    held = country_map.parse(["203.0.113.0/24,BR", "2001:db8::/32,SE"])
    monkeypatch.setattr(countries, "load_map", lambda: held)
    monkeypatch.setattr(countries, "find_country", held.country)

    for ip in ("203.0.113.7", "::ffff:203.0.113.8", "2001:db8:7::1", "203.0.114.7", "10.0.0.1"):
        post_click(app, slug, ip=ip)

    assert [sent.country for sent in list_stream_clicks()] == ["BR", "BR", "SE", None, None]
    assert not [sent for sent in list_stream_clicks() if "203.0.113" in serialization.to_bytes(sent).decode()]


def test_a_head_request_is_no_click(app, slug):
    answer = visit(app, CLICK, method="HEAD", query_string={"slug": slug})

    assert (answer.status_code, answer.data) == (200, b"")
    assert list_stream_clicks() == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("slug", None),
        ("slug", ""),
        ("slug", 7),
        ("slug", ["ben"]),
        ("slug", "x" * 201),
        ("slug", "ben\x00"),
        ("programId", "seven"),
        ("programId", 10**18),
        ("url", 1),
        ("url", "https://shop.test/" + "x" * 8192),
        ("url", "https://shop.test/\x00"),
        ("referrer", {}),
        ("referrer", "x" * 8193),
        ("subId", -1),
        ("subId", "x" * 1025),
        ("subId", "a\x00"),
        ("visitorId", True),
        ("visitorId", "x" * 129),
    ],
)
def test_a_malformed_field_is_named_in_problem_details(app, slug, field, value):
    answer = post_click(app, **({"slug": slug} | {field: value}))

    assert (answer.status_code, list(answer.json["errors"])) == (400, [field])
    assert answer.content_type == "application/problem+json"
    assert list_stream_clicks() == []


@pytest.mark.parametrize("raw", [b"", b"[]", b"null", b"{", b"\xff", b'{"slug":"a","slug":"b"}', b"slug=ben"])
def test_what_is_no_object_is_refused(app, raw):
    answer = visit(app, CLICK, method="POST", data=raw)

    assert (answer.status_code, list(answer.json["errors"])) == (400, ["body"])


def test_a_query_without_a_slug_is_refused(app):
    assert list(visit(app, CLICK).json["errors"]) == ["slug"]


def test_a_body_that_is_too_large_is_refused(app):
    assert visit(app, CLICK, method="POST", data=b" " * 40_000).status_code == 413


@pytest.mark.parametrize(
    "url", ["http://[", "not a url", "https://shop.test/?" + "&".join(f"p{n}=1" for n in range(80))]
)
def test_an_odd_page_address_costs_no_click(app, slug, url):
    assert post_click(app, slug, url=url, referrer=url).json["clickId"]
    assert len(list_stream_clicks()[0].query_names) in (0, 50)


def test_any_page_may_tell_of_a_visit_and_read_the_answer(app, slug):
    asked = {"Origin": "https://shop.test", "Access-Control-Request-Method": "POST"}
    client = app.test_client()

    preflight = client.options(CLICK, headers=asked)
    answer = post_click(app, slug, headers={"Origin": "https://shop.test"})

    for one in (preflight, answer):
        assert one.headers["Access-Control-Allow-Origin"] == "https://shop.test"
    assert "Content-Type" in preflight.headers["Access-Control-Allow-Headers"]
    assert answer.headers["Cache-Control"] == "no-store"
