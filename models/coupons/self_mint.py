"""The coupons from which a person may mint codes, across brands."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.conditions import OF_PERSON, OPEN_PROGRAM
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class MintableCoupon:
    """A coupon from which a person may mint, with how many codes of it they have in force (`held`).

    `discount_value` as in `Discount`; `max_codes_per_affiliate` None: no limit.
    """

    id: UUID
    program_id: UUID
    program_name: str
    organization_name: str
    name: str
    discount_type: str
    discount_value: int
    discount_currency: str | None
    duration: str
    duration_in_months: int | None
    expires_at: datetime | None
    max_codes_per_affiliate: int | None
    held: int


_HELD = """(select count(*) from affiliate_coupon k where k.organization_id = c.organization_id
  and k.campaign_coupon_id = c.id and k.affiliate_id = m.id and k.status <> 'Revoked')"""
_COLUMNS = columns(MintableCoupon, "c", program_name="p.name", organization_name="o.name", held=_HELD)
_ROWS = Rows(MintableCoupon)
_ANY_ORG_MINTABLE = f"""
select {_COLUMNS}
from affiliate m
join program p on p.organization_id = m.organization_id and p.id = m.program_id and {OPEN_PROGRAM}
join organization o on o.id = m.organization_id
join campaign_coupon c on c.organization_id = m.organization_id and c.program_id = m.program_id
where {OF_PERSON} and m.status = 'Approved' and c.state = 'active'
  and (c.expires_at is null or c.expires_at > %(now)s)
  and (c.self_mint_mode = 'AllAffiliates' or c.self_mint_mode = 'SpecificAffiliates' and exists (
    select from coupon_grant g where g.organization_id = c.organization_id and g.campaign_coupon_id = c.id
      and g.affiliate_id = m.id))
order by o.name, p.name, c.created_at, c.id
"""


def any_org_list_mintable(*, account_id: UUID | None, email: str | None, now: datetime) -> list[MintableCoupon]:
    """Return the coupons that a person may mint from. `email` is their verified one, or None. Budget: 1 statement."""
    return _ROWS.all(_ANY_ORG_MINTABLE, {"account": account_id, "email": email, "now": now})
