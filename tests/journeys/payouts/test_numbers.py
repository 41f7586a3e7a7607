"""What a brand is shown of its money beside the ledger, from the sale to the payout after the refund."""

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

# 0.8 of the one are a US dollar, 0.3 of the other, which has three decimals; of the third nobody publishes a rate.
RATES = {"EUR": Decimal("0.8"), "KWD": Decimal("0.3")}
UNKNOWN = "LRD"
BUCKETS = ("pending", "available", "settling")


@pytest.fixture
def payroll(app):
    made = Payroll.create(app)
    for currency, per_usd in RATES.items():
        made.rate(currency, str(per_usd))
    made.affiliate("ann")
    return made


def _numbers(payroll):
    """Return home cents and held cents per bucket."""
    (shown,) = payroll.brand.get("/api/v1/programs/stats").json
    assert shown["owedEligibleInHomeCents"] == shown["availableCommissionCents"]
    assert shown["settlingInHomeCents"] == shown["settlingCommissionCents"]
    return [(shown[f"{name}CommissionCents"], shown[f"{name}UnconvertibleByCurrency"]) for name in BUCKETS]


def _in_the_ledger(payroll):
    """Return what is owed by the ledger: conversion by conversion at home, and what has no rate by currency."""
    rows = payroll.brand.rows(
        "select currency, sum(amount_cents)::bigint from ledger_entry where organization_id = %s"
        " group by conversion_id, currency",
        payroll.brand.id,
    )
    home, held = 0, {}
    for currency, cents in rows:
        valued = fx.to_currency(amount_cents=cents, from_currency=currency, to_currency="USD", per_usd=RATES)
        if valued is None:
            held[currency] = held.get(currency, 0) + cents
        else:
            home += valued
    return home, {currency: cents for currency, cents in held.items() if cents}


def _agree(payroll):
    """Hold the numbers against the ledger, and return them."""
    numbers = _numbers(payroll)
    held = {}
    for _, part in numbers:
        for currency, cents in (part or {}).items():
            held[currency] = held.get(currency, 0) + cents
    assert (sum(home for home, _ in numbers), held) == _in_the_ledger(payroll)
    return [home for home, _ in numbers]


def test_the_numbers_agree_with_the_ledger_from_the_sale_to_the_run_after_the_refund(payroll):
    for number, currency in enumerate(("USD", "EUR", "KWD", UNKNOWN)):
        payroll.sell("ann", 10_001 + number, currency, externalEventId=currency)
    # 20.00 USD; 20.00 EUR are 25.00; 2.001 KWD are 6.67
    assert _agree(payroll) == [0, 2_000 + 2_500 + 667, 0]
    assert [held for _, held in _numbers(payroll)] == [None, {UNKNOWN: 2_001}, None]

    payroll.run()
    assert _agree(payroll) == [0, 0, 5_167]

    assert payroll.brand.refund("EUR", 2_500).status_code == 200
    assert _agree(payroll) == [0, 0, 5_167 - 625]

    payroll.pay()
    assert _agree(payroll) == [0, 0, 0]

    assert payroll.brand.refund("USD", 4_000).status_code == 200
    assert payroll.brand.refund("KWD").status_code == 200
    assert _agree(payroll) == [0, -800 - 667, 0]

    payroll.sell("ann", 10_000)
    payroll.sell("ann", 30_000, "KWD")
    assert _agree(payroll) == [0, -1_467 + 2_000 + 2_000, 0]

    payroll.run()
    assert _agree(payroll) == [0, 0, 2_533]
    payroll.pay()
    assert _agree(payroll) == [0, 0, 0]
    assert [held for _, held in _numbers(payroll)] == [None, {UNKNOWN: 2_001}, None]


def test_a_debt_in_a_currency_without_a_rate_is_held_out_as_a_debt(payroll):
    conversion_id = payroll.sell("ann", 10_000, UNKNOWN, externalEventId="paid elsewhere")
    payroll.execute("update conversion set paid_cents = commission_cents, status = 'Paid' where id = %s", conversion_id)
    assert payroll.brand.refund("paid elsewhere", 2_500).status_code == 200

    assert _numbers(payroll)[1] == (0, {UNKNOWN: -500})
    payroll.sell("ann", 2_500, UNKNOWN)
    assert _numbers(payroll)[1] == (0, None)
    assert payroll.brand.rows("select paid_cents from conversion where id = %s", conversion_id) == [(2_000,)]


def test_what_is_held_is_pending_and_what_a_failed_payout_keeps_is_settling_until_it_is_void(app):
    payroll = Payroll.create(app, rail="fail")
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000)
    payroll.sell("ann", 5_000, externalEventId="held")
    payroll.execute("update conversion set hold_until = now() + interval '1 day' where external_event_id = 'held'")
    assert _agree(payroll) == [1_000, 2_000, 0]

    payroll.run()
    payroll.pay()
    assert payroll.payouts("status") == [("Failed",)]
    assert _agree(payroll) == [1_000, 0, 2_000]

    ((payout_id,),) = payroll.payouts("id")
    with db.unit_of_work(payroll.brand.id):
        payout = decisions.lock(organization_id=payroll.brand.id, payout_id=payout_id)
        decisions.void(payout, now=clock.now())
    assert _agree(payroll) == [1_000, 2_000, 0]


def test_what_was_paid_and_is_pending_again_is_not_owed_again(payroll):
    payroll.sell("ann", 10_000, externalEventId="quarantined")
    payroll.run()
    payroll.pay()
    payroll.execute(
        "update conversion set status = 'Pending', hold_until = now() + interval '1 day'"
        " where external_event_id = 'quarantined'"
    )
    assert _agree(payroll) == [0, 0, 0]

    payroll.execute("update conversion set commission_cents = 2500 where external_event_id = 'quarantined'")
    assert [home for home, _ in _numbers(payroll)] == [500, 0, 0]
    # More was paid than it earns: a debt counts at once, whatever is held.
    payroll.execute("update conversion set commission_cents = 1500 where external_event_id = 'quarantined'")
    assert [home for home, _ in _numbers(payroll)] == [0, -500, 0]


def test_rehearsals_and_locked_history_are_owed_by_nobody(payroll):
    payroll.sell("ann", 10_000, externalEventId="locked")
    payroll.execute("update conversion set payout_locked = true, paid_cents = 500 where external_event_id = 'locked'")
    payroll.sell("ann", 10_000, externalEventId="test")
    payroll.execute("update conversion set is_test = true, paid_cents = 9999 where external_event_id = 'test'")

    assert [home for home, _ in _numbers(payroll)] == [0, 0, 0]


def test_programs_and_organizations_keep_their_payouts_apart(payroll, app):
    first = payroll.brand.programs[0]
    payroll.sell("ann", 10_000)
    payroll.brand.program()
    payroll.affiliate("ben")
    payroll.sell("ben", 20_000)
    payroll.run(2_000, RunFilters(program_id=first))
    other = Payroll.create(app)

    shown = {row["programId"]: row for row in payroll.brand.get("/api/v1/programs/stats").json}
    assert (shown[str(first)]["availableCommissionCents"], shown[str(first)]["settlingCommissionCents"]) == (0, 2_000)
    second = shown[str(payroll.brand.programs[1])]
    assert (second["availableCommissionCents"], second["settlingCommissionCents"]) == (4_000, 0)
    assert [home for home, _ in _numbers(other)] == [0, 0, 0]


def test_the_month_counts_what_left_the_brand(payroll):
    def paid():
        return payroll.brand.get("/api/billing/state").json["limits"]["partnerPayoutsThisMonthCents"]["current"]

    payroll.sell("ann", 10_000, externalEventId="first")
    payroll.run()
    assert paid() == 0
    payroll.pay()
    assert paid() == 2_000

    payroll.brand.refund("first", 4_000)
    payroll.sell("ann", 10_000)
    payroll.run()
    payroll.pay()
    assert payroll.payouts("amount_cents") == [(2_000,), (1_200,)]
    assert paid() == 3_200


def test_what_a_recruit_brought_in_is_what_the_ledger_says_they_earned_whether_it_was_paid_or_not(app):
    payroll = Payroll.create(app)
    brand = payroll.brand
    brand.program(sub_affiliate_enabled=True, sub_affiliate_percent=10)
    email = f"rita-{brand.id.hex}@example.com"
    rita = brand.affiliate("rita", email=email, email_normalized=email)
    payroll.affiliates["ben"] = brand.affiliate("ben", recruited_by_affiliate_id=rita)

    def figures():
        (shown,) = Partner(app, email).get("/api/v1/me/sub-affiliate/recruits").json["items"]
        earned = dict(
            brand.rows(
                "select affiliate_id, sum(amount_cents)::bigint from ledger_entry"
                " where kind in ('earn', 'reverse') group by affiliate_id"
            )
        )
        assert earned == {
            payroll.affiliates["ben"]: shown["totalCommissionGeneratedCents"],
            rita: shown["overrideEarnedCents"],
        }
        return shown["totalCommissionGeneratedCents"], shown["overrideEarnedCents"]

    payroll.sell("ben", 10_000, externalEventId="first")
    found = [figures()]
    brand.rows("update affiliate set payout_method = 'ProcessorConnect', payout_destination = 'acct_x' returning id")
    payroll.run()
    payroll.pay()
    found.append(figures())
    brand.refund("first", 5_000)
    drain()
    found.append(figures())

    # An override that was paid stays as it was.
    assert found == [(2_000, 200), (2_000, 200), (1_000, 200)]
