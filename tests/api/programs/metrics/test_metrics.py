"""Metrics of programs and affiliates, through HTTP."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.support import owed_totals
from tests.support.api.lists import count_round_trips
from tests.support.rows.brands import Brand
from tests.support.rows.program_rows import insert_click, insert_conversion, store_rate

URL = "/api/v1/metrics"
NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
DAYS = "from=2026-03-09&to=2026-03-11"
_COUNTS = ("clicks", "leads", "sales", "refunds")
_MONEY = ("revenue", "refunded", "commission", "override")
_ZEROS = (
    dict.fromkeys(_COUNTS, 0)
    | {f"{name}Cents": 0 for name in _MONEY}
    | {f"{name}UnconvertibleByCurrency": None for name in _MONEY}
)


@pytest.fixture
def ben(brand):
    """Return the affiliate of the brand's only campaign."""
    brand.program()
    return brand.affiliate("ben")


def _read_metrics(brand, query=DAYS):
    answer = brand.get(f"{URL}?{query}")
    assert answer.status_code == 200, answer.data
    return answer.json


def _read_rows_by_key(brand, query=DAYS):
    return {
        row.pop("key"): {name: value for name, value in row.items() if name != "name"}
        for row in _read_metrics(brand, query)["rows"]
    }


def test_every_day_has_its_counts_and_amounts(brand, ben):
    sale_id = insert_conversion(brand, ben, occurred_at=NOON)
    insert_conversion(brand, ben, occurred_at=NOON, type="Recurring", refunded_cents=4_000, reversed_cents=400)
    insert_conversion(brand, ben, occurred_at=NOON, type="LeadReward", amount_cents=0, commission_cents=50)
    insert_conversion(brand, ben, occurred_at=NOON, type="Bonus", amount_cents=0, commission_cents=7)
    insert_conversion(brand, ben, occurred_at=NOON, amount_cents=0, commission_cents=100, parent_id=sale_id)
    insert_click(brand, ben, occurred_at=NOON)
    insert_click(brand, ben, occurred_at=NOON + timedelta(days=1))
    expected = {
        "2026-03-09": _ZEROS,
        "2026-03-10": _ZEROS
        | {"clicks": 1, "leads": 1, "sales": 2, "refunds": 1, "revenueCents": 20_000, "refundedCents": 4_000}
        | {"commissionCents": 1_000 + 600 + 50 + 7 + 100, "overrideCents": 100},
        "2026-03-11": _ZEROS | {"clicks": 1},
    }

    before, _ = _read_rows_by_key(brand), owed_totals.fold_changes(brand)

    assert before == _read_rows_by_key(brand) == expected
    assert _read_metrics(brand)["totals"] == expected["2026-03-10"] | {"clicks": 2}
    assert {name: _read_metrics(brand)[name] for name in ("from", "to", "groupBy", "currency")} == {
        "from": "2026-03-09", "to": "2026-03-11", "groupBy": "day", "currency": "USD"
    }  # fmt: skip


def test_void_test_and_blocked_rows_are_not_counted(brand, ben):
    for columns in ({"status": "Denied"}, {"status": "Invalidated"}, {"is_test": True}):
        insert_conversion(brand, ben, occurred_at=NOON, **columns)
    for columns in ({"is_duplicate": True, "outcome": "duplicate"}, {"outcome": "blocked"}):
        insert_click(brand, ben, occurred_at=NOON, **columns)

    assert set(map(str, _read_rows_by_key(brand).values())) == {str(_ZEROS)}


def test_rows_are_grouped_by_day_week_or_month(brand, ben):
    for day in (1, 8, 9, 31):
        insert_conversion(brand, ben, occurred_at=NOON.replace(day=day))

    def sales(group):
        query = f"from=2026-02-28&to=2026-04-01&groupBy={group}"
        return {key: row["sales"] for key, row in _read_rows_by_key(brand, query).items()}

    assert sum(sales("day").values()) == 4
    assert len(sales("day")) == 33
    assert sales("week") == {
        "2026-02-23": 1, "2026-03-02": 1, "2026-03-09": 1, "2026-03-16": 0, "2026-03-23": 0, "2026-03-30": 1
    }  # fmt: skip
    assert sales("month") == {"2026-02-01": 0, "2026-03-01": 4, "2026-04-01": 0}


def test_program_and_affiliate_rows_have_names_and_are_ordered_by_revenue(brand, ben):
    insert_conversion(brand, ben, occurred_at=NOON)
    first = brand.programs[-1]
    second = brand.program()
    zoe = brand.affiliate("zoe")
    insert_conversion(brand, zoe, occurred_at=NOON, amount_cents=30_000)

    def revenues(query):
        return [(row["key"], row["revenueCents"]) for row in _read_metrics(brand, f"{DAYS}&{query}")["rows"]]

    assert revenues("groupBy=program") == [(str(second), 30_000), (str(first), 10_000)]
    assert revenues("groupBy=affiliate") == [(str(zoe), 30_000), (str(ben), 10_000)]
    assert revenues(f"groupBy=affiliate&programId={first}") == [(str(ben), 10_000)]
    assert revenues(f"groupBy=program&affiliateId={zoe}") == [(str(second), 30_000)]
    name_rows = brand.rows("select name from program where id = %s", second)
    assert _read_metrics(brand, f"{DAYS}&groupBy=program")["rows"][0]["name"] == name_rows[0][0]
    assert (
        _read_metrics(brand, f"{DAYS}&groupBy=affiliate")["rows"][0]["name"]
        == (brand.rows("select full_name from affiliate where id = %s", zoe)[0][0])
    )


def test_rows_without_a_country_are_under_null(brand, ben):
    for country in ("NZ", "NZ", "FR", None):
        insert_click(brand, ben, occurred_at=NOON, country=country)
    insert_conversion(brand, ben, occurred_at=NOON)

    for _ in range(2):
        rows = _read_rows_by_key(brand, f"{DAYS}&groupBy=country")
        assert {key: row["clicks"] for key, row in rows.items()} == {"NZ": 2, "FR": 1, None: 1}
        assert rows[None]["sales"] == 1
        owed_totals.fold_changes(brand)


def test_amounts_are_converted_by_day_and_those_without_a_rate_listed_separately(brand, ben):
    # Rounded half to even, once per program and day: 2 x 0.5 cents are one cent.
    store_rate("FJD", "2", NOON)
    for day in (10, 10, 20):
        insert_conversion(
            brand, ben, occurred_at=NOON.replace(day=day), currency="FJD", amount_cents=1_001, commission_cents=101,
            refunded_cents=1,
        )  # fmt: skip
    insert_conversion(brand, ben, occurred_at=NOON, amount_cents=5, commission_cents=3)

    totals = _read_metrics(brand, "from=2026-03-09&to=2026-03-21")["totals"]

    assert (totals["sales"], totals["refunds"]) == (4, 3)
    assert (totals["revenueCents"], totals["revenueUnconvertibleByCurrency"]) == (1_001 + 5, {"FJD": 1_001})
    assert (totals["refundedCents"], totals["refundedUnconvertibleByCurrency"]) == (1, {"FJD": 1})
    assert (totals["commissionCents"], totals["commissionUnconvertibleByCurrency"]) == (101 + 3, {"FJD": 101})
    assert (totals["overrideCents"], totals["overrideUnconvertibleByCurrency"]) == (0, None)


def test_other_tenants_activity_is_not_counted(brand, rival, ben):
    insert_conversion(brand, ben, occurred_at=NOON)
    insert_click(brand, ben, occurred_at=NOON)
    owed_totals.fold_changes(brand)

    assert _read_metrics(rival)["totals"] == _ZEROS
    for query in (f"programId={brand.programs[-1]}", f"affiliateId={ben}"):
        answer = rival.get(f"{URL}?{query}")
        assert (answer.status_code, answer.json["error"]) == (404, "not_found")


def test_period_defaults_to_thirty_days_and_is_at_most_two_years(brand):
    today = datetime.now(UTC).date()

    assert [_read_metrics(brand, "")[name] for name in ("from", "to")] == [str(today - timedelta(days=29)), str(today)]
    assert len(_read_metrics(brand, "from=2024-03-10&to=2026-03-10")["rows"]) == 731
    assert brand.get(f"{URL}?from=2024-03-09&to=2026-03-10").status_code == 400
    for query in ("from=0001-01-01&to=0001-01-09&groupBy=week", "from=9999-12-01&to=9999-12-30&groupBy=month"):
        assert _read_metrics(brand, query)["totals"] == _ZEROS


def test_invalid_query_returns_400(brand):
    field_by_query = {
        "from=2026-03-11&to=2026-03-10": "from", "from=today": "from", "to=%00": "to", "to=": "to",
        "to=0001-01-05": "from", "to=9999-12-31": "from", "from=0001-01-01": "from", "programId=1": "programId",
        "affiliateId=%F0%9F%A6%86": "affiliateId", "groupBy=hour": "groupBy", "groupBy=": "groupBy",
        "groupBy=day%00": "groupBy", "groupBy=country%27": "groupBy",
    }  # fmt: skip
    for query, field in field_by_query.items():
        answer = brand.get(f"{URL}?{query}")
        assert (query, answer.status_code, list(answer.json.get("errors", ()))) == (query, 400, [field])


def test_round_trips_do_not_grow_with_rows(brand, ben):
    since = (datetime.now(UTC) - timedelta(days=300)).date()
    for group in ("day", "affiliate"):
        trips_before = count_round_trips(lambda group=group: brand.get(f"{URL}?groupBy={group}"))
        for currency in ("EUR", "JPY", "USD"):
            insert_conversion(brand, ben, currency=currency)
        assert count_round_trips(lambda group=group: brand.get(f"{URL}?from={since}&groupBy={group}")) == trips_before


def test_metrics_and_leaderboard_need_a_paid_plan(app):
    free = Brand.create(app, plan="Free")

    assert free.get(URL).status_code == free.get("/api/v1/leaderboard").status_code == 402
