"""Conversions as the brand lists and exports them: light rows by prepared statements, each filter with its index."""

import functools
from collections import namedtuple
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from models.db import db
from models.hot import Hot
from models.listing import Position

# What is shown, and the expression behind a name that is no column.
_SHOWN = (
    "id",
    "affiliate_id",
    "program_id",
    "amount_cents",
    "currency",
    "net_commission_cents",
    "commission_cents",
    "reversed_cents",
    "refunded_cents",
    "status",
    "type",
    "processor_subscription_id",
    "processor_customer_id",
    "external_event_id",
    "created_at",
    "occurred_at",
    "refunded_at",
    "attribution_method",
    "coupon_code",
    "sub_id",
    "payability",
    "parent_id",
    "payout_locked",
    "customer_name",
    "customer_avatar_url",
)
# In the order of the file.
_EXPORTED = (
    "id",
    "affiliate_id",
    "program_id",
    "amount_cents",
    "currency",
    "net_commission_cents",
    "status",
    "type",
    "external_event_id",
    "created_at",
    "refunded_at",
    "attribution_method",
    "coupon_code",
    "sub_id",
)
_MOMENT = "to_char({} at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"
# Fifty thousand rows are mostly the making of objects, so the database brings texts, and none for null.
_TEXTS = {
    "amount_cents": "amount_cents::text",
    "net_commission_cents": "(commission_cents - reversed_cents)::text",
    "created_at": _MOMENT.format("created_at"),
    "refunded_at": f"coalesce({_MOMENT.format('refunded_at')}, '')",
    "attribution_method": "coalesce(attribution_method, '')",
    "coupon_code": "coalesce(coupon_code, '')",
    "sub_id": "coalesce(sub_id, '')",
}
_EXPRESSIONS = {
    "id": "id::text",
    "affiliate_id": "affiliate_id::text",
    "program_id": "program_id::text",
    "parent_id": "parent_id::text",
    "net_commission_cents": "commission_cents - reversed_cents",
}

# As the index on it has it, letter by letter.
_KIND = "(case type when 'LeadReward' then 'lead' when 'ClickReward' then 'click' else 'sale' end)"
_CONDITIONS = {
    "affiliate_id": "affiliate_id = %(affiliate_id)s",
    "program_id": "program_id = %(program_id)s",
    "status": "status = %(status)s",
    "kind": f"{_KIND} = %(kind)s",
    "since": "created_at >= %(since)s",
    "until": "created_at < %(until)s",
    "sub_id": "sub_id = %(sub_id)s",
    "before": "(created_at, id) < (%(before)s, %(before_id)s)",
}


@dataclass(frozen=True, slots=True)
class Filters:
    """What a list is narrowed by; None leaves a column alone. `until` is not included.

    `kind` is sale, lead or click. `untagged` asks for rows without a channel tag.
    """

    affiliate_id: UUID | None = None
    program_id: UUID | None = None
    status: str | None = None
    kind: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    sub_id: str | None = None
    untagged: bool = False


class _List:
    """One selection of columns in the order (created_at, id), newest first."""

    def __init__(self, columns: Mapping[str, str]) -> None:
        self._selected = ", ".join(f"{expression} as {name}" for name, expression in columns.items())

    def read(
        self, *, organization_id: UUID, filters: Filters, after: Position | None, limit: int
    ) -> list[tuple[Any, ...]]:
        before, before_id = after or (None, None)
        values = {name: getattr(filters, name, None) for name in _CONDITIONS} | {"before": before}
        wanted = tuple(name for name in _CONDITIONS if values[name] is not None)
        statement = self._statement(wanted, filters.untagged)
        known = values | {"organization_id": organization_id, "before_id": before_id, "limit": limit}
        return db.run(statement, known)

    @functools.cache  # noqa: B019  # lists live as long as the process
    def _statement(self, wanted: tuple[str, ...], untagged: bool) -> Hot:
        conditions = ["organization_id = %(organization_id)s", *(_CONDITIONS[name] for name in wanted)]
        if untagged:
            conditions.append("sub_id is null")
        return Hot(
            f"select {self._selected} from conversion where {' and '.join(conditions)}"
            # By the columns and not by what is shown under their names, which no index knows.
            " order by conversion.created_at desc, conversion.id desc limit %(limit)s"
        )


_PAGES = _List({name: _EXPRESSIONS.get(name, name) for name in _SHOWN})
_Row: Any = namedtuple("_Row", _SHOWN)  # type: ignore[misc]  # columns by variable
_PIECES = _List(
    {name: _TEXTS.get(name) or _EXPRESSIONS.get(name, name) for name in _EXPORTED} | {"moment": "created_at"}
)


def page(*, organization_id: UUID, filters: Filters, after: Position | None, limit: int) -> list[Any]:
    """Return up to `limit` conversions, newest first, after the keyset position `after`. Ids are texts."""
    rows = _PAGES.read(organization_id=organization_id, filters=filters, after=after, limit=limit)
    return [_Row._make(row) for row in rows]


@dataclass(frozen=True, slots=True)
class Piece:
    """Some rows of an export: texts in the order of the file's columns (then one value more); and where it ends."""

    rows: list[tuple[Any, ...]]
    end: Position


def piece(*, organization_id: UUID, filters: Filters, after: Position | None, limit: int) -> Piece | None:
    """Return the next up to `limit` conversions of an export, newest first; None when there are no more."""
    rows = _PIECES.read(organization_id=organization_id, filters=filters, after=after, limit=limit)
    return Piece(rows, (rows[-1][-1], UUID(rows[-1][0]))) if rows else None
