"""Payments before a restore, by a rail that reports no currencies, are netted with sales in any currency."""

import pytest

from domain.refusals import Refused
from tests.commands.payouts.transfer_rows import is_whole, make_row
from tests.support.api.payouts import owner_session
from tests.support.rows.payroll import Payroll


@pytest.mark.parametrize("is_sold_before", [True, False], ids=["sales first", "reconcile first"])
@pytest.mark.parametrize("amount", ["50.00", "60.00", "62.50"], ids=["less", "equal", "more"])
def test_payment_without_currencies_is_netted_with_sales_in_any(app, flask, server, is_sold_before, amount):
    # given: 20.00 USD and 20.00 EUR, worth 60.00 USD, of which the wallet has paid a part, all, or too much
    payroll = Payroll.create(app)
    payroll.affiliate("ann", method="Wallet")
    payroll.rate("EUR", "0.5")
    server.forget_server()
    row = make_row(payroll, amount=amount)

    def sell():
        payroll.sell("ann")
        payroll.sell("ann", 10_000, "EUR")

    # when
    if is_sold_before:
        sell()
    assert server.reconcile(row, method="Wallet")["clean"]
    server.release()
    if not is_sold_before:
        sell()

    # then: the difference is paid, and an overpayment is netted with later sales in either currency
    paid = [6_000 - int(amount.replace(".", ""))]
    if paid[0] > 0:
        preview = payroll.preview()
        assert preview.planned.payout_total_cents == paid[0]
        payroll.run(preview.planned.confirm_total_cents)
    else:
        assert {candidate.blocked for candidate in payroll.preview().planned.candidates} == {"negative_balance"}
        with pytest.raises(Refused, match="Nothing is due"):
            payroll.run()
        payroll.sell("ann", 10_000, "EUR")
        payroll.run()
        paid = [paid[0] + 4_000]
    payroll.pay()
    assert [cents for (cents,) in payroll.payouts("amount_cents")] == [int(amount.replace(".", "")), *paid]
    assert payroll.balance("ann") == {"EUR": 0, "USD": 0}
    assert is_whole(flask, payroll)


def test_total_below_zero_is_confirmed_as_0(app, flask, server):
    # given: 70.00 EUR, worth 140.00 USD, of which 100.00 USD were paid: natively 7,000 - 10,000
    payroll = Payroll.create(app)
    payroll.affiliate("ann", method="Wallet")
    payroll.rate("EUR", "0.5")
    server.forget_server()
    server.reconcile(make_row(payroll, amount="100.00"), method="Wallet")
    server.release()
    payroll.sell("ann", 35_000, "EUR")

    person = owner_session(payroll)
    preview = person.post("/api/v1/payouts/preview", {}).json
    assert preview["nativeTotalsForRun"] == {"EUR": 7_000, "USD": -10_000}
    assert (preview["totalEligibleCents"], preview["payoutTotalUsdCents"]) == (0, 4_000)
    confirmed = {"confirmTotalCents": 0, "confirmTotals": preview["nativeTotalsForRun"]}
    assert person.post("/api/v1/payouts/run", confirmed).json["totalCents"] == 4_000
