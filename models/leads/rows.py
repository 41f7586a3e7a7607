"""Leads, and the affiliate of a lead's link. A lead has the same id as its own conversion."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.affiliates import slug_links
from models.conditions import OPEN_PROGRAM
from models.db import db
from models.prepared_statements import Lookup, PreparedStatement
from models.table import Rows, columns, placeholders, row_values


@dataclass(frozen=True, slots=True)
class LeadReferral:
    """The affiliate to credit with a lead, on the current terms. `currency` is the organization's home currency."""

    program_id: UUID
    affiliate_id: UUID
    affiliate_status: str
    affiliate_email: str
    is_test_affiliate: bool
    is_program_open: bool
    pays_leads: bool
    currency: str
    grace_days: int
    self_referrals: str


_REFERRALS = Rows(LeadReferral)
_REFERRAL = columns(
    LeadReferral,
    program_id="p.id",
    affiliate_id="a.id",
    affiliate_status="a.status",
    affiliate_email="a.email",
    is_test_affiliate="a.is_test",
    is_program_open=OPEN_PROGRAM,
    pays_leads="p.default_commission_model = 'Cpl' or p.lead_bounty_cents is not null",
    currency="o.home_currency",
    grace_days="o.payout_grace_days",
    self_referrals="o.self_referrals",
)
_BY_ID = Lookup(f"""
select {_REFERRAL}
from affiliate a join program p on p.id = a.program_id join organization o on o.id = a.organization_id
where a.organization_id = %s and a.program_id = %s and a.id = %s and a.deleted_at is null
""")


def find_referral(*, organization_id: UUID, program_id: UUID, affiliate_id: UUID) -> LeadReferral | None:
    """Return an affiliate to credit with leads; None for an unknown one."""
    return _REFERRALS.first(_BY_ID, (organization_id, program_id, affiliate_id))


@dataclass(frozen=True, slots=True)
class LeadLookUp:
    """The id of an already known lead, and the affiliate of the slug; None for an unknown one."""

    known_lead_id: UUID | None
    referral: LeadReferral | None


_LOOK_UPS = Rows(LeadLookUp)
# Joined by primary keys alone, as a sale's look-up is.
_BY_SLUG = Lookup(
    f"""
select (select id from lead where organization_id = %(org)s and event_id = %(event)s),
  referral.* from (select) one left join lateral (
  select {_REFERRAL}
  from {slug_links.matches_sql(organization="%(org)s")} l
  join affiliate a on a.id = l.affiliate_id and a.deleted_at is null
  join program p on p.id = l.program_id
  join organization o on o.id = l.organization_id
  where %(program)s::uuid is null or l.program_id = %(program)s
  order by l.place, a.status = 'Approved' and {OPEN_PROGRAM} desc, a.status = 'Approved' desc, l.created_at limit 1
  ) referral on true
""",
    null_columns=2,
)


def look_up(
    *,
    organization_id: UUID,
    external_event_id: str | None,
    slug: str,
    tokens: Sequence[str],
    program_id: UUID | None,
) -> LeadLookUp:
    """Return the lead with this event id, if it is known, and the affiliate of the slug, in one statement.

    Among several campaigns one that can earn now comes first, then the oldest; `program_id` selects the campaign.
    Without a link with the slug, `tokens` may be old tokens.
    """
    params = {
        "org": organization_id,
        "event": external_event_id,
        "slug": slug,
        "tokens": list(tokens),
        "program": program_id,
    }
    look_up_row = _LOOK_UPS.first(_BY_SLUG, params)
    assert look_up_row is not None
    return look_up_row


@dataclass(frozen=True, slots=True)
class LeadRow:
    """One lead; `id` is also its conversion's id. Times are aware UTC."""

    id: UUID
    organization_id: UUID
    program_id: UUID
    affiliate_id: UUID
    email: str
    email_normalized: str
    name: str | None
    external_event_id: str | None
    event_id: str
    sub_id: str | None
    method: str
    state: str
    is_test: bool
    occurred_at: datetime
    expires_at: datetime


_INSERT = PreparedStatement(f"""
insert into lead ({columns(LeadRow)}) values ({placeholders(LeadRow)}) on conflict do nothing returning id
""")


def insert_new(lead: LeadRow) -> bool:
    """Insert a lead now; False if its event or its person is known. The later of two calls waits and fails."""
    return bool(db.run(_INSERT, row_values(lead)))


_CONVERT = PreparedStatement("""
update lead set state = 'Converted', converted_by_conversion_id = %s, converted_at = %s
where organization_id = %s and id = %s and state = 'Open'
""")


def stage_convert(*, organization_id: UUID, lead_id: UUID, conversion_id: UUID, at: datetime) -> None:
    """Stage that an Open lead was converted by a sale; any other lead stays unchanged."""
    db.stage(_CONVERT, (conversion_id, at, organization_id, lead_id))


_INVALIDATE = """
update lead set state = 'Invalidated' where organization_id = %s and id = %s and state <> 'Expired'
"""


def stage_invalidate(*, organization_id: UUID, lead_id: UUID) -> None:
    """Stage that a lead does not count; an expired one stays expired, for the person may have a new lead."""
    db.stage(_INVALIDATE, (organization_id, lead_id))


@dataclass(frozen=True, slots=True)
class InvalidatedLead:
    """The data that decides the state of an invalidated lead when it is validated."""

    is_converted: bool
    expires_at: datetime


_INVALIDATED = Rows(InvalidatedLead)
_LOCK_INVALIDATED = """
select converted_by_conversion_id is not null, expires_at from lead
where organization_id = %s and id = %s and state = 'Invalidated'
for update
"""


def lock_invalidated(*, organization_id: UUID, lead_id: UUID) -> InvalidatedLead | None:
    """Lock a lead that is Invalidated; None for any other."""
    return _INVALIDATED.first(_LOCK_INVALIDATED, (organization_id, lead_id))


_RESTORE = "update lead set state = %s where organization_id = %s and id = %s"


def stage_restore(*, organization_id: UUID, lead_id: UUID, state: str) -> None:
    """Stage the state of a lead that was locked as Invalidated."""
    db.stage(_RESTORE, (state, organization_id, lead_id))


_EXPIRE = """
update lead set state = 'Expired'
where (organization_id, id) in (
  select organization_id, id from lead
  where state = 'Open' and expires_at <= %s order by expires_at limit %s for update skip locked
)
returning 1
"""


def any_org_expire(*, now: datetime, limit: int) -> int:
    """Expire up to `limit` Open leads without a sale in time; return how many.

    Rows locked by another transaction are skipped until the next run.
    """
    return len(db.run(_EXPIRE, (now, limit)))
