"""The pages of a filtered history together equal a simple filter over all deliveries."""

import itertools
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from models import db
from models.webhooks import admin_queries, outbox
from models.webhooks.outbox import Delivery, DeliveryFilters
from tests.support.databases import run_as_brand
from tests.support.endpoints import Endpoint

_SINCE = datetime(2026, 5, 4, 12, tzinfo=UTC)
_STATUSES, _TYPES = ("Pending", "Delivered", "Failed"), ("conversion.created", "payout.paid", "test")
_RANGES = [(since, until) for since in (None, 20) for until in (None, 40)]
_PAGE = 7

# Three deliveries per second, with each combination of endpoint, status and type.
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
    """Return one of two endpoints with deliveries of each status and type."""
    endpoints = [Endpoint.create(brand, f"https://localhost/{number}") for number in range(2)]
    values = {"org": brand.id, "since": _SINCE, "endpoints": [endpoint.id for endpoint in endpoints]}
    with db.unit_of_work(brand.id):
        db.db.stage(_MANY, values | {"types": list(_TYPES), "statuses": list(_STATUSES)})
    return endpoints[0]


def _list_page_ids(brand, endpoint, filters):
    """Return the ids of all pages, each requested after the last row of the page before."""
    deliveries: list[Delivery] = []
    after: tuple[datetime, UUID] | None = None
    with db.unit_of_work(brand.id):
        while page := outbox.list_deliveries(
            organization_id=brand.id, endpoint_id=endpoint.id, filters=filters, after=after, limit=_PAGE
        ):
            deliveries += page
            after = (page[-1].created_at, page[-1].id)
    return [delivery.id for delivery in deliveries]


def _filter_ids(all_rows, filters):
    return [
        id
        for id, status, event_type, created_at in all_rows
        if filters.status in (None, status)
        and filters.event_type in (None, event_type)
        and (filters.since is None or created_at >= filters.since)
        and (filters.until is None or created_at < filters.until)
    ]


def _time_after(seconds):
    return None if seconds is None else _SINCE + timedelta(seconds=seconds)


def test_each_combination_of_filters_lists_the_matching_deliveries(brand, endpoint):
    all_rows = brand.rows("select id, status, event_type, created_at from delivery where endpoint_id = %s", endpoint.id)
    all_rows.sort(key=lambda row: (row[3], row[0]), reverse=True)
    differing, nonempty = [], 0
    for status, event_type, (since, until) in itertools.product((None, *_STATUSES), (None, *_TYPES), _RANGES):
        filters = DeliveryFilters(status, event_type, _time_after(since), _time_after(until))
        expected = _filter_ids(all_rows, filters)
        nonempty += bool(expected)
        if _list_page_ids(brand, endpoint, filters) != expected:
            differing.append(filters)

    assert differing == []
    assert (len(all_rows), nonempty) == (90, 64)


def test_changed_status_moves_the_delivery_to_its_new_list(brand, endpoint):
    filters = DeliveryFilters("Failed", "payout.paid")
    failed = _list_page_ids(brand, endpoint, filters)
    run_as_brand(brand, "update delivery set status = 'Delivered' where id = %s", failed[0])

    assert _list_page_ids(brand, endpoint, filters) == failed[1:]
    assert failed[0] in _list_page_ids(brand, endpoint, DeliveryFilters("Delivered", "payout.paid"))


@pytest.mark.parametrize("status", [None, *_STATUSES])
def test_operators_list_matches_the_endpoints_history(brand, endpoint, status):
    with db.any_org_work():
        listed = admin_queries.any_org_list_deliveries(
            organization_id=brand.id, endpoint_id=endpoint.id, status=status, since=_time_after(20), limit=1_000
        )

    assert [delivery.id for delivery in listed] == _list_page_ids(
        brand, endpoint, DeliveryFilters(status, since=_time_after(20))
    )
