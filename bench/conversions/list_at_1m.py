"""How much longer a page of conversions takes among 1,000,000 than among 10,000, by each filter, order and common pair.

list_at_1m. In: `models.conversions.lists.page` of 40 rows in a unit of work, one connection, statements prepared,
rendered by the database.
Every filter matches more than a page in both databases, but for the one id that is sought. Out: HTTP, rendering.
screen_at_1m. In: the whole answer of the dashboard's list of conversions to somebody who is signed in, through the
application, as `bench.conversions.screen` asks for it. Out: sockets, the browser.
told_at_1m. In: `models.webhooks.outbox.history` of 50 rows, of an endpoint that was told of as many events, as
`bench.conversions.told` asks for it. Out: HTTP, rendering.
Both databases take turns; medians of means. Each figure is the worst ratio; a note tells the others.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from bench.conversions import screen, told
from bench.conversions.screen import Timed
from bench.conversions.told import ToldEndpoint
from bench.figure import Figure, Target, interleaved, mean_ms
from bench.ground import brand, conversion_rows, history
from bench.ground.machine import BenchFailed, owner
from bench.plan import Plan
from domain.conversions.orders import ConversionOrder
from models import db
from models.conversions import lists
from models.conversions.lists import ConversionFilters
from models.listing import RenderedPage
from schemas.conversions.conversion import ConversionRecord

_WIRE = ConversionRecord().wire
_MANY, _FEW, _TAKE, _ROUNDS, _READS = 1_000_000, 10_000, 40, 5, 40


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked for, and how many rows it has."""

    filters: ConversionFilters
    order: ConversionOrder = ConversionOrder.newest
    rows: int = _TAKE


@dataclass(frozen=True, slots=True)
class _Place:
    """One database with its brand."""

    url: str
    seller: brand.Brand
    programs: list[Any]
    told: ToldEndpoint

    def pages(self) -> dict[str, _Asked]:
        (affiliate, another, *_), program = self.seller.affiliate_ids, self.programs[0]
        return {
            "none": _Asked(ConversionFilters()),
            "affiliate": _Asked(ConversionFilters(affiliate_id=affiliate)),
            "program": _Asked(ConversionFilters(program_id=program)),
            "status": _Asked(ConversionFilters(status="Invalidated")),
            "kind": _Asked(ConversionFilters(kind="lead")),
            "tag": _Asked(ConversionFilters(sub_id="news")),
            "untagged": _Asked(ConversionFilters(untagged=True)),
            "affiliate, status": _Asked(ConversionFilters(affiliate_id=affiliate, status="Invalidated")),
            "affiliate, tag": _Asked(ConversionFilters(affiliate_id=affiliate, sub_id="tag-10")),
            "affiliate, untagged": _Asked(ConversionFilters(affiliate_id=another, untagged=True)),
            "program, kind": _Asked(ConversionFilters(program_id=program, kind="lead")),
            "program, tag": _Asked(ConversionFilters(program_id=program, sub_id="tag-10")),
            "program, status": _Asked(ConversionFilters(program_id=program, status="Invalidated")),
            "status, kind": _Asked(ConversionFilters(status="Approved", kind="lead")),
            "affiliate, kind": _Asked(ConversionFilters(affiliate_id=affiliate, kind="sale")),
            "oldest": _Asked(ConversionFilters(), ConversionOrder.oldest),
            "status, oldest": _Asked(ConversionFilters(status="Invalidated"), ConversionOrder.oldest),
            "payable": _Asked(ConversionFilters(status="Pending"), ConversionOrder.payable),
            "a person": _Asked(ConversionFilters(sought="partner-7")),
            "a person, status": _Asked(ConversionFilters(sought="partner-7", status="Invalidated")),
            "everybody": _Asked(ConversionFilters(sought="partner")),
            "an id": _Asked(ConversionFilters(sought="load-77"), rows=1),
        }


def measure(plan: Plan) -> list[Figure]:
    """Measure and return the three figures."""
    many, few = _place(plan, "list_many", plan.size(_MANY)), _place(plan, "list_few", _FEW)
    read = {name: (partial(_mean_ms, plan, many, name), partial(_mean_ms, plan, few, name)) for name in many.pages()}
    shown = screen.pages(plan, many=(many.url, many.seller), few=(few.url, few.seller))
    told_of = told.pages(plan, many=many.told, few=few.told)
    return [_worst(plan, "list_at_1m", read), _worst(plan, "screen_at_1m", shown), _worst(plan, "told_at_1m", told_of)]


def _worst(plan: Plan, name: str, measured: Mapping[str, tuple[Timed, Timed]]) -> Figure:
    found = {each: interleaved(product, anchor, rounds=_ROUNDS) for each, (product, anchor) in measured.items()}
    worst = max(found, key=lambda each: found[each][0] / found[each][1])
    told = ", ".join(f"{each} {value / anchor:.2f} ({value:.1f} ms)" for each, (value, anchor) in found.items())
    plan.screen.notes.append(f"{name} is the worst, by {worst}; all: {told}")
    return Figure(name, found[worst][0], "ms", Target(1.1, is_ceiling=True), found[worst][1])


def _place(plan: Plan, name: str, rows: int) -> _Place:
    url = plan.machine.fresh(name)
    seller = brand.create(url)
    endpoint_id = brand.subscribe(seller, "https://localhost/hook")
    with owner(url) as cursor:
        with plan.screen.phase("conversions to load", total=rows) as report:
            programs = conversion_rows.load(cursor, seller, rows, report)
        with plan.screen.phase("deliveries to load", total=rows) as report:
            told.load(cursor, seller, endpoint_id, rows, report)
        history.settle_down(cursor)
    return _Place(url, seller, programs, ToldEndpoint(url, seller, endpoint_id))


def _mean_ms(plan: Plan, place: _Place, name: str) -> float:
    plan.machine.point_at(place.url)
    asked = place.pages()[name]
    page = _read(place, asked)
    if (rows := len(orjson.loads(f"[{page.documents}]"))) != asked.rows:
        raise BenchFailed(f"a page has {rows} rows")
    return mean_ms(partial(_read, place, asked), _READS)


def _read(place: _Place, asked: _Asked) -> RenderedPage:
    organization_id = place.seller.id
    with db.unit_of_work(organization_id):
        return lists.page(
            organization_id=organization_id,
            wire=_WIRE,
            filters=asked.filters,
            order=asked.order,
            after=None,
            take=_TAKE,
        )
