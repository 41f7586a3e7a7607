"""Lists the discount codes of all affiliates of a brand, with their affiliate and earnings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from models import conditions
from models.coupons import affiliate_coupons
from models.db import db
from models.listing import Position
from models.table import Rows, columns


class CreditedCode(NamedTuple):
    """A code in a list, with its affiliate and the name of its coupon (None: without a coupon)."""

    id: UUID
    program_id: UUID
    affiliate_id: UUID
    campaign_coupon_id: UUID | None
    code: str
    origin: str
    status: str
    processor_promotion_code_id: str | None
    redemption_count: int
    last_redeemed_at: datetime | None
    created_at: datetime
    revoked_at: datetime | None
    discount_type: str | None
    discount_value: int | None
    discount_currency: str | None
    expires_at: datetime | None
    max_redemptions: int | None
    processor: str | None
    affiliate_name: str
    affiliate_email: str
    coupon_name: str | None


@dataclass(frozen=True, slots=True)
class CodeFilters:
    """Filters of the list; None means no filter."""

    program_id: UUID | None = None
    coupon_id: UUID | None = None
    affiliate_id: UUID | None = None
    status: str | None = None


_ROWS = Rows(CreditedCode)
_CONDITIONS = {
    "program_id": "k.program_id = %(program_id)s",
    "coupon_id": "k.campaign_coupon_id = %(coupon_id)s",
    "affiliate_id": "k.affiliate_id = %(affiliate_id)s",
    "status": "k.status = %(status)s",
}
_COLUMNS = columns(
    CreditedCode,
    "k",
    processor=affiliate_coupons.processor_sql("k"),
    affiliate_name="a.full_name",
    affiliate_email="a.email",
    coupon_name="f.name",
)
_PAGE = f"""
select {_COLUMNS} from affiliate_coupon k
join affiliate a on a.organization_id = k.organization_id and a.id = k.affiliate_id
left join campaign_coupon f on f.organization_id = k.organization_id and f.id = k.campaign_coupon_id
where k.organization_id = %(org)s and {{which}}
order by k.created_at desc, k.id desc limit %(limit)s
"""


def page(*, organization_id: UUID, filters: CodeFilters, after: Position | None, limit: int) -> list[CreditedCode]:
    """Return up to `limit` codes, the newest first, after the keyset position `after`."""
    values = {name: getattr(filters, name) for name in _CONDITIONS if getattr(filters, name) is not None}
    before, before_id = after or (None, None)
    clauses = [_CONDITIONS[name] for name in values]
    if after:
        clauses.append("(k.created_at, k.id) < (%(before)s, %(before_id)s)")
    params = values | {"org": organization_id, "before": before, "before_id": before_id, "limit": limit}
    return _ROWS.all(_PAGE.format(which=" and ".join(clauses) or "true"), params)


_EARNED = f"""
select c.affiliate_coupon_id, c.currency, sum({conditions.earned_cents("c")})::bigint from conversion c
where c.organization_id = %s and c.affiliate_coupon_id = any(%s::uuid[]) and c.parent_id is null and not c.is_test
group by 1, 2 having sum({conditions.earned_cents("c")}) <> 0 order by 1, 2
"""


def sum_earnings(*, organization_id: UUID, code_ids: Sequence[UUID]) -> Mapping[UUID, Mapping[str, int]]:
    """Return what each code's sales earn net of reversals, by currency in minor units, without test sales."""
    earnings: dict[UUID, dict[str, int]] = {code_id: {} for code_id in code_ids}
    for code_id, currency, cents in db.run(_EARNED, (organization_id, list(code_ids))):
        earnings[code_id][currency] = cents
    return earnings
