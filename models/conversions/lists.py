"""Conversions as the brand lists and exports them: light rows by prepared statements, each filter with its index."""

import functools
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar
from uuid import UUID

from models.hot import Hot
from models.listing import Position
from models.table import Rows, columns

Row = TypeVar("Row")


class ListedConversion(NamedTuple):
    """A conversion as a page shows it. Ids are texts."""

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


class ExportedConversion(NamedTuple):
    """A conversion as the file has it: fifty thousand are mostly the making of objects, so the database brings texts.

    What is null is an empty text. `moment` is `created_at` again, as a place in the list.
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


_IDS = {"id": "id::text", "affiliate_id": "affiliate_id::text", "program_id": "program_id::text"}
_LISTED = columns(
    ListedConversion,
    **_IDS,
    parent_id="parent_id::text",
    is_disputed="disputed_at is not null",
    net_commission_cents="commission_cents - reversed_cents as net_commission_cents",
)
_MOMENT = "to_char({} at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"
_EXPORTED = columns(
    ExportedConversion,
    **_IDS,
    amount_cents="amount_cents::text",
    net_commission_cents="(commission_cents - reversed_cents)::text",
    created_at=_MOMENT.format("created_at"),
    refunded_at=f"coalesce({_MOMENT.format('refunded_at')}, '')",
    attribution_method="coalesce(attribution_method, '')",
    coupon_code="coalesce(coupon_code, '')",
    sub_id="coalesce(sub_id, '')",
    moment="created_at",
)

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
    "untagged": "sub_id is null",
    "before": "(created_at, id) < (%(before)s, %(before_id)s)",
}


@dataclass(frozen=True, slots=True)
class ConversionFilters:
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


class _List(Generic[Row]):
    """Conversions as rows of one class in the order (created_at, id), newest first."""

    def __init__(self, kind: type[Row], selected: str) -> None:
        self._rows = Rows(kind)
        self._selected = selected

    def read(
        self, *, organization_id: UUID, filters: ConversionFilters, after: Position | None, limit: int
    ) -> list[Row]:
        before, before_id = after or (None, None)
        values = {name: getattr(filters, name, None) for name in _CONDITIONS}
        values |= {"untagged": filters.untagged or None, "before": before}
        wanted = tuple(name for name in _CONDITIONS if values[name] is not None)
        known = values | {"organization_id": organization_id, "before_id": before_id, "limit": limit}
        return self._rows.all(self._statement(wanted), known)

    @functools.cache  # noqa: B019  # lists live as long as the process
    def _statement(self, wanted: tuple[str, ...]) -> Hot:
        conditions = ["organization_id = %(organization_id)s", *(_CONDITIONS[name] for name in wanted)]
        # Ordered by the columns and not by what is shown under their names, which no index knows.
        return Hot(f"""
select {self._selected} from conversion where {" and ".join(conditions)}
order by conversion.created_at desc, conversion.id desc limit %(limit)s
""")


_PAGES = _List(ListedConversion, _LISTED)
_PIECES = _List(ExportedConversion, _EXPORTED)


def page(
    *, organization_id: UUID, filters: ConversionFilters, after: Position | None, limit: int
) -> list[ListedConversion]:
    """Return up to `limit` conversions, newest first, after the keyset position `after`."""
    return _PAGES.read(organization_id=organization_id, filters=filters, after=after, limit=limit)


@dataclass(frozen=True, slots=True)
class Piece:
    """Some rows of an export, and where it ends."""

    rows: list[ExportedConversion]
    end: Position


def piece(*, organization_id: UUID, filters: ConversionFilters, after: Position | None, limit: int) -> Piece | None:
    """Return the next up to `limit` conversions of an export, newest first; None at the end."""
    rows = _PIECES.read(organization_id=organization_id, filters=filters, after=after, limit=limit)
    return Piece(rows, (rows[-1].moment, UUID(rows[-1].id))) if rows else None
