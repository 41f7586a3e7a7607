"""Clicks reported by a page, through HTTP. Source: tracking spec, "Public click endpoint", section 8 "Limits"."""

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


def test_click_returns_its_id_and_the_campaign_terms(app, brand, slug):
    answer = post_click(app, slug)

    payload = answer.json
    assert answer.status_code == 200
    assert UUID(payload.pop("clickId")).version == 7
    assert payload == {
        "ok": True,
        "programId": str(brand.programs[0]),
        "slug": slug,
        "cookieWindowDays": 45,
        "attributionModel": "FirstTouch",
    }


def test_click_details_are_on_the_stream_message(app, brand, slug):
    before = datetime.now(UTC)
    answer = post_click(
        app,
        slug,
        url="https://shop.test/a?via=x&gclid=1&via=y&%C3%BC=2&=3#top",
        referrer="https://News.Example.com:8443/post?secret=1",
        subId="Summer SALE!",
        visitorId="v-1",
    )

    (message,) = list_stream_clicks()
    ((affiliate_id,),) = brand.rows("select id from affiliate")
    assert message.id == answer.json["clickId"]
    assert (message.organization_id, message.program_id) == (str(brand.id), str(brand.programs[0]))
    assert (message.affiliate_id, message.slug) == (str(affiliate_id), slug)
    assert before <= datetime.fromisoformat(message.occurred_at) <= datetime.now(UTC)
    assert (message.sub_id, message.visitor_id) == ("summersale", "v-1")
    assert message.query_names == ("via", "gclid", "ü")
    assert message.referrer_host == "news.example.com"
    assert message.languages == ("de-CH", "en")
    assert message.agent.startswith("Mozilla/5.0 (X11")
    assert (message.is_bot, message.is_data_centre) == (False, False)


def test_slug_alone_is_enough_and_null_fields_are_ignored(app, slug):
    fields = dict.fromkeys(("programId", "url", "referrer", "subId", "visitorId"))

    assert post_click(app, slug, **fields, somethingElse=[1]).json["clickId"]
    (message,) = list_stream_clicks()
    assert (message.sub_id, message.visitor_id, message.referrer_host, message.query_names) == (None, None, None, ())


def test_click_can_be_sent_as_a_query(app, brand, slug):
    query = {"slug": slug, "programId": str(brand.programs[0]), "url": "https://shop.test/?a=1", "subId": "mail"}

    answer = visit(app, CLICK, query_string=query)

    (message,) = list_stream_clicks()
    assert (answer.status_code, answer.json["clickId"]) == (200, message.id)
    assert (message.sub_id, message.query_names) == ("mail", ("a",))


@pytest.mark.parametrize("kind", ["text/plain;charset=UTF-8", "application/json", "application/octet-stream", None])
def test_beacon_is_read_with_any_content_type(app, slug, kind):
    answer = visit(app, CLICK, method="POST", data=f'{{"slug":"{slug}"}}'.encode(), content_type=kind)

    assert answer.json["clickId"]


def test_slug_matches_in_any_case(app, slug):
    assert post_click(app, f" {slug.upper()} ").json["slug"] == slug


def test_every_visit_creates_its_own_click(app, slug):
    ids = {post_click(app, slug).json["clickId"] for _ in range(3)}

    assert {message.id for message in list_stream_clicks()} == ids
    assert len(ids) == 3


def test_message_has_no_ip_address_but_a_stable_visitor_hash(app, slug):
    for ip, agent in [
        ("203.0.113.7", "Firefox/140.0"),
        ("203.0.113.7", "Firefox/140.0"),
        ("203.0.113.7", "Firefox/141.0"),
        ("203.0.113.200", "Firefox/140.0"),
        ("203.0.114.7", "Firefox/140.0"),
    ]:
        post_click(app, slug, ip=ip, headers={"User-Agent": f"Mozilla/5.0 Gecko {agent}"})

    messages = list_stream_clicks()
    assert not any("203.0" in repr(message) for message in messages)
    assert messages[0].visitor == messages[1].visitor
    assert len({message.visitor for message in messages}) == 4
    assert [message.network == messages[0].network for message in messages] == [True, True, True, True, False]


def test_long_user_agent_is_truncated(app, slug):
    post_click(app, slug, headers={"User-Agent": f"Mozilla/5.0 Gecko Firefox/140.0 {'x' * 600}"})

    assert len(list_stream_clicks()[0].agent) == 512


@pytest.mark.parametrize("text", ["", "nobody-has-this", "ünïcode", "🙂" * 50, "a b", "x" * 200, "%00", "' or 1=1 --"])
def test_unknown_slug_returns_only_ok(app, text):
    answer = post_click(app, text or new_slug())

    assert (answer.status_code, answer.json) == (200, _NOTHING)
    assert list_stream_clicks() == []


@pytest.mark.parametrize("status", ["Pending", "Rejected", "Paused", "Banned"])
def test_unapproved_affiliate_gets_no_click(app, brand, slug, status):
    with db.unit_of_work(brand.id):
        db.db.stage("update affiliate set status = %s", (status,))

    assert post_click(app, slug).json == _NOTHING
    assert list_stream_clicks() == []


@pytest.mark.parametrize("change", ["is_active = false", "suspended_at = now()", "archived_at = now()"])
def test_closed_program_gets_no_click(app, brand, slug, change):
    with db.unit_of_work(brand.id):
        db.db.stage(f"update program set {change}")

    assert post_click(app, slug).json == _NOTHING
    assert list_stream_clicks() == []


def test_deleted_link_or_affiliate_gets_no_click(app, brand, slug):
    with db.unit_of_work(brand.id):
        db.db.stage("update affiliate set deleted_at = now()")
    assert post_click(app, slug).json == _NOTHING

    with db.unit_of_work(brand.id):
        db.db.stage("update affiliate set deleted_at = null")
        db.db.stage("update tracking_link set deleted_at = now()")
    assert post_click(app, slug).json == _NOTHING


def test_program_id_selects_among_links_with_the_same_slug(app, brand, rival, slug):
    second = brand.program()
    brand.affiliate(slug, email="second@example.com")
    third = rival.program()
    rival.affiliate(slug)

    program_ids = [
        post_click(app, slug, programId=str(program_id).upper()).json["programId"] for program_id in (second, third)
    ]

    assert program_ids == [str(second), str(third)]
    assert post_click(app, slug, programId=str(uuid4())).json == _NOTHING


def test_without_program_id_earning_then_oldest_link_wins(app, brand, rival, slug):
    rival.program()
    rivals = rival.affiliate(slug)
    assert post_click(app, slug).json["programId"] == str(brand.programs[0])

    with db.unit_of_work(brand.id):
        db.db.stage("update affiliate set status = 'Paused'")
    assert post_click(app, slug).json["programId"] == str(rival.programs[0])

    with db.unit_of_work(rival.id):
        db.db.stage("update affiliate set status = 'Paused' where id = %s", (rivals,))
    assert post_click(app, slug).json == _NOTHING


def test_oldest_link_is_the_first_created(app, brand, rival, slug):
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
def test_prefetch_and_bot_requests_are_no_click(app, slug, headers):
    assert post_click(app, slug, headers=headers).json == _NOTHING
    assert list_stream_clicks() == []


def test_automated_browser_is_a_click_for_fraud_scoring(app, slug):
    agent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 HeadlessChrome/140.0.0.0 Safari/537.36"

    assert post_click(app, slug, headers={"User-Agent": agent}).json["clickId"]


def test_data_centre_address_is_marked_on_the_click(app, slug, monkeypatch):
    monkeypatch.setattr(networks, "load_networks", lambda: networks.parse_networks("203.0.113.0/24"))

    post_click(app, slug)
    post_click(app, slug, ip="203.0.114.7")

    assert [message.is_data_centre for message in list_stream_clicks()] == [True, False]


def test_click_carries_the_country_but_not_the_address(app, slug, monkeypatch):
    networks = country_map.parse(["203.0.113.0/24,BR", "2001:db8::/32,SE"])
    monkeypatch.setattr(countries, "load_map", lambda: networks)
    monkeypatch.setattr(countries, "find_country", networks.country)

    for ip in ("203.0.113.7", "::ffff:203.0.113.8", "2001:db8:7::1", "203.0.114.7", "10.0.0.1"):
        post_click(app, slug, ip=ip)

    assert [message.country for message in list_stream_clicks()] == ["BR", "BR", "SE", None, None]
    assert not [message for message in list_stream_clicks() if "203.0.113" in serialization.to_bytes(message).decode()]


def test_head_request_is_no_click(app, slug):
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
def test_malformed_field_is_named_in_problem_details(app, slug, field, value):
    answer = post_click(app, **({"slug": slug} | {field: value}))

    assert (answer.status_code, list(answer.json["errors"])) == (400, [field])
    assert answer.content_type == "application/problem+json"
    assert list_stream_clicks() == []


@pytest.mark.parametrize("raw", [b"", b"[]", b"null", b"{", b"\xff", b'{"slug":"a","slug":"b"}', b"slug=ben"])
def test_body_other_than_an_object_is_refused(app, raw):
    answer = visit(app, CLICK, method="POST", data=raw)

    assert (answer.status_code, list(answer.json["errors"])) == (400, ["body"])


def test_query_without_a_slug_is_refused(app):
    assert list(visit(app, CLICK).json["errors"]) == ["slug"]


def test_oversized_body_is_refused(app):
    assert visit(app, CLICK, method="POST", data=b" " * 40_000).status_code == 413


@pytest.mark.parametrize(
    "url", ["http://[", "not a url", "https://shop.test/?" + "&".join(f"p{n}=1" for n in range(80))]
)
def test_malformed_page_url_does_not_lose_the_click(app, slug, url):
    assert post_click(app, slug, url=url, referrer=url).json["clickId"]
    assert len(list_stream_clicks()[0].query_names) in (0, 50)


def test_any_origin_may_send_a_click_and_read_the_response(app, slug):
    preflight_headers = {"Origin": "https://shop.test", "Access-Control-Request-Method": "POST"}
    client = app.test_client()

    preflight = client.options(CLICK, headers=preflight_headers)
    answer = post_click(app, slug, headers={"Origin": "https://shop.test"})

    for response in (preflight, answer):
        assert response.headers["Access-Control-Allow-Origin"] == "https://shop.test"
    assert "Content-Type" in preflight.headers["Access-Control-Allow-Headers"]
    assert answer.headers["Cache-Control"] == "no-store"
