"""What a click's visitor and network did before it. Source: core spec, "Click and lead fraud review"."""

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


def _ask(history, at=NOON, **fields):
    return history.add_click(_click(**fields), at)


def _visited(history, last_at, first, last, slug="ben"):
    history.add_visits(
        visitor="v", program_id="p", affiliate_id="a", slug=slug, last_at=last_at, near_first=first, near_last=last
    )


def test_the_first_click_of_all_has_nothing_against_it():
    facts, is_duplicate = _ask(ClickHistory())

    assert not is_duplicate
    assert (facts.network_clicks, facts.device_links, facts.ms_since_last) == (1, 1, None)


@pytest.mark.parametrize(
    ("minutes", "expected"), [(-61, False), (-60, False), (-59, True), (0, True), (59, True), (60, False)]
)
def test_a_click_within_an_hour_of_one_that_is_written_is_a_duplicate_either_way(minutes, expected):
    history = ClickHistory()
    _visited(history, NOON, NOON, NOON)

    _, is_duplicate = _ask(history, NOON + timedelta(minutes=minutes))

    assert is_duplicate is expected


def test_between_two_clicks_that_are_written_is_a_duplicate():
    history, last = ClickHistory(), NOON + timedelta(minutes=118)
    _visited(history, last, NOON, last)

    assert _ask(history, NOON + timedelta(minutes=59))[1]


def test_clicks_that_are_not_near_make_no_duplicate_and_count_for_the_rest():
    history = ClickHistory()
    _visited(history, NOON - timedelta(hours=2), None, None, slug="other")

    facts, is_duplicate = _ask(history)

    assert (facts.device_links, facts.ms_since_last, is_duplicate) == (2, 7_200_000, False)


def test_milliseconds_count_from_the_visitors_last_click_on_any_link():
    history = ClickHistory()
    _ask(history, slug="other")

    facts, is_duplicate = _ask(history, NOON + timedelta(milliseconds=999, microseconds=999))

    assert (facts.ms_since_last, is_duplicate) == (999, False)


def test_a_click_from_before_the_last_has_no_time_since():
    history = ClickHistory()
    _ask(history)

    assert _ask(history, NOON - timedelta(milliseconds=1), slug="other")[0].ms_since_last is None


def test_the_links_of_a_device_are_counted_per_affiliate_once_each():
    history = ClickHistory()
    for slug in ("one", "two", "two"):
        _ask(history, slug=slug)

    assert _ask(history, slug="three")[0].device_links == 3
    assert _ask(history, slug="three", affiliate_id="b")[0].device_links == 1


def test_a_networks_clicks_of_an_hour_are_counted_per_link():
    history = ClickHistory()
    history.add_network(
        network="n", program_id="p", slug="ben", times=[NOON - timedelta(minutes=m) for m in (60, 59, 1)]
    )

    assert _ask(history)[0].network_clicks == 3
    assert _ask(history, slug="other")[0].network_clicks == 1
    assert _ask(history, network="m")[0].network_clicks == 1


def test_what_the_edge_saw_is_passed_on():
    facts, _ = ClickHistory().add_click(
        _click(is_bot=True, is_data_centre=True, referrer_host="h", query_names=("q",), languages=("de",)), NOON
    )

    assert (facts.agent, facts.is_bot, facts.is_from_data_centre) == ("Firefox", True, True)
    assert (facts.referrer_host, facts.query_names, facts.languages) == ("h", frozenset({"q"}), ("de",))
