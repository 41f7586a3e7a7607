"""How much longer one settle takes in a tenant of 1,000,000 conversions than in one of 10,000. Lower is better.

Each size has a database of its own, so that the small tenant's indexes are small, too. Rows are bulk-loaded in the
shape and order of the product (sale, conversion, conversion_event, ledger_entry, event, revenue per day), then
vacuumed and analyzed, then checkpointed.
In: `pipelines.sale.settle` in a unit of work, one thread, in this process: facts, pricing, writes, durable commit, with
one subscribed endpoint. Batches of both sizes take turns in this one process; medians of the batches' means.
Out: queue and HTTP; the first settles on each new connection, which prepare the statements. Sales name no customer.
Value and anchor are the two mean times; their ratio is the figure.
"""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from bench import brand
from bench.figure import Figure, Target, interleaved
from bench.machine import owner
from bench.plan import Plan
from models import db
from pipelines import sale

_LARGE, _SMALL = 1_000_000, 10_000
_SALES, _ROUNDS, _WARM_UP = 500, 5, 20
_CHUNK = 100_000

# The owner may skip the checks of foreign keys; the rows fit by how they are made. One second apart, ending now.
_LOAD = """
create temp table made on commit drop as
  select uuidv7(make_interval(secs => n - %(all)s)) as id, n, now() + make_interval(secs => n - %(all)s) as at,
    (%(affiliates)s::uuid[])[1 + n %% %(of)s] as affiliate_id
  from generate_series(%(first)s::int, %(last)s::int) n;
insert into sale (id, organization_id, external_event_id, program_id, affiliate_id, amount_cents, currency, is_test,
    accepted_at, settled_at)
  select id, %(org)s, 'load-' || n, %(program)s, affiliate_id, 10000, 'USD', false, at, at from made;
insert into conversion (id, organization_id, program_id, affiliate_id, source, external_event_id, amount_cents,
    currency, commission_cents, status, type, rate_source, rate_type, rate_value, occurred_at, hold_until, created_at)
  select id, %(org)s, %(program)s, affiliate_id, 's2s', 'load-' || n, 10000, 'USD', 2000, 'Pending', 'OneTime',
    'program', 'Percentage', 20, at, at + interval '30 days', at from made;
insert into conversion_event (id, organization_id, conversion_id, event_type, amount_cents, commission_cents,
    occurred_at)
  select uuidv7(at - now()), %(org)s, id, 'initial', 10000, 2000, at from made;
insert into ledger_entry (id, organization_id, affiliate_id, program_id, conversion_id, kind, amount_cents, currency,
    cause_id, is_test, created_at)
  select uuidv7(at - now()), %(org)s, affiliate_id, %(program)s, id, 'earn', 2000, 'USD', id, false, at from made;
insert into event (id, organization_id, type, body, created_at)
  select uuidv7(at - now()), %(org)s, 'conversion.created', repeat('x', 450), at from made;
insert into affiliate_revenue as r (organization_id, affiliate_id, day, currency, net_cents)
  select %(org)s, affiliate_id, at::date, 'USD', sum(10000) from made group by affiliate_id, at::date
  on conflict (organization_id, affiliate_id, day, currency) do update set net_cents = r.net_cents + excluded.net_cents
"""


def measure(plan: Plan) -> list[Figure]:
    """Measure and return the one figure."""
    small = _Tenant(plan, "tenant_small", plan.size(_SMALL))
    large = _Tenant(plan, "tenant_large", plan.size(_LARGE))
    value, anchor = interleaved(large.mean_ms, small.mean_ms, rounds=_ROUNDS)
    return [Figure("settle_at_1m", value, "ms", Target(1.3, is_ceiling=True), anchor)]


class _Tenant:
    """One brand in a database of its own, with sales that wait to be settled."""

    def __init__(self, plan: Plan, name: str, conversions: int) -> None:
        self._machine = plan.machine
        self._url = plan.machine.fresh(name)
        self._brand = brand.create()
        brand.subscribe(self._brand, "https://localhost:1/never-called")
        self._batch = max(plan.size(_SALES) // _ROUNDS, 1)
        with owner(self._url) as cursor:
            with plan.screen.phase(f"conversions to load for {name}", total=conversions) as report:
                _load(cursor, self._brand, conversions, report)
            waiting = brand.accept(cursor, self._brand, _ROUNDS * (self._batch + _WARM_UP), prefix="wait")
            cursor.execute("vacuum (analyze)")
            cursor.execute("checkpoint")
        self._waiting = iter(waiting)

    def mean_ms(self) -> float:
        """Settle the next batch of this tenant and return the mean milliseconds of one."""
        self._machine.point_at(self._url)
        self._settle(self._take(_WARM_UP))
        return self._settle(self._take(self._batch)) / self._batch * 1000

    def _take(self, count: int) -> list[UUID]:
        return [next(self._waiting) for _ in range(count)]

    def _settle(self, sale_ids: Sequence[UUID]) -> float:
        started = time.perf_counter()
        for sale_id in sale_ids:
            with db.unit_of_work(self._brand.id):
                sale.settle(organization_id=self._brand.id, sale_id=sale_id, now=datetime.now(UTC))
        return time.perf_counter() - started


def _load(cursor: Any, seller: brand.Brand, conversions: int, report: Any) -> None:
    facts = {
        "org": seller.id,
        "program": seller.program_id,
        "affiliates": seller.affiliate_ids,
        "of": len(seller.affiliate_ids),
        "all": conversions,
    }
    for first in range(1, conversions + 1, _CHUNK):
        last = min(first + _CHUNK - 1, conversions)
        cursor.execute("begin; set local session_replication_role = replica")
        cursor.execute(_LOAD, facts | {"first": first, "last": last})
        cursor.execute("commit")
        report(last)
