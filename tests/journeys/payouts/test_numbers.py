"""The amounts shown to a brand compared with the ledger, from the sale to the payout after the refund."""

from decimal import Decimal

import pytest

from adapters import clock
from domain.money import fx
from domain.payouts.confirmation import RunFilters
from models import db
from pipelines.payouts import decisions
from tests.support.job_queues import drain
from tests.support.rows.brands import Partner
from tests.support.rows.payroll import Payroll

# 0.8 EUR or 0.3 KWD (three decimals) are one US dollar; UNKNOWN has no published rate.
RATES = {"EUR": Decimal("0.8"), "KWD": Decimal("0.3")}
UNKNOWN = "LRD"
BUCKETS = ("pending", "available", "settling")


@pytest.fixture
def payroll(app):
    new_payroll = Payroll.create(app)
    for currency, per_usd in RATES.items():
        new_payroll.rate(currency, str(per_usd))
    new_payroll.affiliate("ann")
    return new_payroll


def _read_amounts(payroll):
    """Return home cents and held cents per bucket."""
    (stats,) = payroll.brand.get("/api/v1/programs/stats").json
    assert stats["owedEligibleInHomeCents"] == stats["availableCommissionCents"]
    assert stats["settlingInHomeCents"] == stats["settlingCommissionCents"]
    return [(stats[f"{name}CommissionCents"], stats[f"{name}UnconvertibleByCurrency"]) for name in BUCKETS]


def _read_ledger(payroll):
    """Return what the ledger owes: converted per conversion, and by currency where there is no rate."""
    rows = payroll.brand.rows(
        "select currency, sum(amount_cents)::bigint from ledger_entry where organization_id = %s"
        " group by conversion_id, currency",
        payroll.brand.id,
    )
    home, unconvertible = 0, {}
    for currency, cents in rows:
        converted = fx.to_currency(amount_cents=cents, from_currency=currency, to_currency="USD", per_usd=RATES)
        if converted is None:
            unconvertible[currency] = unconvertible.get(currency, 0) + cents
        else:
            home += converted
    return home, {currency: cents for currency, cents in unconvertible.items() if cents}


def _check_amounts(payroll):
    """Assert that the amounts match the ledger, and return them."""
    numbers = _read_amounts(payroll)
    unconvertible = {}
    for _, part in numbers:
        for currency, cents in (part or {}).items():
            unconvertible[currency] = unconvertible.get(currency, 0) + cents
    assert (sum(home for home, _ in numbers), unconvertible) == _read_ledger(payroll)
    return [home for home, _ in numbers]


def test_shown_amounts_match_the_ledger_through_the_whole_cycle(payroll):
    for number, currency in enumerate(("USD", "EUR", "KWD", UNKNOWN)):
        payroll.sell("ann", 10_001 + number, currency, externalEventId=currency)
    # 20.00 USD; 20.00 EUR are 25.00; 2.001 KWD are 6.67
    assert _check_amounts(payroll) == [0, 2_000 + 2_500 + 667, 0]
    assert [unconvertible for _, unconvertible in _read_amounts(payroll)] == [None, {UNKNOWN: 2_001}, None]

    payroll.run()
    assert _check_amounts(payroll) == [0, 0, 5_167]

    assert payroll.brand.refund("EUR", 2_500).status_code == 200
    assert _check_amounts(payroll) == [0, 0, 5_167 - 625]

    payroll.pay()
    assert _check_amounts(payroll) == [0, 0, 0]

    assert payroll.brand.refund("USD", 4_000).status_code == 200
    assert payroll.brand.refund("KWD").status_code == 200
    assert _check_amounts(payroll) == [0, -800 - 667, 0]

    payroll.sell("ann", 10_000)
    payroll.sell("ann", 30_000, "KWD")
    assert _check_amounts(payroll) == [0, -1_467 + 2_000 + 2_000, 0]

    payroll.run()
    assert _check_amounts(payroll) == [0, 0, 2_533]
    payroll.pay()
    assert _check_amounts(payroll) == [0, 0, 0]
    assert [unconvertible for _, unconvertible in _read_amounts(payroll)] == [None, {UNKNOWN: 2_001}, None]


def test_debt_without_a_rate_is_shown_separately(payroll):
    conversion_id = payroll.sell("ann", 10_000, UNKNOWN, externalEventId="paid elsewhere")
    payroll.execute("update conversion set paid_cents = commission_cents, status = 'Paid' where id = %s", conversion_id)
    assert payroll.brand.refund("paid elsewhere", 2_500).status_code == 200

    assert _read_amounts(payroll)[1] == (0, {UNKNOWN: -500})
    payroll.sell("ann", 2_500, UNKNOWN)
    assert _read_amounts(payroll)[1] == (0, None)
    assert payroll.brand.rows("select paid_cents from conversion where id = %s", conversion_id) == [(2_000,)]


def test_amounts_move_between_pending_available_and_settling(app):
    payroll = Payroll.create(app, rail="fail")
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000)
    payroll.sell("ann", 5_000, externalEventId="held")
    payroll.execute("update conversion set hold_until = now() + interval '1 day' where external_event_id = 'held'")
    assert _check_amounts(payroll) == [1_000, 2_000, 0]

    payroll.run()
    payroll.pay()
    assert payroll.payouts("status") == [("Failed",)]
    assert _check_amounts(payroll) == [1_000, 0, 2_000]

    ((payout_id,),) = payroll.payouts("id")
    with db.unit_of_work(payroll.brand.id):
        payout = decisions.lock(organization_id=payroll.brand.id, payout_id=payout_id)
        decisions.void(payout, now=clock.now())
    assert _check_amounts(payroll) == [1_000, 2_000, 0]


def test_paid_pending_conversion_is_not_owed_again(payroll):
    payroll.sell("ann", 10_000, externalEventId="quarantined")
    payroll.run()
    payroll.pay()
    payroll.execute(
        "update conversion set status = 'Pending', hold_until = now() + interval '1 day'"
        " where external_event_id = 'quarantined'"
    )
    assert _check_amounts(payroll) == [0, 0, 0]

    payroll.execute("update conversion set commission_cents = 2500 where external_event_id = 'quarantined'")
    assert [home for home, _ in _read_amounts(payroll)] == [500, 0, 0]
    # More was paid than earned: a debt counts at once, regardless of holds.
    payroll.execute("update conversion set commission_cents = 1500 where external_event_id = 'quarantined'")
    assert [home for home, _ in _read_amounts(payroll)] == [0, -500, 0]


def test_test_and_locked_conversions_are_not_owed(payroll):
    payroll.sell("ann", 10_000, externalEventId="locked")
    payroll.execute("update conversion set payout_locked = true, paid_cents = 500 where external_event_id = 'locked'")
    payroll.sell("ann", 10_000, externalEventId="test")
    payroll.execute("update conversion set is_test = true, paid_cents = 9999 where external_event_id = 'test'")

    assert [home for home, _ in _read_amounts(payroll)] == [0, 0, 0]


def test_payouts_are_separate_per_program_and_tenant(payroll, app):
    first = payroll.brand.programs[0]
    payroll.sell("ann", 10_000)
    payroll.brand.program()
    payroll.affiliate("ben")
    payroll.sell("ben", 20_000)
    payroll.run(2_000, RunFilters(program_id=first))
    other = Payroll.create(app)

    stats = {row["programId"]: row for row in payroll.brand.get("/api/v1/programs/stats").json}
    assert (stats[str(first)]["availableCommissionCents"], stats[str(first)]["settlingCommissionCents"]) == (0, 2_000)
    second = stats[str(payroll.brand.programs[1])]
    assert (second["availableCommissionCents"], second["settlingCommissionCents"]) == (4_000, 0)
    assert [home for home, _ in _read_amounts(other)] == [0, 0, 0]


def test_monthly_payout_limit_counts_sent_amounts(payroll):
    def read_paid_this_month():
        return payroll.brand.get("/api/billing/state").json["limits"]["partnerPayoutsThisMonthCents"]["current"]

    payroll.sell("ann", 10_000, externalEventId="first")
    payroll.run()
    assert read_paid_this_month() == 0
    payroll.pay()
    assert read_paid_this_month() == 2_000

    payroll.brand.refund("first", 4_000)
    payroll.sell("ann", 10_000)
    payroll.run()
    payroll.pay()
    assert payroll.payouts("amount_cents") == [(2_000,), (1_200,)]
    assert read_paid_this_month() == 3_200


def test_recruit_figures_match_the_ledger(app):
    payroll = Payroll.create(app)
    brand = payroll.brand
    brand.program(sub_affiliate_enabled=True, sub_affiliate_percent=10)
    email = f"rita-{brand.id.hex}@example.com"
    rita = brand.affiliate("rita", email=email, email_normalized=email)
    payroll.affiliates["ben"] = brand.affiliate("ben", recruited_by_affiliate_id=rita)

    def read_figures():
        (stats,) = Partner(app, email).get("/api/v1/me/sub-affiliate/recruits").json["items"]
        earned = dict(
            brand.rows(
                "select affiliate_id, sum(amount_cents)::bigint from ledger_entry"
                " where kind in ('earn', 'reverse') group by affiliate_id"
            )
        )
        assert earned == {
            payroll.affiliates["ben"]: stats["totalCommissionGeneratedCents"],
            rita: stats["overrideEarnedCents"],
        }
        return stats["totalCommissionGeneratedCents"], stats["overrideEarnedCents"]

    payroll.sell("ben", 10_000, externalEventId="first")
    figures_over_time = [read_figures()]
    brand.rows("update affiliate set payout_method = 'ProcessorConnect', payout_destination = 'acct_x' returning id")
    payroll.run()
    payroll.pay()
    figures_over_time.append(read_figures())
    brand.refund("first", 5_000)
    drain()
    figures_over_time.append(read_figures())

    # A paid override does not change.
    assert figures_over_time == [(2_000, 200), (2_000, 200), (1_000, 200)]
