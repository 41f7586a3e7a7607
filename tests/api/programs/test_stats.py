"""Statistics of programs: counts, owed commission, and amounts without an exchange rate."""

import random
from decimal import Decimal

import pytest

from domain.money import fx
from domain.programs.numbers import Money
from models import db
from pipelines.programs import numbers
from tests.support import owed_totals
from tests.support.rows.program_rows import insert_click, insert_conversion, store_rate, time_ago
from tests.support.running.hours import start_of_test

URL = "/api/v1/programs/stats"
COUNTS = ("conversions30d", "sales30d", "leads30d", "paidClicks30d")
MONEY = ("pendingCommissionCents", "availableCommissionCents", "settlingCommissionCents")


@pytest.fixture
def ben(brand):
    brand.program()
    return brand.affiliate("ben")


def _read_stats(brand):
    answer = brand.get(URL)
    assert answer.status_code == 200, answer.json
    (stats,) = answer.json
    return stats


def _read_fields(brand, *fields):
    stats = _read_stats(brand)
    return tuple(stats[field] for field in fields)


def test_program_without_activity_has_zeros_in_every_field(brand):
    program_id = brand.program()

    assert _read_stats(brand) == {
        "programId": str(program_id),
        "affiliatesCount": 0,
        "clicks30d": 0,
        "conversions30d": 0,
        "sales30d": 0,
        "leads30d": 0,
        "paidClicks30d": 0,
        "pendingCommissionCents": 0,
        "availableCommissionCents": 0,
        "settlingCommissionCents": 0,
        "owedEligibleInHomeCents": 0,
        "settlingInHomeCents": 0,
        "pendingUnconvertibleByCurrency": None,
        "availableUnconvertibleByCurrency": None,
        "settlingUnconvertibleByCurrency": None,
    }


def test_organization_without_programs_has_an_empty_list(brand):
    assert brand.get(URL).json == []


def test_active_programs_are_listed_newest_first(brand):
    first, second, third = (brand.program(created_at=time_ago(days=days)) for days in (3, 2, 1))
    brand.rows("update program set archived_at = %s where id = %s", start_of_test(), second)

    assert [entry["programId"] for entry in brand.get(URL).json] == [str(third), str(first)]


def test_stats_are_separate_per_program(brand):
    for slug, cents in (("ann", 100), ("ben", 200)):
        brand.program()
        insert_conversion(brand, brand.affiliate(slug), commission_cents=cents)

    assert {entry["pendingCommissionCents"] for entry in brand.get(URL).json} == {100, 200}


def test_other_tenants_activity_is_not_counted(brand, rival, ben):
    insert_conversion(brand, ben)
    insert_click(brand, ben)
    rival.program()

    assert _read_fields(rival, "clicks30d", "conversions30d", "pendingCommissionCents", "affiliatesCount") == (
        0,
        0,
        0,
        0,
    )


def test_affiliates_of_any_status_are_counted_unless_deleted_or_test(brand, ben):
    brand.affiliate("pat", status="Pending")
    brand.affiliate("del", deleted_at=start_of_test())
    brand.affiliate("tess", is_test=True)

    assert _read_fields(brand, "affiliatesCount") == (2,)


def test_clicks_of_thirty_days_are_counted_without_duplicates(brand, ben):
    for columns in ({}, {"occurred_at": time_ago(days=29)}, {"occurred_at": time_ago(days=31)}, {"is_duplicate": True}):
        insert_click(brand, ben, **columns)

    assert _read_fields(brand, "clicks30d") == (2,)


def test_clicks_are_counted_from_exactly_thirty_days_ago(brand, ben):
    """Days are UTC days, but the thirty days begin at any time: part of the first day is counted."""
    for hours in (30 * 24 + 1, 30 * 24 - 1, 29 * 24, 1):
        insert_click(brand, ben, occurred_at=time_ago(hours=hours))

    assert _read_fields(brand, "clicks30d") == (3,)
    owed_totals.fold_changes(brand)
    assert _read_fields(brand, "clicks30d") == (3,)


def test_held_clicks_are_counted_and_blocked_ones_are_not(brand, ben):
    for outcome in ("blocked", "held", "unscored", "over_budget", "earned"):
        insert_click(brand, ben, outcome=outcome)

    assert _read_fields(brand, "clicks30d") == (4,)


def test_sales_leads_and_paid_clicks_add_up_to_conversions(brand, ben):
    for kind in ("OneTime", "Recurring", "LeadReward", "LeadReward", "Bonus"):
        insert_conversion(brand, ben, type=kind)
    reward_id = insert_conversion(brand, ben, type="ClickReward")
    for columns in ({}, {"occurred_at": time_ago(days=29)}, {"occurred_at": time_ago(days=31)}):
        insert_click(brand, ben, outcome="earned", conversion_id=reward_id, **columns)
    insert_click(brand, ben)

    assert _read_fields(brand, *COUNTS) == (6, 2, 2, 2)


@pytest.mark.parametrize(
    ("columns", "number"),
    [
        ({}, 3),
        ({"status": "Paid"}, 3),
        ({"status": "Denied"}, 0),
        ({"status": "Invalidated"}, 0),
        ({"is_test": True}, 0),
    ],
)
def test_paid_clicks_are_counted_while_their_reward_is_valid(brand, ben, columns, number):
    reward_id = insert_conversion(brand, ben, type="ClickReward", **columns)
    for _ in range(3):
        insert_click(brand, ben, outcome="earned", conversion_id=reward_id)

    assert _read_fields(brand, "clicks30d", "paidClicks30d", "conversions30d") == (3, number, number)
    assert brand.get(f"/api/v1/programs/{brand.programs[-1]}/tracking-status").json["totalConversions30d"] == number


@pytest.mark.parametrize(
    "columns",
    [
        {"occurred_at": time_ago(days=31)},
        {"status": "Denied"},
        {"status": "Invalidated"},
        {"is_test": True},
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else None,
)
def test_old_or_void_conversions_are_not_counted(brand, ben, columns):
    insert_conversion(brand, ben, **columns)

    assert _read_fields(brand, *COUNTS) == (0, 0, 0, 0)


@pytest.mark.parametrize("status", ["Pending", "Approved", "Paid", "Refunded"])
def test_conversion_is_counted_in_any_payment_status(brand, ben, status):
    insert_conversion(brand, ben, status=status)

    assert _read_fields(brand, "conversions30d") == (1,)


def test_override_is_owed_but_not_counted_as_conversion(brand, ben):
    parent_id = insert_conversion(brand, ben, commission_cents=1_000)
    insert_conversion(brand, ben, source="override", parent_id=parent_id, amount_cents=0, commission_cents=100)

    assert _read_fields(brand, "conversions30d", "pendingCommissionCents") == (1, 1_100)


@pytest.mark.parametrize(
    ("columns", "money"),
    [
        ({}, (1_000, 0, 0)),
        ({"reversed_cents": 400}, (600, 0, 0)),
        ({"hold_until": time_ago(minutes=1)}, (0, 1_000, 0)),
        ({"status": "Approved"}, (0, 1_000, 0)),
        ({"status": "Approved", "occurred_at": time_ago(days=400)}, (0, 1_000, 0)),
        ({"status": "Approved", "commission_cents": 10**18}, (0, 10**18, 0)),
        ({"status": "Paid"}, (0, 0, 0)),
        ({"status": "Refunded"}, (0, 0, 0)),
        ({"status": "Denied"}, (0, 0, 0)),
        ({"status": "Invalidated"}, (0, 0, 0)),
        ({"is_test": True}, (0, 0, 0)),
        ({"payout_locked": True}, (0, 0, 0)),
        ({"payout_locked": True, "hold_until": time_ago(days=1)}, (0, 0, 0)),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else None,  # not the times: they differ by process
)
def test_money_is_in_the_bucket_of_its_status_and_hold(brand, ben, columns, money):
    insert_conversion(brand, ben, **columns)

    assert _read_fields(brand, *MONEY) == money
    assert _read_fields(brand, "owedEligibleInHomeCents", "settlingInHomeCents") == money[1:]


def test_each_amount_is_converted_at_its_dates_rate_and_rounded_separately(brand, ben):
    store_rate("BND", "2", time_ago(days=40))
    store_rate("BND", "4", time_ago(days=10))
    insert_conversion(brand, ben, currency="BND", commission_cents=3, occurred_at=time_ago(days=40))
    insert_conversion(brand, ben, currency="BND", commission_cents=5, occurred_at=time_ago(days=40))
    insert_conversion(brand, ben, currency="BND", commission_cents=6, occurred_at=time_ago(days=10))

    assert _read_fields(brand, "pendingCommissionCents", "pendingUnconvertibleByCurrency") == (2 + 2 + 2, None)


@pytest.mark.parametrize(("age_days", "is_valued"), [(-1, False), (0, True), (3, True), (4, False)])
def test_rate_older_than_three_days_is_not_used(brand, ben, age_days, is_valued):
    store_rate("GMD", "2", time_ago(days=50))
    insert_conversion(brand, ben, currency="GMD", commission_cents=10, occurred_at=time_ago(days=50 - age_days))

    unconvertible = None if is_valued else {"GMD": 10}
    assert _read_fields(brand, "pendingCommissionCents", "pendingUnconvertibleByCurrency") == (
        5 if is_valued else 0,
        unconvertible,
    )


def test_commission_without_a_rate_is_excluded_by_bucket_and_currency(brand, ben):
    insert_conversion(brand, ben, commission_cents=100)
    insert_conversion(brand, ben, currency="AWG", commission_cents=7)
    insert_conversion(brand, ben, currency="AWG", commission_cents=8)
    insert_conversion(brand, ben, currency="CVE", commission_cents=9)
    insert_conversion(brand, ben, currency="CVE", commission_cents=11, status="Approved")
    insert_conversion(brand, ben, currency="CVE", commission_cents=13, status="Paid")

    stats = _read_stats(brand)

    assert (stats["pendingCommissionCents"], stats["availableCommissionCents"]) == (100, 0)
    assert stats["pendingUnconvertibleByCurrency"] == {"AWG": 15, "CVE": 9}
    assert stats["availableUnconvertibleByCurrency"] == {"CVE": 11}
    assert stats["settlingUnconvertibleByCurrency"] is None


def test_changed_home_currency_converts_all_amounts_again(brand, ben):
    store_rate("DJF", "200", time_ago(days=1))
    insert_conversion(brand, ben, commission_cents=100)
    insert_conversion(brand, ben, currency="DJF", commission_cents=40)
    brand.rows("update organization set home_currency = 'DJF' where id = %s returning 1", brand.id)

    assert _read_fields(brand, "pendingCommissionCents") == (240,)


_CURRENCIES = ("BHD", "DJF", "FJD", "TOP", "USD")


@pytest.mark.parametrize("home", ["USD", "BHD", "DJF", "TOP"])
def test_sql_conversion_equals_the_domain_rules(brand, home):
    rng = random.Random(home)
    per_usd = {
        "BHD": Decimal("0.376987654321"),
        "DJF": Decimal("177.721"),
        "FJD": Decimal("0.5"),
        # Its fraction exceeds a bigint, in both directions of the conversion.
        "TOP": Decimal("98765432109.876543210987"),
    }
    for currency, value in per_usd.items():
        store_rate(currency, str(value), time_ago(days=200))
    brand.program()
    ben = brand.affiliate("ben")
    brand.rows("update organization set home_currency = %s where id = %s returning 1", home, brand.id)
    expected = 0
    for currency in _CURRENCIES:
        for cents in [0, 1, 2, 3, 5, 25, 10**12, *(rng.randrange(10 ** rng.randrange(1, 13)) for _ in range(12))]:
            insert_conversion(brand, ben, currency=currency, commission_cents=cents, occurred_at=time_ago(days=199))
            converted = fx.to_currency(amount_cents=cents, from_currency=currency, to_currency=home, per_usd=per_usd)
            assert converted is not None
            expected += converted

    with db.unit_of_work(brand.id):
        (stats,) = numbers.list_stats(organization_id=brand.id, now=start_of_test())
    assert stats.pending == Money(expected, None)


def test_free_plan_returns_402(brand):
    brand.set(plan="Free", status="Canceled")

    assert (brand.get(URL).status_code, brand.get(URL).json["error"]) == (402, "plan_tier_required")


def test_unknown_key_returns_an_empty_401(brand):
    answer = brand.get(URL, Authorization="Bearer nobody")

    assert (answer.status_code, answer.data) == (401, b"")
