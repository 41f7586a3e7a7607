"""The terms that a conversion recorded by hand is priced by: those of the affiliate's program, as they stand now."""

from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from models.db import db
from models.hot import Hot


@dataclass(frozen=True, slots=True)
class Terms:
    """An affiliate in a program with all that a sale of theirs is priced by; see `models.sales.Facts`."""

    affiliate_status: str
    is_test_affiliate: bool
    commission_model: str
    default_type: str
    default_value: Decimal
    sale_leg_type: str | None
    sale_leg_value: Decimal | None
    recurring_months: int | None
    recurring_delay_invoices: int
    custom_type: str | None
    custom_value: Decimal | None
    group_type: str | None
    group_value: Decimal | None
    has_tiers: bool
    override_percent: Decimal | None
    recruiter_id: UUID | None
    grace_days: int


_TERMS = Hot("""
select a.status, a.is_test, p.default_commission_model, p.default_commission_type, p.default_commission_value,
  p.sale_commission_type, p.sale_commission_value, p.recurring_months, p.recurring_delay_invoices,
  a.custom_commission_type, a.custom_commission_value, g.commission_type, g.commission_value,
  exists (select from performance_tier t where t.organization_id = a.organization_id and t.program_id = a.program_id),
  case when p.sub_affiliate_enabled then p.sub_affiliate_percent end, r.id, o.payout_grace_days
from affiliate a
join organization o on o.id = a.organization_id
join program p on p.id = a.program_id
left join partner_group g on g.id = a.partner_group_id
left join affiliate r on r.id = a.recruited_by_affiliate_id
  and r.status = 'Approved' and r.deleted_at is null
where a.organization_id = %s and a.program_id = %s and a.id = %s and a.deleted_at is null
""")


def terms(*, organization_id: UUID, program_id: UUID, affiliate_id: UUID) -> Terms | None:
    """Return an affiliate's terms; None when the program has no such affiliate."""
    row = db.row(_TERMS, (organization_id, program_id, affiliate_id))
    return Terms(*row) if row else None
