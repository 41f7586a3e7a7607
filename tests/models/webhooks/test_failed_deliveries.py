"""Failed deliveries are read by a separate index, which does not slow down updates of delivered ones."""

import os
import re
from datetime import UTC, datetime, timedelta

import pytest

from models import db
from models.webhooks import admin_queries, outbox, redeliveries
from models.webhooks.outbox import DeliveryFilters
from models.webhooks.redeliveries import DeliveryWindow
from tests.support.databases import owner_cursor, run_as_brand, run_as_owner
from tests.support.endpoints import Endpoint

_MANY = """
with happened as (
  insert into event (id, organization_id, type, body, created_at)
  select gen_random_uuid(), %s, 'test', '{}', now() - n * interval '1 s' from generate_series(1, 5000) n
  returning id, organization_id, created_at
)
insert into delivery (id, organization_id, event_id, endpoint_id, event_type, status, created_at, settled_at)
select gen_random_uuid(), organization_id, id, %s, 'test',
  case when id::text like '0000%%' or created_at > now() - interval '3.5 s' then 'Failed' else 'Delivered' end,
  created_at, created_at
from happened
"""


# The table's index that a partition's index belongs to.
_WHOLE = "select inhparent::regclass::text from pg_inherits where inhrelid = %s::regclass"


@pytest.fixture
def endpoint(isolated_database, brand):
    """Return an endpoint with 5000 deliveries in an otherwise empty, analyzed table."""
    endpoint = Endpoint.create(brand, "https://localhost/hook")
    run_as_brand(brand, _MANY, brand.id, endpoint.id)
    run_as_owner(isolated_database, "analyze delivery")
    return endpoint


def _plan(brand, query):
    """Return the result of `query` and the plan of its last statement."""
    messages = []
    db.db.trip_hooks.append(messages.append)
    with db.unit_of_work(brand.id):
        result = query()
    db.db.trip_hooks.remove(messages.append)
    (statement,) = [part for trip in messages for part in trip.decode().split(";\n") if "from delivery" in part]
    return result, "\n".join(line for (line,) in brand.rows("explain " + statement))


def _indexes(brand, plan):
    """Return the table indexes that a plan uses."""
    read = re.findall(r"(?:Scan using|Index Scan on) (\w+)", plan)
    return {whole for part in read for (whole,) in brand.rows(_WHOLE, part)}


def _history(brand, endpoint, status):
    filters = DeliveryFilters(status=status)
    return outbox.list_deliveries(
        organization_id=brand.id, endpoint_id=endpoint.id, filters=filters, after=None, limit=50
    )


@pytest.mark.usefixtures("isolated_database")
def test_failed_deliveries_are_listed_by_their_own_index(brand, endpoint):
    failed, plan = _plan(brand, lambda: _history(brand, endpoint, "Failed"))
    all_deliveries, history_plan = _plan(brand, lambda: _history(brand, endpoint, None))

    assert {delivery.status for delivery in failed} == {"Failed"}
    assert 3 <= len(failed) < 20
    assert _indexes(brand, plan) == {"delivery_failed"}, plan
    assert len(all_deliveries) == 50
    assert _indexes(brand, history_plan) == {"delivery_history"}, history_plan


@pytest.mark.usefixtures("isolated_database")
def test_window_of_failed_deliveries_uses_their_index(brand, endpoint):
    now = datetime.now(UTC)
    window = DeliveryWindow(brand.id, endpoint.id, now - timedelta(days=1), now, "Failed")

    counts, plan = _plan(brand, lambda: redeliveries.count(window))

    assert counts == len(_plan(brand, lambda: _history(brand, endpoint, "Failed"))[0])
    assert _indexes(brand, plan) == {"delivery_failed"}, plan


@pytest.mark.usefixtures("isolated_database")
def test_operators_list_of_failed_deliveries_uses_their_index(brand, endpoint):
    arguments = {
        "organization_id": brand.id,
        "endpoint_id": endpoint.id,
        "status": "Failed",
        "since": None,
        "limit": 50,
    }
    deliveries, plan = _plan(brand, lambda: admin_queries.any_org_list_deliveries(**arguments))

    assert [delivery.id for delivery in deliveries] == [
        delivery.id for delivery in _plan(brand, lambda: _history(brand, endpoint, "Failed"))[0]
    ]
    assert _indexes(brand, plan) == {"delivery_failed"}, plan


@pytest.mark.usefixtures("isolated_database")
def test_reopened_delivery_leaves_the_index(brand, endpoint):
    failed, _ = _plan(brand, lambda: _history(brand, endpoint, "Failed"))
    with db.unit_of_work(brand.id):
        outbox.stage_reopen(failed[0], organization_id=brand.id, at=datetime.now(UTC))

    assert len(_plan(brand, lambda: _history(brand, endpoint, "Failed"))[0]) == len(failed) - 1
    assert brand.rows("select failed_since from delivery where id = %s", failed[0].id) == [(None,)]


def test_delivered_row_is_updated_without_index_writes():
    """In a copy of the table with one row, PostgreSQL writes HOT updates unless an index prevents it."""
    with owner_cursor(os.environ["DATABASE_OWNER_URL"]) as cursor:
        cursor.execute("begin")
        cursor.execute("create temporary table arriving (like delivery including all) on commit drop")
        cursor.execute(
            "insert into arriving (id, organization_id, event_id, endpoint_id, event_type, status, created_at)"
            " select made, made, made, made, 'test', 'Pending', now() from gen_random_uuid() made"
        )
        counts = []
        for change in ("attempt_count = 1", "status = 'Delivered', settled_at = now()", "status = 'Failed'"):
            cursor.execute(f"update arriving set {change}")
            cursor.execute("select n_tup_upd, n_tup_hot_upd from pg_stat_xact_user_tables where relname = 'arriving'")
            counts += cursor.fetchall()

    assert counts == [(1, 1), (2, 2), (3, 2)]
