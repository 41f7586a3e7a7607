"""How much longer one settle takes in a tenant of 1,000,000 conversions than in one of 10,000. Lower is better.

Each size has a database of its own, so that the small tenant's indexes are small, too. Rows are bulk-loaded in the
shape and order of the product (sale, conversion, conversion_event, ledger_entry, event, revenue per day), then
vacuumed and analyzed, then checkpointed.
In: `settle.sale` in a unit of work, one thread, in this process: facts, pricing, writes, durable commit, with
one subscribed endpoint. Batches of both sizes take turns in this one process; medians of the batches' means.
Out: queue and HTTP; the first settles on each new connection, which prepare the statements. Sales name no customer.
Value and anchor are the two mean times; their ratio is the figure.
"""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from bench.figure import Figure, Target, interleaved
from bench.ground import brand, history
from bench.ground.machine import owner
from bench.plan import Plan
from models import db
from pipelines.conversions import settle

_LARGE, _SMALL = 1_000_000, 10_000
_SALES, _ROUNDS, _WARM_UP = 500, 10, 20
# Fewer in a batch and its mean is noise; a quick run saves its time by loading less.
_SMALLEST_BATCH = 25


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
        self._brand = brand.create(self._url)
        brand.subscribe(self._brand, "https://localhost:1/never-called")
        self._batch = max(plan.size(_SALES) // _ROUNDS, _SMALLEST_BATCH)
        with owner(self._url) as cursor:
            with plan.screen.phase(f"conversions to load for {name}", total=conversions) as report:
                history.load(cursor, self._brand, conversions, report)
            waiting = brand.accept(cursor, self._brand, _ROUNDS * (self._batch + _WARM_UP), prefix="wait")
            history.settle_down(cursor)
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
                settle.sale(organization_id=self._brand.id, sale_id=sale_id, now=datetime.now(UTC))
        return time.perf_counter() - started
