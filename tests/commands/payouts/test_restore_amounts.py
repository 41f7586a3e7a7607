"""Affiliates are paid exactly what they earned before and after a restore, whatever the order of the transfer lists."""

import random

import pytest

from tests.commands.payouts.transfer_rows import is_whole, make_row
from tests.support.rows.payroll import Payroll

_SLUGS = ("ann", "ben", "cid")
_RATE = {"USD": 1, "EUR": 2}  # US cents for a native cent


class _Scenario:
    """Earnings and payments by affiliate and currency, whether or not the ledger has them."""

    def __init__(self, app, seed):
        self.random = random.Random(seed)
        self.payroll = Payroll.create(app)
        self.payroll.rate("EUR", "0.5")
        for slug in _SLUGS:
            self.payroll.affiliate(slug)
        self.earned = {(slug, currency): 0 for slug in _SLUGS for currency in _RATE}
        self.paid = dict(self.earned)
        self.unsold, self.transfers = [], []
        for slug, currency in self.earned:
            for _ in range(3):
                self.unsold.append((slug, currency, self.random.randrange(5, 5_000) * 5))

    def sell(self, number):
        """Record the next `number` of the unsold sales; affiliates earn 20 % of each."""
        self.random.shuffle(self.unsold)
        for slug, currency, amount_cents in self.unsold[:number]:
            self.payroll.sell(slug, amount_cents, currency)
            self.earned[slug, currency] += amount_cents // 5
        del self.unsold[:number]

    def forget_payments(self):
        """Pay some of the unsold sales' commissions by transfers that the ledger does not have."""
        for slug, currency, amount_cents in self.unsold:
            native = self.random.randrange(amount_cents // 5 + 1)
            if native and self.random.random() < 0.7:
                cents = native * _RATE[currency]
                rate = {"USD": "1", "EUR": "0.5"}[currency]
                row = make_row(
                    self.payroll,
                    slug,
                    amount=f"{cents // 100}.{cents % 100:02d}",
                    native=f"{currency}={native}/{cents}@{rate}@2026-11-28",
                )
                self.transfers.append((row, slug, currency, native))
                self.paid[slug, currency] += native

    def rows(self):
        """Return a random part of the transfers, in random order."""
        listed = [row for row, *_ in self.transfers]
        return self.random.sample(listed, self.random.randrange(len(listed)))


@pytest.mark.parametrize("seed", range(4))
def test_affiliates_are_paid_exactly_what_they_earned(app, flask, server, seed):
    scenario = _Scenario(app, seed)
    scenario.sell(3)
    scenario.payroll.run()  # these payouts are pending when the server is restored
    scenario.forget_payments()
    server.forget_server()

    while scenario.unsold:
        scenario.sell(4)
        server.reconcile(*scenario.rows())
    returned = scenario.random.choice(scenario.transfers)
    rows = [row | ({"state": "returned"} if row is returned[0] else {}) for row, *_ in scenario.transfers]
    server.reconcile(*[row for row, *_ in scenario.transfers])
    server.reconcile(*rows, code=1)
    server.flask.json("restore", "undo", returned[0]["reference"], "--why", "it came back")
    assert server.reconcile(*rows)["clean"]
    _, slug, currency, native = returned
    scenario.paid[slug, currency] -= native
    server.release()
    scenario.payroll.execute("update job set run_at = now() where organization_id = %s", scenario.payroll.brand.id)
    scenario.payroll.pay()
    scenario.payroll.run()
    scenario.payroll.pay()

    new_payments = scenario.payroll.brand.rows(
        "select p.affiliate_id, l.native_currency, sum(l.native_amount_cents)::bigint from payout p"
        " join payout_line l on l.payout_id = p.id"
        " where p.status = 'Paid' and p.organization_id = %s and not (p.processor_transfer_id = any(%s))"
        " group by 1, 2",
        scenario.payroll.brand.id,
        [row["reference"] for row in rows],
    )
    slugs = {affiliate_id: slug for slug, affiliate_id in scenario.payroll.affiliates.items()}
    for affiliate_id, currency, cents in new_payments:
        scenario.paid[slugs[affiliate_id], currency] += cents
    assert scenario.paid == scenario.earned
    assert is_whole(flask, scenario.payroll)
