"""The current terms that price an affiliate's sale, read the same way for every source of sales."""

from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from domain.conversions.override import RecruiterShare
from models.conditions import HAS_TIERS
from models.table import columns


@dataclass(frozen=True, slots=True)
class SaleTerms:
    """The terms of an affiliate's sales. Rates are Decimal; both of a pair are None if it is not set.

    `override_percent` and `recruiter_id` are the recruiter's, None if no recruiter has a share. The affiliate's email
    and `self_referrals` decide about a sale whose buyer is the affiliate. The last four decide whether the brand's
    people are notified of a sale.
    """

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
    affiliate_email_normalized: str
    self_referrals: str
    home_currency: str
    large_sale_cents: int | None
    large_sale_currency: str | None
    has_first_sale: bool

    @property
    def recruiter_share(self) -> RecruiterShare | None:
        """The recruiter's share of the affiliate's sales; None without a recruiter or a share."""
        if self.recruiter_id is None or not self.override_percent:
            return None
        return RecruiterShare(self.recruiter_id, self.override_percent)


#: SQL of `SaleTerms` and of their joins, for a statement with an affiliate `a`. Joined by primary keys alone:
#: composite foreign keys keep the rows in one organization.
COLUMNS = columns(
    SaleTerms,
    commission_model="p.default_commission_model",
    default_type="p.default_commission_type",
    default_value="p.default_commission_value",
    sale_leg_type="p.sale_commission_type",
    sale_leg_value="p.sale_commission_value",
    recurring_months="p.recurring_months",
    recurring_delay_invoices="p.recurring_delay_invoices",
    custom_type="a.custom_commission_type",
    custom_value="a.custom_commission_value",
    group_type="g.commission_type",
    group_value="g.commission_value",
    has_tiers=HAS_TIERS,
    override_percent="case when p.sub_affiliate_enabled then p.sub_affiliate_percent end",
    recruiter_id="r.id",
    grace_days="o.payout_grace_days",
    affiliate_email_normalized="a.email_normalized",
    self_referrals="o.self_referrals",
    home_currency="o.home_currency",
    large_sale_cents="o.large_sale_cents",
    large_sale_currency="o.large_sale_currency",
    has_first_sale="o.first_sale_at is not null",
)
JOINS = """join organization o on o.id = a.organization_id
join program p on p.id = a.program_id
left join partner_group g on g.id = a.partner_group_id
left join affiliate r on r.id = a.recruited_by_affiliate_id
  and r.status = 'Approved' and r.deleted_at is null"""
