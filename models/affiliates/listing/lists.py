"""Lists of affiliates for the brand: as JSON that the database renders or as light rows, each order with its index."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from domain.affiliates import orders
from models.affiliates.listing.total_orders import TotalOrder
from models.listing import (
    Listing,
    NumberPosition,
    Position,
    RenderedPage,
    Wire,
    json_row,
    read_rendered_page,
    rendered_page_statement,
)
from models.prepared_statements import PreparedStatement
from models.table import Rows, columns


class ListedAffiliate(NamedTuple):
    """An affiliate in a list; ids as text."""

    id: str
    program_id: str
    email: str
    full_name: str
    status: str
    custom_commission_type: str | None
    custom_commission_value: Decimal | None
    partner_group_id: str | None
    tags: list[str]
    notes: str
    source: str
    rejection_reason: str | None
    application_data: Mapping[str, Any] | None
    is_test: bool
    applied_at: datetime
    approved_at: datetime | None
    created_at: datetime


class RenderedAffiliate(NamedTuple):
    """An affiliate as JSON (`document`) with the JSON array of their links, the default one first.

    `position` is the creation time, or a total in an order of totals. `links` is None if one of them leads straight to
    its program's site: the domain builds such addresses.
    """

    id: str
    position: datetime | int
    document: str
    links: str | None


class Shape(NamedTuple):
    """The keys of an affiliate and of a link, as the schemas define them. Under `links` a short link is `url`."""

    affiliate: Wire
    link: Wire


@dataclass(frozen=True, slots=True)
class AffiliateFilters:
    """Filters of the list; None does not filter. `words` is a part of the name or the email.

    `sold_before` selects affiliates without a sale since a day; only the order of the last sale has it.
    """

    program_id: UUID | None = None
    status: str | None = None
    words: str | None = None
    sold_before: date | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the filters that apply."""
        return tuple(name for name in _CONDITIONS if getattr(self, name) is not None)

    @property
    def params(self) -> dict[str, object]:
        """The values of all filters by name."""
        return {name: getattr(self, name) for name in _CONDITIONS}


class _Order(NamedTuple):
    by: str
    after: str


# A cursor holds no name, so the name is read from the row that the cursor points to.
_BY_NAME = """(a.name_sought, a.id) {} ((select b.name_sought from affiliate b
          where b.organization_id = %(organization_id)s and b.id = %(before_id)s), %(before_id)s)"""
_ORDERS = {
    "newest": _Order("a.created_at desc, a.id desc", "(a.created_at, a.id) < (%(before)s, %(before_id)s)"),
    "oldest": _Order("a.created_at, a.id", "(a.created_at, a.id) > (%(before)s, %(before_id)s)"),
    "name": _Order("a.name_sought, a.id", _BY_NAME.format(">")),
    "-name": _Order("a.name_sought desc, a.id desc", _BY_NAME.format("<")),
}
_CONDITIONS = {
    "program_id": "a.program_id = %(program_id)s",
    "status": "a.status = %(status)s",
    "words": "strpos(a.name_sought || ' ' || a.email, lower(%(words)s)) > 0",
    "sold_before": "true",
}
_ROWS = Rows(ListedAffiliate)
_RENDERED = Rows(RenderedAffiliate)
_COLUMNS = columns(
    ListedAffiliate, id="id::text", program_id="program_id::text", partner_group_id="partner_group_id::text"
)
# A prepared statement uses the index of pending affiliates only if the status is a literal in it.
_PENDING = Listing("affiliate", ListedAffiliate, condition="deleted_at is null and status = 'Pending'")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Up to `take` affiliates in an order, after the keyset position `after` (or after `skip` rows).

    Orders are those of `domain.affiliates.orders`. Short links begin with `base_url`. With `words` the brand's
    affiliates are read until the page is full.
    """

    organization_id: UUID
    shape: Shape
    base_url: str
    filters: AffiliateFilters
    after: Position | NumberPosition | None
    take: int
    skip: int = 0
    order: str = "newest"

    def page(self) -> RenderedPage:
        """Return the page with its links, without text if one of those is not short. Budget: 1 round trip."""
        return read_rendered_page(self._statement(as_page=True), self._params(), take=self.take)

    def rows(self) -> list[RenderedAffiliate]:
        """Return the rows, plus one if there are more. Budget: 1 round trip."""
        return _RENDERED.all(self._statement(as_page=False), self._params() | {"limit": self.take + 1})

    def _statement(self, *, as_page: bool) -> PreparedStatement:
        return _statement(self.shape, self.order, self.filters.names, self.after is not None, as_page)

    def _params(self) -> dict[str, object]:
        before, before_id = self.after or (None, None)
        return {
            **self.filters.params,
            "organization_id": self.organization_id,
            "base_url": self.base_url,
            "skip": 0 if self.after else self.skip,
            "before": before,
            "before_id": before_id,
        }


def list_pending(*, organization_id: UUID, program_id: UUID | None, limit: int, skip: int) -> list[ListedAffiliate]:
    """Return up to `limit` Pending affiliates, newest first, after `skip` of them."""
    where = {"program_id": program_id}
    return _PENDING.page(organization_id=organization_id, where=where, limit=limit, skip=skip)


# Planned per call and not prepared: email and slug each have their own index.
_MATCHING = f"""
select {_COLUMNS} from affiliate a
where organization_id = %(org)s and deleted_at is null {{}}
order by a.created_at desc, a.id desc limit %(limit)s
"""
_BY_EMAIL = "and email = %(email)s"
_BY_SLUG = """and id = any(array(
  select l.affiliate_id from tracking_link l
  where l.organization_id = %(org)s and l.slug = lower(%(slug)s) and l.deleted_at is null
))"""


def find_matching(*, organization_id: UUID, email: str | None, slug: str | None, limit: int) -> list[ListedAffiliate]:
    """Return up to `limit` affiliates with this email (in lower case) and a link with this slug, newest first.

    None does not filter. Budget: 1 round trip.
    """
    conditions = " ".join(part for part, value in ((_BY_EMAIL, email), (_BY_SLUG, slug)) if value is not None)
    params = {"org": organization_id, "email": email, "slug": slug, "limit": limit}
    return _ROWS.all(_MATCHING.format(conditions), params)


# Same format as `domain.links.url`.
_SHORT = "%(base_url)s || '/r/' || case when l.needs_program then l.program_id || '/' else '' end || l.slug"
_LINKS = """(select case when bool_and(l.format = 'Short') is not false
    then coalesce(json_agg({} order by l.is_default desc, l.created_at, l.id), '[]') end
  from tracking_link l
  where l.organization_id = a.organization_id and l.affiliate_id = a.id and l.deleted_at is null)"""
_WITH_LINKS = ("links", "links", "")


class RowSource(NamedTuple):
    """SQL of the rows `a` of the list in an order: after `select`, and the position of a row in that order."""

    rows: str
    position: str


def row_source(order: str, filter_names: tuple[str, ...], *, has_position: bool) -> RowSource:
    """Return the rows of the list; parameters are those of `AffiliateFilters.params` and of the window.

    In an order of totals each affiliate of the page is looked up by its key.
    """
    if order in orders.OF_TOTALS:
        total_order = TotalOrder.from_name(order)
        return RowSource(
            f"""from {total_order.ids_sql(filter_names, has_position=has_position)} cross join lateral (
  select * from affiliate where organization_id = %(organization_id)s and id = k.affiliate_id offset 0
) a order by {total_order.order_sql}""",
            "k.place",
        )
    by, after = _ORDERS[order]
    conditions = ["a.organization_id = %(organization_id)s", "a.deleted_at is null"]
    conditions += [_CONDITIONS[name] for name in filter_names]
    if has_position:
        conditions.append(after)
    rows = f"from affiliate a where {' and '.join(conditions)} order by {by} limit %(limit)s offset %(skip)s"
    return RowSource(rows, "a.created_at")


@functools.cache
def _statement(
    shape: Shape, order: str, filter_names: tuple[str, ...], has_position: bool, as_page: bool
) -> PreparedStatement:
    source = row_source(order, filter_names, has_position=has_position)
    links = _LINKS.format(json_row(shape.link, "l", url=_SHORT))
    if as_page:
        document = json_row((*shape.affiliate, _WITH_LINKS), "a", needs="links", links=links) + " as document"
        return rendered_page_statement(f"select a.id::text, {source.position} as moment, {document} {source.rows}")
    document = f"{json_row(shape.affiliate, 'a')}::text, {links}::text"
    return PreparedStatement(f"select a.id::text, {source.position}, {document} {source.rows}")
