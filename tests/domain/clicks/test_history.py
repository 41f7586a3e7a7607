"""Earlier activity of a click's visitor and network. Source: core spec, "Click and lead fraud review"."""

from datetime import UTC, datetime, timedelta

import pytest

from domain.clicks.history import ClickHistory
from domain.clicks.raw_click import RawClick

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def _click(**fields):
    values = {
        "id": "i", "organization_id": "o", "program_id": "p", "affiliate_id": "a", "slug": "ben", "sub_id": None,
        "occurred_at": "", "visitor": "v", "network": "n", "agent": "Firefox",
    }  # fmt: skip
    return RawClick(**values | fields)


def _add(history, at=NOON, **fields):
    return history.add_click(_click(**fields), at)


def _add_visits(history, last_at, near_first, near_last, slug="ben"):
    history.add_visits(
        visitor="v",
        program_id="p",
        affiliate_id="a",
        slug=slug,
        last_at=last_at,
        near_first=near_first,
        near_last=near_last,
    )


def test_first_click_is_no_duplicate_and_has_no_history():
    facts, is_duplicate = _add(ClickHistory())

    assert not is_duplicate
    assert (facts.network_clicks, facts.device_links, facts.ms_since_last) == (1, 1, None)


@pytest.mark.parametrize(
    ("minutes", "expected"), [(-61, False), (-60, False), (-59, True), (0, True), (59, True), (60, False)]
)
def test_click_within_an_hour_before_or_after_a_stored_one_is_a_duplicate(minutes, expected):
    history = ClickHistory()
    _add_visits(history, NOON, NOON, NOON)

    _, is_duplicate = _add(history, NOON + timedelta(minutes=minutes))

    assert is_duplicate is expected


def test_click_between_two_stored_ones_is_a_duplicate():
    history, last = ClickHistory(), NOON + timedelta(minutes=118)
    _add_visits(history, last, NOON, last)

    assert _add(history, NOON + timedelta(minutes=59))[1]


def test_distant_click_is_no_duplicate_but_counts_for_the_device():
    history = ClickHistory()
    _add_visits(history, NOON - timedelta(hours=2), None, None, slug="other")

    facts, is_duplicate = _add(history)

    assert (facts.device_links, facts.ms_since_last, is_duplicate) == (2, 7_200_000, False)


def test_milliseconds_are_counted_from_the_visitors_last_click_on_any_link():
    history = ClickHistory()
    _add(history, slug="other")

    facts, is_duplicate = _add(history, NOON + timedelta(milliseconds=999, microseconds=999))

    assert (facts.ms_since_last, is_duplicate) == (999, False)


def test_click_older_than_the_last_one_has_no_elapsed_time():
    history = ClickHistory()
    _add(history)

    assert _add(history, NOON - timedelta(milliseconds=1), slug="other")[0].ms_since_last is None


def test_links_of_a_device_are_counted_once_per_affiliate():
    history = ClickHistory()
    for slug in ("one", "two", "two"):
        _add(history, slug=slug)

    assert _add(history, slug="three")[0].device_links == 3
    assert _add(history, slug="three", affiliate_id="b")[0].device_links == 1


def test_network_clicks_of_an_hour_are_counted_per_link():
    history = ClickHistory()
    history.add_network(
        network="n", program_id="p", slug="ben", times=[NOON - timedelta(minutes=m) for m in (60, 59, 1)]
    )

    assert _add(history)[0].network_clicks == 3
    assert _add(history, slug="other")[0].network_clicks == 1
    assert _add(history, network="m")[0].network_clicks == 1


def test_fields_of_the_raw_click_are_passed_on():
    facts, _ = ClickHistory().add_click(
        _click(is_bot=True, is_data_centre=True, referrer_host="h", query_names=("q",), languages=("de",)), NOON
    )

    assert (facts.agent, facts.is_bot, facts.is_from_data_centre) == ("Firefox", True, True)
    assert (facts.referrer_host, facts.query_names, facts.languages) == ("h", frozenset({"q"}), ("de",))
