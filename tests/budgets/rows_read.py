"""Counts the rows and index entries that reads touch, in brands that differ only in size."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from models import db
from tests.support import databases
from tests.support.rows.brands import Brand

SMALL, LARGE = 2_000, 20_000
#: How much more a read of the large brand may touch.
MAX_GROWTH = 1.3
CONVERSIONS_PER_AFFILIATE = 3
# The rows of a brand as the jobs leave them: some statuses are rare, there are two programs, most affiliates have no
# sales. Every affiliate has a link, a code, a payout and conversions.
_FILL = """
set session_replication_role = replica;
insert into affiliate (id, organization_id, program_id, email, email_normalized, full_name, status, source,
    applied_at, approved_at, created_at)
  select uuidv7(at - now()), %(org)s, (array[%(first)s, %(second)s]::uuid[])[1 + n %% 2],
    'many-' || n || '@example.com', 'many-' || n || '@example.com', 'Many ' || n,
    case when n %% 100 = 1 then 'Pending' when n %% 100 = 2 then 'Paused' else 'Approved' end, 'Direct', at, at, at
  from (select n, now() - make_interval(secs => n) as at from generate_series(1, %(number)s) n) numbered;
insert into affiliate_total (organization_id, affiliate_id, program_id, status, last_name, clicks, sales, revenue_cents,
    commission_cents, last_sale_on)
  select organization_id, id, program_id, status, substring(name_sought from '[^ ]+$'), hashtext(id::text) & 1023,
    sales, sales * 1000, sales * 100,
    case when sales = 0 then '0001-01-01' else date '2026-01-01' - sales end
  from (select *, greatest((hashtext(email) & 1023) - 700, 0) as sales from affiliate) a
  where organization_id = %(org)s;
insert into tracking_link (id, organization_id, program_id, affiliate_id, slug, is_default)
  select uuidv7(), organization_id, program_id, id, 'link-' || id, true from affiliate where organization_id = %(org)s;
insert into affiliate_coupon (id, organization_id, program_id, affiliate_id, code, origin, status, created_at)
  select uuidv7(), organization_id, program_id, id, 'CODE-' || upper(split_part(email, '@', 1)), 'external', 'Active',
    created_at from affiliate where organization_id = %(org)s;
insert into conversion (id, organization_id, program_id, affiliate_id, source, external_event_id, amount_cents,
    currency, commission_cents, status, type, rate_source, sub_id, occurred_at, hold_until, created_at)
  select uuidv7(at - now()), a.organization_id, a.program_id, a.id, (array['s2s', 'stripe', 'import'])[1 + n %% 3],
    'order-' || substr(a.email, 6) || n, 1000 + n, 'USD', 100,
    case when (hashtext(a.email) & 63) < 3 and n = 3 then 'Denied' when n = 1 then 'Pending' else 'Approved' end,
    case when (hashtext(a.email) & 63) = 6 and n = 1 then 'LeadReward'
      when (hashtext(a.email) & 63) = 7 and n = 2 then 'ClickReward' else 'OneTime' end, 'program',
    case when n = 2 then 'news' end, at, at + interval '30 days', at
  from affiliate a cross join generate_series(1, %(each)s) n
    cross join lateral (select a.created_at + make_interval(secs => n / 10.0) as at) moment
  where a.organization_id = %(org)s;
insert into payout_run (id, organization_id, confirmed_cents, confirmed_totals, filters, created_at)
  values (%(run)s, %(org)s, 0, '{}', '{}', now());
insert into payout (id, organization_id, run_id, program_id, affiliate_id, amount_cents, method, destination, status,
    failure_reason, failed_at, paid_at, period_start, period_end, created_at)
  select uuidv7(), organization_id, %(run)s, program_id, id, 100 + (hashtext(email) & 65535), 'Manual', 'x',
    case when is_failed then 'Failed' else 'Paid' end, case when is_failed then 'No account' end,
    case when is_failed then created_at end, case when not is_failed then created_at end, '2026-01-01', '2026-01-31',
    created_at
  from (select *, (hashtext(email) & 31) = 5 as is_failed from affiliate) a where organization_id = %(org)s;
-- The server does the same by itself after a while.
analyze affiliate;
analyze affiliate_total;
analyze affiliate_coupon;
analyze tracking_link;
analyze conversion;
analyze payout;
analyze payout_run;
"""
# Rows of tables that were scanned or fetched by an index, and index entries: also those of index-only scans.
_TOUCHED = """
select coalesce(sum(rows), 0)::bigint from (
  select pg_stat_get_xact_tuples_returned(c.oid) + pg_stat_get_xact_tuples_fetched(c.oid) as rows
  from pg_class c where c.relkind in ('r', 'i') and c.relnamespace = 'public'::regnamespace
) counted
"""


@contextmanager
def brands_by_size(app: Any) -> Iterator[dict[int, Brand]]:
    """Yield two brands by their number of affiliates, in a database of their own."""
    with databases.isolated_database() as url:
        by_size = {size: Brand.create(app) for size in (SMALL, LARGE)}
        for size, brand in by_size.items():
            first, second = brand.program(), brand.program()
            params = {"org": brand.id, "first": first, "second": second, "number": size}
            databases.run_as_owner(
                url, _FILL, params | {"each": CONVERSIONS_PER_AFFILIATE, "run": UUID(int=brand.id.int ^ 1)}
            )
        yield by_size


def count_rows_read(brand: Brand, read: Callable[[], object]) -> int:
    """Return how many rows and index entries a read of the brand touches, by the plans that the service uses."""
    with db.unit_of_work(brand.id):
        read()  # prepares its statements
        ((before,),) = db.db.run(_TOUCHED)
        read()
        ((after,),) = db.db.run(_TOUCHED)
    return int(after - before)
