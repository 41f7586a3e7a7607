"""Metrics come to what conversions, ledger and clicks come to, whatever happened and whenever it is folded."""

import random
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import uuid4

import pytest

from models import db
from models.ledger import day_rules, rules
from pipelines import retention
from tests.support import owed_totals
from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.job_queues import drain
from tests.support.recruits import Recruits
from tests.support.rows.program_rows import insert_click

_EARNED = """select coalesce(sum(amount_cents), 0)::int from ledger_entry
where kind in ('earn', 'reverse', 'restore', 'adjust') and not is_test"""
_CONVERSIONS = """
select count(*) filter (where is_sale), count(*) filter (where type = 'LeadReward' and parent_id is null),
  count(*) filter (where is_sale and refunded_cents > 0), coalesce(sum(amount_cents) filter (where is_sale), 0)::int,
  coalesce(sum(refunded_cents) filter (where is_sale), 0)::int,
  coalesce(sum(commission_cents - reversed_cents), 0)::int,
  coalesce(sum(commission_cents - reversed_cents) filter (where parent_id is not null), 0)::int
from (select *, type in ('OneTime', 'Recurring') and parent_id is null as is_sale from conversion) c
where not is_test and status not in ('Denied', 'Invalidated')"""
_SHOWN = ("sales", "leads", "refunds", "revenueCents", "refundedCents", "commissionCents", "overrideCents")


def _broken(brand):
    with db.unit_of_work(brand.id):
        return [
            found for sql in day_rules.DAYS.values() for found in db.db.run(rules.scope_to_organization(sql, brand.id))
        ]


def _totals(brand, group):
    today = datetime.now(UTC).date()
    query = f"from={today - timedelta(days=730)}&to={today}&groupBy={group}"
    found = brand.get(f"/api/v1/metrics?{query}").json
    for name in (*_SHOWN, "clicks"):
        assert sum(row[name] for row in found["rows"]) == found["totals"][name], (group, name)
    return found["totals"]


def _check(brand, done):
    (expected,) = brand.rows(_CONVERSIONS)
    clicks = brand.rows("select count(*) from click where not is_duplicate and outcome <> 'blocked'")[0][0]
    for group in ("day", "week", "month", "program", "affiliate", "country"):
        totals = _totals(brand, group)
        assert tuple(totals[name] for name in _SHOWN) == expected, (group, done)
        assert totals["clicks"] == clicks, (group, done)
    assert expected[5] == brand.rows(_EARNED)[0][0], done
    assert _broken(brand) == [], done


class _Year:
    """What may happen to a brand, in any order; each act is a request or a job that somebody could send."""

    def __init__(self, brand, dice):
        self.brand, self.dice, self.imported = brand, dice, []
        self.recruits = Recruits.create(brand)
        self.manager = brand.person("Admin")

    def sale(self):
        self.brand.sale(amountCents=self.dice.randint(1, 9_999))
        drain("sales")

    def sale_of_ann(self):
        self.brand.sale(affiliateSlug="ann", amountCents=self.dice.randint(1, 9_999))

    def refund(self):
        rows = self.brand.rows("select external_event_id, amount_cents from sale order by id")
        if rows:
            event, cents = self.dice.choice(rows)
            self.brand.refund(event, self.dice.choice([None, 1, max(1, cents // 3)]))

    def cascade(self):
        drain("sales", "refunds")

    def review(self):
        rows = self.brand.rows("select id from conversion order by id")
        if rows:
            act = self.dice.choice(["v1/{}/validate", "v1/{}/invalidate", "{}/approve", "{}/deny"])
            version, rest = ("v1/", act[3:]) if act.startswith("v1") else ("", act)
            path = f"/api/{version}conversions/{rest.format(self.dice.choice(rows)[0])}"
            assert self.manager.post(path, {"reason": "looked at"}).status_code < 500

    def bonus(self):
        body = {"programId": str(self.brand.programs[-1]), "affiliateId": str(self.recruits.ben), "kind": "bonus"}
        assert self.manager.post("/api/v1/conversions", body | {"commissionCents": 77}).status_code == 201

    def imports(self):
        day = datetime.now(UTC) - timedelta(days=self.dice.randint(1, 600))
        rows = [build_past_sale(externalId=str(uuid4()), occurredAt=day.isoformat()) for _ in range(3)]
        answer = import_sales(self.brand, *rows, confirmUnpaidPayout=True)
        assert answer.status_code == 200, answer.data
        self.imported.append(answer.json["jobId"])

    def undo(self):
        if self.imported:
            self.manager.post(f"/api/imports/{self.imported.pop()}/undo")

    def visit(self):
        insert_click(self.brand, self.recruits.ben, outcome=self.dice.choice(["recorded", "blocked", "unscored"]))

    def scored(self):
        outcome = self.dice.choice(["blocked", "recorded"])
        self.brand.rows("update click set outcome = %s where outcome = 'unscored' returning 1", outcome)

    def fold(self):
        owed_totals.fold_changes(self.brand)


def test_any_order_of_what_happens_comes_to_the_same_sums(brand):
    dice = random.Random(20_261_122)
    year = _Year(brand, dice)
    acts = [name for name in vars(_Year) if not name.startswith("_")]
    done = []

    for number in range(90):
        done.append(dice.choice(acts))
        getattr(year, done[-1])()
        if number % 15 == 14:
            drain("sales", "refunds")
            _check(brand, done)

    owed_totals.fold_changes(brand)
    assert brand.rows("select count(*) from day_change") == [(0,)]
    _check(brand, done)
    sales, _, refunds, revenue, refunded, commission, overrides = brand.rows(_CONVERSIONS)[0]
    assert min(sales, refunds, revenue, refunded, commission, overrides) > 0
    assert brand.rows("select count(distinct status) > 2, bool_or(source = 'import') from conversion") == [(True, True)]


def test_money_of_a_program_is_what_its_affiliates_have(brand):
    recruits = Recruits.create(brand, percent="12.5")
    for _ in range(3):
        recruits.sell(amountCents=333)
    drain("sales")

    assert _totals(brand, "program") == _totals(brand, "affiliate")
    assert _totals(brand, "day")["overrideCents"] == recruits.balance(recruits.ann)


@pytest.mark.parametrize("folded", [False, True])
def test_days_that_somebody_damaged_are_counted_anew(brand, folded):
    recruits = Recruits.create(brand)
    recruits.sell()
    insert_click(brand, recruits.ben, country="NZ")
    drain("sales")
    before = _totals(brand, "country")
    if folded:
        owed_totals.fold_changes(brand)
    for table in ("day_change", "affiliate_day", "program_day"):
        brand.rows(f"update {table} set revenue_cents = revenue_cents + 1, clicks = 9 returning 1")
    assert len(_broken(brand)) == 3

    done = brand.app.test_cli_runner().invoke(args=["ledger", "recount-days", "--org", str(brand.id)])

    assert done.exit_code == 0, done.output
    for _ in range(2):
        assert _broken(brand) == []
        assert _totals(brand, "country") == before
        owed_totals.fold_changes(brand)


def test_clicks_that_are_only_counts_by_now_are_still_counted_once(brand):
    brand.program(default_commission_value=Decimal(10))
    ben = brand.affiliate("ben")
    old = datetime.now(UTC) - timedelta(days=200)
    for country in ("NZ", None):
        insert_click(brand, ben, occurred_at=old, created_at=old, country=country)
    before = _totals(brand, "country")

    with db.any_org_work():
        retention.any_org_start(now=datetime.now(UTC))
    drain("upkeep")

    assert brand.rows("select count(*) from click") == [(0,)]
    assert _totals(brand, "country") == before
    assert before["clicks"] == 2
