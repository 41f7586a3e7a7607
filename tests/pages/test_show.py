"""How values look. Source: core spec, section 2 (minor units); the pages' interface, "Every page"."""

from datetime import UTC, date, datetime, timedelta

import pytest

from domain.money import currencies
from pages import show


@pytest.mark.parametrize(
    ("minor", "currency", "shown"),
    [
        (123_450, "USD", "1,234.50 USD"),
        (1_253_991, "USD", "12,539.91 USD"),
        (5, "EUR", "0.05 EUR"),
        (0, "EUR", "0.00 EUR"),
        (48_200, "JPY", "48,200 JPY"),
        (1_234_567, "KWD", "1,234.567 KWD"),
        (12_345, "RSD", "123.45 RSD"),
        (-4_210, "USD", "\u221242.10 USD"),
        (-5, "USD", "\u22120.05 USD"),
        (10**20, "USD", "1,000,000,000,000,000,000.00 USD"),
        (None, "USD", "–"),
    ],
)
def test_money_has_the_decimals_of_its_currency(minor, currency, shown):
    assert show.money(minor, currency) == shown


@pytest.mark.parametrize("currency", currencies.EXPONENTS)
def test_every_amount_can_be_read_back(currency):
    for minor in (1, 99, 100_001, -123_456_789):
        digits = show.money(minor, currency).removesuffix(f" {currency}").replace(",", "").replace("\u2212", "-")

        assert int(digits.replace(".", "")) == minor
        assert len(digits.partition(".")[2]) == currencies.exponent(currency)


def test_a_moment_names_its_zone_and_is_readable_by_programs():
    at = datetime(2026, 12, 2, 9, 5, 7, tzinfo=UTC)

    assert show.moment(at) == '<time datetime="2026-12-02T09:05:07Z">2 Dec 2026, 09:05 UTC</time>'
    assert show.moment("2026-12-02T10:05:07.123+01:00") == show.moment(at)
    assert show.moment(None) == show.day(None) == "–"


def test_a_day_is_the_day_in_utc():
    assert show.day("2026-12-02T00:30:00+01:00") == '<time datetime="2026-12-01">1 Dec 2026</time>'
    assert show.day("2026-12-01") == show.day(date(2026, 12, 1)) == '<time datetime="2026-12-01">1 Dec 2026</time>'


def test_a_number_has_its_thousands_apart():
    assert (show.number(1_234_567), show.number(-1), show.number(None)) == ("1,234,567", "\u22121", "–")


@pytest.mark.parametrize(
    ("value", "currency", "shown"),
    [
        ("7.5", "USD", "7.50 USD"),
        (7, "USD", "7.00 USD"),
        ("1200.000", "JPY", "1,200 JPY"),
        ("0.125", "EUR", "0.125 EUR"),
        ("100", "KWD", "100.000 KWD"),
        (None, "USD", "–"),
    ],
)
def test_a_rate_in_major_units_looks_like_money(value, currency, shown):
    assert show.major(value, currency) == shown


def test_amounts_of_several_currencies_stand_side_by_side():
    assert show.amount({"USD": 200, "EUR": 100, "JPY": 3}) == "1.00 EUR + 3 JPY + 2.00 USD"
    assert show.amount({}) == show.amount(None) == "–"


@pytest.mark.parametrize(
    ("value", "shown"), [("12.50", "12.5"), ("20.0000", "20"), ("100", "100"), (0, "0"), ("0.25", "0.25")]
)
def test_a_percentage_has_no_zeros_that_say_nothing(value, shown):
    assert show.percent(value) == f"{shown}\N{NO-BREAK SPACE}%"
    assert show.percent(None) == "–"


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
