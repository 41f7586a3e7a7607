"""Deliveries, their events and the indexes of partitions."""

import os

import pytest

from models import ids, migrate
from tests.support import databases

_ORGANIZATION, _ENDPOINT, _EVENT, _DELIVERY = (ids.new_id() for _ in range(4))
_DELIVERED = f"""
insert into organization (id, name, slug, plan_tier, subscription_status)
  values ('{_ORGANIZATION}', 'Shop', 'shop', 'Free', 'Active');
insert into webhook_endpoint (id, organization_id, url, events, secret_sealed)
  values ('{_ENDPOINT}', '{_ORGANIZATION}', 'https://shop.test', '{{*}}', '');
insert into event (id, organization_id, type, body, created_at)
  values ('{_EVENT}', '{_ORGANIZATION}', 't', '{{}}', now());
insert into delivery (id, organization_id, event_id, endpoint_id, event_type, created_at)
  values ('{_DELIVERY}', '{_ORGANIZATION}', '{_EVENT}', '{_ENDPOINT}', 't', now());
"""
_ANY_ORG = "set app.any_org = 'on';"


def test_second_delivery_or_one_without_its_event_is_refused(empty_database):
    migrate.up(empty_database)
    databases.run_as_owner(empty_database, _ANY_ORG + _DELIVERED)

    (options,) = databases.select_as_owner(
        empty_database, "select reloptions from pg_class where relname = 'delivery_default'"
    )
    assert options == (["fillfactor=80"],)
    again = _DELIVERED[_DELIVERED.index("insert into delivery ") :]
    for other, constraint in ((_EVENT, "delivery_earlier_pkey"), (ids.new_id(), "event_id_fkey")):
        twice = again.replace(str(_DELIVERY), str(ids.new_id())).replace(str(_EVENT), str(other))
        with pytest.raises(Exception, match=constraint):
            databases.run_as_owner(empty_database, _ANY_ORG + twice)


# An index built concurrently on the first partition and then on the table must be attached, not built twice.
_LONE_INDEXES = """
select indexrelid::regclass::text from pg_index join pg_class on pg_class.oid = indrelid
where relispartition and not exists (select from pg_inherits where inhrelid = indexrelid)
"""


def test_each_partition_index_is_attached_to_the_tables_index():
    assert databases.select_as_owner(os.environ["DATABASE_OWNER_URL"], _LONE_INDEXES) == []
