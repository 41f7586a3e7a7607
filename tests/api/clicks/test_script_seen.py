"""Is the tag installed? The script says that it runs on a page, and tracking status shows when and where.

Source: core spec, "Campaigns" (tracking status); tracking spec, "Install snippet".
"""

from datetime import datetime, timedelta

import pytest

from api.clicks import tag_sightings
from models import db
from tests.support.rows.link_visits import create_limiter, list_stream_clicks, new_slug, visit

GIF = "/api/v1/r/c.gif"
SHOP = "https://www.shop.test"


@pytest.fixture
def program(brand):
    return str(brand.program())


def _says(app, program_id, origin=SHOP, **sent):
    headers = ({"Origin": origin} if origin else {}) | sent.pop("headers", {})
    answer = visit(app, GIF, query_string={"programId": program_id, "script": "1"}, headers=headers, **sent)
    assert answer.status_code == 200
    return answer


def _status(brand):
    shown = brand.get(f"/api/v1/programs/{brand.programs[0]}/tracking-status").json
    return shown["verified"], shown["scriptSeenAt"], shown["scriptOrigin"]


def test_a_page_with_the_script_leaves_when_and_where_and_nobodys_trace(app, brand, rival, program):
    rival.program()
    assert _status(brand) == (False, None, None)

    _says(app, program)

    verified, seen_at, origin = _status(brand)
    assert (verified, origin) == (True, SHOP)
    assert abs(datetime.fromisoformat(seen_at) - datetime.now().astimezone()) < timedelta(minutes=1)
    assert list_stream_clicks() == []
    assert brand.rows("select count(*) from click") == [(0,)]
    assert _status(rival) == (False, None, None)


def test_a_busy_page_writes_once_in_five_minutes_whoever_is_asked(app, brand, program):
    trips = []
    db.db.trip_hooks.append(trips.append)
    try:
        for _ in range(20):
            _says(app, program)
    finally:
        db.db.trip_hooks.remove(trips.append)
    first = _status(brand)
    tag_sightings.clear_cache()  # as another process
    _says(app, program, "https://other.test")

    assert len([trip for trip in trips if b"script_seen_at" in trip]) == 1
    assert _status(brand) == first

    brand.rows("update program set script_seen_at = now() - interval '6 minutes' returning id")
    tag_sightings.clear_cache()
    _says(app, program, "https://other.test")
    assert _status(brand)[2] == "https://other.test"


def test_a_script_that_is_known_uses_up_nobodys_limit(app, program, monkeypatch):
    monkeypatch.setitem(app.extensions, "limiter", create_limiter(anonymous_tracking=1))
    for _ in range(5):
        _says(app, program)

    assert not app.extensions["limiter"].is_full("anonymous_tracking", "203.0.113.7")


def test_over_the_limit_nothing_is_noted(app, brand, program, monkeypatch):
    other = str(brand.program())
    monkeypatch.setitem(app.extensions, "limiter", create_limiter(anonymous_tracking=1))

    _says(app, other)
    _says(app, program)
    _says(app, program)

    assert _status(brand) == (False, None, None)


@pytest.mark.parametrize(
    ("headers", "origin"),
    [
        ({"Origin": "HTTPS://Shop.Test:8443"}, "https://shop.test:8443"),
        ({"Referer": "https://shop.test/path?x=1"}, "https://shop.test"),
        ({"Origin": "null"}, None),
        ({"Origin": "https://shop.test/<script>"}, None),
        ({"Origin": f"https://{'x' * 400}"}, None),
        ({"Referer": "http://["}, None),
        ({}, None),
    ],
    ids=str,
)
def test_where_the_page_is_comes_from_its_browser_or_stays_unknown(app, brand, program, headers, origin):
    _says(app, program, None, headers=headers)

    verified, seen_at, shown = _status(brand)
    assert (verified, shown) == (True, origin)
    assert seen_at


@pytest.mark.parametrize("program_id", ["", "x", "0192f0c1-0000-7000-8000-000000000001", "%00"])
def test_a_program_that_is_none_is_no_error(app, program_id):
    _says(app, program_id)


@pytest.mark.parametrize("sent", [{"method": "HEAD"}, {"headers": {"Purpose": "prefetch"}}], ids=str)
def test_what_nobody_looks_at_says_nothing(app, brand, program, sent):
    _says(app, program, **sent)

    assert _status(brand) == (False, None, None)


def test_the_scripts_word_is_no_visit_whatever_its_address_says(app, brand, program):
    slug = new_slug()
    brand.affiliate(slug)

    _says(app, program, headers={"Referer": f"https://shop.test/?via={slug}"})

    assert list_stream_clicks() == []
    assert _status(brand)[0]


def test_a_program_that_somebody_is_at_work_on_holds_up_no_page(app, brand, program):
    from tests.support.api.concurrency import start_call

    with db.unit_of_work(brand.id):
        db.db.run("select from program where id = %s for update", (program,))
        answer = start_call(lambda: _says(app, program))()

    assert answer.status_code == 200
