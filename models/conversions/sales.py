"""Accepted sales: the inbox that makes a retry harmless, and the facts that settling one needs."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from domain import leads
from models.conditions import OPEN_PROGRAM
from models.conversions import sale_terms
from models.conversions.sale_terms import SaleTerms
from models.db import db
from models.hot import Hot


@dataclass(frozen=True, slots=True)
class Referral:
    """The id of a sale that is known already, and what the slug leads to; None for an unknown one."""

    known_sale_id: UUID | None
    affiliate_id: UUID | None
    affiliate_status: str | None
    program_id: UUID | None
    is_program_open: bool | None
    commission_model: str | None
    has_sale_leg: bool | None


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


def look_up(*, organization_id: UUID, external_event_id: str, slug: str) -> Referral:
    """Return which sale this is, if it is known, and what its slug leads to, in one statement.

    A slug may stand in several campaigns of one organization: the one that can earn now wins, then the oldest.
    """
    row = db.row(
        _LOOK_UP,
        {"org": organization_id, "event": external_event_id, "slug": slug},
    )
    assert row is not None
    return Referral(*row)


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


_SALE_FIELDS = tuple(Sale.__dataclass_fields__)
_INSERT = Hot(
    f"insert into sale ({', '.join(_SALE_FIELDS)}) values ({', '.join(['%s'] * len(_SALE_FIELDS))})"
    " on conflict (organization_id, external_event_id) do nothing returning id"
)


def insert(sale: Sale) -> bool:
    """Insert an accepted sale; False when the organization has one with this external event id already."""
    return bool(db.run(_INSERT, tuple(getattr(sale, name) for name in _SALE_FIELDS)))


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


# How many of the facts come first in the row: those of the sale and its customer.
_OWN = tuple(SaleFacts.__dataclass_fields__).index("terms")
# Both looks for one read an index in its order: with an order of
# their own a plan made while the table is empty would go through all of a tenant's leads.
_LEAD = f"""from lead l
  where l.organization_id = s.organization_id and l.email_normalized = s.email_normalized and l.is_test = s.is_test
    and l.state <> 'Invalidated'
    and l.occurred_at > s.accepted_at - interval '{leads.WINDOW.days} days' and l.occurred_at <= s.accepted_at"""
# Of several leads the affiliate's own is meant, then the newest.
_FACTS = Hot(f"""
select s.id, s.organization_id, s.external_event_id, s.program_id, s.affiliate_id, s.amount_cents, s.currency,
  s.customer_id, s.customer_name, s.customer_email, s.customer_avatar_url, s.sub_id, s.is_test, s.accepted_at,
  s.customer_ordinal, coalesce(c.first_paid_at, s.accepted_at),
  a.email_normalized, lead.id, lead.affiliate_id, lead.sub_id, lead.occurred_at,
  {sale_terms.COLUMNS}
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
    row = db.row(_FACTS, (organization_id, sale_id))
    if row is None:
        return None
    own, (email_normalized, *lead), terms = row[:_OWN], row[_OWN : _OWN + 5], row[_OWN + 5 :]
    of_buyer = LeadOfBuyer(*lead) if lead[0] is not None else None
    return SaleFacts(*[*own, SaleTerms(*terms), email_normalized, of_buyer])


_SETTLED = Hot("update sale set settled_at = %s where organization_id = %s and id = %s")


def stage_settled(*, organization_id: UUID, sale_id: UUID, settled_at: datetime) -> None:
    """Mark the sale as having its conversion."""
    db.stage(_SETTLED, (settled_at, organization_id, sale_id))


def find_id(*, organization_id: UUID, external_event_id: str) -> UUID | None:
    """Return the conversion id that was reserved for an external event id."""
    row = db.row(
        "select id from sale where organization_id = %s and external_event_id = %s",
        (organization_id, external_event_id),
    )
    return row[0] if row else None


def is_unsettled(*, organization_id: UUID, sale_id: UUID) -> bool:
    """Say whether this id was given out for a sale that has no conversion yet."""
    return bool(
        db.run(
            "select from sale where organization_id = %s and id = %s and settled_at is null", (organization_id, sale_id)
        )
    )


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


def stage_uncredited(values: Mapping[str, Any]) -> None:
    """Record a sale that named an affiliate who could not earn; a retry of it records nothing more."""
    columns = ", ".join(values)
    marks = ", ".join(["%s"] * len(values))
    db.stage(
        f"insert into uncredited_conversion ({columns}) values ({marks})"
        " on conflict (organization_id, source, external_event_id) do nothing",
        tuple(values.values()),
    )
