"""The programs in which a person is an affiliate, across brands, and what else these brands offer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from models import conditions
from models.conditions import OF_PERSON
from models.programs.advertised_terms import AdvertisedTerms
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class PersonsBrand:
    """A brand that a person is an affiliate of, with its public appearance and the cadence of its payouts.

    `cadence_since` is None without a cadence, `last_proposed_on` before the first proposed run. `min_payouts` are the
    different minimum payouts of the programs that the person is in.
    """

    id: UUID
    name: str
    primary_brand_color: str | None
    logo_file_id: UUID | None
    timezone: str
    payout_cadence: str
    cadence_since: date | None
    last_proposed_on: date | None
    min_payouts: Sequence[Mapping[str, Any]]


_BRANDS = Rows(PersonsBrand)
_CADENCE = {
    "payout_cadence": "o.automatic_payout_cadence",
    "cadence_since": "o.automatic_payout_since",
    "last_proposed_on": "(select max(p.due_on) from payout_proposal p where p.organization_id = o.id)",
    "min_payouts": f"""coalesce((
    select json_agg(json_build_object('amount_cents', cents, 'currency', currency) order by cents, currency) from (
      select distinct coalesce(p.min_payout_cents, o.min_payout_cents) as cents,
        coalesce(case when p.min_payout_cents is not null then p.min_payout_currency else o.min_payout_currency end,
          o.home_currency) as currency
      from affiliate m join program p on p.organization_id = m.organization_id and p.id = m.program_id
      where m.organization_id = o.id and {OF_PERSON}
    ) minimum where cents > 0
  ), '[]')""",
}
_ANY_ORG_BRANDS = f"""
select {columns(PersonsBrand, "o", **_CADENCE)} from organization o
where o.id in (select m.organization_id from affiliate m where {OF_PERSON}) order by o.name, o.id
"""


def any_org_list_brands(*, account_id: UUID | None, email: str | None) -> list[PersonsBrand]:
    """Return the brands of a person by name. `email` is their verified one, or None."""
    return _BRANDS.all(_ANY_ORG_BRANDS, {"account": account_id, "email": email})


@dataclass(frozen=True, slots=True)
class JoinedProgram(AdvertisedTerms):
    """A program with a person's status in it and the rate of their sales there (`rate_source`).

    `rate_currency` is that of a Fixed rate, None if it is each sale's own. `is_open`: sales can earn.
    """

    affiliate_id: UUID
    program_id: UUID
    status: str
    slug: str | None
    joined_at: datetime
    is_open: bool
    archived_at: datetime | None
    rate_source: str
    hold_days: int
    recruits: bool
    recruit_percent: Decimal


@dataclass(frozen=True, slots=True)
class OfferedProgram(AdvertisedTerms):
    """An open program that a person is not in, of a brand that they work for."""

    program_id: UUID
    hold_days: int
    auto_approve: bool
    application_form: Mapping[str, Any] | None


_OF_PROGRAM = {
    "program_id": "p.id",
    "organization_name": "o.name",
    "model": "p.default_commission_model",
    "hold_days": "o.payout_grace_days",
}
# A click or lead has no amount to take a percentage of: an own percentage rate is ignored there.
_OWN = "({rate} is not null and (p.default_commission_model not in ('Cpc', 'Cpl') or {rate} = 'Fixed'))"
_HAS_OWN = _OWN.format(rate="m.custom_commission_type")
_HAS_GROUPS = _OWN.format(rate="g.commission_type")
_JOINED_COLUMNS = columns(
    JoinedProgram,
    "p",
    **_OF_PROGRAM,
    affiliate_id="m.id",
    status="m.status",
    slug="l.slug",
    joined_at="coalesce(m.approved_at, m.applied_at)",
    is_open=conditions.OPEN_PROGRAM,
    rate_type=f"""case when {_HAS_OWN} then m.custom_commission_type
    when {_HAS_GROUPS} then g.commission_type else p.default_commission_type end""",
    rate_value=f"""case when {_HAS_OWN} then m.custom_commission_value
    when {_HAS_GROUPS} then g.commission_value else p.default_commission_value end""",
    rate_currency=f"""case when {_HAS_OWN} then m.custom_commission_currency
    when {_HAS_GROUPS} then g.commission_currency else p.fee_currency end""",
    rate_source=f"case when {_HAS_OWN} then 'affiliate' when {_HAS_GROUPS} then 'group' else 'program' end",
    # An affiliate with an own or a group's rate has no tier rate.
    has_tiers=f"{conditions.PROGRAM_HAS_TIERS} and not {_HAS_OWN} and not {_HAS_GROUPS}",
    recruits="p.sub_affiliate_enabled",
    recruit_percent="p.sub_affiliate_percent",
)
_JOINED = Rows(JoinedProgram)
_JOINED_FROM = f"""
select {_JOINED_COLUMNS}
from affiliate m
join program p on p.organization_id = m.organization_id and p.id = m.program_id
join organization o on o.id = m.organization_id
left join partner_group g on g.organization_id = m.organization_id and g.id = m.partner_group_id
left join tracking_link l on l.organization_id = m.organization_id and l.affiliate_id = m.id
  and l.is_default and l.deleted_at is null
"""
_ANY_ORG_JOINED = f"{_JOINED_FROM} where {OF_PERSON} and p.archived_at is null order by o.name, p.name, m.id"
_OF_AFFILIATE = f"{_JOINED_FROM} where {conditions.OF_AFFILIATE}"


def any_org_list_joined(*, account_id: UUID | None, email: str | None) -> list[JoinedProgram]:
    """Return the programs that a person is in or has applied to, by brand and name, without archived ones."""
    return _JOINED.all(_ANY_ORG_JOINED, {"account": account_id, "email": email})


def find_of_affiliate(*, organization_id: UUID, affiliate_id: UUID) -> JoinedProgram | None:
    """Return the program of one affiliate, archived or not. Budget: 1 statement."""
    return _JOINED.first(_OF_AFFILIATE, {"org": organization_id, "affiliate": affiliate_id})


_OFFERED_COLUMNS = columns(
    OfferedProgram,
    "p",
    **_OF_PROGRAM,
    rate_type="p.default_commission_type",
    rate_value="p.default_commission_value",
    rate_currency="p.fee_currency",
    has_tiers=conditions.PROGRAM_HAS_TIERS,
)
_OFFERED = Rows(OfferedProgram)
_ANY_ORG_OFFERED = f"""
select {_OFFERED_COLUMNS}
from program p join organization o on o.id = p.organization_id
where p.organization_id in (
    select m.organization_id from affiliate m where {OF_PERSON} and m.status in ('Pending', 'Approved'))
  and p.id not in (select m.program_id from affiliate m where {OF_PERSON})
  and {conditions.OPEN_PROGRAM} and p.is_publicly_discoverable and p.network_visibility <> 'InviteOnly'
order by o.name, p.name, p.id
"""


def any_org_list_offered(*, account_id: UUID | None, email: str | None) -> list[OfferedProgram]:
    """Return the public programs of a person's brands that they are not in: no hidden and no invite-only ones.

    A brand at which the person is neither Pending nor Approved offers them nothing.
    """
    return _OFFERED.all(_ANY_ORG_OFFERED, {"account": account_id, "email": email})
