"""Events, deliveries and attempts are stored in the partition of their event's month and deleted with it."""

from datetime import datetime, timedelta
from uuid import UUID

import peewee
import pytest

from models import db, ids
from models.upkeep import partitions as months
from pipelines import partitions
from tests.support import databases
from tests.support.rows.brands import Brand
from tests.support.rows.program_rows import time_ago
from tests.support.rows.retention_rows import count_brand_rows, end_due
from tests.support.running.hours import start_of_test

TABLES = ("event", "delivery", "delivery_attempt")
_FIRST_OF = "date_trunc('month', %s::timestamptz at time zone 'UTC') at time zone 'UTC'"


# As if the service had been upgraded two years ago.
_EARLIER_ENDED = (
    "alter table {0} detach partition {0}_earlier; alter table {0} attach partition {0}_earlier"
    " for values from (minvalue) to (first_id_at(now() - interval '2 years'));"
)


def _event_at(brand, at: datetime) -> UUID:
    """Insert an event of the given time."""
    ((first,),) = brand.rows(f"select first_id_at({_FIRST_OF})", at)
    event_id = UUID(int=first.int | ids.new_id().int & ((1 << 80) - 1))
    brand.rows(
        "insert into event (id, organization_id, type, body, created_at) values (%s, %s, 't', '{}', %s) returning id",
        event_id,
        brand.id,
        at,
    )
    return event_id


def _delivery_of(brand, endpoint, event_id, *, at: datetime) -> UUID:
    """Insert a failed delivery with one attempt."""
    delivery_id = ids.new_id()
    brand.rows(
        "insert into delivery (id, organization_id, event_id, endpoint_id, event_type, status, attempt_count,"
        " created_at, settled_at) values (%s, %s, %s, %s, 't', 'Failed', 1, %s, %s) returning id",
        *(delivery_id, brand.id, event_id, endpoint, at, at),
    )
    brand.rows(
        "insert into delivery_attempt (organization_id, event_id, delivery_id, number, began_at, ended_at)"
        " values (%s, %s, %s, 1, %s, %s) returning number",
        *(brand.id, event_id, delivery_id, at, at),
    )
    return delivery_id


def test_deliveries_are_in_their_events_month_and_deleted_with_it(isolated_database, brand, endpoint):
    with db.any_org_work():
        partitions.any_org_maintain(now=start_of_test())
    future_event = _event_at(brand, start_of_test() + timedelta(days=64))
    for event_id in (future_event, _event_at(brand, start_of_test())):
        _delivery_of(brand, endpoint, event_id, at=time_ago(days=100))
    brand.rows("update event set created_at = %s returning id", time_ago(days=100))
    month = f"_{start_of_test() + timedelta(days=64):%Y_%m}"

    for table, key in (("event", "id"), ("delivery", "event_id"), ("delivery_attempt", "event_id")):
        assert (table + month,) in brand.rows(
            f"select tableoid::regclass::text from {table} where {key} = %s", future_event
        )
    assert end_due("deliveries", "events") == {"deliveries": 2, "events": 2}
    assert [count_brand_rows(brand, table) for table in ("event", "delivery", "delivery_attempt")] == [0, 0, 0]


def test_past_months_are_dropped_in_reference_order(app, monkeypatch):
    monkeypatch.setattr(partitions, "MONTHS_AHEAD", 1)
    old, kept_month = (time_ago(days=days).date().replace(day=1) for days in (365, 300))
    with databases.isolated_database() as url:
        databases.run_as_owner(url, "".join(map(_EARLIER_ENDED.format, TABLES)))
        with db.any_org_work():
            assert all(months.create(table, month) for table in TABLES for month in (old, kept_month))
        brand = Brand.create(app)
        endpoint = brand.endpoint("https://localhost/hook")["id"]
        kept_event, deleted_event = _event_at(brand, time_ago(days=300)), _event_at(brand, time_ago(days=365))
        for event_id in (kept_event, deleted_event):
            _delivery_of(brand, endpoint, event_id, at=time_ago(days=300))
        # An attempt without its delivery does not prevent the drop.
        brand.rows("delete from delivery where event_id = %s returning id", deleted_event)
        brand.rows("delete from event where id = %s returning id", deleted_event)

        for _ in range(2):
            with db.any_org_work():
                partitions.any_org_maintain(now=start_of_test())

        partition_names = {
            name for (name,) in databases.select_as_owner(url, "select part::text from partition_bounds")
        }
        with pytest.raises(peewee.IntegrityError, match="event_id_fkey"):
            brand.rows("delete from event returning id")
    for table in TABLES:
        assert not {f"{table}_{old:%Y_%m}", f"{table}_earlier"} & partition_names
        assert f"{table}_{kept_month:%Y_%m}" in partition_names
