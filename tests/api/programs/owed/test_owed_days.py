"""Owed totals per day are computed during concurrent changes, and damaged ones detected and repaired."""

from datetime import UTC, datetime, timedelta

import pytest

from models import db
from models.conversions import reviews
from pipelines import owed_days
from tests.support import owed_totals
from tests.support.api.concurrency import run_concurrently, start_call
from tests.support.job_queues import drain
from tests.support.rows.program_rows import insert_conversion, store_rate, time_ago


@pytest.fixture
def ben(brand):
    brand.program()
    return brand.affiliate("ben")


def _check_totals(brand):
    now = datetime.now(UTC)
    stored = owed_totals.read_stored_totals(brand, now)
    assert stored == owed_totals.compute_totals(brand, now)
    assert owed_totals.list_day_violations(brand) == []
    return [money.home_cents for money in stored[brand.programs[-1]]]


def _fold_and_compute(brand):
    owed_totals.fold_changes(brand)
    owed_totals.compute_owed_days(brand)
    return brand.rows("select cents::int from owed_day order by cents")


def test_tick_folds_changes_and_computes_days_of_every_organization(brand, rival):
    for tenant in (brand, rival):
        tenant.program()
        insert_conversion(tenant, tenant.affiliate("ben"))

    with db.any_org_work():
        from_tick = "insert into job (queue, name, fair_key, max_attempts) values ('upkeep', 'days.fold', '', 1)"
        db.db.run(f"{from_tick} returning 1")
    drain("upkeep")

    for tenant in (brand, rival):
        assert tenant.rows("select cents::int, home_cents::int from owed_day") == [(1_000, 1_000)]
        assert tenant.rows("select 1 from day_to_reckon union all select 1 from day_change") == []
        assert _check_totals(tenant) == [1_000, 0, 0]


def test_computed_day_is_read_from_storage_until_it_changes(brand, ben):
    conversion_id = insert_conversion(brand, ben)
    assert _fold_and_compute(brand) == [(1_000,)]
    # Damage the stored day: returning the damaged amount proves that conversions are not summed again.
    brand.rows("update owed_day set cents = 7, home_cents = 7 returning 1")
    assert owed_totals.read_stored_totals(brand, datetime.now(UTC))[brand.programs[-1]][0].home_cents == 7

    brand.rows("update conversion set status = 'Approved' where id = %s returning 1", conversion_id)
    assert _check_totals(brand) == [0, 1_000, 0]
    owed_totals.fold_changes(brand)
    assert brand.rows("select 1 from owed_day") == []
    assert _check_totals(brand) == [0, 1_000, 0]


def test_hold_ending_today_is_evaluated_to_the_minute(brand, ben):
    now = datetime.now(UTC).replace(hour=12)
    for minutes in (-1, 1):
        insert_conversion(brand, ben, hold_until=now + timedelta(minutes=minutes))
    assert _fold_and_compute(brand) == [(2_000,)]

    for offset, expected in ((0, [1_000, 1_000]), (2, [0, 2_000]), (24 * 60, [0, 2_000]), (-24 * 60, [2_000, 0])):
        totals = owed_totals.read_stored_totals(brand, now + timedelta(minutes=offset))[brand.programs[-1]]
        assert [money.home_cents for money in totals[:2]] == expected, offset


def test_new_rate_and_home_currency_apply_before_days_are_recomputed(brand, ben):
    insert_conversion(brand, ben, currency="SBD", commission_cents=400, occurred_at=time_ago(days=60))
    _fold_and_compute(brand)
    assert _check_totals(brand) == [0, 0, 0]
    store_rate("SBD", "8", time_ago(days=61))
    assert _check_totals(brand) == [50, 0, 0]
    _fold_and_compute(brand)
    assert _check_totals(brand) == [50, 0, 0]
    store_rate("SBD", "4", time_ago(days=61))
    assert _check_totals(brand) == [100, 0, 0]
    brand.rows("update organization set home_currency = 'SBD' where id = %s returning 1", brand.id)
    assert _check_totals(brand) == [400, 0, 0]
    _fold_and_compute(brand)
    assert brand.rows("select times::int, over::int, home_cents::int from owed_day") == [(1, 1, 400)]


def test_change_committed_during_the_computation_is_not_lost(brand, ben):
    insert_conversion(brand, ben)
    owed_totals.fold_changes(brand)
    with db.unit_of_work(brand.id):
        # An uncommitted sale, which the computation cannot see.
        db.db.run(_INSERT_SALE, (brand.id, brand.programs[-1], ben))
        run_concurrently(lambda: owed_totals.compute_owed_days(brand))
        assert db.db.run("select cents::int from owed_day") == [(1_000,)]
    assert _check_totals(brand) == [1_500, 0, 0]
    assert _fold_and_compute(brand) == [(1_500,)]
    assert _check_totals(brand) == [1_500, 0, 0]


def test_folding_waits_while_a_day_is_computed(brand, ben):
    conversion_id = insert_conversion(brand, ben)
    owed_totals.fold_changes(brand)
    with db.unit_of_work(brand.id):
        owed_days.compute(brand.id)
        run_concurrently(
            lambda: brand.rows("update conversion set reversed_cents = 400 where id = %s returning 1", conversion_id)
        )
        wait_for_fold = start_call(lambda: owed_totals.fold_changes(brand))
        assert db.db.run("select 1 from day_change") == [(1,)]
    wait_for_fold()
    assert brand.rows("select 1 from owed_day") == []
    assert _check_totals(brand) == [600, 0, 0]


def test_concurrent_computations_store_each_day_once(brand, ben):
    for days in range(1, 6):
        insert_conversion(brand, ben, occurred_at=time_ago(days=days))
    owed_totals.fold_changes(brand)

    run_concurrently(*[lambda: owed_totals.compute_owed_days(brand)] * 3)

    assert brand.rows("select cents::int from owed_day") == [(1_000,)] * 5
    assert _check_totals(brand) == [5_000, 0, 0]


def test_aborted_computation_stores_nothing(brand, ben):
    insert_conversion(brand, ben)
    owed_totals.fold_changes(brand)
    with pytest.raises(ZeroDivisionError), db.unit_of_work(brand.id):
        _compute_and_fail(brand)

    assert len(brand.rows("select 1 from day_to_reckon")) == 1
    assert _check_totals(brand) == [1_000, 0, 0]
    assert _fold_and_compute(brand) == [(1_000,)]


@pytest.mark.usefixtures(
    "isolated_database"
)  # a release takes the thousand earliest holds, some of which other tests left
def test_statement_changing_many_conversions_creates_one_day_change(brand, ben):
    for _ in range(5):
        insert_conversion(brand, ben, hold_until=time_ago(hours=1))
    _fold_and_compute(brand)
    with db.any_org_work():
        reviews.any_org_release(now=datetime.now(UTC), limit=1_000)

    assert brand.rows("select sales::int, commission_cents::int from day_change") == [(0, 0)]
    brand.rows("update conversion set customer_name = 'Ada' returning 1")
    assert len(brand.rows("select 1 from day_change")) == 1
    assert _check_totals(brand) == [0, 5_000, 0]


def test_damage_is_reported_by_the_check_and_repaired_by_the_recount(brand, ben):
    insert_conversion(brand, ben)
    for damage in (
        "update owed_day set cents = cents + 1",
        "update owed_day set home_cents = home_cents - 1",
        "delete from owed_day",
        "update owed_day set day = day - 1",
        "update owed_day set hold_day = hold_day + 1",
    ):
        assert _fold_and_compute(brand) == [(1_000,)], damage
        brand.rows(f"{damage} returning 1")

        violations = owed_totals.list_day_violations(brand)
        assert violations and all(str(brand.programs[-1]) in violation for violation in violations), (
            damage,
            violations,
        )
        result = brand.app.test_cli_runner().invoke(args=["ledger", "recount-days", "--org", str(brand.id)])
        assert result.exit_code == 0, result.output
        assert _check_totals(brand) == [1_000, 0, 0], damage


def _compute_and_fail(brand):
    owed_days.compute(brand.id)
    assert db.db.run("select cents::int from owed_day") == [(1_000,)]
    raise ZeroDivisionError


_INSERT_SALE = """
insert into conversion (id, organization_id, program_id, affiliate_id, source, external_event_id, amount_cents,
  currency, commission_cents, status, type, rate_source, occurred_at, hold_until, created_at)
select i, %s, %s, %s, 's2s', i::text, 2000, 'USD', 500, 'Pending', 'OneTime', 'program', now() - interval '1 day',
  now() + interval '29 days', now() from gen_random_uuid() i returning 1
"""
