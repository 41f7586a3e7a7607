"""Affiliates are paid exactly what they earned before and after a restore, in any order in which it comes to light."""

import random

import pytest

from tests.commands.payouts.transfer_rows import is_whole, make_row
from tests.support.rows.payroll import Payroll

_SLUGS = ("ann", "ben", "cid")
_RATE = {"USD": 1, "EUR": 2}  # US cents for a native cent


class _World:
    """Earnings and payments by affiliate and currency, whether or not the books know of them."""

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
        """Sell some of what is to be sold; 20 % of it is earned."""
        self.random.shuffle(self.unsold)
        for slug, currency, amount_cents in self.unsold[:number]:
            self.payroll.sell(slug, amount_cents, currency)
            self.earned[slug, currency] += amount_cents // 5
        del self.unsold[:number]

    def forget_payments(self):
        """Pay a part of all that is ever earned by transfers that the books do not know."""
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
        """Return a list with a part of the transfers, in any order."""
        listed = [row for row, *_ in self.transfers]
        return self.random.sample(listed, self.random.randrange(len(listed)))


@pytest.mark.parametrize("seed", range(4))
def test_everyone_is_paid_what_they_earned_and_no_cent_more(app, flask, server, seed):
    world = _World(app, seed)
    world.sell(3)
    world.payroll.run()  # these wait to be sent when the server is restored
    world.forget_payments()
    server.forget_server()

    while world.unsold:
        world.sell(4)
        server.reconcile(*world.rows())
    came_back = world.random.choice(world.transfers)
    rows = [row | ({"state": "returned"} if row is came_back[0] else {}) for row, *_ in world.transfers]
    server.reconcile(*[row for row, *_ in world.transfers])
    server.reconcile(*rows, code=1)
    server.flask.json("restore", "undo", came_back[0]["reference"], "--why", "it came back")
    assert server.reconcile(*rows)["clean"]
    _, slug, currency, native = came_back
    world.paid[slug, currency] -= native
    server.release()
    world.payroll.execute("update job set run_at = now() where organization_id = %s", world.payroll.brand.id)
    world.payroll.pay()
    world.payroll.run()
    world.payroll.pay()

    new_payments = world.payroll.brand.rows(
        "select p.affiliate_id, l.native_currency, sum(l.native_amount_cents)::bigint from payout p"
        " join payout_line l on l.payout_id = p.id"
        " where p.status = 'Paid' and p.organization_id = %s and not (p.processor_transfer_id = any(%s))"
        " group by 1, 2",
        world.payroll.brand.id,
        [row["reference"] for row in rows],
    )
    slugs = {affiliate_id: slug for slug, affiliate_id in world.payroll.affiliates.items()}
    for affiliate_id, currency, cents in new_payments:
        world.paid[slugs[affiliate_id], currency] += cents
    assert world.paid == world.earned
    assert is_whole(flask, world.payroll)
