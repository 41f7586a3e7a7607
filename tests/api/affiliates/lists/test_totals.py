"""All-time totals of affiliates: equal to their conversions and clicks after any actions, and sorted by each."""

import random
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from domain.affiliates import orders
from domain.money import fx
from domain.money.fx_files import RateFile
from domain.money.valuation import PublishedRate
from models import db
from models.ledger import day_rules, rules
from pipelines import fx_intake, upkeep
from tests.support import owed_totals
from tests.support.job_queues import drain
from tests.support.recruits import Recruits
from tests.support.rows.brands import Brand
from tests.support.rows.program_rows import insert_click, insert_conversion, time_ago
from tests.support.running.random_actions import RandomActions

_CONVERSIONS = """
select affiliate_id::text, currency, (occurred_at at time zone 'UTC')::date,
  count(*) filter (where is_sale), coalesce(sum(amount_cents) filter (where is_sale), 0)::bigint,
  coalesce(sum(refunded_cents) filter (where is_sale), 0)::bigint, sum(commission_cents - reversed_cents)::bigint
from (select *, type in ('OneTime', 'Recurring') and parent_id is null as is_sale from conversion) c
where not is_test and status not in ('Denied', 'Invalidated') group by 1, 2, 3
"""
_CLICKS = (
    """select affiliate_id::text, count(*) from click where not is_duplicate and outcome <> 'blocked' group by 1"""
)
_RATES = "select currency, published_on, per_usd from fx_rate order by published_on"
# No other test has rates of these days.
_ABROAD_SINCE = datetime(2024, 2, 1, tzinfo=UTC)
_KEYS = {"clicks": "clicks", "sales": "sales", "revenue": "revenueCents", "commission": "commissionCents"}


def _expected_totals(brand: Brand) -> dict[str, dict[str, Any]]:
    """Return the totals by affiliate, added up in Python from the conversions and the clicks."""
    ((home,),) = brand.rows("select home_currency from organization where id = %s", brand.id)
    rates = {
        (currency, on + timedelta(days=age)): per_usd
        for currency, on, per_usd in brand.rows(_RATES)
        for age in range(4)
    }
    totals: dict[str, dict[str, Any]] = {
        affiliate_id: {"clicks": 0, "sales": 0, "revenueCents": 0, "commissionCents": 0, "lastSaleOn": None}
        for (affiliate_id,) in brand.rows("select id::text from affiliate where deleted_at is null")
    }
    unconverted: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for affiliate_id, currency, day, sales, revenue, refunded, commission in brand.rows(_CONVERSIONS):
        if affiliate_id not in totals:
            continue
        total = totals[affiliate_id]
        total["sales"] += sales
        if sales:
            total["lastSaleOn"] = max(total["lastSaleOn"] or "", day.isoformat())
        per_usd = {code: rates[code, day] for code in (currency, home) if (code, day) in rates}
        values = [
            fx.to_currency(amount_cents=cents, from_currency=currency, to_currency=home, per_usd=per_usd)
            for cents in (revenue, refunded, commission)
        ]
        if any(value is None for value in values):
            unconverted[affiliate_id][currency][0] += revenue - refunded
            unconverted[affiliate_id][currency][1] += commission
        else:
            total["revenueCents"] += values[0] - values[1]
            total["commissionCents"] += values[2]
    for affiliate_id, number in brand.rows(_CLICKS):
        if affiliate_id in totals:
            totals[affiliate_id]["clicks"] += number
    for affiliate_id, total in totals.items():
        total["currency"] = home
        total["unconverted"] = [
            {"currency": currency, "revenueCents": cents[0], "commissionCents": cents[1]}
            for currency, cents in sorted(unconverted[affiliate_id].items())
            if any(cents)
        ]
    return totals


def _read_totals(brand: Brand) -> dict[str, dict[str, Any]]:
    """Return the totals of every affiliate as the list shows them, without the time of the count."""
    answer = brand.get("/api/v1/affiliates?totals=true&take=200")
    assert answer.status_code == 200, answer.data
    rows = {row["id"]: row["totals"] for row in answer.json["items"]}
    for totals in rows.values():
        assert totals.pop("asOf") is not None
    return rows


def _count(brand: Brand) -> None:
    """Fold all changes and count the days, as the jobs do."""
    owed_totals.fold_changes(brand)
    owed_totals.compute_owed_days(brand)


def _violations(brand: Brand) -> list[Any]:
    with db.unit_of_work(brand.id):
        return [row for sql in day_rules.DAYS.values() for row in db.db.run(rules.scope_to_organization(sql, brand.id))]


class _Actions(RandomActions):
    """The actions of a brand that also sells in currencies whose rates are published late and again."""

    def sell_abroad(self) -> None:
        day = _ABROAD_SINCE + timedelta(days=self.dice.randint(0, 12), hours=self.dice.randint(0, 23))
        insert_conversion(
            self.brand,
            self.dice.choice([self.recruits.ben, self.recruits.ann]),
            currency=self.dice.choice(["TTD", "CVE"]),
            amount_cents=self.dice.randint(1, 9_999_999),
            commission_cents=self.dice.randint(0, 9_999),
            occurred_at=day,
            created_at=day,
        )

    def publish_rate(self) -> None:
        on = _ABROAD_SINCE.date() + timedelta(days=self.dice.randint(0, 12))
        rate = PublishedRate(self.dice.choice(["TTD", "CVE"]), on, Decimal(self.dice.randint(1, 50_000)) / 1_000)
        with db.any_org_work():
            fx_intake.store(RateFile([rate], []))
        drain("upkeep")

    def change_home_currency(self) -> None:
        currency = self.dice.choice(["USD", "CVE"])
        answer = self.brand.call("PUT", "/api/v1/settings/home-currency", {"homeCurrency": currency})
        assert answer.status_code == 200, answer.data
        drain("upkeep")


def test_totals_equal_the_rows_after_random_actions(brand):
    brand.set(plan="Pro")
    dice = random.Random(20_261_128)
    actions = _Actions(brand, dice)
    done = []
    seen_unconverted = False
    for number in range(120):
        done.append(dice.choice(actions.names))
        getattr(actions, done[-1])()
        assert number % 10 or _violations(brand) == [], done
        if number % 15 == 14:
            drain("sales", "refunds")
            _count(brand)
            totals = _read_totals(brand)
            assert totals == _expected_totals(brand), done
            assert _violations(brand) == [], done
            seen_unconverted |= any(total["unconverted"] for total in totals.values())

    assert min(max(total[key] for total in totals.values()) for key in _KEYS.values()) > 0
    assert seen_unconverted


def test_recount_repairs_damaged_totals(brand):
    recruits = Recruits.create(brand)
    recruits.sell()
    insert_click(brand, recruits.ben, country="NZ")
    insert_conversion(brand, recruits.ben, currency="XPF")
    drain("sales")
    _count(brand)
    totals_before = _read_totals(brand)
    brand.rows("update affiliate_total set clicks = 7, revenue_cents = revenue_cents + 1 returning 1")
    brand.rows("update affiliate_unconverted set revenue_cents = revenue_cents + 1 returning 1")
    assert len(_violations(brand)) == 3

    result = brand.app.test_cli_runner().invoke(args=["ledger", "recount-days", "--org", str(brand.id)])

    assert result.exit_code == 0, result.output
    assert _violations(brand) == []
    _count(brand)
    assert _read_totals(brand) == totals_before
    assert _violations(brand) == []


def test_totals_are_as_of_the_last_count_while_changes_wait(brand):
    recruits = Recruits.create(brand)
    (before,) = (row["totals"] for row in _list(brand, "q=ben"))
    recruits.sell()
    drain("sales")
    (waiting,) = (row["totals"] for row in _list(brand, "q=ben"))
    with db.any_org_work():
        upkeep.any_org_fold_days(now=datetime.now(UTC))
    drain("upkeep")
    (counted,) = (row["totals"] for row in _list(brand, "q=ben"))
    counted_until = brand.rows("select counted_until from affiliate_total_state")
    recruits.sell()
    drain("sales")
    (stale,) = (row["totals"] for row in _list(brand, "q=ben"))

    assert before["asOf"] is not None
    assert (waiting["asOf"], waiting["sales"]) == (None, 0)
    assert (counted["sales"], counted["asOf"] > before["asOf"]) == (1, True)
    assert stale["sales"] == 1
    assert datetime.fromisoformat(stale["asOf"]) <= counted_until[0][0]


def _list(brand: Brand, query: str) -> list[dict[str, Any]]:
    answer = brand.get(f"/api/v1/affiliates?totals=true&{query}")
    assert answer.status_code == 200, answer.data
    return list(answer.json["items"])


@pytest.fixture
def team(brand):
    """Return a brand of two programs whose affiliates have equal and different totals, and one that is deleted."""
    for number in range(2):
        brand.program()
        for name in ("a", "b", "c", "d"):
            status = "Paused" if name == "d" else "Approved"
            affiliate = brand.affiliate(f"{name}-{number}", status=status)
            for sale in range({"a": 3, "b": 1, "c": 1, "d": 2}[name]):
                insert_conversion(brand, affiliate, amount_cents=1_000, occurred_at=time_ago(days=100 * sale + number))
            for _ in range({"a": 1, "b": 4, "c": 0, "d": 2}[name]):
                insert_click(brand, affiliate)
    gone = brand.affiliate("gone")
    insert_conversion(brand, gone, amount_cents=1_000_000)
    brand.affiliate("new", status="Pending", approved_at=None)
    brand.rows("update affiliate set deleted_at = now() where id = %s returning 1", gone)
    _count(brand)
    return brand


@pytest.mark.parametrize("sort", orders.OF_TOTALS)
@pytest.mark.parametrize("narrowed", ["", "status=Approved", "programId={}", "programId={}&status=Paused", "q=-1"])
def test_pages_in_the_order_of_a_total_are_complete_and_sorted(team, sort, narrowed):
    query = narrowed.format(team.programs[-1])
    expected = _list(team, f"{query}&take=200")

    rows, cursor = [], ""
    while cursor is not None:
        answer = team.get(f"/api/v1/affiliates?totals=true&sort={sort}&take=2&{query}&cursor={cursor}")
        assert answer.status_code == 200, answer.data
        rows += answer.json["items"]
        cursor = answer.json["nextCursor"]

    key = {**_KEYS, "lastSale": "lastSaleOn"}[sort.removeprefix("-")]
    values = [
        (row["totals"][key] or "", row["id"]) if key == "lastSaleOn" else (row["totals"][key], row["id"])
        for row in rows
    ]
    assert values == sorted(values, reverse=sort.startswith("-"))
    assert {row["id"] for row in rows} == {row["id"] for row in expected}
    assert len(rows) == len(expected) > 0


def test_affiliates_without_recent_sales_are_listed(team):
    rows = _list(team, "status=Approved&noSalesForDays=90&sort=lastSale")

    assert [row["totals"]["lastSaleOn"] for row in rows] == sorted(row["totals"]["lastSaleOn"] for row in rows)
    assert {row["email"][0] for row in _list(team, "noSalesForDays=250&sort=-lastSale")} == {"n"}
    refused = team.get("/api/v1/affiliates?noSalesForDays=90")
    assert (refused.status_code, list(refused.json["errors"])) == (400, ["noSalesForDays"])


def test_cursor_of_another_order_returns_400(team):
    cursor = team.get("/api/v1/affiliates?sort=-revenue&take=1").json["nextCursor"]

    for sort in ("revenue", "-sales", "newest", "name"):
        assert team.get(f"/api/v1/affiliates?sort={sort}&take=1&cursor={cursor}").status_code == 400
    assert team.get(f"/api/v1/affiliates?sort=-revenue&take=1&cursor={cursor}").status_code == 200


def test_other_tenants_affiliates_are_not_in_an_order_of_totals(team, rival):
    for sort in orders.OF_TOTALS:
        assert _list(rival, f"sort={sort}") == []


def test_approved_and_deleted_affiliates_move_between_the_filters(brand):
    brand.program()
    ben = brand.affiliate("ben", status="Pending", approved_at=None)

    def count(status):
        return len(_list(brand, f"sort=-revenue&status={status}"))

    assert (count("Pending"), count("Approved")) == (1, 0)
    assert brand.post(f"/api/v1/affiliates/{ben}/approve", {}).status_code == 200
    assert (count("Pending"), count("Approved")) == (0, 1)
    assert brand.person("Admin").post(
        "/api/v1/affiliates/bulk-action", {"action": "delete", "affiliateIds": [str(ben)]}
    )
    assert (count("Pending"), count("Approved")) == (0, 0)
