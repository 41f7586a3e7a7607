"""Deals of all organizations, for the operator. Read-only."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import allowing_table_scans
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class AdminDeal:
    """A deal in a list, with how many of its milestones are in dispute. Minor units of its currency."""

    id: UUID
    organization_id: UUID
    organization: str
    title: str
    status: str
    currency: str
    charged_cents: int
    escrow_cents: int
    disputed: int
    charge_state: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class AdminRelease:
    """A payout of a milestone, voided or not. US cents."""

    id: UUID
    seq: int
    status: str
    amount_cents: int
    native_amount_cents: int
    voided_at: datetime | None


_DEAL = {
    "organization": "o.name",
    "disputed": "count(m.id) filter (where m.status = 'Disputed')",
    "charge_state": """
  (select r.state from deal_request r where r.organization_id = d.organization_id and r.deal_id = d.id
    and r.kind = 'charge' order by r.number desc limit 1)""",
}
_LIST = f"""
select {columns(AdminDeal, "d", **_DEAL)}
from deal d join organization o on o.id = d.organization_id
join deal_milestone m on m.organization_id = d.organization_id and m.deal_id = d.id
where (%(org)s::uuid is null or d.organization_id = %(org)s) and (%(status)s::text is null or d.status = %(status)s)
group by d.organization_id, d.id, o.name
having not %(disputed)s or count(m.id) filter (where m.status = 'Disputed') > 0
order by d.created_at desc, d.id desc limit %(limit)s
"""
_deals = Rows(AdminDeal)


def any_org_list(
    *, organization_id: UUID | None, status: str | None, only_disputed: bool, limit: int
) -> list[AdminDeal]:
    """Return deals, newest first; None does not filter."""
    params = {"org": organization_id, "status": status, "disputed": only_disputed, "limit": limit}
    with allowing_table_scans():
        return _deals.all(_LIST, params)


@dataclass(frozen=True, slots=True)
class DealParties:
    """The organization and the affiliate of a deal; the affiliate may be deleted."""

    organization_id: UUID
    organization: str
    affiliate: str


_PARTIES = f"""
select {columns(DealParties, "d", organization="o.name", affiliate="a.email")}
from deal d join organization o on o.id = d.organization_id
join affiliate a on a.organization_id = d.organization_id and a.id = d.affiliate_id
where d.id = %s
"""
_parties = Rows(DealParties)


def any_org_find_parties(deal_id: UUID) -> DealParties | None:
    """Return the parties of a deal, for an operator who knows only its id."""
    return _parties.first(_PARTIES, (deal_id,))


@dataclass(frozen=True, slots=True)
class OpenDispute:
    """A milestone in dispute, with its deal and organization. Minor units of the deal's currency."""

    deal_id: UUID
    organization_id: UUID
    organization: str
    deal: str
    seq: int
    title: str
    currency: str
    amount_cents: int
    opened_by: str
    dispute_reason: str
    disputed_at: datetime


_OF_DISPUTE = {"organization": "o.name", "deal": "d.title", "currency": "d.currency"}
_DISPUTES = f"""
select {columns(OpenDispute, "m", **_OF_DISPUTE)}
from deal_milestone m join deal d on d.organization_id = m.organization_id and d.id = m.deal_id
join organization o on o.id = m.organization_id
where m.status = 'Disputed' order by m.disputed_at, m.id limit %s
"""
_disputes = Rows(OpenDispute)


def any_org_list_disputes(*, limit: int) -> list[OpenDispute]:
    """Return the milestones in dispute, the oldest dispute first."""
    return _disputes.all(_DISPUTES, (limit,))


_PAYOUTS = f"""
select {columns(AdminRelease, "p", seq="m.seq", native_amount_cents="r.native_amount_cents")}
from deal_milestone m join payout p on p.organization_id = m.organization_id and p.milestone_id = m.id
join deal_release r on r.organization_id = p.organization_id and r.payout_id = p.id
where m.organization_id = %s and m.deal_id = %s order by p.created_at, p.id
"""
_releases = Rows(AdminRelease)


def list_payouts(*, organization_id: UUID, deal_id: UUID) -> list[AdminRelease]:
    """Return the payouts of a deal's milestones, oldest first."""
    return _releases.all(_PAYOUTS, (organization_id, deal_id))
