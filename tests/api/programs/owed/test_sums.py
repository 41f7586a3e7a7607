"""Stored owed totals equal the sums of conversions after any actions, before and after folding and computing.

Source: core spec, campaign statistics: each conversion valued at the stored rate of its date.
"""

import random
from datetime import UTC, datetime, timedelta
from uuid import UUID

from domain.refusals import Refused
from models import db
from models.conversions import conversions, reviews
from pipelines.payouts import decisions
from tests.support import owed_totals
from tests.support.job_queues import drain
from tests.support.rows.payroll import Payroll
from tests.support.rows.program_rows import insert_conversion

# With two decimals, with none, and one without a rate at first; no other test uses the last three.
_CURRENCIES = ("USD", "TJS", "PYG", "HTG")
_LOWEST_ID = UUID(int=0)


class _RandomActions:
    """Actions that may happen to a brand in any order."""

    def __init__(self, payroll, dice):
        self.payroll, self.brand, self.dice = payroll, payroll.brand, dice
        self.manager = self.brand.person("Admin")
        self.now = datetime.now(UTC)
        payroll.affiliate("ann")
        self.brand.program()
        payroll.affiliate("ben")
        payroll.rate("TJS", "10.9375")
        self.done = []

    def sell(self):
        self.payroll.sell(
            self.dice.choice(["ann", "ben"]), self.dice.randint(1, 99_999), self.dice.choice(["USD", "TJS"])
        )

    def insert_past_conversion(self):
        number = self.dice.randint(0, 1)
        insert_conversion(
            self.brand,
            self.payroll.affiliates[("ann", "ben")[number]],
            program_id=self.brand.programs[number],
            currency=self.dice.choice(_CURRENCIES),
            commission_cents=self.dice.choice([0, 1, 3, 5, self.dice.randint(1, 10**9)]),
            status=self.dice.choice(["Pending", "Pending", "Approved", "Denied"]),
            occurred_at=self.now - timedelta(days=self.dice.randint(0, 9), minutes=self.dice.randint(0, 1_439)),
            hold_until=self.now + timedelta(hours=self.dice.randint(-60, 60)),
            payout_locked=self.dice.random() < 0.1,
        )

    def refund(self):
        rows = self.brand.rows("select external_event_id, amount_cents from sale order by id")
        if rows:
            event, cents = self.dice.choice(rows)
            self.brand.refund(event, self.dice.choice([None, 1, max(1, cents // 3)]))

    def review(self):
        rows = self.brand.rows("select id from conversion order by id")
        if rows:
            path = self.dice.choice(
                ["v1/conversions/{}/validate", "v1/conversions/{}/invalidate", "conversions/{}/deny"]
            )
            answer = self.manager.post(f"/api/{path.format(self.dice.choice(rows)[0])}", {"reason": "checked"})
            assert answer.status_code < 500

    def release(self):
        with db.any_org_work():
            reviews.any_org_release(now=self.now + timedelta(hours=self.dice.randint(-30, 30)), limit=1_000)

    def change_hold(self):
        self.payroll.execute(
            "update organization set payout_grace_days = %s where id = %s", self.dice.choice([0, 0, 7]), self.brand.id
        )
        with db.unit_of_work(self.brand.id):
            conversions.renew_holds(organization_id=self.brand.id, after=_LOWEST_ID, limit=self.dice.randint(1, 9))

    def start_run(self):
        try:
            self.payroll.run()
        except Refused as refused:
            self.done.append(refused.code)

    def pay(self):
        self.brand.set(sandboxRail=self.dice.choice(["ok", "ok", "fail"]))
        self.payroll.pay()

    def void(self):
        rows = self.payroll.payouts("id, status, voided_at")
        failed = [payout_id for payout_id, status, voided_at in rows if status == "Failed" and voided_at is None]
        if failed:
            with db.unit_of_work(self.brand.id):
                payout = decisions.lock(organization_id=self.brand.id, payout_id=self.dice.choice(failed))
                decisions.void(payout, now=self.now)

    def toggle_lock(self):
        rows = self.brand.rows("select id from conversion where paid_cents = 0 order by id")
        if rows:
            self.payroll.execute(
                "update conversion set payout_locked = not payout_locked where id = %s"
                " and not exists (select from payout_line l where l.conversion_id = conversion.id)",
                self.dice.choice(rows)[0],
            )

    def store_rate(self):
        day = (self.now - timedelta(days=self.dice.randint(1, 12))).date()
        per_usd = self.dice.choice(["0.5", "2", "7302.49", "98765432109.876543210987", str(self.dice.randint(1, 999))])
        self.payroll.rate(self.dice.choice(_CURRENCIES[1:]), per_usd, day)

    def change_home_currency(self):
        home = self.dice.choice(["USD", "USD", "TJS", "PYG"])
        self.payroll.execute("update organization set home_currency = %s where id = %s", home, self.brand.id)

    def fold_changes(self):
        owed_totals.fold_changes(self.brand)

    def compute_days(self):
        owed_totals.compute_owed_days(self.brand)


def _check_totals(actions):
    for offset in (timedelta(0), timedelta(hours=7), timedelta(days=1), timedelta(days=2), timedelta(days=90)):
        now = actions.now + offset
        assert owed_totals.read_stored_totals(actions.brand, now) == owed_totals.compute_totals(actions.brand, now), (
            offset,
            actions.done,
        )
    assert owed_totals.list_day_violations(actions.brand) == [], actions.done


def test_stored_totals_equal_the_sums_after_random_actions(app):
    actions = _RandomActions(Payroll.create(app), random.Random(20_261_123))
    names = [name for name in vars(_RandomActions) if not name.startswith("_")]

    first_names = [
        *("sell", "insert_past_conversion", "fold_changes", "compute_days", "start_run"),
        *("fold_changes", "compute_days", "pay", "refund", "fold_changes", "compute_days"),
    ]
    more = ["insert_past_conversion", "insert_past_conversion", "fold_changes"]
    for number in range(100):
        actions.done.append(first_names[number] if number < len(first_names) else actions.dice.choice([*names, *more]))
        getattr(actions, actions.done[-1])()
        if number % 4 == 0:
            _check_totals(actions)

    drain("refunds", "payouts")
    owed_totals.fold_changes(actions.brand)
    owed_totals.compute_owed_days(actions.brand)
    _check_totals(actions)
    assert actions.brand.rows("select 1 from day_to_reckon") == []
    assert actions.brand.rows("select count(*) > 0 from payout where status = 'Paid'") == [(True,)]
    assert actions.brand.rows("select count(*) > 2 from owed_day") == [(True,)]
