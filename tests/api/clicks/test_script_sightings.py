"""The script reports that it runs on a page; tracking status shows when and where.

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


def _report_script(app, program_id, origin=SHOP, **request_args):
    headers = ({"Origin": origin} if origin else {}) | request_args.pop("headers", {})
    answer = visit(app, GIF, query_string={"programId": program_id, "script": "1"}, headers=headers, **request_args)
    assert answer.status_code == 200
    return answer


def _get_status(brand):
    status = brand.get(f"/api/v1/programs/{brand.programs[0]}/tracking-status").json
    return status["verified"], status["scriptSeenAt"], status["scriptOrigin"]


def test_script_report_stores_time_and_origin_but_no_visitor(app, brand, rival, program):
    rival.program()
    assert _get_status(brand) == (False, None, None)

    _report_script(app, program)

    verified, seen_at, origin = _get_status(brand)
    assert (verified, origin) == (True, SHOP)
    assert abs(datetime.fromisoformat(seen_at) - datetime.now().astimezone()) < timedelta(minutes=1)
    assert list_stream_clicks() == []
    assert brand.rows("select count(*) from click") == [(0,)]
    assert _get_status(rival) == (False, None, None)


def test_busy_page_is_written_once_in_five_minutes_across_processes(app, brand, program):
    trips = []
    db.db.trip_hooks.append(trips.append)
    try:
        for _ in range(20):
            _report_script(app, program)
    finally:
        db.db.trip_hooks.remove(trips.append)
    first = _get_status(brand)
    tag_sightings.clear_cache()  # as in another process
    _report_script(app, program, "https://other.test")

    assert len([trip for trip in trips if b"script_seen_at" in trip]) == 1
    assert _get_status(brand) == first

    brand.rows("update program set script_seen_at = now() - interval '6 minutes' returning id")
    tag_sightings.clear_cache()
    _report_script(app, program, "https://other.test")
    assert _get_status(brand)[2] == "https://other.test"


def test_known_script_report_uses_no_rate_limit(app, program, monkeypatch):
    monkeypatch.setitem(app.extensions, "limiter", create_limiter(anonymous_tracking=1))
    for _ in range(5):
        _report_script(app, program)

    assert not app.extensions["limiter"].is_full("anonymous_tracking", "203.0.113.7")


def test_report_over_the_limit_is_not_stored(app, brand, program, monkeypatch):
    other = str(brand.program())
    monkeypatch.setitem(app.extensions, "limiter", create_limiter(anonymous_tracking=1))

    _report_script(app, other)
    _report_script(app, program)
    _report_script(app, program)

    assert _get_status(brand) == (False, None, None)


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
def test_script_origin_comes_from_the_browser_or_is_unknown(app, brand, program, headers, origin):
    _report_script(app, program, None, headers=headers)

    verified, seen_at, script_origin = _get_status(brand)
    assert (verified, script_origin) == (True, origin)
    assert seen_at


@pytest.mark.parametrize("program_id", ["", "x", "0192f0c1-0000-7000-8000-000000000001", "%00"])
def test_unknown_program_is_no_error(app, program_id):
    _report_script(app, program_id)


@pytest.mark.parametrize("request_args", [{"method": "HEAD"}, {"headers": {"Purpose": "prefetch"}}], ids=str)
def test_head_and_prefetch_reports_are_ignored(app, brand, program, request_args):
    _report_script(app, program, **request_args)

    assert _get_status(brand) == (False, None, None)


def test_script_report_is_no_click(app, brand, program):
    slug = new_slug()
    brand.affiliate(slug)

    _report_script(app, program, headers={"Referer": f"https://shop.test/?via={slug}"})

    assert list_stream_clicks() == []
    assert _get_status(brand)[0]


def test_locked_program_row_does_not_delay_a_report(app, brand, program):
    from tests.support.api.concurrency import start_call

    with db.unit_of_work(brand.id):
        db.db.run("select from program where id = %s for update", (program,))
        answer = start_call(lambda: _report_script(app, program))()

    assert answer.status_code == 200
