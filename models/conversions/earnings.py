"""Conversions as their affiliate sees them, across brands: no data of the buyer, no test sales."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from models import conditions
from models.listing import Position
from models.prepared_statements import PreparedStatement
from models.table import Rows, columns


class Earning(NamedTuple):
    """A conversion as its affiliate sees it. Ids are text, money is minor units of `currency`.

    `is_on_its_way`: a payout that is not Paid contains it. `attribution_log` as in `Conversion`. `is_adjusted`: the
    brand set its commission by hand; a recruiter's share never counts as adjusted.
    """

    id: str
    affiliate_id: str
    program_id: str
    program_name: str
    organization_name: str
    type: str
    amount_cents: int
    currency: str
    commission_cents: int
    reversed_cents: int
    refunded_cents: int
    paid_cents: int
    status: str
    payability: str
    payout_locked: bool
    self_referral: bool
    needs_approval: bool
    is_on_its_way: bool
    disputed_at: datetime | None
    hold_until: datetime
    occurred_at: datetime
    created_at: datetime
    refunded_at: datetime | None
    rate_type: str | None
    rate_value: Decimal | None
    rate_source: str
    attribution_method: str | None
    attribution_log: list[str] | None
    coupon_code: str | None
    sub_id: str | None
    is_adjusted: bool


@dataclass(frozen=True, slots=True)
class EarningFilters:
    """Filters of the list; None does not filter. `until` is exclusive."""

    program_id: UUID | None = None
    status: str | None = None
    since: datetime | None = None
    until: datetime | None = None


_IS_ON_ITS_WAY = """exists (select from payout_line l
    where l.organization_id = c.organization_id and l.conversion_id = c.id and l.is_open)"""
_IS_ADJUSTED = """c.parent_id is null and exists (select from commission_change m
    where m.organization_id = c.organization_id and m.conversion_id = c.id)"""
_COLUMNS = columns(
    Earning,
    "c",
    id="c.id::text",
    affiliate_id="c.affiliate_id::text",
    program_id="c.program_id::text",
    program_name="p.name",
    organization_name="o.name",
    is_on_its_way=_IS_ON_ITS_WAY,
    is_adjusted=_IS_ADJUSTED,
)
_CONDITIONS = {
    "program_id": "c.program_id = %(program_id)s",
    "status": "c.status = %(status)s",
    "since": "c.created_at >= %(since)s",
    "until": "c.created_at < %(until)s",
    "before": "(c.created_at, c.id) < (%(before)s, %(before_id)s)",
}
_ROWS = Rows(Earning)


def any_org_list_earnings(
    *, account_id: UUID | None, email: str | None, filters: EarningFilters, after: Position | None, limit: int
) -> list[Earning]:
    """Return up to `limit` conversions that credit a person, newest first, after the keyset position `after`.

    `email` is their verified one, or None. At most `limit` rows of each of their affiliates are read.
    Budget: 1 statement.
    """
    scope_params = {"account": account_id, "email": email}
    return _page(conditions.EVER_OF_PERSON, scope_params, filters, after, limit)


def list_of_affiliate(
    *, organization_id: UUID, affiliate_id: UUID, after: Position | None, limit: int
) -> list[Earning]:
    """Return up to `limit` conversions that credit one affiliate, newest first, after a position.

    Budget: 1 statement.
    """
    scope_params = {"org": organization_id, "affiliate": affiliate_id}
    return _page(conditions.OF_AFFILIATE, scope_params, EarningFilters(), after, limit)


def _page(
    scope: str, scope_params: Mapping[str, object], filters: EarningFilters, after: Position | None, limit: int
) -> list[Earning]:
    before, before_id = after or (None, None)
    values = {name: getattr(filters, name, None) for name in _CONDITIONS} | {"before": before}
    filter_names = tuple(name for name in _CONDITIONS if values[name] is not None)
    return _ROWS.all(
        _statement(scope, filter_names), {**values, **scope_params, "before_id": before_id, "limit": limit}
    )


@functools.cache
def _statement(scope: str, filter_names: tuple[str, ...]) -> PreparedStatement:
    conditions_sql = "".join(f" and {_CONDITIONS[name]}" for name in filter_names)
    return PreparedStatement(f"""
select {_COLUMNS}
from (
  select c.* from affiliate m cross join lateral (
    select * from conversion c
    where c.organization_id = m.organization_id and c.affiliate_id = m.id and not c.is_test{conditions_sql}
    order by c.created_at desc, c.id desc limit %(limit)s
  ) c
  where {scope}
  order by c.created_at desc, c.id desc limit %(limit)s
) c
join program p on p.organization_id = c.organization_id and p.id = c.program_id
join organization o on o.id = c.organization_id
order by c.created_at desc, c.id desc
""")
