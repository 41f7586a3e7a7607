"""Whatever a history is narrowed by, its pages together are what a plain look at all deliveries finds."""

import itertools
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from models import db
from models.webhooks import admin_queries, outbox
from models.webhooks.outbox import Delivery, DeliveryFilters
from tests.support.databases import alter
from tests.support.endpoints import Endpoint

_SINCE = datetime(2026, 5, 4, 12, tzinfo=UTC)
_STATUSES, _TYPES = ("Pending", "Delivered", "Failed"), ("conversion.created", "payout.paid", "test")
_MOMENTS = [(since, until) for since in (None, 20) for until in (None, 40)]
_PAGE = 7

# Three are made at each moment; every combination of endpoint, status and type is among them.
_MANY = """
with happened as (
  insert into event (id, organization_id, type, body, created_at)
  select uuidv7(), %(org)s, 'test', '{}', %(since)s + n / 3 * interval '1 s' from generate_series(0, 179) n
  returning id, organization_id, created_at
), numbered as (
  select *, row_number() over () as n from happened
)
insert into delivery (id, organization_id, event_id, endpoint_id, event_type, status, created_at)
select gen_random_uuid(), organization_id, id, (%(endpoints)s::uuid[])[1 + n / 9 %% 2],
  (%(types)s::text[])[1 + n / 3 %% 3], (%(statuses)s::text[])[1 + n %% 3], created_at
from numbered
"""


@pytest.fixture
def endpoint(brand):
    """Return one of two endpoints that were told of much in all ways."""
    made = [Endpoint.create(brand, f"https://localhost/{number}") for number in range(2)]
    told = {"org": brand.id, "since": _SINCE, "endpoints": [one.id for one in made]}
    with db.unit_of_work(brand.id):
        db.db.stage(_MANY, told | {"types": list(_TYPES), "statuses": list(_STATUSES)})
    return made[0]


def _pages(brand, endpoint, wanted):
    """Return the ids of every page in turn, each asked for behind the last row of the one before."""
    found: list[Delivery] = []
    after: tuple[datetime, UUID] | None = None
    with db.unit_of_work(brand.id):
        while page := outbox.list_deliveries(
            organization_id=brand.id, endpoint_id=endpoint.id, filters=wanted, after=after, limit=_PAGE
        ):
            found += page
            after = (page[-1].created_at, page[-1].id)
    return [one.id for one in found]


def _plainly(every, wanted):
    return [
        id
        for id, status, event_type, created_at in every
        if wanted.status in (None, status)
        and wanted.event_type in (None, event_type)
        and (wanted.since is None or created_at >= wanted.since)
        and (wanted.until is None or created_at < wanted.until)
    ]


def _at(seconds):
    return None if seconds is None else _SINCE + timedelta(seconds=seconds)


def test_each_combination_of_filters_shows_what_a_plain_look_finds(brand, endpoint):
    every = brand.rows("select id, status, event_type, created_at from delivery where endpoint_id = %s", endpoint.id)
    every.sort(key=lambda row: (row[3], row[0]), reverse=True)
    differing, shown = [], 0
    for status, event_type, (since, until) in itertools.product((None, *_STATUSES), (None, *_TYPES), _MOMENTS):
        wanted = DeliveryFilters(status, event_type, _at(since), _at(until))
        expected = _plainly(every, wanted)
        shown += bool(expected)
        if _pages(brand, endpoint, wanted) != expected:
            differing.append(wanted)

    assert differing == []
    assert (len(every), shown) == (90, 64)


def test_a_status_that_changed_is_found_where_it_is_now(brand, endpoint):
    wanted = DeliveryFilters("Failed", "payout.paid")
    failed = _pages(brand, endpoint, wanted)
    alter(brand, "update delivery set status = 'Delivered' where id = %s", failed[0])

    assert _pages(brand, endpoint, wanted) == failed[1:]
    assert failed[0] in _pages(brand, endpoint, DeliveryFilters("Delivered", "payout.paid"))


@pytest.mark.parametrize("status", [None, *_STATUSES])
def test_an_operator_is_shown_the_same(brand, endpoint, status):
    with db.any_org_work():
        shown = admin_queries.any_org_list_deliveries(
            organization_id=brand.id, endpoint_id=endpoint.id, status=status, since=_at(20), limit=1_000
        )

    assert [one.id for one in shown] == _pages(brand, endpoint, DeliveryFilters(status, since=_at(20)))
