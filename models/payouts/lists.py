"""Lists of payouts for the brand: light rows with their lines, by prepared statements."""

import dataclasses
import functools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from domain.payouts.orders import PayoutOrder
from models.listing import NumberPosition, Position
from models.prepared_statements import PreparedStatement
from models.table import Rows, columns


class ListedPayout(NamedTuple):
    """A payout in a list. Ids and days are text; the lines are read by another statement."""

    id: str
    run_id: str
    affiliate_id: str
    affiliate_name: str
    affiliate_email: str
    milestone_id: str | None
    amount_cents: int
    currency: str
    method: str
    status: str
    attempt: int
    processor_transfer_id: str | None
    wallet_batch_id: str | None
    wallet_transaction_id: str | None
    gp_outbound_payment_id: str | None
    external_transaction_id: str | None
    notes: str | None
    failure_code: str | None
    failure_reason: str | None
    period_start: str
    period_end: str
    created_at: datetime
    exported_at: datetime | None
    submitted_at: datetime | None
    paid_at: datetime | None
    failed_at: datetime | None
    voided_at: datetime | None
    needs_manual_review: bool
    review_status: str | None
    hold_until: datetime | None
    line_items: Sequence[Any]


class ListedLine(NamedTuple):
    """A line in a list, with its payout and the payout's time. Ids and days are text."""

    payout_id: str
    id: str
    conversion_id: str
    occurred_at: datetime
    amount_cents: int
    currency: str
    native_amount_cents: int
    native_currency: str
    fx_rate: Decimal
    fx_rate_date: str
    reversed_amount_cents: int
    reversed_at: datetime | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class PayoutFilters:
    """Filters of a list; None does not filter. `until` is exclusive."""

    affiliate_id: UUID | None = None
    status: str | None = None
    run_id: UUID | None = None
    program_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None


def _as_text(*names: str, of: str) -> dict[str, str]:
    return {name: f"{of}.{name}::text" for name in names}


_PAYOUT = {
    **_as_text("id", "run_id", "affiliate_id", "milestone_id", "period_start", "period_end", of="p"),
    "affiliate_name": "a.full_name",
    "affiliate_email": "a.email",
    "needs_manual_review": "coalesce(r.review_status = 'Pending', false)",
    "review_status": "r.review_status",
    "hold_until": "r.hold_until",
    "line_items": "'{}'::text[]",
}
# Related rows are looked up row by row, whatever statistics the plan was made from: a plan for tenants with few
# affiliates would read all rows of a large one.
_SELECT = f"""
select {columns(ListedPayout, "p", **_PAYOUT)}
from payout p cross join lateral (
  select review_status, hold_until from payout_run where organization_id = p.organization_id and id = p.run_id offset 0
) r cross join lateral (
  select full_name, email from affiliate where organization_id = p.organization_id and id = p.affiliate_id offset 0
) a
where p.organization_id = %(organization_id)s"""
_CONDITIONS = {
    "payout_id": "p.id = %(payout_id)s",
    "run_id": "p.run_id = %(run_id)s",
    "affiliate_id": "p.affiliate_id = %(affiliate_id)s",
    "status": "p.status = %(status)s",
    "program_id": "p.program_id = %(program_id)s",
    "since": "p.created_at >= %(since)s",
    "until": "p.created_at < %(until)s",
}


class _Order(NamedTuple):
    column: str
    is_descending: bool

    @property
    def order_sql(self) -> str:
        direction = " desc" if self.is_descending else ""
        return f"order by p.{self.column}{direction}, p.id{direction} limit %(limit)s"

    @property
    def after_position(self) -> str:
        return f"(p.{self.column}, p.id) {'<' if self.is_descending else '>'} (%(before)s, %(before_id)s)"


_ORDERS = {
    PayoutOrder.newest: _Order("created_at", True),
    PayoutOrder.oldest: _Order("created_at", False),
    PayoutOrder.largest: _Order("amount_cents", True),
    PayoutOrder.smallest: _Order("amount_cents", False),
}
_LINE = {
    **_as_text("payout_id", "id", "conversion_id", "fx_rate_date", of="l"),
    "currency": "p.currency",
    "occurred_at": "c.occurred_at",
    "created_at": "p.created_at",
}
# A line whose whole conversion was reversed before it was sent pays nothing and is left out.
_SHOWN_LINES = f"""
select {columns(ListedLine, "l", **_LINE)}
from payout_line l join payout p on p.organization_id = l.organization_id and p.id = l.payout_id
join conversion c on c.organization_id = l.organization_id and c.id = l.conversion_id
where l.organization_id = %(org)s and l.payout_id = any(%(payouts)s::uuid[]) and l.native_amount_cents <> 0
"""
_LINES = PreparedStatement(f"{_SHOWN_LINES} order by l.conversion_id, l.id")
_FIRST_LINES = PreparedStatement(f"{_SHOWN_LINES} order by l.id limit %(limit)s")
_NEXT_LINES = PreparedStatement(f"{_SHOWN_LINES} and l.id > %(after)s order by l.id limit %(limit)s")
_payouts, _lines = Rows(ListedPayout), Rows(ListedLine)


def page(
    *,
    organization_id: UUID,
    filters: PayoutFilters,
    after: Position | NumberPosition | None,
    limit: int,
    order: PayoutOrder = PayoutOrder.newest,
    with_lines: bool = True,
) -> list[ListedPayout]:
    """Return up to `limit` payouts in an order, after the keyset position `after`.

    Budget: 2 round trips with the lines, 1 without, for any page.
    """
    payouts = _read(organization_id, dataclasses.asdict(filters), limit, order, after)
    return _with_lines(organization_id, payouts) if with_lines else payouts


def find(*, organization_id: UUID, payout_id: UUID, with_lines: bool = True) -> ListedPayout | None:
    """Return one payout of the organization, or None. Budget: 2 round trips with its lines, 1 without."""
    payouts = _read(organization_id, {"payout_id": payout_id}, limit=1)
    if with_lines:
        payouts = _with_lines(organization_id, payouts)
    return payouts[0] if payouts else None


def find_matching(
    *, organization_id: UUID, payout_id: UUID | None, affiliate_id: UUID | None, limit: int
) -> list[ListedPayout]:
    """Return up to `limit` payouts with this id and of this affiliate, newest first, without their lines.

    None does not filter. Budget: 1 round trip.
    """
    return _read(organization_id, {"payout_id": payout_id, "affiliate_id": affiliate_id}, limit)


def lines_page(*, organization_id: UUID, payout_id: UUID, after: Position | None, limit: int) -> list[ListedLine]:
    """Return up to `limit` lines of a payout, by id, after the keyset position `after`. Budget: 1 round trip."""
    params = {"org": organization_id, "payouts": [payout_id], "limit": limit}
    return _lines.all(_FIRST_LINES, params) if after is None else _lines.all(_NEXT_LINES, params | {"after": after[1]})


def _read(
    organization_id: UUID,
    values: Mapping[str, object],
    limit: int,
    order: PayoutOrder = PayoutOrder.newest,
    after: Position | NumberPosition | None = None,
) -> list[ListedPayout]:
    filter_names = tuple(name for name in _CONDITIONS if values.get(name) is not None)
    before, before_id = after or (None, None)
    params = {**values, "organization_id": organization_id, "limit": limit, "before": before, "before_id": before_id}
    return _payouts.all(_statement(filter_names, order, after is not None), params)


@functools.cache
def _statement(filter_names: tuple[str, ...], order: PayoutOrder, has_position: bool) -> PreparedStatement:
    conditions = [_SELECT, *(_CONDITIONS[name] for name in filter_names)]
    if has_position:
        conditions.append(_ORDERS[order].after_position)
    return PreparedStatement(f"{' and '.join(conditions)} {_ORDERS[order].order_sql}")


def _with_lines(organization_id: UUID, payouts: Sequence[ListedPayout]) -> list[ListedPayout]:
    if not payouts:
        return []
    lines: defaultdict[str, list[ListedLine]] = defaultdict(list)
    for line in _lines.all(_LINES, {"org": organization_id, "payouts": [UUID(payout.id) for payout in payouts]}):
        lines[line.payout_id].append(line)
    return [payout._replace(line_items=lines[payout.id]) for payout in payouts]
