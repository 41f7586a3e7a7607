"""Deliveries that were given up are found among many that arrived, and those cost no more to write than before."""

import os
import re
from datetime import UTC, datetime, timedelta

import pytest

from models import db
from models.webhooks import admin_queries, outbox, redeliveries
from models.webhooks.outbox import DeliveryFilters
from models.webhooks.redeliveries import DeliveryWindow
from tests.support.databases import alter, owner_cursor, run_as_owner
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


# The index of the whole table of which a partition's index is the part.
_WHOLE = "select inhparent::regclass::text from pg_inherits where inhrelid = %s::regclass"


@pytest.fixture
def endpoint(isolated_database, brand):
    """Return one of a table that holds nothing else, and that is known as the server knows it by itself before long."""
    made = Endpoint.create(brand, "https://localhost/hook")
    alter(brand, _MANY, brand.id, made.id)
    run_as_owner(isolated_database, "analyze delivery")
    return made


def _plan(brand, ask):
    """Return the plan of the last statement that `ask` sends."""
    sent = []
    db.db.trip_hooks.append(sent.append)
    with db.unit_of_work(brand.id):
        found = ask()
    db.db.trip_hooks.remove(sent.append)
    (statement,) = [part for trip in sent for part in trip.decode().split(";\n") if "from delivery" in part]
    return found, "\n".join(line for (line,) in brand.rows("explain " + statement))


def _indexes(brand, plan):
    """Return the indexes that a plan looks at, by the names they have for the whole table."""
    read = re.findall(r"(?:Scan using|Index Scan on) (\w+)", plan)
    return {whole for part in read for (whole,) in brand.rows(_WHOLE, part)}


def _history(brand, endpoint, status):
    wanted = DeliveryFilters(status=status)
    return outbox.list_deliveries(
        organization_id=brand.id, endpoint_id=endpoint.id, filters=wanted, after=None, limit=50
    )


@pytest.mark.usefixtures("isolated_database")
def test_failed_ones_are_listed_by_an_index_of_their_own(brand, endpoint):
    failed, plan = _plan(brand, lambda: _history(brand, endpoint, "Failed"))
    every, whole = _plan(brand, lambda: _history(brand, endpoint, None))

    assert {one.status for one in failed} == {"Failed"}
    assert 3 <= len(failed) < 20
    assert _indexes(brand, plan) == {"delivery_failed"}, plan
    assert len(every) == 50
    assert _indexes(brand, whole) == {"delivery_history"}, whole


@pytest.mark.usefixtures("isolated_database")
def test_a_window_of_failed_ones_is_found_by_it_too(brand, endpoint):
    now = datetime.now(UTC)
    window = DeliveryWindow(brand.id, endpoint.id, now - timedelta(days=1), now, "Failed")

    counted, plan = _plan(brand, lambda: redeliveries.count(window))

    assert counted == len(_plan(brand, lambda: _history(brand, endpoint, "Failed"))[0])
    assert _indexes(brand, plan) == {"delivery_failed"}, plan


@pytest.mark.usefixtures("isolated_database")
def test_an_operator_is_shown_them_by_it_too(brand, endpoint):
    asked = {"organization_id": brand.id, "endpoint_id": endpoint.id, "status": "Failed", "since": None, "limit": 50}
    shown, plan = _plan(brand, lambda: admin_queries.any_org_list_deliveries(**asked))

    assert [one.id for one in shown] == [one.id for one in _plan(brand, lambda: _history(brand, endpoint, "Failed"))[0]]
    assert _indexes(brand, plan) == {"delivery_failed"}, plan


@pytest.mark.usefixtures("isolated_database")
def test_what_is_sent_again_leaves_the_index(brand, endpoint):
    failed, _ = _plan(brand, lambda: _history(brand, endpoint, "Failed"))
    with db.unit_of_work(brand.id):
        outbox.stage_reopen(failed[0], organization_id=brand.id, at=datetime.now(UTC))

    assert len(_plan(brand, lambda: _history(brand, endpoint, "Failed"))[0]) == len(failed) - 1
    assert brand.rows("select failed_since from delivery where id = %s", failed[0].id) == [(None,)]


def test_what_arrives_is_updated_without_a_word_to_any_index():
    """A table like it, whose only row has room on its page: what no index hinders is written HOT."""
    with owner_cursor(os.environ["DATABASE_OWNER_URL"]) as cursor:
        cursor.execute("begin")
        cursor.execute("create temporary table arriving (like delivery including all) on commit drop")
        cursor.execute(
            "insert into arriving (id, organization_id, event_id, endpoint_id, event_type, status, created_at)"
            " select made, made, made, made, 'test', 'Pending', now() from gen_random_uuid() made"
        )
        counted = []
        for change in ("attempt_count = 1", "status = 'Delivered', settled_at = now()", "status = 'Failed'"):
            cursor.execute(f"update arriving set {change}")
            cursor.execute("select n_tup_upd, n_tup_hot_upd from pg_stat_xact_user_tables where relname = 'arriving'")
            counted += cursor.fetchall()

    assert counted == [(1, 1), (2, 2), (3, 2)]
