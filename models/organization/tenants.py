"""Lists organizations for the operator, a page at a time, with their risk settings."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class TenantRow:
    """An organization in a list."""

    id: UUID
    name: str
    plan_tier: str
    subscription_status: str
    trial_ends_at: datetime | None
    home_currency: str
    affiliates: int
    fraud_score: int
    verification_state: str
    funding_frozen: bool
    payouts_need_review: bool
    payout_hold_days: int
    created_at: datetime


_ROWS = Rows(TenantRow)
_AFFILIATES = """(select count(*) from affiliate a
  where a.organization_id = o.id and a.deleted_at is null and not a.is_test and a.status <> 'Rejected')"""
_PAGE = f"""
select {columns(TenantRow, "o", affiliates=_AFFILIATES)} from organization o
where (%(q)s::text is null or position(lower(%(q)s) in lower(o.name)) > 0 or o.id::text = lower(%(q)s))
  and (%(at)s::timestamptz is null or (o.created_at, o.id) < (%(at)s, %(id)s::uuid))
order by o.created_at desc, o.id desc limit %(limit)s
"""


def any_org_page(*, q: str | None, after: tuple[datetime, UUID] | None, limit: int) -> list[TenantRow]:
    """Return organizations, newest first, after a position; `q` is a part of the name, or an id."""
    at, id = after or (None, None)
    return _ROWS.all(_PAGE, {"q": q, "at": at, "id": id, "limit": limit})
