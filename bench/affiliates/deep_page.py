"""How much longer page 5,000 of a list of 1,000,000 affiliates takes than its first page, 200 rows a page.

In: `lists.page` by keyset position in a unit of work, one connection. The position of page 5,000 is read
from the row before it, as a cursor would carry it; nobody walks there. Both pages take turns; medians of means.
Out: HTTP, the cursor's signature.
Value and anchor are the mean times of one page; their ratio is the figure.
"""

from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

import orjson

from bench.figure import Figure, Target, interleaved, mean_ms
from bench.ground import brand, history
from bench.ground.machine import BenchFailed, owner
from bench.plan import Plan
from models import db
from models.affiliates import lists
from models.affiliates.lists import AffiliateFilters, Shape
from models.listing import RenderedPage
from schemas.affiliates.affiliate import KEY_WIRE, LINK_WIRE

_SHAPE = Shape(KEY_WIRE, LINK_WIRE)
_AFFILIATES, _TAKE, _ROUNDS, _READS, _CHUNK = 1_000_000, 200, 9, 40, 100_000

LOAD = """
insert into affiliate (id, organization_id, program_id, email, email_normalized, full_name, status, source, applied_at,
    approved_at, created_at)
  select uuidv7(make_interval(secs => n - %(all)s)), %(org)s, %(program)s, 'many-' || n || '@example.com',
    'many-' || n || '@example.com', 'Many ' || n, 'Approved', 'Direct', at, at, at
  from (select n, now() + make_interval(secs => n - %(all)s) as at
    from generate_series(%(first)s::int, %(last)s::int) n) made
"""
_LAST_OF_THE_PAGE_BEFORE = (
    "select created_at, id from affiliate where organization_id = %s and deleted_at is null"
    " order by created_at desc, id desc offset %s limit 1"
)


def measure(plan: Plan) -> list[Figure]:
    """Measure and return the one figure."""
    url = plan.machine.fresh("deep_page")
    seller = brand.create(url)
    rows = plan.size(_AFFILIATES)
    with owner(url) as cursor:
        load(plan, cursor, seller, rows)
        history.settle_down(cursor)
        cursor.execute(_LAST_OF_THE_PAGE_BEFORE, (seller.id, rows - _TAKE - 1))
        deep = cursor.fetchone()
    for place in (deep, None):
        page = _read(seller, place)
        if (shown := len(orjson.loads(f"[{page.documents}]"))) != _TAKE:
            raise BenchFailed(f"a page has {shown} rows")
    value, anchor = interleaved(
        lambda: mean_ms(partial(_read, seller, deep), _READS),
        lambda: mean_ms(partial(_read, seller, None), _READS),
        rounds=_ROUNDS,
    )
    return [Figure("deep_page", value, "ms", Target(1.2, is_ceiling=True), anchor)]


def load(plan: Plan, cursor: Any, seller: brand.Brand, rows: int) -> None:
    """Insert affiliates without links, one second apart, ending now."""
    facts = {"org": seller.id, "program": seller.program_id, "all": rows}
    with plan.screen.phase("affiliates to load", total=rows) as report:
        for first in range(1, rows + 1, _CHUNK):
            last = min(first + _CHUNK - 1, rows)
            cursor.execute(LOAD, facts | {"first": first, "last": last})
            report(last)


def _read(seller: brand.Brand, after: tuple[datetime, UUID] | None) -> RenderedPage:
    selection = lists.Selection(
        organization_id=seller.id,
        shape=_SHAPE,
        base_url="https://go.example",
        filters=AffiliateFilters(),
        after=after,
        take=_TAKE,
    )
    with db.unit_of_work(seller.id):
        return selection.page()
