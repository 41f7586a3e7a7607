"""What programs owe is what their conversions come to, whatever happened, whenever it is folded and reckoned.

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

# Two decimals, none, and one that nobody publishes a rate of at first; tests keep to currencies of their own.
_CURRENCIES = ("USD", "TJS", "PYG", "HTG")
_BEFORE_ALL = UUID(int=0)


class _Weeks:
    """What may happen to a brand, in any order."""

    def __init__(self, payroll, dice):
        self.payroll, self.brand, self.dice = payroll, payroll.brand, dice
        self.manager = self.brand.person("Admin")
        self.now = datetime.now(UTC)
        payroll.affiliate("ann")
        self.brand.program()
        payroll.affiliate("ben")
        payroll.rate("TJS", "10.9375")
        self.done = []

    def sale(self):
        self.payroll.sell(
            self.dice.choice(["ann", "ben"]), self.dice.randint(1, 99_999), self.dice.choice(["USD", "TJS"])
        )

    def past(self):
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
            answer = self.manager.post(f"/api/{path.format(self.dice.choice(rows)[0])}", {"reason": "looked at"})
            assert answer.status_code < 500

    def release(self):
        with db.any_org_work():
            reviews.any_org_release(now=self.now + timedelta(hours=self.dice.randint(-30, 30)), limit=1_000)

    def holds(self):
        self.payroll.execute(
            "update organization set payout_grace_days = %s where id = %s", self.dice.choice([0, 0, 7]), self.brand.id
        )
        with db.unit_of_work(self.brand.id):
            conversions.renew_holds(organization_id=self.brand.id, after=_BEFORE_ALL, limit=self.dice.randint(1, 9))

    def run(self):
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

    def lock(self):
        rows = self.brand.rows("select id from conversion where paid_cents = 0 order by id")
        if rows:
            self.payroll.execute(
                "update conversion set payout_locked = not payout_locked where id = %s"
                " and not exists (select from payout_line l where l.conversion_id = conversion.id)",
                self.dice.choice(rows)[0],
            )

    def rate(self):
        day = (self.now - timedelta(days=self.dice.randint(1, 12))).date()
        per_usd = self.dice.choice(["0.5", "2", "7302.49", "98765432109.876543210987", str(self.dice.randint(1, 999))])
        self.payroll.rate(self.dice.choice(_CURRENCIES[1:]), per_usd, day)

    def home(self):
        home = self.dice.choice(["USD", "USD", "TJS", "PYG"])
        self.payroll.execute("update organization set home_currency = %s where id = %s", home, self.brand.id)

    def fold(self):
        owed_totals.fold_changes(self.brand)

    def reckon(self):
        owed_totals.compute_owed_days(self.brand)


def _agree(weeks):
    for away in (timedelta(0), timedelta(hours=7), timedelta(days=1), timedelta(days=2), timedelta(days=90)):
        now = weeks.now + away
        assert owed_totals.read_stored_totals(weeks.brand, now) == owed_totals.compute_totals(weeks.brand, now), (
            away,
            weeks.done,
        )
    assert owed_totals.list_day_violations(weeks.brand) == [], weeks.done


def test_what_is_owed_is_what_conversions_come_to_after_any_steps_in_any_order(app):
    weeks = _Weeks(Payroll.create(app), random.Random(20_261_123))
    acts = [name for name in vars(_Weeks) if not name.startswith("_")]

    begun = ["sale", "past", "fold", "reckon", "run", "fold", "reckon", "pay", "refund", "fold", "reckon"]
    for number in range(100):
        weeks.done.append(begun[number] if number < len(begun) else weeks.dice.choice([*acts, "past", "past", "fold"]))
        getattr(weeks, weeks.done[-1])()
        if number % 4 == 0:
            _agree(weeks)

    drain("refunds", "payouts")
    owed_totals.fold_changes(weeks.brand)
    owed_totals.compute_owed_days(weeks.brand)
    _agree(weeks)
    assert weeks.brand.rows("select 1 from day_to_reckon") == []
    assert weeks.brand.rows("select count(*) > 0 from payout where status = 'Paid'") == [(True,)]
    assert weeks.brand.rows("select count(*) > 2 from owed_day") == [(True,)]
