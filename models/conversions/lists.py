"""Lists and exports of conversions for the brand: light rows by prepared statements, each filter with its index."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Generic, NamedTuple, TypeVar
from uuid import UUID

from domain.conversions.orders import ConversionOrder
from models.conversions import searches
from models.listing import Position, RenderedPage, Wire, json_row, read_rendered_page, rendered_page_statement
from models.prepared_statements import Lookup, PreparedStatement
from models.table import Rows, columns

Row = TypeVar("Row")


class ListedConversion(NamedTuple):
    """A conversion in a list, with the names of its affiliate and program. Ids are text.

    `payable_at` None: locked history, or it waits for an approval. `payout_id` is the last payout that contains or
    paid it. `moment` is its sort key in the list.
    """

    id: str
    affiliate_id: str
    program_id: str
    amount_cents: int
    currency: str
    net_commission_cents: int
    commission_cents: int
    reversed_cents: int
    refunded_cents: int
    status: str
    type: str
    processor_subscription_id: str | None
    processor_customer_id: str | None
    external_event_id: str
    created_at: datetime
    occurred_at: datetime
    refunded_at: datetime | None
    attribution_method: str | None
    coupon_code: str | None
    affiliate_coupon_id: str | None
    sub_id: str | None
    payability: str
    parent_id: str | None
    payout_locked: bool
    is_test: bool
    is_disputed: bool
    customer_name: str | None
    customer_avatar_url: str | None
    rate_source: str
    rate_type: str | None
    rate_value: Decimal | None
    affiliate_name: str
    affiliate_email: str
    program_name: str
    self_referral: bool
    awaits_approval: bool
    payable_at: datetime | None
    payout_id: str | None
    moment: datetime


class RenderedConversion(NamedTuple):
    """A conversion of a page as JSON (`models.listing.json_row`). `moment` is its sort key in the list."""

    id: str
    document: str
    moment: datetime


class ExportedConversion(NamedTuple):
    """A conversion in an export. All values are text: creating objects would dominate an export of fifty thousand rows.

    Null is an empty text. `moment` is its sort key in the list.
    """

    id: str
    affiliate_id: str
    program_id: str
    amount_cents: str
    currency: str
    net_commission_cents: str
    status: str
    type: str
    external_event_id: str
    created_at: str
    refunded_at: str
    attribution_method: str
    coupon_code: str
    sub_id: str
    moment: datetime


_IDS = {"id": "c.id::text", "affiliate_id": "c.affiliate_id::text", "program_id": "c.program_id::text"}
_NET = "c.commission_cents - c.reversed_cents"
# Subselects by key and not joins: whatever statistics the plan was made from, rows are read in the order of the index.
_AFFILIATE = "(select a.{} from affiliate a where a.organization_id = c.organization_id and a.id = c.affiliate_id)"
_PROGRAM = "(select p.name from program p where p.organization_id = c.organization_id and p.id = c.program_id)"
_PAYOUT = """(select l.payout_id::text from payout_line l
  where l.organization_id = c.organization_id and l.conversion_id = c.id and l.released_at is null
  order by l.id desc limit 1)"""
_AWAITS_APPROVAL = "(c.needs_approval and c.status = 'Pending')"
_LISTED = {
    **_IDS,
    "affiliate_coupon_id": "c.affiliate_coupon_id::text",
    "parent_id": "c.parent_id::text",
    "is_disputed": "c.disputed_at is not null",
    "net_commission_cents": _NET,
    "affiliate_name": _AFFILIATE.format("full_name"),
    "affiliate_email": _AFFILIATE.format("email"),
    "program_name": _PROGRAM,
    "awaits_approval": _AWAITS_APPROVAL,
    "payable_at": f"case when not c.payout_locked and not {_AWAITS_APPROVAL} then c.hold_until end",
    "payout_id": _PAYOUT,
}
_MOMENT = "to_char({} at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"
_EXPORTED = {
    **_IDS,
    "amount_cents": "c.amount_cents::text",
    "net_commission_cents": f"({_NET})::text",
    "created_at": _MOMENT.format("c.created_at"),
    "refunded_at": f"coalesce({_MOMENT.format('c.refunded_at')}, '')",
    "attribution_method": "coalesce(c.attribution_method, '')",
    "coupon_code": "coalesce(c.coupon_code, '')",
    "sub_id": "coalesce(c.sub_id, '')",
}

# Literally the expression of the index.
_KIND = "(case c.type when 'LeadReward' then 'lead' when 'ClickReward' then 'click' else 'sale' end)"
_CONDITIONS = {
    "affiliate_id": "c.affiliate_id = %(affiliate_id)s",
    "program_id": "c.program_id = %(program_id)s",
    "status": "c.status = %(status)s",
    "kind": f"{_KIND} = %(kind)s",
    "since": "c.created_at >= %(since)s",
    "until": "c.created_at < %(until)s",
    "sub_id": "c.sub_id = %(sub_id)s",
    "untagged": "c.sub_id is null",
}
# Additional literal conditions: rewards of leads and clicks have indexes of their own for these filters. Without one of
# them the condition would let the planner read and sort all rewards, in place of the first ones of the list.
_REWARDS = {"lead": "c.type = 'LeadReward'", "click": "c.type = 'ClickReward'"}
_REWARD_FILTERS = frozenset({"status", "program_id", "affiliate_id"})


@dataclass(frozen=True, slots=True)
class ConversionFilters:
    """Filters of a list; None does not filter. `until` is exclusive.

    `kind` is sale, lead or click. `untagged` selects rows without a channel tag. `sought` is the conversion's id, its
    external id, or a part of its affiliate's name or email, ignoring case.
    """

    affiliate_id: UUID | None = None
    program_id: UUID | None = None
    status: str | None = None
    kind: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    sub_id: str | None = None
    untagged: bool = False
    sought: str | None = None


class _Order(NamedTuple):
    """A column and direction with an index; `among` is the condition of a partial index."""

    moment: str
    direction: str
    among: str = "true"

    @property
    def columns(self) -> str:
        return f"{self.moment} {self.direction}, c.id {self.direction}"

    @property
    def after_position(self) -> str:
        return f"({self.moment}, c.id) {'<' if self.direction == 'desc' else '>'} (%(before)s, %(before_id)s)"


_ORDERS = {
    ConversionOrder.newest: _Order("c.created_at", "desc"),
    ConversionOrder.oldest: _Order("c.created_at", "asc"),
    ConversionOrder.payable: _Order("c.hold_until", "asc", among="c.status = 'Pending'"),
}


class _List(Generic[Row]):
    """A list of conversions as rows of one class, in any of the orders; `prepare` builds its statements from SQL."""

    def __init__(
        self,
        kind: type[Row],
        selected: Mapping[str, str],
        *,
        prepare: Callable[[str], PreparedStatement] = PreparedStatement,
    ) -> None:
        self._kind = kind
        self._prepare = prepare
        self._rows = Rows(kind)
        self._selected = selected

    def read(
        self,
        *,
        organization_id: UUID,
        filters: ConversionFilters,
        order: ConversionOrder,
        after: Position | None,
        limit: int,
    ) -> list[Row]:
        statement, params = self.build(organization_id=organization_id, filters=filters, order=order, after=after)
        return self._rows.all(statement, params | {"limit": limit})

    def build(
        self, *, organization_id: UUID, filters: ConversionFilters, order: ConversionOrder, after: Position | None
    ) -> tuple[PreparedStatement, dict[str, object]]:
        values = {name: getattr(filters, name) for name in _CONDITIONS} | {"untagged": filters.untagged or None}
        filter_names = tuple(name for name in _CONDITIONS if values[name] is not None)
        before, before_id = after or (None, None)
        params = values | _search_params(filters.sought) | {"before": before, "before_id": before_id}
        reward = filters.kind if filters.kind in _REWARDS and _REWARD_FILTERS.intersection(filter_names) else None
        statement = self._statement(filter_names, reward, _ORDERS[order], after is not None, filters.sought is not None)
        return statement, params | {"organization_id": organization_id}

    def find(self, *, organization_id: UUID, conversion_id: UUID) -> Row | None:
        return self._rows.first(self._find_statement, {"organization_id": organization_id, "id": conversion_id})

    def find_matching(self, params: Mapping[str, object]) -> list[Row]:
        order = _ORDERS[ConversionOrder.newest]
        select = self._select(order) if params["sought"] is None else self._select(order, searches.IDS_BY_EXTERNAL_ID)
        where = "c.organization_id = %(organization_id)s" + (" and c.id = %(id)s" if params["id"] is not None else "")
        return self._rows.all(f"{select} where {where} order by {order.columns} limit %(limit)s", params)

    @functools.cached_property
    def _find_statement(self) -> Lookup:
        selected = self._select(_ORDERS[ConversionOrder.newest])
        return Lookup(f"{selected} where c.organization_id = %(organization_id)s and c.id = %(id)s")

    @functools.cache  # noqa: B019  # lists live as long as the process
    def _statement(
        self, filter_names: tuple[str, ...], reward: str | None, order: _Order, has_position: bool, is_search: bool
    ) -> PreparedStatement:
        conditions = [
            "c.organization_id = %(organization_id)s",
            order.among,
            *(_CONDITIONS[name] for name in filter_names),
        ]
        if reward is not None:
            conditions.append(_REWARDS[reward])
        if has_position:
            conditions.append(order.after_position)
        where = " and ".join(conditions)
        if is_search:
            ids = searches.search_sql(where=where, moment=order.moment, direction=order.direction)
            return self._prepare(f"{self._select(order, ids)} order by {order.columns} limit %(limit)s")
        # Ordered by the columns and not by output expressions of the same name, which have no index.
        return self._prepare(f"{self._select(order)} where {where} order by {order.columns} limit %(limit)s")

    def _select(self, order: _Order, ids: str | None = None) -> str:
        rows = "conversion c" if ids is None else searches.lookup_sql(ids)
        moment = f"{order.moment} as moment"
        return f"select {columns(self._kind, 'c', **self._selected, moment=moment)} from {rows}"


def _search_params(text: str | None) -> dict[str, object]:
    try:
        return {"sought": text, "sought_id": UUID(text or "")}
    except ValueError:
        return {"sought": text, "sought_id": None}


_LISTED_ROWS = _List(ListedConversion, _LISTED)
_EXPORTED_ROWS = _List(ExportedConversion, _EXPORTED)


@functools.cache
def _rendered_list(wire: Wire) -> _List[RenderedConversion]:
    selected = {"id": _IDS["id"], "document": f"{json_row(wire, 'c', **_LISTED)} as document"}
    return _List(RenderedConversion, selected, prepare=rendered_page_statement)


def page(
    *,
    organization_id: UUID,
    wire: Wire,
    filters: ConversionFilters,
    order: ConversionOrder = ConversionOrder.newest,
    after: Position | None,
    take: int,
) -> RenderedPage:
    """Return up to `take` conversions in an order, after the keyset position `after`, under the keys of `wire`.

    The order `payable` contains Pending rows only. The cost does not depend on the number of other rows, except for
    filters that match few rows of a long list; with `sought` it grows with the organization's affiliates.
    """
    statement, params = _rendered_list(wire).build(
        organization_id=organization_id, filters=filters, order=order, after=after
    )
    return read_rendered_page(statement, params, take=take)


def find(*, organization_id: UUID, conversion_id: UUID) -> ListedConversion | None:
    """Return one conversion of the organization as in a list, or None."""
    return _LISTED_ROWS.find(organization_id=organization_id, conversion_id=conversion_id)


def find_matching(
    *, organization_id: UUID, id: UUID | None, external_event_id: str | None, limit: int
) -> list[ListedConversion]:
    """Return up to `limit` conversions with this id and this external event id, of any source.

    Newest first; None does not filter. Budget: 1 round trip.
    """
    params = {"organization_id": organization_id, "id": id, "sought": external_event_id, "limit": limit}
    return _LISTED_ROWS.find_matching(params)


@dataclass(frozen=True, slots=True)
class Piece:
    """Some rows of an export, and the position of the last one."""

    rows: list[ExportedConversion]
    end: Position


def read_piece(
    *,
    organization_id: UUID,
    filters: ConversionFilters,
    order: ConversionOrder = ConversionOrder.newest,
    after: Position | None,
    limit: int,
) -> Piece | None:
    """Return the next conversions of an export, up to `limit`; None at the end."""
    rows = _EXPORTED_ROWS.read(organization_id=organization_id, filters=filters, order=order, after=after, limit=limit)
    return Piece(rows, (rows[-1].moment, UUID(rows[-1].id))) if rows else None
