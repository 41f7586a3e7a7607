"""Affiliates with their totals for a file, in pieces: the rows and the order of the list."""

import functools
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from models.affiliates.listing import lists
from models.affiliates.listing.lists import AffiliateFilters
from models.affiliates.listing.totals import NEVER
from models.listing import NumberPosition, Position
from models.prepared_statements import PreparedStatement
from models.table import Rows, columns


class ExportedAffiliate(NamedTuple):
    """An affiliate in an export. Values are text, null is an empty one; `position` is the sort key in the list."""

    id: str
    email: str
    full_name: str
    status: str
    program_id: str
    program_name: str
    group_name: str
    tags: str
    source: str
    created_at: str
    clicks: str
    sales: str
    currency: str
    revenue_cents: str
    commission_cents: str
    last_sale_on: str
    position: datetime | int


_PROGRAM = "(select {} from program p where p.organization_id = a.organization_id and p.id = a.program_id)"
_GROUP = """coalesce((select g.name from partner_group g
    where g.organization_id = a.organization_id and g.id = a.partner_group_id), '')"""
_SELECTED = {
    "id": "a.id::text",
    "program_id": "a.program_id::text",
    "program_name": _PROGRAM.format("p.name"),
    "group_name": _GROUP,
    "tags": "array_to_string(a.tags, ', ')",
    "created_at": "to_char(a.created_at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')",
    "currency": "(select o.home_currency from organization o where o.id = a.organization_id)",
    **{
        name: f"(select t.{name}::text from affiliate_total t"
        " where t.organization_id = a.organization_id and t.affiliate_id = a.id)"
        for name in ("clicks", "sales", "revenue_cents", "commission_cents")
    },
    "last_sale_on": f"""coalesce((select nullif(t.last_sale_on, '{NEVER.isoformat()}')::text from affiliate_total t
    where t.organization_id = a.organization_id and t.affiliate_id = a.id), '')""",
}
_ROWS = Rows(ExportedAffiliate)
_CHOSEN = f"""
select {columns(ExportedAffiliate, "a", **_SELECTED, position="a.created_at")} from (
  select * from affiliate where organization_id = %s and id = any(%s::uuid[]) and deleted_at is null offset 0
) a order by a.created_at desc, a.id desc
"""


def read_piece(
    *,
    organization_id: UUID,
    filters: AffiliateFilters,
    order: str,
    after: Position | NumberPosition | None,
    limit: int,
) -> list[ExportedAffiliate]:
    """Return the next affiliates of an export, up to `limit`, after a position. Budget: 1 round trip."""
    before, before_id = after or (None, None)
    params = {**filters.params, "organization_id": organization_id, "limit": limit, "skip": 0}
    statement = _statement(order, filters.names, after is not None)
    return _ROWS.all(statement, params | {"before": before, "before_id": before_id})


def list_chosen(*, organization_id: UUID, affiliate_ids: Sequence[UUID]) -> list[ExportedAffiliate]:
    """Return those of these affiliates that exist, newest first. Budget: 1 round trip."""
    return _ROWS.all(_CHOSEN, (organization_id, list(affiliate_ids)))


@functools.cache
def _statement(order: str, filter_names: tuple[str, ...], has_position: bool) -> PreparedStatement:
    source = lists.row_source(order, filter_names, has_position=has_position)
    selected = columns(ExportedAffiliate, "a", **_SELECTED, position=source.position)
    return PreparedStatement(f"select {selected} {source.rows}")
