"""Rows read by a page of a list and by a search: as many with ten times the affiliates, conversions and payouts."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from domain.affiliates import orders
from domain.conversions.orders import ConversionOrder
from domain.payouts.orders import PayoutOrder
from models import db, search
from models.affiliates.listing import exports, totals
from models.affiliates.listing.lists import AffiliateFilters, Selection, Shape
from models.conversions import lists as conversion_lists
from models.conversions.lists import ConversionFilters
from models.payouts import lists as payout_lists
from models.payouts.lists import PayoutFilters
from schemas.affiliates.affiliate import KEY_WIRE, LINK_WIRE
from schemas.conversions.conversion import ConversionRecord
from tests.budgets.rows_read import LARGE, MAX_GROWTH, SMALL, brands_by_size, count_rows_read
from tests.support.rows.brands import Brand

_TAKE = 50
_MINUTES = timedelta(minutes=10)
_WIRE = ConversionRecord().wire


@pytest.fixture(scope="module")
def brands(app: Any) -> Iterator[dict[int, Brand]]:
    """Return brands by their number of affiliates."""
    with brands_by_size(app) as by_size:
        yield by_size


def _check_growth(brands: dict[int, Brand], read: Callable[[Brand], Callable[[], object]], *, least: int = 0) -> None:
    """Check that a read touches about as many rows of the large brand; `least` is what a full page touches.

    Few rows of a rare status do not fill a page of the small brand; then a full page is the measure.
    """
    rows = {size: count_rows_read(brand, read(brand)) for size, brand in brands.items()}

    assert rows[LARGE] <= MAX_GROWTH * max(rows[SMALL], least), rows


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
@pytest.mark.parametrize("number", range(5))
def test_page_of_affiliates_reads_as_many_rows_of_a_large_brand(brands, order, number):
    def read_first(brand):
        return _selection(brand, order, _filters(brand)[number]).page

    def read_later(brand):
        filters = _filters(brand)[number]
        with db.unit_of_work(brand.id):
            page = _selection(brand, order, filters).page()
        if page.last_id is None:
            return _selection(brand, order, filters).page
        return _selection(brand, order, filters, (page.last_at, UUID(page.last_id))).page

    for read in (read_first, read_later):
        _check_growth(brands, read, least=12 * _TAKE)


def test_affiliates_without_recent_sales_are_read_from_their_index(brands):
    def read(brand):
        with db.unit_of_work(brand.id):
            ((day,),) = db.db.run("select date '2025-12-01'")
        return _selection(brand, "-lastSale", AffiliateFilters(status="Approved", sold_before=day)).page

    _check_growth(brands, read)


def _first_affiliate(brand: Brand) -> UUID:
    ((affiliate_id,),) = brand.rows("select id from affiliate order by created_at desc limit 1")
    return UUID(str(affiliate_id))


def _last_time(brand: Brand, table: str) -> datetime:
    ((at,),) = brand.rows(f"select max(created_at) from {table}")
    assert isinstance(at, datetime)
    return at


def test_totals_of_a_page_are_read_by_their_keys(brands):
    def read(brand):
        ids = [str(row_id) for (row_id,) in brand.rows("select id from affiliate order by created_at limit 50")]
        return lambda: totals.list_totals(organization_id=brand.id, affiliate_ids=ids)

    _check_growth(brands, read)


@pytest.mark.parametrize("order", ["newest", "-revenue", "name"])
def test_piece_of_a_file_of_affiliates_reads_as_many_rows_of_a_large_brand(brands, order):
    def read(brand):
        return lambda: exports.read_piece(
            organization_id=brand.id, filters=AffiliateFilters(), order=order, after=None, limit=200
        )

    _check_growth(brands, read)


_CONVERSION_FILTERS: Mapping[str, Callable[[Brand], ConversionFilters]] = {
    "none": lambda _: ConversionFilters(),
    "pending": lambda _: ConversionFilters(status="Pending"),
    "denied": lambda _: ConversionFilters(status="Denied"),
    "program": lambda brand: ConversionFilters(program_id=brand.programs[0]),
    "pending of a program": lambda brand: ConversionFilters(program_id=brand.programs[0], status="Pending"),
    "affiliate": lambda brand: ConversionFilters(affiliate_id=_first_affiliate(brand)),
    "approved of an affiliate": lambda brand: ConversionFilters(
        affiliate_id=_first_affiliate(brand), status="Approved"
    ),
    "sales": lambda _: ConversionFilters(kind="sale"),
    "leads": lambda _: ConversionFilters(kind="lead"),
    "clicks": lambda _: ConversionFilters(kind="click"),
    "minutes": lambda brand: ConversionFilters(since=_last_time(brand, "conversion") - _MINUTES),
    "tag": lambda _: ConversionFilters(sub_id="news"),
    "untagged": lambda _: ConversionFilters(untagged=True),
    "pending leads": lambda _: ConversionFilters(kind="lead", status="Pending"),
    "leads of a program": lambda brand: ConversionFilters(kind="lead", program_id=brand.programs[0]),
    "leads of an affiliate": lambda brand: ConversionFilters(kind="lead", affiliate_id=_first_affiliate(brand)),
}


@pytest.mark.parametrize("name", _CONVERSION_FILTERS)
@pytest.mark.parametrize("order", [ConversionOrder.newest, ConversionOrder.oldest])
def test_page_of_conversions_reads_as_many_rows_of_a_large_brand(brands, name, order):
    def read(brand):
        filters = _CONVERSION_FILTERS[name](brand)
        return lambda: conversion_lists.page(
            organization_id=brand.id, wire=_WIRE, filters=filters, order=order, after=None, take=_TAKE
        )

    _check_growth(brands, read, least=10 * _TAKE)


@pytest.mark.parametrize("program", [False, True], ids=["all programs", "one program"])
def test_page_of_payable_conversions_reads_as_many_rows_of_a_large_brand(brands, program):
    def read(brand):
        filters = ConversionFilters(status="Pending", program_id=brand.programs[0] if program else None)
        return lambda: conversion_lists.page(
            organization_id=brand.id, wire=_WIRE, filters=filters, order=ConversionOrder.payable, after=None, take=_TAKE
        )

    _check_growth(brands, read)


@pytest.mark.parametrize("order", PayoutOrder)
@pytest.mark.parametrize("status", [None, "Paid", "Failed"])
def test_page_of_payouts_reads_as_many_rows_of_a_large_brand(brands, order, status):
    def read(brand):
        return lambda: payout_lists.page(
            organization_id=brand.id,
            filters=PayoutFilters(status=status),
            order=order,
            after=None,
            limit=_TAKE,
            with_lines=False,
        )

    _check_growth(brands, read, least=4 * _TAKE)


@pytest.mark.parametrize("filters", ["program", "affiliate", "minutes"])
def test_narrowed_page_of_payouts_reads_as_many_rows_of_a_large_brand(brands, filters):
    def read(brand):
        by_name = {
            "program": PayoutFilters(program_id=brand.programs[0]),
            "affiliate": PayoutFilters(affiliate_id=_first_affiliate(brand)),
            "minutes": PayoutFilters(since=_last_time(brand, "payout") - _MINUTES),
        }
        return lambda: payout_lists.page(
            organization_id=brand.id, filters=by_name[filters], after=None, limit=_TAKE, with_lines=False
        )

    _check_growth(brands, read)


_TEXTS = {
    "beginning of a name": "many",
    "whole name": "Many 17",
    "last name": "1",
    "email": "many-17@example.com",
    "order number": "order-17@example.com2",
    "code": "code-many-1",
    "link": "link-",
    "nothing": "zzz",
    "id": "01a223f3-1f85-7070-905e-2e84b92cf91f",
    "last character": "\U0010ffff",
}


@pytest.mark.parametrize("text", _TEXTS.values(), ids=_TEXTS)
def test_search_reads_as_many_rows_of_a_large_brand(brands, text):
    def read(brand):
        return lambda: search.find(organization_id=brand.id, text=text)

    _check_growth(brands, read, least=20)


@pytest.mark.parametrize("table", ["affiliate", "conversion", "payout", "affiliate_coupon"])
def test_search_by_id_reads_as_many_rows_of_a_large_brand(brands, table):
    def read(brand):
        ((row_id,),) = brand.rows(f"select id::text from {table} order by id desc limit 1")
        return lambda: search.find(organization_id=brand.id, text=row_id)

    _check_growth(brands, read)
