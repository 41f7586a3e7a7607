"""Payments that gateways reported, the ids (aliases) that identify them, and the events that wait for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from domain import jobs
from models.db import db
from models.gateways import order_states
from models.gateways.credit_sources.brought import CUT_OVER
from models.gateways.order_states import OrderState
from models.jobs import rows
from models.prepared_statements import FreshSelect, PreparedStatement
from models.table import Rows, Table, columns


@dataclass(frozen=True, slots=True)
class GatewayPayment:
    """One payment; its cents are gross, in minor units. `reason` is why it has no conversion.

    `reread_cents` is the refunded sum that its gateway reported at `reread_at`; None if no refund was ever returned.
    Payments with the same `order_id` share a conversion. `total_cents` is the order's total at `told_at`, when it
    last changed; None if it never changes.
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
    order_id: str | None = None
    told_at: datetime | None = None
    total_cents: int | None = None


_TABLE = Table("gateway_payment", GatewayPayment)
_FIELDS = tuple(GatewayPayment.__dataclass_fields__)

# The ids are looked up in a subselect: with a join, a plan made for empty tables would read all payments.
_BY_ALIASES = f"""
select {columns(GatewayPayment, "p")} from gateway_payment p
where p.organization_id = %(org)s and p.id = any(array(
  select payment_id from gateway_alias
  where organization_id = %(org)s and gateway = %(gateway)s and alias = any(%(aliases)s)
))
order by p.created_at, p.id
limit 1
for no key update of p
"""
_LOCK_BY_ALIASES = FreshSelect(_BY_ALIASES)


def lock_by_aliases(*, organization_id: UUID, gateway: str, aliases: Sequence[str]) -> GatewayPayment | None:
    """Lock and return the payment that has one of these ids; the caller holds the advisory locks of the ids."""
    return _TABLE.first(_LOCK_BY_ALIASES, {"org": organization_id, "gateway": gateway, "aliases": list(aliases)})


# Each condition uses its own index, and each event is read by its id, even with a plan made for empty tables: `or` and
# a join would scan all payments or events. Events that are already queued are left out, however many payments of a
# customer release them.
_OF_NOBODY = """
select id, event_id, paid_at from gateway_payment
where organization_id = %(org)s and gateway = %(gateway)s and conversion_id is null and reason = 'nobody_referred'
"""
_LATER_OF_NOBODY = f"{_OF_NOBODY} and paid_at >= %(since)s"
_UNREFERRED = f"""
select p.event_id
from (
  {_LATER_OF_NOBODY} and customer_id = %(customer)s
  union {_LATER_OF_NOBODY} and subscription_id = %(subscription)s
  union {_LATER_OF_NOBODY} and email_normalized = %(email)s
  union {_OF_NOBODY} and order_id = %(order)s
) p
where (select status from gateway_event where organization_id = %(org)s and id = p.event_id) <> 'Received'
"""


@dataclass(frozen=True, slots=True)
class Payer:
    """The identifiers of a buyer and of an order, by which their other payments are found; None: not reported."""

    customer_id: str | None = None
    subscription_id: str | None = None
    email_normalized: str | None = None
    order_id: str | None = None


@dataclass(frozen=True, slots=True)
class PaymentContext:
    """The stored data about a payment before it is booked.

    `origins` are the referrals of its buyer, as `referrals.list_origins` returns them, each with its `told_at`;
    `is_awaited`: events wait for it, or later payments of its buyer credited no affiliate; `order_conversion_id` is
    the conversion of another payment of its order; `cut_over_at`: its buyer is a customer of a former system, to which
    their payments before it belong, and `has_signed_sales`: signed sales counted payments of theirs since; `state` is
    the state of its order that was reported before it; `payment` is the payment itself, if already known.
    """

    origins: list[Any]
    is_awaited: bool
    order_conversion_id: UUID | None
    cut_over_at: datetime | None
    has_signed_sales: bool | None
    state: OrderState | None
    payment: GatewayPayment | None


@dataclass(frozen=True, slots=True)
class PaymentQuery:
    """The identifiers of a payment whose context is read: its ids, its subjects, its buyer, its time.

    If only the ids are known, the rest is empty, and no later payments count. For a customer's referral, `paid_at` is
    the time from which their payments count.
    """

    gateway: str
    aliases: Sequence[str]
    subjects: Sequence[str] = ()
    who: Payer = Payer()
    paid_at: datetime | None = None


_CONTEXT_ROWS = Rows(PaymentContext)
_ORIGINS = """
select coalesce(jsonb_agg(origin || jsonb_build_object('told_at', told_at) order by subject desc), '[]') as origins
from gateway_referral
where organization_id = %(org)s and gateway = %(gateway)s and subject = any(%(subjects)s)
"""
_IS_AWAITED = f"""exists (
  select from gateway_parked where organization_id = %(org)s and gateway = %(gateway)s and alias = any(%(aliases)s)
) or exists ({_UNREFERRED})"""
_LOCK_CONTEXT = FreshSelect(f"""
with known as ({_BY_ALIASES})
select referral.origins, {_IS_AWAITED}, ({order_states.CONVERSION}), brought.cut_over_at, brought.has_signed_sales,
  {columns(OrderState, "state")},
  {columns(GatewayPayment, "known")}
from ({_ORIGINS}) referral
left join ({CUT_OVER}) brought on true
left join ({order_states.NEWEST}) state on true
left join known on true
""")


def lock_context(query: PaymentQuery, *, organization_id: UUID) -> PaymentContext:
    """Return a payment's context, with the payment locked as by `lock_by_aliases`. Budget: 1 statement."""
    context = _CONTEXT_ROWS.first(_LOCK_CONTEXT, {"org": organization_id, **_query_params(query)})
    assert context is not None  # an aggregate has a row
    return context


def _query_params(query: PaymentQuery) -> dict[str, object]:
    ids = {"gateway": query.gateway, "aliases": list(query.aliases), "subjects": list(query.subjects)}
    return {**ids, **_payer_params(query.who), "since": query.paid_at}


def _payer_params(who: Payer) -> dict[str, str | None]:
    return {
        "customer": who.customer_id,
        "subscription": who.subscription_id,
        "email": who.email_normalized,
        "order": who.order_id,
    }


_STAGE_ALIASES = """
insert into gateway_alias (organization_id, gateway, alias, payment_id)
select %(organization_id)s, %(gateway)s, alias, %(id)s from unnest(%(aliases)s::text[]) alias
on conflict (organization_id, gateway, alias) do nothing
"""
# Refunds have their own statements. A payment of zero may be paid later, which sets all other fields.
_UNCHANGED = (
    "id",
    "organization_id",
    "gateway",
    "external_id",
    "refunded_cents",
    "reread_cents",
    "reread_at",
    "created_at",
)
_RESTATED = [name for name in _FIELDS if name not in _UNCHANGED]
_STAGE = PreparedStatement(f"""
with written as (
  insert into gateway_payment ({_TABLE.columns}) values ({", ".join(f"%({name})s" for name in _FIELDS)})
  on conflict (organization_id, gateway, external_id) do update
    set {", ".join(f"{name} = excluded.{name}" for name in _RESTATED)}
) {_STAGE_ALIASES}
""")
_STAGE_ALIASES_ALONE = PreparedStatement(_STAGE_ALIASES)


def stage(payment: GatewayPayment, *, aliases: Sequence[str]) -> None:
    """Stage a payment, or the new values of a locked one, with its ids as `stage_aliases` does.

    The conversion itself is staged first.
    """
    db.stage(_STAGE, {name: getattr(payment, name) for name in _FIELDS} | {"aliases": list(aliases)})


def stage_aliases(payment: GatewayPayment, aliases: Sequence[str]) -> None:
    """Stage ids of a payment; an id that is already stored stays with its payment."""
    params = {name: getattr(payment, name) for name in ("organization_id", "gateway", "id")}
    db.stage(_STAGE_ALIASES_ALONE, params | {"aliases": list(aliases)})


_PARK = """
insert into gateway_parked (organization_id, gateway, alias, event_id)
select %s, %s, alias, %s from unnest(%s::text[]) alias
on conflict do nothing
"""


def stage_parked(*, organization_id: UUID, gateway: str, event_id: UUID, aliases: Sequence[str]) -> None:
    """Stage that an event waits for the payment that has one of these ids."""
    db.stage(_PARK, (organization_id, gateway, event_id, list(aliases)))


_EVENT_OF = "select event_id from gateway_payment where organization_id = %s and id = %s"


def find_event(*, organization_id: UUID, payment_id: UUID) -> UUID:
    """Return the event that first reported a payment. Raises LookupError for an unknown payment."""
    row = db.row(_EVENT_OF, (organization_id, payment_id))
    if row is None:
        raise LookupError(f"there is no payment {payment_id}")
    event_id: UUID = row[0]
    return event_id


_RELEASE_PARKED = PreparedStatement(f"""
with waiting as (
  delete from gateway_parked
  where organization_id = %(org)s and event_id = any(array(
    select event_id from gateway_parked
    where organization_id = %(org)s and gateway = %(gateway)s and alias = any(%(aliases)s)
  ))
  returning event_id
)
select event_id from waiting union {_UNREFERRED}
""")
_FIND_UNREFERRED = f"{_UNREFERRED} order by p.paid_at, p.id"


def release_parked(
    *, organization_id: UUID, gateway: str, aliases: Sequence[str], credited: GatewayPayment | None = None
) -> list[UUID]:
    """Release the events that wait for a payment with one of these ids, and return them. Budget: 1 statement.

    After them come the events of later uncredited payments of the same customer as `credited`.
    """
    who = _payer(credited) if credited else Payer()
    since = credited.paid_at if credited else None
    params = {
        "org": organization_id,
        "gateway": gateway,
        "aliases": list(aliases),
        "since": since,
        **_payer_params(who),
    }
    return [event_id for (event_id,) in db.run(_RELEASE_PARKED, params)]


def _payer(payment: GatewayPayment) -> Payer:
    return Payer(payment.customer_id, payment.subscription_id, payment.email_normalized, payment.order_id)


def list_unreferred(*, organization_id: UUID, gateway: str, who: Payer, since: datetime | None) -> list[UUID]:
    """Return the events of a customer's uncredited payments since the second of `since`, the oldest first."""
    second = None if since is None else since.replace(microsecond=0)
    rows = db.run(_FIND_UNREFERRED, {"org": organization_id, "gateway": gateway, "since": second, **_payer_params(who)})
    return [event_id for (event_id,) in rows]


_OF_BUYER = """
select event_id from gateway_payment
where organization_id = %(org)s and gateway = any(connected.gateways) and is_test = %(is_test)s
  and paid_at >= buyer.since and conversion_id is null and reason = 'nobody_referred'
"""
# The events by an array, not by a join: a plan made for empty tables would read all of a tenant's events.
_REOPEN = PreparedStatement(f"""
with connected as (
  select array(select distinct gateway from gateway_connection where organization_id = %(org)s) as gateways
), reopened as (
  update gateway_event e set status = 'Received', reason = null, error = null, processed_at = null
  where e.organization_id = %(org)s and e.status <> 'Received' and e.raw is not null and e.id = any(array(
    select p.event_id
    from connected
    cross join unnest(%(customers)s::text[], %(subscriptions)s::text[], %(emails)s::text[], %(since)s::timestamptz[])
      as buyer (customer, subscription, email, since)
    cross join lateral (
      {_OF_BUYER} and customer_id = buyer.customer
      union all {_OF_BUYER} and subscription_id = buyer.subscription
      union all {_OF_BUYER} and email_normalized = buyer.email
    ) p
  ))
  returning e.id
)
insert into job (organization_id, queue, name, args, fair_key, max_attempts, lease_s)
select %(org)s, %(queue)s, %(name)s, jsonb_build_object('event_id', id), %(org)s::text, %(max_attempts)s, %(lease_s)s
from reopened
""")


def stage_reopening(buyers: Sequence[tuple[Payer, datetime]], *, organization_id: UUID, is_test: bool) -> None:
    """Stage that uncredited payments of these buyers, at any gateway, are booked again, each since a time.

    For buyers whose earlier sale was credited by another source than a gateway. One statement for all.
    """
    identified = [(who, since) for who, since in buyers if who != Payer()]
    if identified:
        params = {
            "org": organization_id,
            "is_test": is_test,
            "customers": [who.customer_id for who, _ in identified],
            "subscriptions": [who.subscription_id for who, _ in identified],
            "emails": [who.email_normalized for who, _ in identified],
            "since": [since for _, since in identified],
        }
        db.stage(_REOPEN, params | rows.kind_columns(jobs.GATEWAY_EVENT))


_KNOWN_IDS = """
select alias from gateway_alias where organization_id = %(org)s and gateway = %(gateway)s and alias = any(%(ids)s)
union
select refund_id from gateway_refund
where organization_id = %(org)s and gateway = %(gateway)s and refund_id = any(%(ids)s)
"""


def find_known_ids(*, organization_id: UUID, gateway: str, ids: Sequence[str]) -> set[str]:
    """Return which of these ids belong to stored payments or refunds. Budget: 1 statement."""
    rows = db.run(_KNOWN_IDS, {"org": organization_id, "gateway": gateway, "ids": list(ids)})
    return {id for (id,) in rows}
