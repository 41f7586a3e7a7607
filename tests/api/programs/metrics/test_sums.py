"""Metrics equal the sums of conversions, ledger and clicks after any actions, before and after folding."""

import random
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from models import db
from models.ledger import day_rules, rules
from pipelines import retention
from tests.support import owed_totals
from tests.support.job_queues import drain
from tests.support.recruits import Recruits
from tests.support.rows.program_rows import insert_click
from tests.support.running.random_actions import RandomActions

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
_FIELDS = ("sales", "leads", "refunds", "revenueCents", "refundedCents", "commissionCents", "overrideCents")


def _list_day_violations(brand):
    with db.unit_of_work(brand.id):
        return [row for sql in day_rules.DAYS.values() for row in db.db.run(rules.scope_to_organization(sql, brand.id))]


def _two_years():
    today = datetime.now(UTC).date()
    return today - timedelta(days=730), today


def _read_totals(brand, group):
    query = "from={}&to={}&groupBy={}".format(*_two_years(), group)
    metrics = brand.get(f"/api/v1/metrics?{query}").json
    for name in (*_FIELDS, "clicks"):
        assert sum(row[name] for row in metrics["rows"]) == metrics["totals"][name], (group, name)
    return metrics["totals"]


def _check(brand, actions):
    (expected,) = brand.rows(_CONVERSIONS)
    clicks = brand.rows("select count(*) from click where not is_duplicate and outcome <> 'blocked'")[0][0]
    for group in ("day", "week", "month", "program", "affiliate", "country"):
        totals = _read_totals(brand, group)
        assert tuple(totals[name] for name in _FIELDS) == expected, (group, actions)
        assert totals["clicks"] == clicks, (group, actions)
    totals = brand.get("/api/v1/stats/summary?from={}&to={}".format(*_two_years())).json["current"]["totals"]
    assert (*(totals[name] for name in _FIELDS), totals["clicks"]) == (*expected, clicks), actions
    assert totals["netRevenueCents"] == expected[3] - expected[4], actions
    assert expected[5] == brand.rows(_EARNED)[0][0], actions
    assert _list_day_violations(brand) == [], actions


def test_metrics_equal_the_sums_after_random_actions(brand):
    dice = random.Random(20_261_122)
    actions = RandomActions(brand, dice)
    done = []

    for number in range(90):
        done.append(dice.choice(actions.names))
        getattr(actions, done[-1])()
        if number % 15 == 14:
            drain("sales", "refunds")
            _check(brand, done)

    owed_totals.fold_changes(brand)
    assert brand.rows("select count(*) from day_change") == [(0,)]
    _check(brand, done)
    sales, _, refunds, revenue, refunded, commission, overrides = brand.rows(_CONVERSIONS)[0]
    assert min(sales, refunds, revenue, refunded, commission, overrides) > 0
    assert brand.rows("select count(distinct status) > 2, bool_or(source = 'import') from conversion") == [(True, True)]


def test_totals_by_program_and_by_affiliate_are_equal(brand):
    recruits = Recruits.create(brand, percent="12.5")
    for _ in range(3):
        recruits.sell(amountCents=333)
    drain("sales")

    assert _read_totals(brand, "program") == _read_totals(brand, "affiliate")
    assert _read_totals(brand, "day")["overrideCents"] == recruits.balance(recruits.ann)


@pytest.mark.parametrize("is_folded", [False, True])
def test_recount_repairs_damaged_days(brand, is_folded):
    recruits = Recruits.create(brand)
    recruits.sell()
    insert_click(brand, recruits.ben, country="NZ")
    drain("sales")
    totals_before = _read_totals(brand, "country")
    if is_folded:
        owed_totals.fold_changes(brand)
    for table in ("day_change", "affiliate_day", "program_day"):
        brand.rows(f"update {table} set revenue_cents = revenue_cents + 1, clicks = 9 returning 1")
    assert len(_list_day_violations(brand)) == 3

    result = brand.app.test_cli_runner().invoke(args=["ledger", "recount-days", "--org", str(brand.id)])

    assert result.exit_code == 0, result.output
    for _ in range(2):
        assert _list_day_violations(brand) == []
        assert _read_totals(brand, "country") == totals_before
        owed_totals.fold_changes(brand)


def test_archived_clicks_are_still_counted_once(brand):
    brand.program(default_commission_value=Decimal(10))
    ben = brand.affiliate("ben")
    old = datetime.now(UTC) - timedelta(days=200)
    for country in ("NZ", None):
        insert_click(brand, ben, occurred_at=old, created_at=old, country=country)
    totals_before = _read_totals(brand, "country")

    with db.any_org_work():
        retention.any_org_start(now=datetime.now(UTC))
    drain("upkeep")

    assert brand.rows("select count(*) from click") == [(0,)]
    assert _read_totals(brand, "country") == totals_before
    assert totals_before["clicks"] == 2
