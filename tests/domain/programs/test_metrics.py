"""What follows from the totals of two periods: net revenue, conversion rate, earnings per click, changes."""

from decimal import Decimal

from domain.programs.metrics import MetricsRow, compare
from domain.programs.numbers import Money

_NOTHING = Money(0, None)


def _totals(*, clicks=0, sales=0, revenue=_NOTHING, refunded=_NOTHING, commission=_NOTHING):
    return MetricsRow(None, None, clicks, 0, sales, 0, revenue, refunded, commission, _NOTHING)


def test_rates_are_rounded_half_to_even():
    assert _totals(clicks=800, sales=1).conversion_rate_percent == Decimal("0.12")  # 0.125
    assert _totals(clicks=800, sales=3).conversion_rate_percent == Decimal("0.38")  # 0.375
    assert _totals(clicks=8, commission=Money(10**29 + 1, None)).epc_cents == Decimal(
        "12500000000000000000000000000.125"
    )
    assert _totals(clicks=20_000, commission=Money(1, None)).epc_cents == 0  # 0.00005
    assert _totals(clicks=20_000, commission=Money(3, None)).epc_cents == Decimal("0.0002")  # 0.00015


def test_rates_without_clicks_are_missing():
    totals = _totals(sales=5, commission=Money(100, None))

    assert totals.conversion_rate_percent is totals.epc_cents is None


def test_net_revenue_subtracts_refunds_by_currency():
    totals = _totals(revenue=Money(500, {"EUR": 300, "JPY": 7}), refunded=Money(700, {"JPY": 7}))

    assert totals.net_revenue == Money(-200, {"EUR": 300})
    assert _totals(revenue=Money(1, {"JPY": 7}), refunded=Money(0, {"JPY": 7})).net_revenue == Money(1, None)


def test_changes_are_percentages_of_the_earlier_period():
    current = _totals(clicks=112, sales=0, revenue=Money(-50, None), commission=Money(1, None))
    previous = _totals(clicks=100, sales=3, revenue=Money(-100, None))
    changes = compare(current, previous)

    assert (changes.clicks, changes.sales, changes.net_revenue) == (12, -100, 50)
    assert changes.commission is None
    assert changes.conversion_rate == -100
    assert changes.epc is None
    assert compare(_totals(clicks=2001), _totals(clicks=2000)).clicks == 0  # 0.05 rounds to the even tenth
    assert compare(_totals(clicks=2003), _totals(clicks=2000)).clicks == Decimal("0.2")  # 0.15
