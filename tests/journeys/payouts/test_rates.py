"""The exchange rate of a payout: the newest fresh one, stored permanently on each line."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from adapters import clock
from domain.payouts.plan import BlockReason
from models import db
from pipelines import fx_intake


def _day(days_ago):
    return (datetime.now(UTC) - timedelta(days=days_ago)).date()


def _publish(payroll, currency, per_usd, days_ago):
    payroll.rate(currency, per_usd, _day(days_ago))


@pytest.mark.parametrize(("currency", "days_ago", "is_paid"), [("ETB", 3, True), ("GEL", 4, False)])
def test_rate_is_valid_for_its_day_and_three_more(payroll, currency, days_ago, is_paid):
    _publish(payroll, currency, "2", days_ago)
    payroll.sell("ann", 10_000, currency)

    planned = payroll.preview().planned
    receipt = payroll.run(planned.confirm_total_cents) if is_paid else None

    assert [candidate.blocked for candidate in planned.candidates] == [None if is_paid else BlockReason.fx_unavailable]
    assert planned.unavailable == ([] if is_paid else [currency])
    assert planned.native_totals == ({currency: 2_000} if is_paid else {})
    assert receipt is None or receipt.total_cents == 1_000
    expected = [(1_000, _day(days_ago))] if is_paid else []
    assert payroll.lines("amount_cents, fx_rate_date") == expected


def test_newest_rate_is_used(payroll):
    for days_ago, per_usd in ((3, "4"), (1, "2"), (2, "5")):
        _publish(payroll, "GIP", per_usd, days_ago)
    payroll.sell("ann", 10_000, "GIP")
    payroll.run()

    assert payroll.lines("fx_rate, amount_cents") == [(Decimal(2), 1_000)]


def test_republished_rate_does_not_change_existing_runs(payroll):
    _publish(payroll, "GNF", "8000", 0)
    payroll.sell("ann", 10_000_000, "GNF", externalEventId="first")
    payroll.run()
    lines_before = payroll.lines("fx_rate, amount_cents")

    content = f"currency,perUsd,date\nGNF,4000,{_day(0)}".encode()
    with db.any_org_work():
        loaded = fx_intake.store(fx_intake.read(content, now=clock.now()))
    payroll.brand.refund("first", 5_000_000)
    payroll.pay()

    assert (loaded.replaced, lines_before) == (1, [(Decimal(8000), 25_000)])
    assert payroll.lines("fx_rate, amount_cents") == [(Decimal(8000), 12_500)]
    assert payroll.payouts() == [("Paid", 12_500)]
