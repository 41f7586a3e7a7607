"""Customers who were there before one customer was one across sources keep their payments (migration 0148)."""

from datetime import UTC, datetime

from models import migrate
from tests.support import databases

_ORG, _PROGRAM, _JOB = (
    "'00000000-0000-7000-8000-000000000001'",
    "'00000000-0000-7000-8000-000000000002'",
    "'00000000-0000-7000-8000-000000000003'",
)
# Only what the migration reads: the program and the import are of no account here.
_BEFORE = f"""
set app.any_org = 'on';
alter table program_customer drop constraint program_customer_organization_id_program_id_fkey;
alter table import_customer drop constraint import_customer_organization_id_program_id_fkey;
alter table import_customer drop constraint import_customer_organization_id_import_job_id_fkey;
insert into program_customer (organization_id, program_id, customer_key, first_paid_at, payments)
select {_ORG}, {_PROGRAM}, key, concat('2026-01-0', day)::timestamptz, payments from (values
  ('id:cus_1', 1, 2), ('id:stripe:cus_1', 2, 3), ('id:paddle:cus_1', 3, 4), ('id:stripe:cus_2', 4, 1),
  ('test-id:stripe:cus_2', 4, 7), ('id:42', 5, 1), ('id:shopify:42', 6, 2), ('email:ann@x.test', 7, 1),
  ('id:mystripe:cus_9', 8, 1)
) as known (key, day, payments);
insert into import_customer (organization_id, program_id, customer_key, import_job_id, first_paid_at, payments)
values ({_ORG}, {_PROGRAM}, 'id:cus_1', {_JOB}, '2026-01-01', 2);
"""


def _day(day):
    return datetime(2026, 1, day, tzinfo=UTC)


def test_payments_counted_under_two_names_of_a_customer_are_counted_under_one(empty_database, monkeypatch):
    earlier = [name for name in migrate.names() if name < "0148"]
    monkeypatch.setattr(migrate, "names", lambda: earlier)
    migrate.up(empty_database)
    databases.run(empty_database, "set time zone 'UTC';" + _BEFORE)
    monkeypatch.undo()

    migrate.up(empty_database)

    rows = databases.rows(
        empty_database,
        "set app.any_org = 'on'; select customer_key, gateway, payments, first_paid_at, first_sold_at"
        ' from program_customer order by customer_key collate "C"',
    )
    assert rows == [
        ("email:ann@x.test", None, 1, _day(7), _day(7)),
        ("id:42", None, 1, _day(5), _day(5)),
        ("id:cus_1", "stripe", 5, _day(1), _day(2)),
        ("id:cus_2", "stripe", 1, _day(4), _day(4)),
        ("id:mystripe:cus_9", None, 1, _day(8), _day(8)),
        ("of:paddle:cus_1", "paddle", 4, _day(3), _day(3)),
        ("of:shopify:42", "shopify", 2, _day(6), _day(6)),
        ("test-id:cus_2", "stripe", 7, _day(4), _day(4)),
    ]
