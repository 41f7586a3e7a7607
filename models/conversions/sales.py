"""Accepted sales: the inbox that makes a retry harmless, and the facts that settling one needs."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain import leads
from models.conditions import OPEN_PROGRAM
from models.conversions import sale_terms
from models.conversions.sale_terms import SaleTerms
from models.db import db
from models.hot import Hot
from models.table import Rows, columns, marks, values


@dataclass(frozen=True, slots=True)
class SaleReferral:
    """The id of a sale that is known already, and what the slug leads to; None for an unknown one."""

    known_sale_id: UUID | None
    affiliate_id: UUID | None
    affiliate_status: str | None
    program_id: UUID | None
    is_program_open: bool | None
    commission_model: str | None
    has_sale_leg: bool | None


_REFERRALS = Rows(SaleReferral)
# Joined by primary keys alone: composite foreign keys keep the rows in one organization, and with the organization
# in the join a planner without statistics would rather walk all of a tenant's affiliates.
_LOOK_UP = Hot(f"""
select (select id from sale where organization_id = %(org)s and external_event_id = %(event)s),
  found.* from (select) one left join lateral (
  select a.id, a.status, p.id, now_open.yes, p.default_commission_model, p.sale_commission_type is not null
  from tracking_link l
  join affiliate a on a.id = l.affiliate_id and a.deleted_at is null
  join program p on p.id = l.program_id
  cross join lateral (select {OPEN_PROGRAM} as yes) now_open
  where l.organization_id = %(org)s and l.slug = %(slug)s and l.deleted_at is null
  order by a.status = 'Approved' and now_open.yes desc, a.status = 'Approved' desc, l.created_at limit 1
  ) found on true
""")


def look_up(*, organization_id: UUID, external_event_id: str, slug: str) -> SaleReferral:
    """Return which sale this is, if it is known, and what its slug leads to, in one statement.

    A slug may stand in several campaigns of one organization: the campaign that can earn now wins, then the oldest.
    """
    found = _REFERRALS.first(_LOOK_UP, {"org": organization_id, "event": external_event_id, "slug": slug})
    assert found is not None
    return found


@dataclass(frozen=True, slots=True)
class Sale:
    """A sale as it was accepted; `id` is reserved for its conversion."""

    id: UUID
    organization_id: UUID
    external_event_id: str
    program_id: UUID
    affiliate_id: UUID
    amount_cents: int
    currency: str
    customer_id: str | None
    customer_key: str | None
    customer_name: str | None
    customer_email: str | None
    email_normalized: str | None
    customer_avatar_url: str | None
    sub_id: str | None
    is_test: bool
    accepted_at: datetime


_INSERT = Hot(f"""
insert into sale ({columns(Sale)}) values ({marks(Sale)})
on conflict (organization_id, external_event_id) do nothing returning id
""")


def insert(sale: Sale) -> bool:
    """Insert an accepted sale; False when the organization has one with this external event id already."""
    return bool(db.run(_INSERT, values(sale)))


@dataclass(frozen=True, slots=True)
class LeadOfBuyer:
    """A lead of the inbox that a sale names. `occurred_at` is aware UTC."""

    id: UUID
    affiliate_id: UUID
    sub_id: str | None
    occurred_at: datetime


@dataclass(frozen=True, slots=True)
class SaleFacts:
    """Everything that settling a sale decides on. Rates are Decimal, money minor units, times aware UTC."""

    sale_id: UUID
    organization_id: UUID
    external_event_id: str
    program_id: UUID
    affiliate_id: UUID
    amount_cents: int
    currency: str
    customer_id: str | None
    customer_name: str | None
    customer_email: str | None
    customer_avatar_url: str | None
    sub_id: str | None
    is_test: bool
    accepted_at: datetime
    customer_ordinal: int
    first_paid_at: datetime
    terms: SaleTerms
    affiliate_email_normalized: str | None = None
    lead: LeadOfBuyer | None = None


_FACTS_ROWS = Rows(SaleFacts)
_SHOWN = columns(
    SaleFacts,
    "s",
    sale_id="s.id",
    first_paid_at="coalesce(c.first_paid_at, s.accepted_at)",
    terms=sale_terms.COLUMNS,
    affiliate_email_normalized="a.email_normalized",
    lead=columns(LeadOfBuyer, "lead"),
)
# Both looks for a lead read an index in its order: with an order of their own a plan that is made while the table is
# empty would go through all of a tenant's leads.
_LEAD = f"""from lead l
  where l.organization_id = s.organization_id and l.email_normalized = s.email_normalized and l.is_test = s.is_test
    and l.state <> 'Invalidated'
    and l.occurred_at > s.accepted_at - interval '{leads.WINDOW.days} days' and l.occurred_at <= s.accepted_at"""
# Of several leads the affiliate's own is meant, then the newest.
_FACTS = Hot(f"""
select {_SHOWN}
from sale s
join affiliate a on a.id = s.affiliate_id
{sale_terms.JOINS}
left join program_customer c on c.organization_id = s.organization_id and c.program_id = s.program_id
  and c.customer_key = s.customer_key
left join lateral (
  (select l.id, l.affiliate_id, l.sub_id, l.occurred_at, true as is_own
    {_LEAD} and l.affiliate_id = s.affiliate_id order by l.occurred_at desc, l.id desc limit 1)
  union all
  (select l.id, l.affiliate_id, l.sub_id, l.occurred_at, false
    {_LEAD} order by l.occurred_at desc, l.id desc limit 1)
  order by is_own desc limit 1
) lead on true
where s.organization_id = %s and s.id = %s and s.settled_at is null
for update of s
""")


def lock_unsettled(*, organization_id: UUID, sale_id: UUID) -> SaleFacts | None:
    """Lock an accepted sale that has no conversion yet and return its facts; None when there is nothing to settle."""
    return _FACTS_ROWS.first(_FACTS, (organization_id, sale_id))


_SETTLED = Hot("update sale set settled_at = %s where organization_id = %s and id = %s")


def stage_settled(*, organization_id: UUID, sale_id: UUID, settled_at: datetime) -> None:
    """Stage that a sale has its conversion."""
    db.stage(_SETTLED, (settled_at, organization_id, sale_id))


_ID = "select id from sale where organization_id = %s and external_event_id = %s"


def find_id(*, organization_id: UUID, external_event_id: str) -> UUID | None:
    """Return the conversion id that was reserved for an external event id."""
    row = db.row(_ID, (organization_id, external_event_id))
    return row[0] if row else None


_UNSETTLED = "select from sale where organization_id = %s and id = %s and settled_at is null"


def is_unsettled(*, organization_id: UUID, sale_id: UUID) -> bool:
    """Say whether this id was given out for a sale that has no conversion yet."""
    return bool(db.run(_UNSETTLED, (organization_id, sale_id)))


_COUNT_PAYMENT = Hot("""
with counted as (
  insert into program_customer as c (organization_id, program_id, customer_key, first_paid_at, payments)
  values (%(org)s, %(program)s, %(customer)s, %(at)s, 1)
  on conflict (organization_id, program_id, customer_key) do update
    set payments = c.payments + 1, first_paid_at = least(c.first_paid_at, excluded.first_paid_at)
  returning payments
)
update sale set customer_ordinal = counted.payments from counted where organization_id = %(org)s and id = %(sale)s
""")


def stage_payment(sale: Sale) -> None:
    """Stage the count of one more payment of the sale's customer, and which it is on the sale.

    The count stays locked until the transaction ends, so payments are numbered in the order of their acceptance.
    """
    db.stage(
        _COUNT_PAYMENT,
        {
            "org": sale.organization_id,
            "program": sale.program_id,
            "customer": sale.customer_key,
            "at": sale.accepted_at,
            "sale": sale.id,
        },
    )
