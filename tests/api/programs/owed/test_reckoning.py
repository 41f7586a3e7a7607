"""Days are reckoned beside those who change them, and what is damaged is found and mended."""

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


def _agrees(brand):
    now = datetime.now(UTC)
    found = owed_totals.read_stored_totals(brand, now)
    assert found == owed_totals.compute_totals(brand, now)
    assert owed_totals.list_day_violations(brand) == []
    return [money.home_cents for money in found[brand.programs[-1]]]


def _reckoned(brand):
    owed_totals.fold_changes(brand)
    owed_totals.compute_owed_days(brand)
    return brand.rows("select cents::int from owed_day order by cents")


def test_the_tick_folds_and_has_every_organization_with_changes_reckoned(brand, rival):
    for one in (brand, rival):
        one.program()
        insert_conversion(one, one.affiliate("ben"))

    with db.any_org_work():
        from_tick = "insert into job (queue, name, fair_key, max_attempts) values ('upkeep', 'days.fold', '', 1)"
        db.db.run(f"{from_tick} returning 1")
    drain("upkeep")

    for one in (brand, rival):
        assert one.rows("select cents::int, home_cents::int from owed_day") == [(1_000, 1_000)]
        assert one.rows("select 1 from day_to_reckon union all select 1 from day_change") == []
        assert _agrees(one) == [1_000, 0, 0]


def test_a_day_that_is_reckoned_is_looked_up_and_one_that_changed_is_not(brand, ben):
    conversion_id = insert_conversion(brand, ben)
    assert _reckoned(brand) == [(1_000,)]
    # What nobody may do: that it is seen says that nothing is added up.
    brand.rows("update owed_day set cents = 7, home_cents = 7 returning 1")
    assert owed_totals.read_stored_totals(brand, datetime.now(UTC))[brand.programs[-1]][0].home_cents == 7

    brand.rows("update conversion set status = 'Approved' where id = %s returning 1", conversion_id)
    assert _agrees(brand) == [0, 1_000, 0]
    owed_totals.fold_changes(brand)
    assert brand.rows("select 1 from owed_day") == []
    assert _agrees(brand) == [0, 1_000, 0]


def test_a_hold_that_ends_today_is_judged_by_the_minute(brand, ben):
    now = datetime.now(UTC).replace(hour=12)
    for minutes in (-1, 1):
        insert_conversion(brand, ben, hold_until=now + timedelta(minutes=minutes))
    assert _reckoned(brand) == [(2_000,)]

    for moment, expected in ((0, [1_000, 1_000]), (2, [0, 2_000]), (24 * 60, [0, 2_000]), (-24 * 60, [2_000, 0])):
        found = owed_totals.read_stored_totals(brand, now + timedelta(minutes=moment))[brand.programs[-1]]
        assert [money.home_cents for money in found[:2]] == expected, moment


def test_a_rate_that_comes_later_and_another_home_currency_are_seen_before_anything_is_reckoned(brand, ben):
    insert_conversion(brand, ben, currency="SBD", commission_cents=400, occurred_at=time_ago(days=60))
    _reckoned(brand)
    assert _agrees(brand) == [0, 0, 0]
    store_rate("SBD", "8", time_ago(days=61))
    assert _agrees(brand) == [50, 0, 0]
    _reckoned(brand)
    assert _agrees(brand) == [50, 0, 0]
    store_rate("SBD", "4", time_ago(days=61))
    assert _agrees(brand) == [100, 0, 0]
    brand.rows("update organization set home_currency = 'SBD' where id = %s returning 1", brand.id)
    assert _agrees(brand) == [400, 0, 0]
    _reckoned(brand)
    assert brand.rows("select times::int, over::int, home_cents::int from owed_day") == [(1, 1, 400)]


def test_a_change_that_is_committed_while_its_day_is_reckoned_is_not_lost(brand, ben):
    insert_conversion(brand, ben)
    owed_totals.fold_changes(brand)
    with db.unit_of_work(brand.id):
        # A sale under way, which whoever reckons cannot see.
        db.db.run(_SALE, (brand.id, brand.programs[-1], ben))
        run_concurrently(lambda: owed_totals.compute_owed_days(brand))
        assert db.db.run("select cents::int from owed_day") == [(1_000,)]
    assert _agrees(brand) == [1_500, 0, 0]
    assert _reckoned(brand) == [(1_500,)]
    assert _agrees(brand) == [1_500, 0, 0]


def test_nothing_is_folded_between_the_look_at_a_day_and_its_record(brand, ben):
    conversion_id = insert_conversion(brand, ben)
    owed_totals.fold_changes(brand)
    with db.unit_of_work(brand.id):
        owed_days.compute(brand.id)
        run_concurrently(
            lambda: brand.rows("update conversion set reversed_cents = 400 where id = %s returning 1", conversion_id)
        )
        folded = start_call(lambda: owed_totals.fold_changes(brand))
        assert db.db.run("select 1 from day_change") == [(1,)]
    folded()
    assert brand.rows("select 1 from owed_day") == []
    assert _agrees(brand) == [600, 0, 0]


def test_two_who_reckon_the_same_days_at_once_record_them_once(brand, ben):
    for days in range(1, 6):
        insert_conversion(brand, ben, occurred_at=time_ago(days=days))
    owed_totals.fold_changes(brand)

    run_concurrently(*[lambda: owed_totals.compute_owed_days(brand)] * 3)

    assert brand.rows("select cents::int from owed_day") == [(1_000,)] * 5
    assert _agrees(brand) == [5_000, 0, 0]


def test_who_ends_in_the_middle_has_reckoned_nothing(brand, ben):
    insert_conversion(brand, ben)
    owed_totals.fold_changes(brand)
    with pytest.raises(ZeroDivisionError), db.unit_of_work(brand.id):
        _reckon_and_fail(brand)

    assert len(brand.rows("select 1 from day_to_reckon")) == 1
    assert _agrees(brand) == [1_000, 0, 0]
    assert _reckoned(brand) == [(1_000,)]


@pytest.mark.usefixtures(
    "isolated_database"
)  # a release takes a thousand, whose holds ended first: other tests have left some
def test_many_conversions_changed_by_one_statement_are_one_change_of_their_day(brand, ben):
    for _ in range(5):
        insert_conversion(brand, ben, hold_until=time_ago(hours=1))
    _reckoned(brand)
    with db.any_org_work():
        reviews.any_org_release(now=datetime.now(UTC), limit=1_000)

    assert brand.rows("select sales::int, commission_cents::int from day_change") == [(0, 0)]
    brand.rows("update conversion set customer_name = 'Ada' returning 1")
    assert len(brand.rows("select 1 from day_change")) == 1
    assert _agrees(brand) == [0, 5_000, 0]


def test_damage_is_named_by_the_check_and_mended_by_the_recount(brand, ben):
    insert_conversion(brand, ben)
    for damage in (
        "update owed_day set cents = cents + 1",
        "update owed_day set home_cents = home_cents - 1",
        "delete from owed_day",
        "update owed_day set day = day - 1",
        "update owed_day set hold_day = hold_day + 1",
    ):
        assert _reckoned(brand) == [(1_000,)], damage
        brand.rows(f"{damage} returning 1")

        found = owed_totals.list_day_violations(brand)
        assert found and all(str(brand.programs[-1]) in exception for exception in found), (damage, found)
        done = brand.app.test_cli_runner().invoke(args=["ledger", "recount-days", "--org", str(brand.id)])
        assert done.exit_code == 0, done.output
        assert _agrees(brand) == [1_000, 0, 0], damage


def _reckon_and_fail(brand):
    owed_days.compute(brand.id)
    assert db.db.run("select cents::int from owed_day") == [(1_000,)]
    raise ZeroDivisionError


_SALE = """
insert into conversion (id, organization_id, program_id, affiliate_id, source, external_event_id, amount_cents,
  currency, commission_cents, status, type, rate_source, occurred_at, hold_until, created_at)
select i, %s, %s, %s, 's2s', i::text, 2000, 'USD', 500, 'Pending', 'OneTime', 'program', now() - interval '1 day',
  now() + interval '29 days', now() from gen_random_uuid() i returning 1
"""
