"""The range of days that the address of a page names."""

from datetime import UTC, date, datetime

import pytest

from api import current_time
from domain.programs.days import DayRange
from pages.times import date_ranges, day_words


@pytest.fixture
def read_range(app, monkeypatch):
    """Return a function that reads the range of an address at a time."""

    def read(query, at="2026-11-28T23:30:00"):
        monkeypatch.setattr(current_time, "now", lambda: datetime.fromisoformat(at).replace(tzinfo=UTC))
        with app.test_request_context(f"/dashboard?{query}"):
            return date_ranges.read_range()

    return read


@pytest.mark.parametrize(
    ("query", "words", "comparison", "group"),
    [
        ("", "30 Oct – 28 Nov 2026", "period", "day"),
        ("range=7d", "22–28 Nov 2026", "period", "day"),
        ("range=30d", "30 Oct – 28 Nov 2026", "period", "day"),
        ("range=90d", "31 Aug – 28 Nov 2026", "period", "day"),
        ("range=month", "1–28 Nov 2026", "month", "day"),
        ("range=last-month", "Oct 2026", "month", "day"),
        ("range=year", "1 Jan – 28 Nov 2026", "year", "month"),
        ("range=own&from=2026-11-20&to=2026-11-20", "20 Nov 2026", "period", "day"),
        ("range=own&from=2025-11-28&to=2026-11-28", "28 Nov 2025 – 28 Nov 2026", "period", "month"),
        ("range=own&from=2026-07-01&to=2026-11-28", "1 Jul – 28 Nov 2026", "period", "week"),
        ("range=own&from=2026-11-27&to=2027-11-27", "27–28 Nov 2026", "period", "day"),
        ("range=7d&from=x&to=y", "22–28 Nov 2026", "period", "day"),
        ("from=2026-11-20&to=2026-11-21", "20–21 Nov 2026", "period", "day"),
    ],
)
def test_address_names_the_days_up_to_today_in_utc(read_range, query, words, comparison, group):
    chosen = read_range(query)

    assert (day_words.describe_range(chosen.days), str(chosen.comparison), str(chosen.group)) == (
        words, comparison, group
    )  # fmt: skip
    assert not chosen.form.is_wrong
    assert chosen.is_running == (chosen.days.last == date(2026, 11, 28))


@pytest.mark.parametrize(
    ("query", "field", "message"),
    [
        ("range=x", "range", "does not exist"),
        ("range=", "range", "does not exist"),
        ("range=own", "from", "start and an end date"),
        ("range=own&from=2026-11-01", "to", "start and an end date"),
        ("from=2026-11-01", "to", "start and an end date"),
        ("to=", "from", "start and an end date"),
        ("range=own&from=2026-11-02&to=2026-11-01", "from", "after the end date"),
        ("range=own&from=2026-11-29&to=2026-12-01", "from", "future"),
        ("range=own&from=2024-11-27&to=2026-11-28", "from", "at most 731 days"),
        ("range=own&from=2026-02-30&to=2026-03-01", "from", "YYYY-MM-DD"),
        ("range=own&from=2026-11-01&to=20261128", "to", "YYYY-MM-DD"),
        ("range=own&from=2026-11-01&to=%F0%9F%A6%86", "to", "YYYY-MM-DD"),
        ("range=own&from=0001-01-01&to=0001-01-02", "from", "later start date"),
    ],
)
def test_invalid_range_is_an_error_and_shows_the_default_days(read_range, query, field, message):
    chosen = read_range(query)

    assert list(chosen.form.errors) == [field]
    assert message in chosen.form.errors[field]
    assert chosen.form.status == 400
    assert (chosen.name, chosen.days) == ("30d", DayRange(date(2026, 10, 30), date(2026, 11, 28)))


def test_months_and_years_start_on_their_first_day(read_range):
    for at, month, last_month, year in (
        ("2026-01-01T00:00:00", "1 Jan 2026", "Dec 2025", "1 Jan 2026"),
        ("2024-02-29T12:00:00", "Feb 2024", "Jan 2024", "1 Jan – 29 Feb 2024"),
        ("2026-12-31T23:59:59", "Dec 2026", "Nov 2026", "1 Jan – 31 Dec 2026"),
    ):
        ranges = [read_range(f"range={name}", at) for name in ("month", "last-month", "year")]
        assert [day_words.describe_range(chosen.days) for chosen in ranges] == [month, last_month, year], at


def test_every_range_of_the_form_can_be_read(read_range):
    for name in date_ranges.LABELS:
        chosen = read_range(f"range={name}&from=2026-11-01&to=2026-11-02")
        assert (chosen.name, chosen.form.is_wrong) == (name, False)
