"""Statistics of programs: what is counted, what is owed, and what could not be valued."""

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


def _stats(brand):
    answer = brand.get(URL)
    assert answer.status_code == 200, answer.json
    (shown,) = answer.json
    return shown


def _shown(brand, *fields):
    shown = _stats(brand)
    return tuple(shown[field] for field in fields)


def test_a_program_without_activity_has_zeros_in_every_field(brand):
    program_id = brand.program()

    assert _stats(brand) == {
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


def test_an_organization_without_programs_has_an_empty_list(brand):
    assert brand.get(URL).json == []


def test_there_is_one_entry_per_program_newest_first_and_none_for_archived_ones(brand):
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

    assert _shown(rival, "clicks30d", "conversions30d", "pendingCommissionCents", "affiliatesCount") == (0, 0, 0, 0)


def test_affiliates_of_any_status_count_unless_deleted_or_for_tests(brand, ben):
    brand.affiliate("pat", status="Pending")
    brand.affiliate("del", deleted_at=start_of_test())
    brand.affiliate("tess", is_test=True)

    assert _shown(brand, "affiliatesCount") == (2,)


def test_clicks_of_thirty_days_count_and_duplicates_do_not(brand, ben):
    for columns in ({}, {"occurred_at": time_ago(days=29)}, {"occurred_at": time_ago(days=31)}, {"is_duplicate": True}):
        insert_click(brand, ben, **columns)

    assert _shown(brand, "clicks30d") == (2,)


def test_clicks_count_from_the_moment_thirty_days_ago_before_and_after_their_days_are_folded(brand, ben):
    """Days are of UTC, the thirty days are not: of the day in which they begin a part counts."""
    for hours in (30 * 24 + 1, 30 * 24 - 1, 29 * 24, 1):
        insert_click(brand, ben, occurred_at=time_ago(hours=hours))

    assert _shown(brand, "clicks30d") == (3,)
    owed_totals.fold_changes(brand)
    assert _shown(brand, "clicks30d") == (3,)


def test_clicks_that_the_rules_blocked_do_not_count_and_held_ones_do(brand, ben):
    for outcome in ("blocked", "held", "unscored", "over_budget", "earned"):
        insert_click(brand, ben, outcome=outcome)

    assert _shown(brand, "clicks30d") == (4,)


def test_sales_leads_and_paid_clicks_add_up_to_conversions(brand, ben):
    for kind in ("OneTime", "Recurring", "LeadReward", "LeadReward", "Bonus"):
        insert_conversion(brand, ben, type=kind)
    pays = insert_conversion(brand, ben, type="ClickReward")
    for columns in ({}, {"occurred_at": time_ago(days=29)}, {"occurred_at": time_ago(days=31)}):
        insert_click(brand, ben, outcome="earned", conversion_id=pays, **columns)
    insert_click(brand, ben)

    assert _shown(brand, *COUNTS) == (6, 2, 2, 2)


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
def test_paid_clicks_count_as_long_as_the_row_that_gathers_them_does(brand, ben, columns, number):
    pays = insert_conversion(brand, ben, type="ClickReward", **columns)
    for _ in range(3):
        insert_click(brand, ben, outcome="earned", conversion_id=pays)

    assert _shown(brand, "clicks30d", "paidClicks30d", "conversions30d") == (3, number, number)
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

    assert _shown(brand, *COUNTS) == (0, 0, 0, 0)


@pytest.mark.parametrize("status", ["Pending", "Approved", "Paid", "Refunded"])
def test_a_conversion_counts_whatever_became_of_its_money(brand, ben, status):
    insert_conversion(brand, ben, status=status)

    assert _shown(brand, "conversions30d") == (1,)


def test_an_override_is_owed_and_is_no_conversion(brand, ben):
    parent_id = insert_conversion(brand, ben, commission_cents=1_000)
    insert_conversion(brand, ben, source="override", parent_id=parent_id, amount_cents=0, commission_cents=100)

    assert _shown(brand, "conversions30d", "pendingCommissionCents") == (1, 1_100)


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
    ids=lambda value: " ".join(value) if isinstance(value, dict) else None,  # no moments: they differ by process
)
def test_money_is_in_the_bucket_of_its_status_and_hold(brand, ben, columns, money):
    insert_conversion(brand, ben, **columns)

    assert _shown(brand, *MONEY) == money
    assert _shown(brand, "owedEligibleInHomeCents", "settlingInHomeCents") == money[1:]


def test_each_conversion_is_valued_at_the_rate_of_its_date_and_rounded_alone(brand, ben):
    store_rate("BND", "2", time_ago(days=40))
    store_rate("BND", "4", time_ago(days=10))
    insert_conversion(brand, ben, currency="BND", commission_cents=3, occurred_at=time_ago(days=40))
    insert_conversion(brand, ben, currency="BND", commission_cents=5, occurred_at=time_ago(days=40))
    insert_conversion(brand, ben, currency="BND", commission_cents=6, occurred_at=time_ago(days=10))

    assert _shown(brand, "pendingCommissionCents", "pendingUnconvertibleByCurrency") == (2 + 2 + 2, None)


@pytest.mark.parametrize(("age_days", "is_valued"), [(-1, False), (0, True), (3, True), (4, False)])
def test_a_rate_older_than_three_days_is_none(brand, ben, age_days, is_valued):
    store_rate("GMD", "2", time_ago(days=50))
    insert_conversion(brand, ben, currency="GMD", commission_cents=10, occurred_at=time_ago(days=50 - age_days))

    held = None if is_valued else {"GMD": 10}
    assert _shown(brand, "pendingCommissionCents", "pendingUnconvertibleByCurrency") == (5 if is_valued else 0, held)


def test_commission_without_a_rate_is_excluded_by_bucket_and_currency(brand, ben):
    insert_conversion(brand, ben, commission_cents=100)
    insert_conversion(brand, ben, currency="AWG", commission_cents=7)
    insert_conversion(brand, ben, currency="AWG", commission_cents=8)
    insert_conversion(brand, ben, currency="CVE", commission_cents=9)
    insert_conversion(brand, ben, currency="CVE", commission_cents=11, status="Approved")
    insert_conversion(brand, ben, currency="CVE", commission_cents=13, status="Paid")

    shown = _stats(brand)

    assert (shown["pendingCommissionCents"], shown["availableCommissionCents"]) == (100, 0)
    assert shown["pendingUnconvertibleByCurrency"] == {"AWG": 15, "CVE": 9}
    assert shown["availableUnconvertibleByCurrency"] == {"CVE": 11}
    assert shown["settlingUnconvertibleByCurrency"] is None


def test_another_home_currency_values_everything_anew(brand, ben):
    store_rate("DJF", "200", time_ago(days=1))
    insert_conversion(brand, ben, commission_cents=100)
    insert_conversion(brand, ben, currency="DJF", commission_cents=40)
    brand.rows("update organization set home_currency = 'DJF' where id = %s returning 1", brand.id)

    assert _shown(brand, "pendingCommissionCents") == (240,)


_EXPONENTS = ("BHD", "DJF", "FJD", "TOP", "USD")


@pytest.mark.parametrize("home", ["USD", "BHD", "DJF", "TOP"])
def test_the_database_values_every_row_as_the_rules_do(brand, home):
    chance = random.Random(home)
    per_usd = {
        "BHD": Decimal("0.376987654321"),
        "DJF": Decimal("177.721"),
        "FJD": Decimal("0.5"),
        # Too large a fraction for a bigint, and in the other direction as well.
        "TOP": Decimal("98765432109.876543210987"),
    }
    for currency, value in per_usd.items():
        store_rate(currency, str(value), time_ago(days=200))
    brand.program()
    ben = brand.affiliate("ben")
    brand.rows("update organization set home_currency = %s where id = %s returning 1", home, brand.id)
    expected = 0
    for currency in _EXPONENTS:
        for cents in [0, 1, 2, 3, 5, 25, 10**12, *(chance.randrange(10 ** chance.randrange(1, 13)) for _ in range(12))]:
            insert_conversion(brand, ben, currency=currency, commission_cents=cents, occurred_at=time_ago(days=199))
            valued = fx.to_currency(amount_cents=cents, from_currency=currency, to_currency=home, per_usd=per_usd)
            assert valued is not None
            expected += valued

    with db.unit_of_work(brand.id):
        (found,) = numbers.list_stats(organization_id=brand.id, now=start_of_test())
    assert found.pending == Money(expected, None)


def test_a_free_plan_is_refused(brand):
    brand.set(plan="Free", status="Canceled")

    assert (brand.get(URL).status_code, brand.get(URL).json["error"]) == (402, "plan_tier_required")


def test_a_wrong_key_is_refused_without_a_body(brand):
    answer = brand.get(URL, Authorization="Bearer nobody")

    assert (answer.status_code, answer.data) == (401, b"")
