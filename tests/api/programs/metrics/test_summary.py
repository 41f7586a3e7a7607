"""The summary of a period next to the one before it, through HTTP."""

import json
import random
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

import pytest

from domain.money.currencies import exponent
from models import db
from tests.support import databases, owed_totals
from tests.support.api.lists import count_round_trips
from tests.support.rows.brands import Brand
from tests.support.rows.program_rows import insert_click, insert_conversion, store_rate
from tests.support.running.hours import start_of_test
from tests.support.running.trips import record_round_trips

URL = "/api/v1/stats/summary"
NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
DAYS = "from=2026-03-10&to=2026-03-12"
_MONEY = ("revenue", "refunded", "netRevenue", "commission", "override")


@pytest.fixture
def ben(brand):
    """Return the affiliate of the brand's only campaign."""
    brand.program()
    return brand.affiliate("ben")


def _read_summary(brand, query=DAYS):
    answer = brand.get(f"{URL}?{query}")
    assert answer.status_code == 200, answer.data
    return answer.json


def test_both_periods_have_their_figures_and_the_changes_between_them(brand, ben):
    for day in (10, 11):
        insert_conversion(brand, ben, occurred_at=NOON.replace(day=day), refunded_cents=4_000, reversed_cents=400)
    insert_conversion(brand, ben, occurred_at=NOON.replace(day=8))
    insert_conversion(brand, ben, occurred_at=NOON.replace(day=6))
    insert_conversion(brand, ben, occurred_at=NOON, type="LeadReward", amount_cents=0, commission_cents=50)
    for day in (9, 10, 10, 12):
        insert_click(brand, ben, occurred_at=NOON.replace(day=day))

    before, _ = _read_summary(brand), owed_totals.fold_changes(brand)

    assert before == _read_summary(brand)
    current, previous = before["current"], before["previous"]
    assert [before[name] for name in ("currency", "groupBy")] == ["USD", "day"]
    assert [(period["from"], period["to"]) for period in (current, previous)] == [
        ("2026-03-10", "2026-03-12"), ("2026-03-07", "2026-03-09")
    ]  # fmt: skip
    expected = {
        "clicks": 3, "leads": 1, "sales": 2, "refunds": 2, "revenueCents": 20_000, "refundedCents": 8_000,
        "netRevenueCents": 12_000, "commissionCents": 1_250, "overrideCents": 0, "conversionRatePercent": 66.67,
        "epcCents": 416.6667,
    }  # fmt: skip
    unconverted = {f"{name}UnconvertibleByCurrency": None for name in _MONEY}
    assert current["totals"] == expected | unconverted
    assert previous["totals"]["netRevenueCents"] == 10_000
    assert before["change"] == {
        "clicks": 200, "leads": None, "sales": 100, "refunds": None, "conversionRate": -33.3, "netRevenue": 20,
        "refunded": None, "commission": 25, "epc": -58.3,
    }  # fmt: skip
    assert [(row["key"], row["clicks"], row["netRevenueCents"]) for row in current["rows"]] == [
        ("2026-03-10", 2, 6_000), ("2026-03-11", 0, 6_000), ("2026-03-12", 1, 0)
    ]  # fmt: skip
    assert [row["key"] for row in previous["rows"]] == ["2026-03-07", "2026-03-08", "2026-03-09"]


def test_today_is_shown_and_left_out_of_the_changes(brand, ben):
    now = start_of_test().replace(hour=0, minute=0, second=0, microsecond=0)
    for days, number in ((0, 4), (1, 3), (6, 3), (7, 2), (8, 2), (12, 1)):
        for _ in range(number):
            insert_conversion(brand, ben, occurred_at=now - timedelta(days=days))
            insert_click(brand, ben, occurred_at=now - timedelta(days=days))
    days = [(now - timedelta(days=age)).date() for age in range(14)]

    for group in ("day", "week", "month"):
        summary = _read_summary(brand, f"from={days[6]}&to={days[0]}&groupBy={group}")
        assert [summary[name]["totals"]["sales"] for name in ("current", "previous")] == [10, 5]
        compared = [summary["compared"][name] for name in ("current", "previous")]
        assert [(part["from"], part["to"]) for part in compared] == [
            (str(days[6]), str(days[1])), (str(days[13]), str(days[8]))
        ]  # fmt: skip
        assert [part["totals"]["sales"] for part in compared] == [6, 3]
        assert [part["totals"]["netRevenueCents"] for part in compared] == [60_000, 30_000]
        changes = {name: value for name, value in summary["change"].items() if value is not None}
        assert changes == {
            "clicks": 100, "sales": 100, "conversionRate": 0, "netRevenue": 100, "commission": 100, "epc": 0
        }  # fmt: skip

    today = _read_summary(brand, f"from={days[0]}&to={days[0]}")
    assert today["current"]["totals"]["sales"] == 4
    assert [today["compared"][name]["from"] for name in ("current", "previous")] == [None, None]
    assert set(today["change"].values()) == {None}
    yesterday = _read_summary(brand, f"from={days[1]}&to={days[1]}")
    assert [yesterday["compared"][name]["totals"] for name in ("current", "previous")] == [
        yesterday[name]["totals"] for name in ("current", "previous")
    ]


def test_days_of_both_periods_count_in_both(brand, ben):
    insert_conversion(brand, ben, occurred_at=NOON.replace(day=5))
    summary = _read_summary(brand, "from=2026-02-01&to=2026-03-31&compare=month")

    assert [(period["from"], period["to"]) for period in (summary["current"], summary["previous"])] == [
        ("2026-02-01", "2026-03-31"), ("2026-01-01", "2026-02-28")
    ]  # fmt: skip
    assert [summary[name]["totals"]["sales"] for name in ("current", "previous")] == [1, 0]
    summary = _read_summary(brand, "from=2026-03-01&to=2026-05-31&compare=month")
    assert [summary[name]["totals"]["sales"] for name in ("current", "previous")] == [1, 1]


def test_rows_are_grouped_by_week_or_month(brand, ben):
    insert_conversion(brand, ben, occurred_at=NOON.replace(day=31))

    def list_sales(group):
        rows = _read_summary(brand, f"from=2026-03-04&to=2026-04-02&groupBy={group}")["current"]["rows"]
        return {row["key"]: row["sales"] for row in rows}

    assert list_sales("month") == {"2026-03-01": 1, "2026-04-01": 0}
    assert list_sales("week") == {
        "2026-03-02": 0, "2026-03-09": 0, "2026-03-16": 0, "2026-03-23": 0, "2026-03-30": 1
    }  # fmt: skip


def test_summary_is_of_one_program_or_affiliate(brand, ben):
    insert_conversion(brand, ben, occurred_at=NOON)
    program = brand.programs[-1]
    brand.program()
    insert_conversion(brand, brand.affiliate("zoe"), occurred_at=NOON, amount_cents=7)

    def revenue(query):
        return _read_summary(brand, f"{DAYS}&{query}")["current"]["totals"]["netRevenueCents"]

    assert [revenue(query) for query in ("", f"programId={program}", f"affiliateId={ben}")] == [10_007, 10_000, 10_000]


def test_period_defaults_to_thirty_days_and_the_thirty_before(brand):
    today = datetime.now(UTC).date()
    summary = _read_summary(brand, "")

    assert summary["current"]["to"] == str(today)
    assert summary["current"]["from"] == str(today - timedelta(days=29))
    assert summary["previous"]["from"] == str(today - timedelta(days=59))
    assert len(summary["previous"]["rows"]) == 30


def test_invalid_query_returns_400(brand):
    field_by_query = {
        "from=2026-03-11&to=2026-03-10": "from", "from=2024-03-09&to=2026-03-10": "from", "from=today": "from",
        "to=": "to", "to=9999-12-31": "from", "from=0001-01-01&to=0001-01-02": "from", "compare=week": "compare",
        "compare=": "compare", "groupBy=program": "groupBy", "groupBy=%00": "groupBy", "programId=1": "programId",
        "from=0001-03-01&to=0001-03-02&compare=year": "from",
    }  # fmt: skip
    for query, field in field_by_query.items():
        answer = brand.get(f"{URL}?{query}")
        assert (query, answer.status_code, list(answer.json.get("errors", ()))) == (query, 400, [field])
    assert brand.get(f"{URL}?from=2024-03-10&to=2026-03-10").status_code == 200


def test_other_tenants_activity_is_not_summarized(brand, rival, ben):
    insert_conversion(brand, ben, occurred_at=NOON)
    insert_click(brand, ben, occurred_at=NOON)

    totals = _read_summary(rival)["current"]["totals"]
    assert {name: value for name, value in totals.items() if value} == {}
    for query in (f"programId={brand.programs[-1]}", f"affiliateId={ben}"):
        answer = rival.get(f"{URL}?{query}")
        assert (answer.status_code, answer.json["error"]) == (404, "not_found")


def test_summary_needs_a_paid_plan(app):
    assert Brand.create(app, plan="Free").get(URL).status_code == 402


_CELLS = """
select currency, (occurred_at at time zone 'UTC')::date, program_id,
  coalesce(sum(amount_cents) filter (where is_sale), 0)::int,
  coalesce(sum(refunded_cents) filter (where is_sale), 0)::int, sum(commission_cents - reversed_cents)::int
from (select *, type in ('OneTime', 'Recurring') and parent_id is null as is_sale from conversion) c
where not is_test and status not in ('Denied', 'Invalidated') group by 1, 2, 3
"""


def _value(cells, rates, first, last):
    """Return the home amounts and the native rest of three columns, each day's sum rounded half to even alone."""
    home, rest = [0, 0, 0], [{}, {}, {}]
    for currency, day, _, *amounts in cells:
        if not first <= day <= last:
            continue
        for at, cents in enumerate(amounts):
            if currency == "USD":
                home[at] += cents
            elif (currency, day) in rates:
                home[at] += round(Fraction(cents) * Fraction(100, 10 ** exponent(currency)) / rates[currency, day])
            elif cents:
                rest[at][currency] = rest[at].get(currency, 0) + cents
    return home, [part or None for part in rest]


def test_summary_equals_the_sum_of_random_conversions(brand, ben):
    dice, rates = random.Random(78), {}
    first_day = date(2019, 5, 1)
    for offset in range(0, 40, 9):  # a rate counts for four days, so some days have none
        for currency in ("KWD", "CLP"):
            rate = Fraction(dice.randint(1, 10**6), 10**4)
            store_rate(currency, str(float(rate)), datetime(2019, 5, 1, tzinfo=UTC) + timedelta(days=offset))
            for age in range(4):
                rates[currency, first_day + timedelta(days=offset + age)] = rate
    affiliates = [(brand.programs[-1], ben), (brand.program(), None)]
    affiliates[1] = (affiliates[1][0], brand.affiliate("zoe"))
    for number in range(120):
        program, affiliate = dice.choice(affiliates)
        cents = dice.randint(1, 99_999)
        commission = dice.randint(0, cents)
        insert_conversion(
            brand,
            affiliate,
            program_id=program,
            amount_cents=cents,
            commission_cents=commission,
            currency=dice.choice(["USD", "KWD", "CLP", "TOP"]),
            refunded_cents=dice.choice([0, 0, cents, cents // 2]),
            reversed_cents=dice.choice([0, commission // 2]),
            status=dice.choice(["Pending", "Approved", "Denied"]),
            type=dice.choice(["OneTime", "Recurring"]),
            is_test=dice.random() < 0.1,
            occurred_at=datetime(2019, 5, 1, 12, tzinfo=UTC) + timedelta(hours=dice.randint(0, 39 * 24)),
        )
        if number % 40 == 20:
            owed_totals.fold_changes(brand)

    cells = brand.rows(_CELLS)
    for program_id in (None, *(program for program, _ in affiliates)):
        scope = f"&programId={program_id}" if program_id else ""
        summary = _read_summary(brand, f"from=2019-05-21&to=2019-06-09{scope}")
        own_cells = [cell for cell in cells if program_id in (None, cell[2])]
        for period in (summary["current"], summary["previous"]):
            home, rest = _value(own_cells, rates, *(date.fromisoformat(period[name]) for name in ("from", "to")))
            names = ("revenue", "refunded", "commission")
            assert [period["totals"][f"{name}Cents"] for name in names] == home
            assert [period["totals"][f"{name}UnconvertibleByCurrency"] for name in names] == rest
            assert period["totals"]["netRevenueCents"] == home[0] - home[1]
            assert [sum(row[f"{name}Cents"] for row in period["rows"]) for name in names] == home
    assert len({cell[0] for cell in cells}) == 4


# The days of a program have the same number of sales, so that the stored figures are as many rows.
_MORE_SALES = """
set session_replication_role = replica;
insert into conversion (id, organization_id, program_id, affiliate_id, source, external_event_id, amount_cents,
    currency, commission_cents, status, type, rate_source, rate_type, rate_value, occurred_at, hold_until, created_at)
  select uuidv7(), a.organization_id, a.program_id, a.id, 's2s', 'more-' || %(number)s || '-' || i, 100,
    (array['USD', 'EUR', 'JPY'])[1 + i / 60 %% 3], 20, 'Approved', 'OneTime', 'program', 'Percentage', 20, at, at, at
  from affiliate a, (select i, now() - i %% 60 * interval '1 day' as at from generate_series(1, %(number)s) i) n;
"""


def _count_rows_read(request):
    """Return how many rows the statements of a request read, including those that their filters removed."""
    with record_round_trips() as round_trips:
        assert request().status_code == 200
    count = 0
    for trip in round_trips:
        for statement in trip.decode().split(";\n"):
            if "from period join" in statement or "known (currency)" in statement:
                with db.any_org_work():
                    ((plan,),) = db.db.run("explain (analyze, format json) " + statement.replace("%", "%%"))
                (root,) = plan if isinstance(plan, list) else json.loads(plan)
                count += sum(_scanned_rows(root["Plan"]))
    return count


def _scanned_rows(node):
    if "Relation Name" in node:
        yield (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
    for child in node.get("Plans", ()):
        yield from _scanned_rows(child)


def test_rows_read_do_not_grow_with_conversions(app):
    with databases.isolated_database() as url:
        brand = Brand.create(app, plan="Pro")
        brand.program()
        brand.affiliate("ben")
        counts = []
        for number in (300, 15_000):
            with databases.owner_cursor(url) as cursor:
                cursor.execute(_MORE_SALES, {"number": number})
                cursor.execute("analyze")
            with db.unit_of_work(brand.id):
                owed_totals.daily_totals.stage_recount(brand.id)
            owed_totals.fold_changes(brand)
            counts.append(_count_rows_read(lambda: brand.get(URL)))

    few, many = counts
    assert 3 * 60 <= few <= many <= 1.3 * few


def test_round_trips_do_not_grow_with_rows(brand, ben):
    trips = count_round_trips(lambda: brand.get(URL))
    for currency in ("EUR", "JPY", "USD"):
        insert_conversion(brand, ben, currency=currency)
    since = (datetime.now(UTC) - timedelta(days=700)).date()

    for scope in ("", f"&programId={brand.programs[-1]}", f"&affiliateId={ben}"):
        assert count_round_trips(lambda scope=scope: brand.get(f"{URL}?from={since}{scope}")) == trips
