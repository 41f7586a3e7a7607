"""Rate limits of clicks per address, and the handling of clicks while servers are down."""

from adapters.clicks import stream
from api.access import limits
from tests.support.rows.click_rows import hold_click_lock
from tests.support.rows.link_visits import (
    create_limiter,
    list_stream_clicks,
    lose_stream,
    new_slug,
    point_at_missing_database,
    post_click,
    read_counter,
)

_NOTHING = {"ok": True}


def test_address_may_send_sixty_clicks_a_minute(app, slug, monkeypatch):
    monkeypatch.setitem(app.extensions, "limiter", create_limiter(anonymous_tracking=3))
    other_origin = {"Origin": "https://shop.test"}

    statuses = [
        post_click(app, slug).status_code,
        post_click(app, "nobody").status_code,
        post_click(app, 7).status_code,
    ]
    answer = post_click(app, slug, headers=other_origin)

    assert statuses == [200, 200, 400]
    assert (answer.status_code, answer.data) == (429, b"")
    assert answer.headers["Access-Control-Allow-Origin"] == "https://shop.test"
    assert post_click(app, slug).status_code == 429, "and this process remembers it"
    assert post_click(app, slug, ip="203.0.113.8").status_code == 200
    assert len(list_stream_clicks()) == 2


def test_clicks_and_leads_share_one_window_across_processes(app, slug, monkeypatch):
    limiter = create_limiter(anonymous_tracking=2)
    monkeypatch.setitem(app.extensions, "limiter", create_limiter(anonymous_tracking=2))

    assert post_click(app, slug).status_code == 200
    assert limiter.allows("anonymous_tracking", "203.0.113.7")
    assert not limiter.allows("anonymous_tracking", "203.0.113.7")
    assert post_click(app, slug).status_code == 429
    assert len(list_stream_clicks()) == 1


def test_addresses_of_one_ipv6_network_share_a_window(app, slug, monkeypatch):
    monkeypatch.setitem(app.extensions, "limiter", create_limiter(anonymous_tracking=1))

    statuses = [post_click(app, slug, ip=f"2001:db8::{n}").status_code for n in (1, 2)]

    assert statuses == [200, 429]


def test_networks_of_one_ipv6_site_share_a_wider_window(app, slug, monkeypatch):
    monkeypatch.setitem(app.extensions, "limiter", create_limiter(anonymous_tracking=1))

    statuses = [post_click(app, slug, ip=f"2001:db8:7:{n:x}::1").status_code for n in range(limits.SITE_TIMES + 2)]

    assert statuses == [200] * limits.SITE_TIMES + [429, 429]
    assert len(list_stream_clicks()) == limits.SITE_TIMES
    assert app.extensions["limiter"].is_full("anonymous_tracking", "2001:db8:7:ffff::"), "and this process remembers"
    assert post_click(app, slug, ip="2001:db8:8::1").status_code == 200


def test_click_is_written_to_the_database_while_the_stream_is_down(app, brand, slug, monkeypatch):
    lose_stream(app, monkeypatch)
    before = read_counter("finderfee_clicks_direct_total"), read_counter("finderfee_rate_limit_failed_open_total")

    payloads = [post_click(app, slug, subId="mail").json for _ in range(2)]

    written = brand.rows("select id::text, sub_id, slug from click")
    assert sorted(written) == sorted((payload["clickId"], "mail", slug) for payload in payloads)
    assert read_counter("finderfee_clicks_direct_total") - before[0] == 2
    assert read_counter("finderfee_rate_limit_failed_open_total") - before[1] == 2


def test_click_does_not_wait_for_a_lock_while_the_stream_is_down(app, brand, slug, monkeypatch, drain):
    post_click(app, slug)
    lose_stream(app, monkeypatch)
    before = read_counter("finderfee_clicks_lost_total")

    with hold_click_lock(brand):
        payload = post_click(app, slug).json
        left_to = brand.rows("select name from job")
    drain("tracking")

    assert left_to == [("click.late",)]
    assert brand.rows("select id::text from click") == [(payload["clickId"],)]
    assert read_counter("finderfee_clicks_lost_total") == before


def test_click_is_lost_and_counted_while_all_servers_are_down(app, slug, monkeypatch, tmp_path):
    post_click(app, slug)
    lose_stream(app, monkeypatch)
    before = read_counter("finderfee_clicks_lost_total")

    with point_at_missing_database(tmp_path):
        answer = post_click(app, slug)

    assert (answer.status_code, answer.json) == (200, _NOTHING)
    assert read_counter("finderfee_clicks_lost_total") - before == 1


def test_cached_link_works_while_the_database_is_down(app, slug, tmp_path):
    post_click(app, slug)
    before = read_counter("finderfee_clicks_lost_total")

    with point_at_missing_database(tmp_path):
        payload = post_click(app, slug).json
        unknown = post_click(app, new_slug())

    assert [message.id for message in list_stream_clicks()][1:] == [payload["clickId"]]
    assert (unknown.status_code, unknown.json) == (200, _NOTHING)
    assert read_counter("finderfee_clicks_lost_total") - before == 1


def test_stream_length_is_capped_and_reported(app, slug, monkeypatch):
    monkeypatch.setattr(stream, "MAX_ENTRIES", 1)
    for _ in range(250):
        post_click(app, slug)

    metrics = app.test_client().get("/metrics").text
    assert 1 <= len(list_stream_clicks()) < 250
    assert f"finderfee_click_stream_length {len(list_stream_clicks())}.0" in metrics
