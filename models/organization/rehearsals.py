"""Queries of `flask trigger`: an affiliate of an organization to act with, and the deliveries of an event."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import Json, db
from models.table import Rows, columns

#: Prefix of the email addresses of affiliates that `flask trigger` creates.
EMAIL_PREFIX = "trigger-"


@dataclass(frozen=True, slots=True)
class Partner:
    """An Approved affiliate in an open campaign, with their default slug."""

    program_id: UUID
    affiliate_id: UUID
    slug: str


_PARTNERS = Rows(Partner)
# A recruited affiliate comes first: their sale also creates a conversion for the recruiter.
_PARTNER = f"""
select {columns(Partner, program_id="p.id", affiliate_id="a.id", slug="l.slug")}
from affiliate a
join program p on p.organization_id = a.organization_id and p.id = a.program_id
join tracking_link l on l.organization_id = a.organization_id and l.affiliate_id = a.id and l.is_default
  and l.deleted_at is null
where a.organization_id = %s and a.status = 'Approved' and a.deleted_at is null
  and p.archived_at is null and p.suspended_at is null and {{}}
order by a.is_test, a.recruited_by_affiliate_id is null, a.created_at, a.id
limit 1
"""
_SELLER = _PARTNER.format("p.default_commission_model = 'Cps'")
_CLICK_PARTNER = _PARTNER.format(
    f"p.click_reward_cents > 0 and not a.is_test and starts_with(a.email, '{EMAIL_PREFIX}')"
)


def find_seller(organization_id: UUID) -> Partner | None:
    """Return an affiliate who earns by sales, or None."""
    return _PARTNERS.first(_SELLER, (organization_id,))


def find_click_partner(organization_id: UUID) -> Partner | None:
    """Return an affiliate created by `flask trigger` who also earns by clicks, or None."""
    return _PARTNERS.first(_CLICK_PARTNER, (organization_id,))


_PROGRAM_WITH_QUESTION = """
select id from program
where organization_id = %s and application_form @> %s::jsonb
  and archived_at is null and suspended_at is null and is_active
order by created_at limit 1
"""


def find_program_with_question(organization_id: UUID, *, key: str) -> UUID | None:
    """Return an open campaign whose second application step has exactly one question with this key, or None."""
    row = db.row(_PROGRAM_WITH_QUESTION, (organization_id, Json({"steps": 2, "fields": [{"key": key, "step": 2}]})))
    return row[0] if row else None


_SLUG = """
select slug from tracking_link
where organization_id = %s and affiliate_id = %s and is_default and deleted_at is null
"""


def find_slug(*, organization_id: UUID, affiliate_id: UUID) -> str:
    """Return an affiliate's default slug."""
    row = db.row(_SLUG, (organization_id, affiliate_id))
    assert row is not None  # every affiliate has one
    return str(row[0])


_CONVERSION_OF_CLICK = """
select conversion_id from click where organization_id = %s and id = %s
"""


def find_conversion_of_click(*, organization_id: UUID, click_id: UUID) -> UUID | None:
    """Return the conversion that pays for a click, or None."""
    row = db.row(_CONVERSION_OF_CLICK, (organization_id, click_id))
    return row[0] if row else None


@dataclass(frozen=True, slots=True)
class EventDelivery:
    """An event, with its delivery to an endpoint if there is one."""

    event_id: UUID
    delivery_id: UUID | None
    url: str | None


_DELIVERY_ROWS = Rows(EventDelivery)
_DELIVERIES = f"""
select {columns(EventDelivery, event_id="e.id", delivery_id="d.id", url="w.url")}
from event e
left join delivery d on d.organization_id = e.organization_id and d.event_id = e.id
left join webhook_endpoint w on w.organization_id = d.organization_id and w.id = d.endpoint_id
where e.organization_id = %s and e.type = %s and e.created_at >= %s and position(%s in e.body) > 0
order by e.created_at, e.id, w.created_at
"""


def list_deliveries(*, organization_id: UUID, type: str, about: UUID, since: datetime) -> list[EventDelivery]:
    """Return the deliveries of the events of a type about an object since a time; an event without any has one row."""
    return _DELIVERY_ROWS.all(_DELIVERIES, (organization_id, type, since, str(about)))
