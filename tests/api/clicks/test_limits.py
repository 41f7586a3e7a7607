"""Rate limits of clicks per address, and the handling of clicks while servers are down."""

from adapters.clicks import stream
from api.access import limits
from tests.support.rows.click_rows import turn_taken
from tests.support.rows.visiting import (
    click,
    counted,
    limited,
    lose_stream,
    new_slug,
    on_stream,
    without_database,
)

_NOTHING = {"ok": True}


def test_address_may_send_sixty_clicks_a_minute(app, slug, monkeypatch):
    monkeypatch.setitem(app.extensions, "limiter", limited(anonymous_tracking=3))
    foreign = {"Origin": "https://shop.test"}

    statuses = [click(app, slug).status_code, click(app, "nobody").status_code, click(app, 7).status_code]
    answer = click(app, slug, headers=foreign)

    assert statuses == [200, 200, 400]
    assert (answer.status_code, answer.data) == (429, b"")
    assert answer.headers["Access-Control-Allow-Origin"] == "https://shop.test"
    assert click(app, slug).status_code == 429, "and this process remembers it"
    assert click(app, slug, ip="203.0.113.8").status_code == 200
    assert len(on_stream()) == 2


def test_clicks_and_leads_share_one_window_across_processes(app, slug, monkeypatch):
    limiter = limited(anonymous_tracking=2)
    monkeypatch.setitem(app.extensions, "limiter", limited(anonymous_tracking=2))

    assert click(app, slug).status_code == 200
    assert limiter.allows("anonymous_tracking", "203.0.113.7")
    assert not limiter.allows("anonymous_tracking", "203.0.113.7")
    assert click(app, slug).status_code == 429
    assert len(on_stream()) == 1


def test_addresses_of_one_ipv6_network_share_a_window(app, slug, monkeypatch):
    monkeypatch.setitem(app.extensions, "limiter", limited(anonymous_tracking=1))

    statuses = [click(app, slug, ip=f"2001:db8::{n}").status_code for n in (1, 2)]

    assert statuses == [200, 429]


def test_networks_of_one_ipv6_site_share_a_wider_window(app, slug, monkeypatch):
    monkeypatch.setitem(app.extensions, "limiter", limited(anonymous_tracking=1))

    statuses = [click(app, slug, ip=f"2001:db8:7:{n:x}::1").status_code for n in range(limits.SITE_TIMES + 2)]

    assert statuses == [200] * limits.SITE_TIMES + [429, 429]
    assert len(on_stream()) == limits.SITE_TIMES
    assert app.extensions["limiter"].is_full("anonymous_tracking", "2001:db8:7:ffff::"), "and this process remembers"
    assert click(app, slug, ip="2001:db8:8::1").status_code == 200


def test_click_is_written_to_the_database_while_the_stream_is_down(app, brand, slug, monkeypatch):
    lose_stream(app, monkeypatch)
    before = counted("finderfee_clicks_direct_total"), counted("finderfee_rate_limit_failed_open_total")

    payloads = [click(app, slug, subId="mail").json for _ in range(2)]

    written = brand.rows("select id::text, sub_id, slug from click")
    assert sorted(written) == sorted((payload["clickId"], "mail", slug) for payload in payloads)
    assert counted("finderfee_clicks_direct_total") - before[0] == 2
    assert counted("finderfee_rate_limit_failed_open_total") - before[1] == 2


def test_click_does_not_wait_for_a_lock_while_the_stream_is_down(app, brand, slug, monkeypatch, drain):
    click(app, slug)
    lose_stream(app, monkeypatch)
    before = counted("finderfee_clicks_lost_total")

    with turn_taken(brand):
        payload = click(app, slug).json
        left_to = brand.rows("select name from job")
    drain("tracking")

    assert left_to == [("click.late",)]
    assert brand.rows("select id::text from click") == [(payload["clickId"],)]
    assert counted("finderfee_clicks_lost_total") == before


def test_click_is_lost_and_counted_while_all_servers_are_down(app, slug, monkeypatch, tmp_path):
    click(app, slug)
    lose_stream(app, monkeypatch)
    before = counted("finderfee_clicks_lost_total")

    with without_database(tmp_path):
        answer = click(app, slug)

    assert (answer.status_code, answer.json) == (200, _NOTHING)
    assert counted("finderfee_clicks_lost_total") - before == 1


def test_cached_link_works_while_the_database_is_down(app, slug, tmp_path):
    click(app, slug)
    before = counted("finderfee_clicks_lost_total")

    with without_database(tmp_path):
        payload = click(app, slug).json
        unknown = click(app, new_slug())

    assert [message.id for message in on_stream()][1:] == [payload["clickId"]]
    assert (unknown.status_code, unknown.json) == (200, _NOTHING)
    assert counted("finderfee_clicks_lost_total") - before == 1


def test_stream_length_is_capped_and_reported(app, slug, monkeypatch):
    monkeypatch.setattr(stream, "MAX_ENTRIES", 1)
    for _ in range(250):
        click(app, slug)

    metrics = app.test_client().get("/metrics").text
    assert 1 <= len(on_stream()) < 250
    assert f"finderfee_click_stream_length {len(on_stream())}.0" in metrics
