"""How much longer a page of conversions takes among 1,000,000 than among 10,000, by each filter and the common pairs.

In: `models.conversions.lists.page` of 40 rows in a unit of work, one connection, statements prepared. Every filter
matches more than a page in both databases. Both take turns; medians of means. The figure is the filter with the worst
ratio; a note tells the others.
Out: HTTP, rendering.
"""

import time
from dataclasses import dataclass
from functools import partial
from typing import Any

from bench.figure import Figure, Target, interleaved
from bench.ground import brand, conversion_rows, history
from bench.ground.machine import BenchFailed, owner
from bench.plan import Plan
from models import db
from models.conversions import lists
from models.conversions.lists import ConversionFilters

_MANY, _FEW, _TAKE, _ROUNDS, _READS = 1_000_000, 10_000, 40, 5, 40


@dataclass(frozen=True, slots=True)
class _Place:
    """One database with its brand."""

    url: str
    seller: brand.Brand
    programs: list[Any]

    def filters(self) -> dict[str, ConversionFilters]:
        affiliate, program = self.seller.affiliate_ids[0], self.programs[0]
        return {
            "none": ConversionFilters(),
            "affiliate": ConversionFilters(affiliate_id=affiliate),
            "program": ConversionFilters(program_id=program),
            "status": ConversionFilters(status="Invalidated"),
            "kind": ConversionFilters(kind="lead"),
            "tag": ConversionFilters(sub_id="news"),
            "untagged": ConversionFilters(untagged=True),
            "affiliate, status": ConversionFilters(affiliate_id=affiliate, status="Invalidated"),
            "program, status": ConversionFilters(program_id=program, status="Invalidated"),
            "status, kind": ConversionFilters(status="Approved", kind="lead"),
            "affiliate, kind": ConversionFilters(affiliate_id=affiliate, kind="sale"),
        }


def measure(plan: Plan) -> list[Figure]:
    """Measure and return the one figure."""
    many, few = _place(plan, "list_many", plan.size(_MANY)), _place(plan, "list_few", _FEW)
    found = {
        name: interleaved(partial(_mean_ms, plan, many, name), partial(_mean_ms, plan, few, name), rounds=_ROUNDS)
        for name in many.filters()
    }
    worst = max(found, key=lambda name: found[name][0] / found[name][1])
    told = ", ".join(f"{name} {value / anchor:.2f}" for name, (value, anchor) in found.items())
    plan.screen.notes.append(f"list_at_1m is the worst, by {worst}; all: {told}")
    return [Figure("list_at_1m", found[worst][0], "ms", Target(1.3, is_ceiling=True), found[worst][1])]


def _place(plan: Plan, name: str, rows: int) -> _Place:
    url = plan.machine.fresh(name)
    seller = brand.create(url)
    with owner(url) as cursor:
        with plan.screen.phase("conversions to load", total=rows) as report:
            programs = conversion_rows.load(cursor, seller, rows, report)
        history.settle_down(cursor)
    return _Place(url, seller, programs)


def _mean_ms(plan: Plan, place: _Place, name: str) -> float:
    plan.machine.point_at(place.url)
    filters = place.filters()[name]
    _read(place, filters)
    started = time.perf_counter()
    for _ in range(_READS):
        _read(place, filters)
    return (time.perf_counter() - started) / _READS * 1000


def _read(place: _Place, filters: ConversionFilters) -> None:
    organization_id = place.seller.id
    with db.unit_of_work(organization_id):
        page = lists.page(organization_id=organization_id, filters=filters, after=None, limit=_TAKE)
    if len(page) != _TAKE:
        raise BenchFailed(f"a page has {len(page)} rows")
