"""Monthly partitions are created ahead and dropped when past and empty."""

from datetime import date, timedelta
from uuid import UUID

import peewee
import pytest

from models import db, ids
from models.upkeep import partitions as months
from pipelines import partitions
from tests.support import databases
from tests.support.rows.program_rows import insert_click, time_ago
from tests.support.rows.retention_rows import count_brand_rows, end_due
from tests.support.running.hours import start_of_test


def _maintain_partitions():
    with db.any_org_work():
        partitions.any_org_maintain(now=start_of_test())


def _id_of(month):
    """Return an id with the time of a month."""
    with db.any_org_work():
        ((first,),) = db.db.run("select first_id_at(%s::timestamp at time zone 'UTC')", (month,))
    return UUID(int=first.int | ids.new_id().int & ((1 << 80) - 1))


def test_months_are_created_ahead_and_each_row_is_in_its_own(isolated_database, brand, ben, flask):
    _maintain_partitions()
    _maintain_partitions()
    partitions_by_table = {table_row["table"]: table_row for table_row in flask.json("db", "partitions")}
    year, month = divmod(start_of_test().year * 12 + start_of_test().month - 1 + partitions.MONTHS_AHEAD, 12)
    last = date(year, month + 1, 1)
    future_id, stray = _id_of(f"{last:%Y-%m-%d}"), UUID(int=(1 << 128) - 1 - ids.new_id().int)
    insert_click(brand, ben, id=future_id)
    insert_click(brand, ben, id=stray)

    assert set(partitions_by_table) == {"click", "audit_entry", "event", "delivery", "delivery_attempt"}
    assert all(
        not table_row["missing"] and f"{table}_{last:%Y_%m}" in str(table_row)
        for table, table_row in partitions_by_table.items()
    )
    assert dict(brand.rows("select id, tableoid::regclass::text from click")) == {
        future_id: f"click_{last:%Y_%m}",
        stray: "click_default",
    }
    assert "HAS NO PARTITION" not in flask("db", "partitions")[1]


def test_missing_month_is_reported(isolated_database, app):
    _maintain_partitions()  # the tests' database may be from last month
    far = start_of_test() + timedelta(days=500)
    with db.any_org_work():
        tables = partitions.list_tables(now=far)

    assert {table_row.table: len(table_row.missing) for table_row in tables} == dict.fromkeys(months.TABLES, 2)
    page = app.test_client().get("/metrics").get_data(as_text=True)
    assert 'finderfee_partition_months_missing{table="click"} 0.0' in page


def test_row_at_the_same_place_of_another_month_is_kept(isolated_database, brand, ben):
    _maintain_partitions()
    month = f"{(start_of_test() + timedelta(days=64)).replace(day=1):%Y-%m-%d}"
    young_ids = [insert_click(brand, ben) for _ in range(3)]
    old_ids = [insert_click(brand, ben, id=_id_of(month), occurred_at=time_ago(days=100)) for _ in range(100)]
    places = brand.rows("select ctid::text, count(*) from click group by 1 having count(*) > 1")

    assert end_due("clicks")["clicks"] >= len(old_ids)

    assert count_brand_rows(brand, "click") == len(young_ids), places
    assert brand.rows("select sum(number)::int from click_hour") == [(len(old_ids),)]


def test_single_partition_is_not_accessible_to_the_service(brand):
    for part in [*(f"{table}_default" for table in months.TABLES), *(f"{table}_earlier" for table in months.TABLES)]:
        with pytest.raises(peewee.ProgrammingError, match="permission denied"), db.unit_of_work(brand.id):
            db.db.run(f"select from {part}")
    with pytest.raises(peewee.PeeweeException, match="no month that is over"), db.any_org_work():
        db.db.run("select drop_month('audit_entry_earlier')")
    with pytest.raises(peewee.PeeweeException, match="no months are made"), db.any_org_work():
        db.db.run("select make_month('click', '2199-01-01')")


def test_past_month_is_dropped_once_empty(app, monkeypatch):
    monkeypatch.setattr(partitions, "MONTHS_AHEAD", 1)
    with databases.isolated_database() as url:
        # As if the service had been upgraded two years ago.
        databases.run_as_owner(
            url,
            "alter table click detach partition click_earlier; alter table click attach partition click_earlier"
            " for values from (minvalue) to (first_id_at(now() - interval '2 years'))",
        )
        with db.any_org_work():
            assert months.create("click", time_ago(days=365).date().replace(day=1))
            assert months.create("click", time_ago(days=300).date().replace(day=1))
        kept_part = f"click_{time_ago(days=300):%Y_%m}"
        databases.run_as_owner(
            url,
            f"alter table {kept_part} disable trigger all; alter table {kept_part} disable row level security",
        )
        databases.run_as_owner(
            url,
            f"insert into {kept_part} (id, organization_id, program_id, affiliate_id, slug, occurred_at) select"
            f" first_id_at(date_trunc('month', '{time_ago(days=300):%Y-%m-%d}'::timestamp) at time zone 'UTC'),"
            " gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'ben', now()",
        )
        _maintain_partitions()
        _maintain_partitions()
        partition_names = {
            name for (name,) in databases.select_as_owner(url, "select part::text from partition_bounds")
        }

    assert kept_part in partition_names
    assert not {f"click_{time_ago(days=365):%Y_%m}", "click_earlier"} & partition_names
    assert "audit_entry_earlier" in partition_names
