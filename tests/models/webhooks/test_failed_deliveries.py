"""Deliveries that were given up are found among many that arrived, and those cost no more to write than before."""

from datetime import UTC, datetime, timedelta

import pytest

from models import db
from models.webhooks import outbox, redeliveries
from models.webhooks.outbox import WantedDeliveries
from models.webhooks.redeliveries import DeliveryWindow
from tests.support.databases import alter
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


@pytest.fixture
def endpoint(brand):
    made = Endpoint.create(brand, "https://localhost/hook")
    alter(brand, _MANY, brand.id, made.id)
    alter(brand, "analyze delivery")
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


def _history(brand, endpoint, status):
    wanted = WantedDeliveries(status=status)
    return outbox.history(organization_id=brand.id, endpoint_id=endpoint.id, wanted=wanted, after=None, limit=50)


def test_failed_ones_are_listed_by_an_index_of_their_own(brand, endpoint):
    failed, plan = _plan(brand, lambda: _history(brand, endpoint, "Failed"))
    every, whole = _plan(brand, lambda: _history(brand, endpoint, None))

    assert {one.status for one in failed} == {"Failed"}
    assert 3 <= len(failed) < 20
    assert "Scan using delivery_failed" in plan, plan
    assert len(every) == 50
    assert "Scan using delivery_history" in whole, whole


def test_a_window_of_failed_ones_is_found_by_it_too(brand, endpoint):
    now = datetime.now(UTC)
    window = DeliveryWindow(brand.id, endpoint.id, now - timedelta(days=1), now, "Failed")

    counted, plan = _plan(brand, lambda: redeliveries.count(window))

    assert counted == len(_plan(brand, lambda: _history(brand, endpoint, "Failed"))[0])
    assert "delivery_failed" in plan, plan


def test_what_is_sent_again_leaves_the_index(brand, endpoint):
    failed, _ = _plan(brand, lambda: _history(brand, endpoint, "Failed"))
    with db.unit_of_work(brand.id):
        outbox.stage_reopen(failed[0], organization_id=brand.id, at=datetime.now(UTC))

    assert len(_plan(brand, lambda: _history(brand, endpoint, "Failed"))[0]) == len(failed) - 1
    assert brand.rows("select failed_since from delivery where id = %s", failed[0].id) == [(None,)]


def test_what_arrives_is_updated_without_a_word_to_any_index(brand, endpoint):
    with db.unit_of_work(brand.id):
        db.db.run("update delivery set status = 'Pending', settled_at = null where event_type = 'test'")
    with db.unit_of_work(brand.id):
        (chosen,) = _history(brand, endpoint, "Pending")[:1]
        before = _updated()
        db.db.run("update delivery set attempt_count = 1 where id = %s", (chosen.id,))
        db.db.run("update delivery set status = 'Delivered', settled_at = now() where id = %s", (chosen.id,))
        after = _updated()

    assert [late - early for early, late in zip(before, after, strict=True)] == [2, 2]


def _updated():
    """Return how many rows this session updated since the server last took its counts, and how many of these HOT."""
    return db.db.row(
        "select sum(n_tup_upd)::int, sum(n_tup_hot_upd)::int from pg_stat_xact_user_tables"
        " where relid in (select part from partition_bounds where whole = 'delivery'::regclass)"
    )
