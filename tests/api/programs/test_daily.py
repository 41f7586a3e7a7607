"""Daily statistics of programs, through HTTP."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.support.api.lists import count_round_trips
from tests.support.rows.brands import Brand
from tests.support.rows.program_rows import insert_click, insert_conversion

URL = "/api/v1/stats/daily"
NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
DAYS = "from=2026-03-09&to=2026-03-11"


@pytest.fixture
def ben(brand):
    """Return the affiliate of the brand's only campaign."""
    brand.program()
    return brand.affiliate("ben")


def _days(answer):
    assert answer.status_code == 200, answer.data
    return {day.pop("day"): day for day in answer.json["days"]}


_EMPTY_DAY = {"clicks": 0, "sales": 0, "leads": 0, "amountByCurrency": {}, "commissionByCurrency": {}}


def test_every_day_is_listed_with_zeros_where_empty(brand, ben):
    insert_conversion(brand, ben, occurred_at=NOON)
    insert_conversion(
        brand, ben, occurred_at=NOON, type="Recurring", currency="EUR", refunded_cents=4_000, reversed_cents=400
    )
    insert_conversion(brand, ben, occurred_at=NOON, type="LeadReward", amount_cents=0, commission_cents=50)
    insert_click(brand, ben, occurred_at=NOON)
    insert_click(brand, ben, occurred_at=NOON - timedelta(hours=1))

    days = _days(brand.get(f"{URL}?{DAYS}"))

    assert list(days) == ["2026-03-09", "2026-03-10", "2026-03-11"]
    assert days["2026-03-09"] == days["2026-03-11"] == _EMPTY_DAY
    assert days["2026-03-10"] == {
        "clicks": 2,
        "sales": 2,
        "leads": 1,
        "amountByCurrency": {"EUR": 6_000, "USD": 10_000},
        "commissionByCurrency": {"EUR": 600, "USD": 1_050},
    }


def test_day_begins_and_ends_at_midnight_utc(brand, ben):
    midnight = datetime(2026, 3, 10, tzinfo=UTC)
    for at in (midnight, midnight + timedelta(days=1) - timedelta(microseconds=1)):
        insert_conversion(brand, ben, occurred_at=at)
        insert_click(brand, ben, occurred_at=at)
    for at in (midnight - timedelta(microseconds=1), midnight + timedelta(days=1)):
        insert_conversion(brand, ben, occurred_at=at)
        insert_click(brand, ben, occurred_at=at)

    (day,) = _days(brand.get(f"{URL}?from=2026-03-10&to=2026-03-10")).values()

    assert (day["sales"], day["clicks"]) == (2, 2)


@pytest.mark.parametrize(
    "columns",
    [{"status": "Denied"}, {"status": "Invalidated"}, {"is_test": True}, {"occurred_at": NOON.replace(day=20)}],
)
def test_uncounted_rows_are_excluded(brand, ben, columns):
    insert_conversion(brand, ben, **{"occurred_at": NOON} | columns)

    assert all(day == _EMPTY_DAY for day in _days(brand.get(f"{URL}?{DAYS}")).values())


@pytest.mark.parametrize("columns", [{"is_duplicate": True, "outcome": "duplicate"}, {"outcome": "blocked"}])
def test_duplicate_and_blocked_clicks_are_not_counted(brand, ben, columns):
    insert_click(brand, ben, occurred_at=NOON, **columns)

    assert _days(brand.get(f"{URL}?{DAYS}"))["2026-03-10"]["clicks"] == 0


def test_override_counts_as_commission_but_not_as_sale(brand, ben):
    sale_id = insert_conversion(brand, ben, occurred_at=NOON)
    insert_conversion(brand, ben, occurred_at=NOON, amount_cents=0, commission_cents=100, parent_id=sale_id)

    day = _days(brand.get(f"{URL}?{DAYS}"))["2026-03-10"]

    assert (day["sales"], day["commissionByCurrency"]) == (1, {"USD": 1_100})


def test_stats_cover_one_program_or_all(brand, ben):
    first = brand.programs[-1]
    insert_conversion(brand, ben, occurred_at=NOON)
    second = brand.program()
    insert_conversion(brand, brand.affiliate("zoe"), occurred_at=NOON)

    def sales(query=""):
        return _days(brand.get(f"{URL}?{DAYS}{query}"))["2026-03-10"]["sales"]

    assert (sales(), sales(f"&programId={first}"), sales(f"&programId={second}")) == (2, 1, 1)


def test_other_tenants_activity_is_not_counted(brand, rival, ben):
    insert_conversion(brand, ben, occurred_at=NOON)
    insert_click(brand, ben, occurred_at=NOON)

    assert all(day == _EMPTY_DAY for day in _days(rival.get(f"{URL}?{DAYS}")).values())
    answer = rival.get(f"{URL}?programId={brand.programs[-1]}")
    assert (answer.status_code, answer.json["error"]) == (404, "not_found")


def test_default_period_is_the_last_thirty_days(brand):
    stats = brand.get(URL).json

    today = datetime.now(UTC).date()
    assert stats["to"] == today.isoformat()
    assert stats["from"] == (today - timedelta(days=29)).isoformat()
    assert len(stats["days"]) == 30
    assert brand.get(f"{URL}?to=2026-03-31").json["from"] == "2026-03-02"


def test_period_is_limited_to_366_days(brand):
    assert len(brand.get(f"{URL}?from=2025-03-10&to=2026-03-10").json["days"]) == 366
    assert brand.get(f"{URL}?from=2025-03-09&to=2026-03-10").status_code == 400


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("from=2026-03-11&to=2026-03-10", "from"),
        ("from=today", "from"),
        ("to=%00", "to"),
        ("to=", "to"),
        ("to=0001-01-05", "from"),
        ("to=9999-12-31", "from"),
        ("from=0001-01-01", "from"),
        ("programId=1", "programId"),
    ],
)
def test_invalid_days_return_400(brand, query, field):
    answer = brand.get(f"{URL}?{query}")

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == [field]


def test_round_trips_do_not_grow_with_rows(brand, ben):
    few = count_round_trips(lambda: brand.get(URL))
    for _ in range(5):
        insert_conversion(brand, ben)

    since = (datetime.now(UTC) - timedelta(days=300)).date()
    assert count_round_trips(lambda: brand.get(f"{URL}?from={since}")) == few


def test_daily_stats_need_a_paid_plan(app):
    assert Brand.create(app, plan="Free").get(URL).status_code == 402


def test_days_of_one_affiliate_exclude_others(brand, ben, rival):
    eva = brand.affiliate("eva")
    for affiliate_id, cents in ((ben, 1_000), (eva, 70)):
        insert_conversion(brand, affiliate_id, occurred_at=NOON, commission_cents=cents)
        insert_click(brand, affiliate_id, occurred_at=NOON)
    rival.program()
    stranger = rival.affiliate("zoe")
    day = _days(brand.get(f"{URL}?{DAYS}&affiliateId={eva}"))["2026-03-10"]

    assert (day["clicks"], day["sales"], day["commissionByCurrency"]) == (1, 1, {"USD": 70})
    assert brand.get(f"{URL}?affiliateId={stranger}").status_code == 404
    assert brand.get(f"{URL}?affiliateId=x").status_code == 400
