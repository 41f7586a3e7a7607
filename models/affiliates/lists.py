"""Affiliates as the brand lists them: light rows by prepared statements, each order with its index."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from models.hot import Hot
from models.listing import Listing, Position
from models.table import Rows, columns


class ListedAffiliate(NamedTuple):
    """An affiliate as lists show them: with ids as texts."""

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


@dataclass(frozen=True, slots=True)
class AffiliateFilters:
    """What the list is narrowed by; None leaves a column alone. `words` stand somewhere in the name or the email."""

    program_id: UUID | None = None
    status: str | None = None
    words: str | None = None


class _Order(NamedTuple):
    by: str
    behind: str


# A name has no place in a cursor, so the row that it stands for is asked for its own.
_ORDERS = {
    "newest": _Order("affiliate.created_at desc, affiliate.id desc", "(created_at, id) < (%(before)s, %(before_id)s)"),
    "oldest": _Order("affiliate.created_at, affiliate.id", "(created_at, id) > (%(before)s, %(before_id)s)"),
    "name": _Order(
        "affiliate.name_sought, affiliate.id",
        """(name_sought, id) > ((select b.name_sought from affiliate b
          where b.organization_id = %(organization_id)s and b.id = %(before_id)s), %(before_id)s)""",
    ),
}
_CONDITIONS = {
    "program_id": "program_id = %(program_id)s",
    "status": "status = %(status)s",
    "words": "strpos(name_sought || ' ' || email, lower(%(words)s)) > 0",
}
_ROWS = Rows(ListedAffiliate)
_SHOWN = columns(
    ListedAffiliate, id="id::text", program_id="program_id::text", partner_group_id="partner_group_id::text"
)
# A statement that is planned once uses the index of those who wait only when it names the status itself.
_WAITING = Listing("affiliate", ListedAffiliate, condition="deleted_at is null and status = 'Pending'")


def page(
    *,
    organization_id: UUID,
    filters: AffiliateFilters,
    after: Position | None,
    limit: int,
    skip: int = 0,
    order: str = "newest",
) -> list[ListedAffiliate]:
    """Return up to `limit` affiliates in an order, after the keyset position `after` (or after `skip` rows).

    Orders are newest, oldest and name. With `words` it reads the brand's affiliates until the page is full.
    """
    values = {name: getattr(filters, name) for name in _CONDITIONS if getattr(filters, name) is not None}
    before, before_id = after or (None, None)
    known = values | {"organization_id": organization_id, "limit": limit, "skip": 0 if after else skip}
    statement = _statement(order, tuple(values), after is not None)
    return _ROWS.all(statement, known | {"before": before, "before_id": before_id})


def pending(*, organization_id: UUID, program_id: UUID | None, limit: int, skip: int) -> list[ListedAffiliate]:
    """Return up to `limit` affiliates who wait for a decision, newest first, after `skip` of them."""
    where = {"program_id": program_id}
    return _WAITING.page(organization_id=organization_id, where=where, limit=limit, skip=skip)


@functools.cache
def _statement(order: str, wanted: tuple[str, ...], is_behind: bool) -> Hot:
    by, behind = _ORDERS[order]
    conditions = ["organization_id = %(organization_id)s", "deleted_at is null"]
    conditions += [_CONDITIONS[name] for name in wanted]
    if is_behind:
        conditions.append(behind)
    # In the order of the columns and not of what is shown under their names, which no index knows.
    return Hot(f"""
select {_SHOWN} from affiliate where {" and ".join(conditions)} order by {by} limit %(limit)s offset %(skip)s
""")
