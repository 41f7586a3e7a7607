"""How values look. Source: core spec, section 2 (minor units); the pages' interface, "Every page"."""

from datetime import UTC, date, datetime, timedelta

import pytest
from flask import g

from domain.organization import time_zones
from pages import show


def test_a_share_is_about_the_order_of_its_sale():
    assert show.order("order-7:override:01a2048b757b7f2186bc4fc8c25811e4") == "order-7"
    assert show.order("order-7") == "order-7"


def test_a_moment_names_its_zone_and_is_readable_by_programs():
    at = datetime(2026, 12, 2, 9, 5, 7, tzinfo=UTC)

    assert show.moment(at) == '<time datetime="2026-12-02T09:05:07Z">2 Dec 2026, 09:05 UTC</time>'
    assert show.moment("2026-12-02T10:05:07.123+01:00") == show.moment(at)
    assert show.moment(None) == show.day(None) == "–"


@pytest.fixture
def berlin(app):
    """A page that is made for somebody in Berlin."""
    with app.test_request_context():
        g.page_zone = time_zones.find_zone("Europe/Berlin")
        yield


def test_time_is_shown_in_the_zone_of_the_page(berlin):
    at = datetime(2026, 12, 31, 23, 5, 7, tzinfo=UTC)

    assert show.moment(at) == '<time datetime="2026-12-31T23:05:07Z">1 Jan 2027, 00:05 Europe/Berlin</time>'
    assert show.words(at) == "1 Jan 2027, 00:05 Europe/Berlin"
    assert show.day(at) == (
        '<span title="1 Jan 2027, 00:05 Europe/Berlin"><time datetime="2027-01-01">1 Jan 2027</time></span>'
    )
    assert 'datetime="2026-12-31T23:05:07Z" title="2027-01-01 00:05:07 Europe/Berlin"' in show.ago(at)
    assert show.day("2026-12-31") == '<time datetime="2026-12-31">31 Dec 2026</time>'


def test_hour_that_the_clock_shows_twice_names_its_offset(berlin):
    shown = [show.words(datetime(2026, 10, 25, hour, 30, tzinfo=UTC)) for hour in (0, 1, 2)]

    assert shown == [
        "25 Oct 2026, 02:30 Europe/Berlin (UTC+02:00)",
        "25 Oct 2026, 02:30 Europe/Berlin (UTC+01:00)",
        "25 Oct 2026, 03:30 Europe/Berlin",
    ]


def test_a_day_is_the_day_in_utc_where_nobody_is_signed_in():
    assert '<time datetime="2026-12-01">1 Dec 2026</time>' in show.day("2026-12-02T00:30:00+01:00")
    assert show.day("2026-12-01") == show.day(date(2026, 12, 1)) == '<time datetime="2026-12-01">1 Dec 2026</time>'


def test_a_number_has_its_thousands_apart():
    assert (show.number(1_234_567), show.number(-1), show.number(None)) == ("1,234,567", "\u22121", "–")


def test_amounts_of_several_currencies_stand_side_by_side():
    assert show.amount({"USD": 200, "EUR": 100, "JPY": 3}) == "1.00 EUR + 3 JPY + 2.00 USD"
    assert show.amount({}) == show.amount(None) == "–"


def test_an_age_stands_beside_its_instant():
    past = datetime.now(UTC) - timedelta(minutes=22, seconds=5)

    assert ">22 min</time>" in show.ago(past)
    assert f'title="{past:%Y-%m-%d %H:%M:%S} UTC"' in show.ago(past.isoformat())
    assert ">3 d</time>" in show.ago(past - timedelta(days=3))
    assert show.ago(None) == "–"


def test_the_version_of_a_part_knows_no_ages_and_no_keys():
    shown = '<p>1 waits</p><span data-age><time>{}</time></span><input type="hidden" name="_key" value="{}">'

    assert show.version(shown.format("1 min", "a")) == show.version(shown.format("2 min", "b"))
    assert show.version(shown.replace("1 waits", "2 wait")) != show.version(shown)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(None, "–"), (0, "–"), (1, "1 s"), (59, "59 s"), (60, "1 min"), (7_300, "2 h"), (200_000, "2 d")],
)
def test_a_duration_is_said_in_its_largest_unit(seconds, said):
    assert show.duration(seconds) == said
