"""From due commissions to paid ones: a run, its payouts and lines, the ledger, and later refunds."""

import pytest

from domain.payouts.confirmation import RunFilters
from domain.refusals import Refused
from tests.support.rows.payroll import Payroll


@pytest.fixture
def payroll(app):
    return Payroll.create(app)


def test_due_sale_is_paid(payroll):
    # given
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000)

    # when
    receipt = payroll.run()
    payroll.pay()

    # then
    assert receipt.total_cents == 2_000
    assert payroll.payouts() == [("Paid", 2_000)]
    assert payroll.lines() == [(2_000, 2_000, False)]
    assert payroll.balance("ann") == {"USD": 0}
    assert payroll.brand.rows("select status, paid_cents from conversion") == [("Paid", 2_000)]
    assert [row[0] for row in payroll.brand.rows("select type from event order by created_at, id")][-2:] == [
        "payout.created",
        "payout.paid",
    ]


def test_several_currencies_make_one_payout_in_usd(payroll):
    payroll.rate("EUR", "0.8")
    payroll.rate("JPY", "150")
    payroll.affiliate("ann")
    for amount, currency in ((10_000, "USD"), (10_000, "EUR"), (10_000, "JPY")):
        payroll.sell("ann", amount, currency)

    preview = payroll.preview()
    assert preview.planned.native_totals == {"EUR": 2_000, "JPY": 2_000, "USD": 2_000}
    payroll.run(6_000)
    payroll.pay()

    # 20.00 USD, 20.00 EUR at 0.8 is 25.00, 2,000 JPY at 150 is 13.33
    assert payroll.payouts() == [("Paid", 2_000 + 2_500 + 1_333)]
    assert sorted(payroll.lines("native_currency, fx_rate::text, amount_cents")) == [
        ("EUR", "0.800000000000", 2_500),
        ("JPY", "150.000000000000", 1_333),
        ("USD", "1.000000000000", 2_000),
    ]
    assert payroll.balance("ann") == {"EUR": 0, "JPY": 0, "USD": 0}


def test_unconfirmed_total_writes_nothing(payroll):
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000)
    with pytest.raises(Refused) as error_info:
        payroll.run(1_999)
    assert error_info.value.code == "confirm_total_mismatch"
    assert payroll.payouts() == []


def test_refund_before_sending_reduces_the_payout(payroll):
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000, externalEventId="first")
    payroll.sell("ann", 10_000, externalEventId="second")
    payroll.run()
    assert payroll.brand.refund("first", 2_500).status_code == 200
    assert payroll.payouts() == [("Pending", 3_500)]
    payroll.pay()
    assert payroll.payouts() == [("Paid", 3_500)]
    assert payroll.balance("ann") == {"USD": 0}


def test_refund_after_payment_is_netted_in_the_next_run(payroll):
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000, externalEventId="first")
    payroll.run()
    payroll.pay()
    assert payroll.brand.refund("first", 4_000).status_code == 200
    assert payroll.balance("ann") == {"USD": -800}
    assert payroll.lines("reversed_native_cents, reversed_amount_cents, reversed_at is not null") == [(800, 800, True)]
    assert [candidate.blocked for candidate in payroll.preview().planned.candidates] == ["negative_balance"]

    payroll.sell("ann", 10_000)
    assert payroll.preview().planned.native_totals == {"USD": 1_200}
    payroll.run(1_200)
    payroll.pay()
    assert payroll.payouts() == [("Paid", 2_000), ("Paid", 1_200)]
    assert payroll.balance("ann") == {"USD": 0}
    assert payroll.preview().planned.candidates == []


def test_rejected_payout_keeps_its_lines(app):
    payroll = Payroll.create(app, rail="fail")
    payroll.affiliate("ann")
    payroll.sell("ann", 10_000)
    payroll.run()
    payroll.pay()
    assert payroll.payouts("status, failure_code") == [("Failed", "sandbox_rejected")]
    assert payroll.preview().planned.candidates == []
    assert payroll.balance("ann") == {"USD": 2_000}


def test_run_pays_only_filtered_affiliates(payroll):
    payroll.affiliate("ann")
    payroll.affiliate("ben")
    payroll.sell("ann", 10_000)
    payroll.sell("ben", 10_000)
    payroll.run(2_000, RunFilters(affiliate_ids=(payroll.affiliates["ben"],)))
    payroll.pay()
    assert payroll.balance("ann") == {"USD": 2_000}
    assert payroll.balance("ben") == {"USD": 0}
