"""Payouts as the brand reads them: pages and single ones, light rows with their lines, by prepared statements."""

import functools
from collections import defaultdict, namedtuple
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from models.db import db
from models.hot import Hot
from models.listing import Position

# What is shown, by name; days are texts, for they have no time of day.
_SHOWN = {
    "id": "p.id::text",
    "run_id": "p.run_id::text",
    "affiliate_id": "p.affiliate_id::text",
    "amount_cents": "p.amount_cents",
    "currency": "p.currency",
    "method": "p.method",
    "status": "p.status",
    "processor_transfer_id": "p.processor_transfer_id",
    "wallet_batch_id": "p.wallet_batch_id",
    "wallet_transaction_id": "p.wallet_transaction_id",
    "gp_outbound_payment_id": "p.gp_outbound_payment_id",
    "external_transaction_id": "p.external_transaction_id",
    "notes": "p.notes",
    "failure_code": "p.failure_code",
    "failure_reason": "p.failure_reason",
    "period_start": "p.period_start::text",
    "period_end": "p.period_end::text",
    "created_at": "p.created_at",
    "exported_at": "p.exported_at",
    "paid_at": "p.paid_at",
    "failed_at": "p.failed_at",
    "voided_at": "p.voided_at",
    "needs_manual_review": "coalesce(r.review_status = 'Pending', false)",
    "review_status": "r.review_status",
    "hold_until": "r.hold_until",
}
_LINE = {
    "id": "l.id::text",
    "conversion_id": "l.conversion_id::text",
    "amount_cents": "l.amount_cents",
    "currency": "p.currency",
    "native_amount_cents": "l.native_amount_cents",
    "native_currency": "l.native_currency",
    "fx_rate": "l.fx_rate",
    "fx_rate_date": "l.fx_rate_date::text",
    "reversed_amount_cents": "l.reversed_amount_cents",
    "reversed_at": "l.reversed_at",
}
_CONDITIONS = {
    "payout_id": "p.id = %(payout_id)s",
    "run_id": "p.run_id = %(run_id)s",
    "affiliate_id": "p.affiliate_id = %(affiliate_id)s",
    "status": "p.status = %(status)s",
    "before": "(p.created_at, p.id) < (%(before)s, %(before_id)s)",
}
_Row: Any = namedtuple("_Row", (*_SHOWN, "line_items"))  # type: ignore[misc]  # columns by variable
_Line: Any = namedtuple("_Line", _LINE)  # type: ignore[misc]  # columns by variable

# A line whose whole conversion was taken back before it was sent pays nothing and is not shown.
_LINES = Hot(
    f"select l.payout_id::text, {', '.join(_LINE.values())} from payout_line l"
    " join payout p on p.organization_id = l.organization_id and p.id = l.payout_id"
    " where l.organization_id = %s and l.payout_id = any(%s::uuid[]) and l.native_amount_cents <> 0"
    " order by l.conversion_id, l.id"
)


@dataclass(frozen=True, slots=True)
class PayoutFilters:
    """What a list is narrowed by; None leaves a column alone."""

    affiliate_id: UUID | None = None
    status: str | None = None
    run_id: UUID | None = None


def page(
    *, organization_id: UUID, filters: PayoutFilters, after: Position | None, limit: int, with_lines: bool = True
) -> list[Any]:
    """Return up to `limit` payouts, newest first, after the keyset position `after`. Ids are texts.

    Budget: 2 round trips with the lines, 1 without, for any page.
    """
    before, before_id = after or (None, None)
    values = {
        "affiliate_id": filters.affiliate_id,
        "status": filters.status,
        "run_id": filters.run_id,
        "before": before,
        "before_id": before_id,
    }
    found = _read(organization_id, values, limit)
    return _with_lines(organization_id, found) if with_lines else found


def find(*, organization_id: UUID, payout_id: UUID) -> Any | None:
    """Return one payout of the organization with its lines, or None. Budget: 2 round trips."""
    found = _read(organization_id, {"payout_id": payout_id}, limit=1)
    return _with_lines(organization_id, found)[0] if found else None


def _read(organization_id: UUID, values: dict[str, Any], limit: int) -> list[Any]:
    statement = _statement(tuple(name for name in _CONDITIONS if values.get(name) is not None))
    rows = db.run(statement, values | {"organization_id": organization_id, "limit": limit})
    return [_Row._make((*row, ())) for row in rows]


@functools.cache
def _statement(wanted: tuple[str, ...]) -> Hot:
    conditions = ["p.organization_id = %(organization_id)s", *(_CONDITIONS[name] for name in wanted)]
    return Hot(
        f"select {', '.join(_SHOWN.values())} from payout p"
        " join payout_run r on r.organization_id = p.organization_id and r.id = p.run_id"
        f" where {' and '.join(conditions)} order by p.created_at desc, p.id desc limit %(limit)s"
    )


def _with_lines(organization_id: UUID, payouts: Sequence[Any]) -> list[Any]:
    if not payouts:
        return []
    lines: defaultdict[str, list[Any]] = defaultdict(list)
    for payout_id, *line in db.run(_LINES, (organization_id, [UUID(payout.id) for payout in payouts])):
        lines[payout_id].append(_Line._make(line))
    return [payout._replace(line_items=lines[payout.id]) for payout in payouts]
