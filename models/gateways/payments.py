"""What is known of every payment that a gateway told, whom it may credit, and the ids by which it may be named."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from domain import leads
from models.conditions import EARNS_NOTHING, OPEN_PROGRAM
from models.conversions import sale_terms
from models.conversions.sale_terms import SaleTerms
from models.db import db
from models.hot import Hot
from models.table import Rows, Table, columns


@dataclass(frozen=True, slots=True)
class GatewayPayment:
    """One payment; its cents are gross, in minor units. Without a conversion `reason` says why.

    `reread_cents` is what its gateway said at `reread_at` that is refunded still; None where nothing ever came back.
    """

    id: UUID
    organization_id: UUID
    gateway: str
    external_id: str
    event_id: UUID
    conversion_id: UUID | None
    reason: str | None
    paid_cents: int
    refunded_cents: int
    currency: str
    reread_cents: int | None
    reread_at: datetime | None
    customer_id: str | None
    email_normalized: str | None
    subscription_id: str | None
    is_test: bool
    paid_at: datetime
    created_at: datetime


_TABLE = Table("gateway_payment", GatewayPayment)

_KNOWN = Hot(f"""
select {columns(GatewayPayment, "p")}
from gateway_alias a join gateway_payment p on p.organization_id = a.organization_id and p.id = a.payment_id
where a.organization_id = %(org)s and a.gateway = %(gateway)s and a.alias = any(%(aliases)s)
order by p.created_at, p.id
limit 1
for no key update of p
""")


def lock_known(*, organization_id: UUID, gateway: str, aliases: Sequence[str]) -> GatewayPayment | None:
    """Return the payment that has one of these ids, locked until the transaction ends; take the ids' turns first."""
    return _TABLE.first(_KNOWN, {"org": organization_id, "gateway": gateway, "aliases": list(aliases)})


@dataclass(frozen=True, slots=True)
class Creditable:
    """An affiliate whom something names. `slug` is the claimed one, `lead_id` and what follows are of a lead.

    `may_earn`: the campaign is open and pays for sales.
    """

    by: Literal["claim", "customer", "subscription", "email", "lead"]
    slug: str | None
    affiliate_id: UUID
    affiliate_status: str
    affiliate_email: str
    program_id: UUID
    may_earn: bool
    lead_id: UUID | None
    sub_id: str | None
    occurred_at: datetime | None


_NAMED_ROWS = Rows(Creditable)
_WHO = f"""a.id, a.status, a.email_normalized, a.program_id,
  {OPEN_PROGRAM} and (p.default_commission_model not in ('Cpc', 'Cpl') or p.sale_commission_type is not null)"""
_NO_LEAD = "null::uuid, null::text, null::timestamptz"
_EARLIER = f"""from gateway_payment g
  join conversion c on c.organization_id = g.organization_id and c.id = g.conversion_id
    and c.status not in {EARNS_NOTHING}
  join affiliate a on a.id = c.affiliate_id and a.deleted_at is null
  join program p on p.id = a.program_id
  where g.organization_id = %(org)s and g.gateway = %(gateway)s and g.is_test = %(is_test)s
    and g.paid_at <= %(at)s and"""
_NEWEST = "order by g.paid_at desc limit 1"
_NAMED = Hot(f"""
select 'claim', claimed.slug, found.* from unnest(%(slugs)s::text[]) with ordinality as claimed (slug, place)
cross join lateral (
  select {_WHO}, {_NO_LEAD}
  from tracking_link l
  join affiliate a on a.id = l.affiliate_id and a.deleted_at is null
  join program p on p.id = l.program_id
  where l.organization_id = %(org)s and l.slug = claimed.slug and l.deleted_at is null
  order by a.status = 'Approved' and {OPEN_PROGRAM} desc, a.status = 'Approved' desc, l.created_at limit 1
) found
union all
(select 'subscription', null, {_WHO}, {_NO_LEAD} {_EARLIER} g.subscription_id = %(subscription)s {_NEWEST})
union all
(select 'customer', null, {_WHO}, {_NO_LEAD} {_EARLIER} g.customer_id = %(customer)s {_NEWEST})
union all
(select 'email', null, {_WHO}, {_NO_LEAD} {_EARLIER} g.email_normalized = %(email)s {_NEWEST})
union all
(select 'lead', null, {_WHO}, l.id, l.sub_id, l.occurred_at
  from lead l
  join affiliate a on a.id = l.affiliate_id and a.deleted_at is null
  join program p on p.id = a.program_id
  where l.organization_id = %(org)s and l.email_normalized = %(email)s and l.is_test = %(is_test)s
    and l.state <> 'Invalidated'
    and l.occurred_at > %(at)s::timestamptz - interval '{leads.WINDOW.days} days' and l.occurred_at <= %(at)s
  order by l.occurred_at desc, l.id desc limit 1)
""")


def named(
    *,
    organization_id: UUID,
    gateway: str,
    slugs: Sequence[str],
    customer_id: str | None,
    subscription_id: str | None,
    email_normalized: str | None,
    is_test: bool,
    at: datetime,
) -> list[Creditable]:
    """Return the affiliates whom slugs, earlier payments and leads name, claims in the order of `slugs`.

    Budget: 1 statement.
    """
    return _NAMED_ROWS.all(
        _NAMED,
        {
            "org": organization_id,
            "gateway": gateway,
            "slugs": list(slugs),
            "customer": customer_id,
            "subscription": subscription_id,
            "email": email_normalized,
            "is_test": is_test,
            "at": at,
        },
    )


@dataclass(frozen=True, slots=True)
class Priced:
    """What a payment is priced by: which payment of its customer it is, its affiliate's terms, what a sale counts."""

    affiliate_email: str
    ordinal: int
    first_paid_at: datetime
    commission_basis: str
    terms: SaleTerms


_PRICED_ROWS = Rows(Priced)
_PRICED = Hot(f"""
with counted as (
  insert into program_customer as c (organization_id, program_id, customer_key, first_paid_at, payments)
  select %(org)s, %(program)s, %(customer)s, %(at)s, 1 where %(customer)s::text is not null
  on conflict (organization_id, program_id, customer_key) do update
    set payments = c.payments + 1, first_paid_at = least(c.first_paid_at, excluded.first_paid_at)
  returning payments, first_paid_at
)
select a.email_normalized, coalesce(counted.payments, 1), coalesce(counted.first_paid_at, %(at)s), o.commission_basis,
  {sale_terms.COLUMNS}
from affiliate a
{sale_terms.JOINS}
left join counted on true
where a.organization_id = %(org)s and a.id = %(affiliate)s
""")


def price_facts(
    *, organization_id: UUID, program_id: UUID, affiliate_id: UUID, customer_key: str | None, paid_at: datetime
) -> Priced:
    """Count a payment of a customer, and return what it is priced by. Budget: 1 statement."""
    found = _PRICED_ROWS.first(
        _PRICED,
        {
            "org": organization_id,
            "program": program_id,
            "affiliate": affiliate_id,
            "customer": customer_key,
            "at": paid_at,
        },
    )
    assert found is not None  # the affiliate was found in this transaction
    return found


_FIELDS = tuple(GatewayPayment.__dataclass_fields__)
_STAGE = Hot(f"""
insert into gateway_payment ({", ".join(_FIELDS)}) values ({", ".join(["%s"] * len(_FIELDS))})
on conflict (organization_id, gateway, external_id) do update
  set conversion_id = excluded.conversion_id, reason = excluded.reason
""")
_STAGE_ALIASES = Hot("""
insert into gateway_alias (organization_id, gateway, alias, payment_id)
select %s, %s, alias, %s from unnest(%s::text[]) alias
on conflict (organization_id, gateway, alias) do nothing
""")


def stage(payment: GatewayPayment) -> None:
    """Stage a payment, or the conversion that a known one has by now; the conversion itself is staged first."""
    db.stage(_STAGE, tuple(getattr(payment, name) for name in _FIELDS))


def stage_aliases(payment: GatewayPayment, aliases: Sequence[str]) -> None:
    """Stage ids by which a payment may be named; those that are known stay with whom they belong to."""
    db.stage(_STAGE_ALIASES, (payment.organization_id, payment.gateway, payment.id, list(aliases)))


_PARK = """
insert into gateway_parked (organization_id, gateway, alias, event_id)
select %s, %s, alias, %s from unnest(%s::text[]) alias
on conflict do nothing
"""


def stage_parked(*, organization_id: UUID, gateway: str, event_id: UUID, aliases: Sequence[str]) -> None:
    """Stage that an event waits for the payment that has one of these ids."""
    db.stage(_PARK, (organization_id, gateway, event_id, list(aliases)))


# Those that wait to be looked at already are left out, however many payments of a customer ask for them.
_UNREFERRED = """
select p.event_id
from gateway_payment p join gateway_event e on e.organization_id = p.organization_id and e.id = p.event_id
where p.organization_id = %(org)s and p.gateway = %(gateway)s
  and p.conversion_id is null and p.reason = 'nobody_referred'
  and (p.customer_id = %(customer)s or p.subscription_id = %(subscription)s or p.email_normalized = %(email)s)
  and p.paid_at >= %(since)s and e.status <> 'Received'
"""
_TAKE_PARKED = Hot(f"""
with waiting as (
  delete from gateway_parked k using gateway_parked hit
  where hit.organization_id = %(org)s and hit.gateway = %(gateway)s and hit.alias = any(%(aliases)s)
    and k.organization_id = hit.organization_id and k.event_id = hit.event_id
  returning k.event_id
)
select event_id from waiting union {_UNREFERRED}
""")
_FIND_UNREFERRED = f"{_UNREFERRED} order by p.paid_at, p.id"


def take_parked(
    *, organization_id: UUID, gateway: str, aliases: Sequence[str], credited: GatewayPayment | None = None
) -> list[UUID]:
    """Let the events go that wait for a payment with one of these ids, and return them. Budget: 1 statement.

    Behind a payment that was `credited` come those of its customer's later payments that credited nobody.
    """
    who = _who(credited.customer_id, credited.subscription_id, credited.email_normalized) if credited else _NOBODY
    since = credited.paid_at if credited else None
    params = {"org": organization_id, "gateway": gateway, "aliases": list(aliases), "since": since, **who}
    return [event_id for (event_id,) in db.run(_TAKE_PARKED, params)]


def unreferred(
    *, organization_id: UUID, gateway: str, customer_id: str | None, subscription_id: str | None, since: datetime
) -> list[UUID]:
    """Return the events of a customer's payments since then that credited nobody, the oldest first."""
    who = _who(customer_id, subscription_id, None)
    rows = db.run(_FIND_UNREFERRED, {"org": organization_id, "gateway": gateway, "since": since, **who})
    return [event_id for (event_id,) in rows]


def _who(customer_id: str | None, subscription_id: str | None, email: str | None) -> dict[str, str | None]:
    return {"customer": customer_id, "subscription": subscription_id, "email": email}


_NOBODY = _who(None, None, None)


_KNOWN_IDS = """
select alias from gateway_alias where organization_id = %(org)s and gateway = %(gateway)s and alias = any(%(ids)s)
union
select refund_id from gateway_refund
where organization_id = %(org)s and gateway = %(gateway)s and refund_id = any(%(ids)s)
"""


def known_ids(*, organization_id: UUID, gateway: str, ids: Sequence[str]) -> set[str]:
    """Return which of these ids are of payments or refunds that are known. Budget: 1 statement."""
    rows = db.run(_KNOWN_IDS, {"org": organization_id, "gateway": gateway, "ids": list(ids)})
    return {known for (known,) in rows}
