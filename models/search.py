"""Search over a brand's affiliates, conversions, payouts and codes: by the beginning of a text, or a whole id.

Every part reads a bounded number of index entries, whatever the number of rows: names, last names, emails and codes by
their beginning, orders by their whole number, anything by its id, and conversions and payouts of the affiliates that
were found.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from models.conversions import searches
from models.db import db
from models.prepared_statements import PreparedStatement

#: How many rows of a kind are returned; one more is read, to see whether there are more.
MAX_ROWS = 5
# Sorts after every other character.
_LAST = "\U0010ffff"

_BEGINS = "{0} ~>=~ %(low)s and {0} ~<~ %(high)s"
# Names are lowercased by the database, whose rules may differ from ours, for example for a final sigma.
_NAME_BEGINS = "{0} ~>=~ lower(%(sought)s) and {0} ~<~ (lower(%(sought)s) || %(last)s)"
_OURS = "organization_id = %(organization_id)s and deleted_at is null"
_FOUND = f"""
matched (id, rank) as materialized (
  select id, min(rank) from (
    (select id, 0 as rank from affiliate where {_OURS} and id = %(id)s)
    union all
    (select affiliate_id, 1 from tracking_link where {_OURS} and slug = %(low)s limit %(limit)s)
    union all
    (select id, 2 from affiliate where {_OURS} and {_BEGINS.format("email")}
      order by email using ~<~ limit %(limit)s)
    union all
    (select id, 3 from affiliate where {_OURS} and {_NAME_BEGINS.format("name_sought")}
      order by name_sought using ~<~ limit %(limit)s)
    union all
    (select affiliate_id, 4 from affiliate_total where organization_id = %(organization_id)s and not is_deleted
      and {_NAME_BEGINS.format("last_name")} order by last_name using ~<~ limit %(limit)s)
  ) named group by id order by 2, 1 limit %(limit)s
)"""
_AFFILIATES = f"""
select a.id, a.full_name, a.email, a.program_id, a.status, m.rank = 0 as is_exact
from matched m cross join lateral (
  select * from affiliate where {_OURS} and id = m.id offset 0
) a order by m.rank, a.name_sought, a.id"""
_ORDERS = f"""
ordered (id, rank) as materialized (
  select id, min(rank) from (
    select id, 0 as rank from conversion where organization_id = %(organization_id)s and id = %(id)s
    union all
    select id, 1 from ({searches.IDS_BY_EXTERNAL_ID}) known
  ) named group by id order by 2, 1 limit %(limit)s
)"""
_OF_AFFILIATES = """
  select k.id, 2 as rank, k.created_at from matched m cross join lateral (
    select id, created_at from {0} where organization_id = %(organization_id)s and affiliate_id = m.id
    order by created_at desc, id desc limit %(limit)s
  ) k"""
_CONVERSIONS = f"""
select c.id, c.external_event_id, c.affiliate_id, a.full_name, a.email, c.amount_cents, c.currency, c.status, c.type,
  c.parent_id, c.occurred_at, s.rank = 0 as is_exact
from (
  select id, min(rank) as rank, max(created_at) as created_at from (
    select id, rank, null::timestamptz as created_at from ordered
    union all {_OF_AFFILIATES.format("conversion")}
  ) known group by id order by 2, 3 desc, 1 limit %(limit)s
) s cross join lateral (
  select * from conversion where organization_id = %(organization_id)s and id = s.id offset 0
) c cross join lateral (
  select full_name, email from affiliate where organization_id = %(organization_id)s and id = c.affiliate_id offset 0
) a order by s.rank, c.created_at desc, c.id"""
_PAYOUTS = f"""
select p.id, p.affiliate_id, a.full_name, a.email, p.amount_cents, p.currency, p.status, p.created_at,
  s.rank = 0 as is_exact
from (
  select id, min(rank) as rank, max(created_at) as created_at from (
    select id, 0 as rank, created_at from payout where organization_id = %(organization_id)s and id = %(id)s
    union all {_OF_AFFILIATES.format("payout")}
  ) known group by id order by 2, 3 desc, 1 limit %(limit)s
) s cross join lateral (
  select * from payout where organization_id = %(organization_id)s and id = s.id offset 0
) p cross join lateral (
  select full_name, email from affiliate where organization_id = %(organization_id)s and id = p.affiliate_id offset 0
) a order by s.rank, p.created_at desc, p.id"""
_CODES = """
select k.id, k.code, k.affiliate_id, a.full_name, a.email, k.status, k.rank = 0 as is_exact from (
  select distinct on (id) * from (
    (select id, code, affiliate_id, status, 0 as rank from affiliate_coupon
      where organization_id = %(organization_id)s and id = %(id)s)
    union all
    (select id, code, affiliate_id, status, 1 from affiliate_coupon
      where organization_id = %(organization_id)s and code ~>=~ %(code_low)s and code ~<~ %(code_high)s
      order by code using ~<~ limit %(limit)s)
  ) named order by id, rank
) k cross join lateral (
  select full_name, email from affiliate where organization_id = %(organization_id)s and id = k.affiliate_id offset 0
) a order by k.rank, k.code, k.id limit %(limit)s"""


def _as_json(rows: str) -> str:
    return f"(select coalesce(json_agg(row_to_json(shown)), '[]') from ({rows}) shown)"


_PARTS = {"affiliates": _AFFILIATES, "conversions": _CONVERSIONS, "payouts": _PAYOUTS, "codes": _CODES}
_SEARCH = PreparedStatement(f"with {_FOUND}, {_ORDERS} select {', '.join(_as_json(rows) for rows in _PARTS.values())}")
_TIMES = ("occurred_at", "created_at")


@dataclass(frozen=True, slots=True)
class SearchPart:
    """The first rows of a kind, the exact one first, and whether there are more."""

    rows: Sequence[Mapping[str, Any]]
    has_more: bool


def find(*, organization_id: UUID, text: str) -> dict[str, SearchPart]:
    """Return the rows of each kind that match a text, by the name of the kind. Budget: 1 round trip."""
    low = text.lower()
    params = {
        "organization_id": organization_id,
        "id": _uuid_or_none(text),
        "sought": text,
        "low": low,
        "high": low + _LAST,
        "last": _LAST,
        "code_low": text.upper(),
        "code_high": text.upper() + _LAST,
        "limit": MAX_ROWS + 1,
    }
    columns = db.row(_SEARCH, params)
    assert columns is not None  # its columns are aggregates
    return {
        name: SearchPart([_with_times(row) for row in rows[:MAX_ROWS]], len(rows) > MAX_ROWS)
        for name, rows in zip(_PARTS, columns, strict=True)
    }


def _with_times(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: datetime.fromisoformat(value) if name in _TIMES else value for name, value in row.items()}


def _uuid_or_none(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
