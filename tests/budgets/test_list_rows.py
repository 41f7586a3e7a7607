"""Rows read by a page of a list: as many with ten times the affiliates and conversions."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from domain.affiliates import orders
from models import db
from models.affiliates.listing.lists import AffiliateFilters, Selection, Shape
from schemas.affiliates.affiliate import KEY_WIRE, LINK_WIRE
from tests.support import databases
from tests.support.rows.brands import Brand

_SMALL, _LARGE = 2_000, 20_000
_MAX_GROWTH = 1.3
_TAKE = 50
# The rows of a brand as the jobs leave them: two statuses are rare, there are two programs, most have no sales.
_FILL = """
set session_replication_role = replica;
insert into affiliate (id, organization_id, program_id, email, email_normalized, full_name, status, source,
    applied_at, approved_at, created_at)
  select uuidv7(at - now()), %(org)s, (array[%(first)s, %(second)s]::uuid[])[1 + n %% 2],
    'many-' || n || '@example.com', 'many-' || n || '@example.com', 'Many ' || n,
    case when n %% 100 = 1 then 'Pending' when n %% 100 = 2 then 'Paused' else 'Approved' end, 'Direct', at, at, at
  from (select n, now() - make_interval(secs => n) as at from generate_series(1, %(number)s) n) numbered;
insert into affiliate_total (organization_id, affiliate_id, program_id, status, clicks, sales, revenue_cents,
    commission_cents, last_sale_on)
  select organization_id, id, program_id, status, hashtext(id::text) & 1023, sales, sales * 1000, sales * 100,
    case when sales = 0 then '0001-01-01' else date '2026-01-01' - sales end
  from (select *, greatest((hashtext(email) & 1023) - 700, 0) as sales from affiliate) a
  where organization_id = %(org)s;
insert into tracking_link (id, organization_id, program_id, affiliate_id, slug, is_default)
  select uuidv7(), organization_id, program_id, id, 'link-' || id, true from affiliate where organization_id = %(org)s;
-- The server does the same by itself after a while.
analyze affiliate;
analyze affiliate_total;
analyze tracking_link;
"""


@pytest.fixture(scope="module")
def brands(app: Any) -> Iterator[dict[int, Brand]]:
    """Return brands by their number of affiliates."""
    with databases.isolated_database() as url:
        by_number = {number: Brand.create(app) for number in (_SMALL, _LARGE)}
        for number, brand in by_number.items():
            first, second = brand.program(), brand.program()
            databases.run_as_owner(
                url,
                _FILL,
                {"org": brand.id, "first": first, "second": second, "number": number},
            )
        yield by_number


def _rows_read(node: dict[str, Any]) -> Iterator[float]:
    """Yield the number of rows that each node of a plan read from a table, including rows that its filters removed."""
    if "Relation Name" in node:
        yield (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
    for child in node.get("Plans", ()):
        yield from _rows_read(child)


def _count_rows(brand: Brand, statement: Any, params: dict[str, Any]) -> float:
    with db.unit_of_work(brand.id):
        values = statement.values(params)
        db.db.run(statement.prepare.decode().replace(statement.name, "read_rows", 1))
        row = db.db.row(
            f"explain (analyze, format json) execute read_rows ({', '.join(['%s'] * len(values))})", tuple(values)
        )
        db.db.run("deallocate read_rows")
    return sum(_rows_read(row[0][0]["Plan"]))


def _selection(brand: Brand, order: str, filters: AffiliateFilters, after: Any = None) -> Selection:
    return Selection(
        organization_id=brand.id,
        shape=Shape(KEY_WIRE, LINK_WIRE),
        base_url="https://ff.example",
        filters=filters,
        after=after,
        take=_TAKE,
        order=order,
    )


def _filters(brand: Brand) -> list[AffiliateFilters]:
    program_id: UUID = brand.programs[0]
    return [
        AffiliateFilters(),
        AffiliateFilters(status="Approved"),
        AffiliateFilters(status="Pending"),
        AffiliateFilters(program_id=program_id),
        AffiliateFilters(program_id=program_id, status="Paused"),
    ]


@pytest.mark.parametrize("order", orders.ALL)
def test_page_of_affiliates_reads_as_many_rows_of_a_large_brand(brands, order):
    for number in range(len(_filters(brands[_SMALL]))):
        rows = {}
        for size, brand in brands.items():
            filters = _filters(brand)[number]
            first = _selection(brand, order, filters)
            with db.unit_of_work(brand.id):
                page = first.page()
            read = _count_rows(
                brand, first._statement(as_page=True), first._params() | {"take": _TAKE, "limit": _TAKE + 1}
            )
            if page.last_id is not None:
                later = _selection(brand, order, filters, (page.last_at, UUID(page.last_id)))
                params = later._params() | {"take": _TAKE, "limit": _TAKE + 1}
                read = max(read, _count_rows(brand, later._statement(as_page=True), params))
            rows[size] = read
        # Few paused affiliates of the small brand do not fill a page; then a full page is the measure.
        assert rows[_LARGE] <= _MAX_GROWTH * max(rows[_SMALL], 6 * _TAKE), (order, number, rows)
        assert rows[_LARGE] <= 12 * _TAKE, (order, number, rows)


def test_affiliates_without_recent_sales_are_read_from_their_index(brands):
    rows = {}
    for size, brand in brands.items():
        with db.unit_of_work(brand.id):
            ((day,),) = db.db.run("select date '2025-12-01'")
        selection = _selection(brand, "-lastSale", AffiliateFilters(status="Approved", sold_before=day))
        rows[size] = _count_rows(
            brand, selection._statement(as_page=True), selection._params() | {"take": _TAKE, "limit": _TAKE + 1}
        )

    assert rows[_LARGE] <= _MAX_GROWTH * rows[_SMALL]
