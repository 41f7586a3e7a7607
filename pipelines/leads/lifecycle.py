"""Leads: people who signed up before they paid.

A lead earns nothing by itself. It is listed as a conversion without an amount, and a later sale to the same person is
credited to the lead's affiliate.
Source: tracking spec, "Lead body", "Lead", section 8 "Lead attribution order"; core spec, "Conversion" (lead rows).
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from domain import emails, jobs, leads
from domain.attribution import self_referrals
from domain.conversions import avatars
from domain.leads import LeadMethod
from domain.programs.rewards import Reward
from domain.statuses import ConversionStatus, ConversionType
from models import ids
from models.conversions.conversions import Conversion
from models.leads import networks, rows
from models.leads.rows import LeadReferral, LeadRow
from pipelines import earnings, work

SOURCE = "lead"
_BATCH = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLead:
    """A person who signed up. `email` is a valid address as sent, `sub_id` is normalized, `occurred_at` aware.

    The coupon is one that made the start free.
    """

    email: str
    name: str | None
    occurred_at: datetime
    is_test: bool
    external_event_id: str | None = None
    sub_id: str | None = None
    method: LeadMethod = LeadMethod.lead_signup
    coupon_code: str | None = None
    affiliate_coupon_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class LeadReceipt:
    """A lead's id, which is also its conversion's; None if the person or the event was already known."""

    lead_id: UUID | None

    @property
    def is_new(self) -> bool:
        """Whether a lead was recorded."""
        return self.lead_id is not None


def find_referral(*, organization_id: UUID, program_id: UUID, affiliate_id: UUID) -> LeadReferral | None:
    """Return the affiliate that `record` credits, with the current terms; None if there is no such affiliate."""
    return rows.find_referral(organization_id=organization_id, program_id=program_id, affiliate_id=affiliate_id)


def record(
    *,
    organization_id: UUID,
    referral: LeadReferral,
    signup: NewLead,
    now: datetime,
    reward: Reward | None = None,
    status: ConversionStatus = ConversionStatus.Pending,
) -> LeadReceipt:
    """Record a lead once, with its conversion, ledger entry and event, in the caller's transaction.

    The caller decides whether the affiliate may be credited. `reward` is what the lead earns (None: nothing); `status`
    is Pending, or Invalidated for a lead in quarantine. A lead is a duplicate if its external event id exists; without
    an id, if the person is a lead of the same affiliate by the same method. Expired leads do not count, invalidated
    ones do.
    Budget: 2 round trips (insert; writes and commit).
    """
    lead = _lead(organization_id, referral, signup, status)
    if not rows.insert_new(lead):
        return LeadReceipt(None)
    conversion = replace(
        _conversion(lead, referral, reward, status, now),
        coupon_code=signup.coupon_code,
        affiliate_coupon_id=signup.affiliate_coupon_id,
    )
    earnings.write(conversion, now=now)
    return LeadReceipt(lead.id)


def stage_convert(*, organization_id: UUID, lead_id: UUID, conversion_id: UUID, now: datetime) -> None:
    """Stage the conversion of a lead by a sale: Open becomes Converted, every other state stays.

    `conversion_id` may be inserted later in the same transaction. Idempotent.
    """
    rows.stage_convert(organization_id=organization_id, lead_id=lead_id, conversion_id=conversion_id, at=now)


def apply_review(*, organization_id: UUID, lead_id: UUID, is_valid: bool, now: datetime) -> None:
    """Apply a review of a lead's conversion to the lead: invalidate it, or restore its state."""
    if not is_valid:
        rows.stage_invalidate(organization_id=organization_id, lead_id=lead_id)
        return
    lead = rows.lock_invalidated(organization_id=organization_id, lead_id=lead_id)
    if lead is not None:
        state = leads.restored_state(is_converted=lead.is_converted, expires_at=lead.expires_at, now=now)
        rows.stage_restore(organization_id=organization_id, lead_id=lead_id, state=state.value)


def any_org_expire(*, now: datetime) -> None:
    """Expire the next Open leads without a sale in time, and stage the job for the rest. Idempotent.

    Expired counts of networks are deleted with them.
    """
    counts = (rows.any_org_expire(now=now, limit=_BATCH), networks.any_org_drop(now=now, limit=_BATCH))
    if _BATCH in counts:
        work.enqueue(jobs.LEADS_EXPIRE, organization_id=None)


def _lead(organization_id: UUID, referral: LeadReferral, signup: NewLead, status: ConversionStatus) -> LeadRow:
    lead_id = ids.new_id()
    return LeadRow(
        id=lead_id,
        organization_id=organization_id,
        program_id=referral.program_id,
        affiliate_id=referral.affiliate_id,
        email=signup.email,
        email_normalized=emails.normalize(signup.email),
        name=signup.name,
        external_event_id=signup.external_event_id,
        event_id=leads.event_id(lead_id, signup.external_event_id),
        sub_id=signup.sub_id,
        method=signup.method.value,
        state=leads.state_of(status).value,
        is_test=signup.is_test,
        occurred_at=signup.occurred_at,
        expires_at=leads.expires_at(signup.occurred_at),
    )


def _conversion(
    lead: LeadRow, referral: LeadReferral, reward: Reward | None, status: ConversionStatus, now: datetime
) -> Conversion:
    initial = self_referrals.initial_state(
        buyer_email=lead.email,
        affiliate_email=referral.affiliate_email,
        policy=referral.self_referrals,
        status=status,
    )
    return Conversion(
        id=lead.id,
        organization_id=lead.organization_id,
        program_id=lead.program_id,
        affiliate_id=lead.affiliate_id,
        source=SOURCE,
        external_event_id=lead.event_id,
        amount_cents=0,
        currency=reward.fee.currency if reward else referral.currency,
        commission_cents=reward.fee.cents if reward else 0,
        status=initial.status.value,
        type=ConversionType.LeadReward.value,
        payability=leads.payability(is_paid=reward is not None, pays_leads=referral.pays_leads).value,
        attribution_method=lead.method,
        rate_source=reward.source if reward else SOURCE,
        rate_type="Fixed" if reward else None,
        rate_value=None,
        is_test=lead.is_test,
        occurred_at=lead.occurred_at,
        hold_until=lead.occurred_at + timedelta(days=referral.grace_days),
        created_at=now,
        sub_id=lead.sub_id,
        customer_name=lead.name,
        customer_email=lead.email,
        customer_avatar_url=avatars.url_from_email(lead.email),
        self_referral=initial.is_self_referral,
        needs_approval=initial.needs_approval,
    )
