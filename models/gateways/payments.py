"""What is known of every payment that a gateway told, the ids by which it may be named, and what waits for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from domain import jobs
from models.db import db
from models.gateways import order_states
from models.gateways.order_states import OrderState
from models.jobs import rows
from models.prepared_statements import FreshSelect, PreparedStatement
from models.table import Rows, Table, columns


@dataclass(frozen=True, slots=True)
class GatewayPayment:
    """One payment; its cents are gross, in minor units. Without a conversion `reason` says why.

    `reread_cents` is what its gateway said at `reread_at` that is refunded still; None where nothing ever came back.
    Payments with one `order_id` have one conversion. `total_cents` is what the order came to at `told_at`, when it last
    changed; None where it never does.
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

# The ids are looked up apart: joined, a plan that was made of empty tables would read all payments.
_KNOWN = f"""
select {columns(GatewayPayment, "p")} from gateway_payment p
where p.organization_id = %(org)s and p.id = any(array(
  select payment_id from gateway_alias
  where organization_id = %(org)s and gateway = %(gateway)s and alias = any(%(aliases)s)
))
order by p.created_at, p.id
limit 1
for no key update of p
"""
_LOCK_KNOWN = FreshSelect(_KNOWN)


def lock_known(*, organization_id: UUID, gateway: str, aliases: Sequence[str]) -> GatewayPayment | None:
    """Lock and return the payment that has one of these ids; the caller holds the advisory locks of the ids."""
    return _TABLE.first(_LOCK_KNOWN, {"org": organization_id, "gateway": gateway, "aliases": list(aliases)})


# Each is found by an index of its own, and its event by its id, also by a plan that was made of empty tables: by `or`
# and a join they would be sought among all payments, or all events. Those that wait to be looked at already are left
# out, however many payments of a customer ask for them.
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
    """By what the payments of one buyer are found, and other payments of one order; each None where it is not told."""

    customer_id: str | None = None
    subscription_id: str | None = None
    email_normalized: str | None = None
    order_id: str | None = None


@dataclass(frozen=True, slots=True)
class KnownBefore:
    """What is known before a payment is booked.

    `told` is who referred its buyer, as `referrals.of` has it, each with its `told_at`; `is_awaited` says that events
    wait for it, or that later payments of its buyer credited nobody; `order_conversion_id` is the conversion of another
    payment of its order; `state` is what its order came to by what was told before it; `payment` is itself, where it is
    known.
    """

    told: list[Any]
    is_awaited: bool
    order_conversion_id: UUID | None
    state: OrderState | None
    payment: GatewayPayment | None


@dataclass(frozen=True, slots=True)
class AskedBefore:
    """A payment about which is asked what is known before: its ids, its subjects, its buyer, when it was made.

    Of one that is only named by its ids the rest is empty, and nobody's later payments count. Of a customer of whom
    something is told, `paid_at` is since when their payments do.
    """

    gateway: str
    aliases: Sequence[str]
    subjects: Sequence[str] = ()
    who: Payer = Payer()
    paid_at: datetime | None = None


_BEFORE_ROWS = Rows(KnownBefore)
_TOLD = """
select coalesce(jsonb_agg(origin || jsonb_build_object('told_at', told_at) order by subject desc), '[]') as origins
from gateway_referral
where organization_id = %(org)s and gateway = %(gateway)s and subject = any(%(subjects)s)
"""
_IS_AWAITED = f"""exists (
  select from gateway_parked where organization_id = %(org)s and gateway = %(gateway)s and alias = any(%(aliases)s)
) or exists ({_UNREFERRED})"""
_LOCK_BEFORE = FreshSelect(f"""
with known as ({_KNOWN})
select told.origins, {_IS_AWAITED}, ({order_states.CONVERSION}), {columns(OrderState, "state")},
  {columns(GatewayPayment, "known")}
from ({_TOLD}) told
left join ({order_states.NEWEST}) state on true
left join known on true
""")


def lock_known_before(asked: AskedBefore, *, organization_id: UUID) -> KnownBefore:
    """Return what is known before a payment, which is locked as by `lock_known`. Budget: 1 statement."""
    found = _BEFORE_ROWS.first(_LOCK_BEFORE, {"org": organization_id, **_asked(asked)})
    assert found is not None  # an aggregate has a row
    return found


def _asked(asked: AskedBefore) -> dict[str, object]:
    named = {"gateway": asked.gateway, "aliases": list(asked.aliases), "subjects": list(asked.subjects)}
    return {**named, **_of(asked.who), "since": asked.paid_at}


def _of(who: Payer) -> dict[str, str | None]:
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
# Refunds have statements of their own. A payment of nothing may be paid later, with all its fields.
_KEPT = ("id", "organization_id", "gateway", "external_id", "refunded_cents", "reread_cents", "reread_at", "created_at")
_RESTATED = [name for name in _FIELDS if name not in _KEPT]
_STAGE = PreparedStatement(f"""
with written as (
  insert into gateway_payment ({_TABLE.columns}) values ({", ".join(f"%({name})s" for name in _FIELDS)})
  on conflict (organization_id, gateway, external_id) do update
    set {", ".join(f"{name} = excluded.{name}" for name in _RESTATED)}
) {_STAGE_ALIASES}
""")
_STAGE_ALIASES_ALONE = PreparedStatement(_STAGE_ALIASES)


def stage(payment: GatewayPayment, *, aliases: Sequence[str]) -> None:
    """Stage a payment, or what is known of a locked one by now, with its ids as `stage_aliases` does.

    The conversion itself is staged first.
    """
    db.stage(_STAGE, {name: getattr(payment, name) for name in _FIELDS} | {"aliases": list(aliases)})


def stage_aliases(payment: GatewayPayment, aliases: Sequence[str]) -> None:
    """Stage ids by which a payment may be named; those that are known stay with whom they belong to."""
    named = {name: getattr(payment, name) for name in ("organization_id", "gateway", "id")}
    db.stage(_STAGE_ALIASES_ALONE, named | {"aliases": list(aliases)})


_PARK = """
insert into gateway_parked (organization_id, gateway, alias, event_id)
select %s, %s, alias, %s from unnest(%s::text[]) alias
on conflict do nothing
"""


def stage_parked(*, organization_id: UUID, gateway: str, event_id: UUID, aliases: Sequence[str]) -> None:
    """Stage that an event waits for the payment that has one of these ids."""
    db.stage(_PARK, (organization_id, gateway, event_id, list(aliases)))


_EVENT_OF = "select event_id from gateway_payment where organization_id = %s and id = %s"


def event_of(*, organization_id: UUID, payment_id: UUID) -> UUID:
    """Return the event that told a payment first. Raises LookupError for one that is not there."""
    row = db.row(_EVENT_OF, (organization_id, payment_id))
    if row is None:
        raise LookupError(f"there is no payment {payment_id}")
    found: UUID = row[0]
    return found


_TAKE_PARKED = PreparedStatement(f"""
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


def take_parked(
    *, organization_id: UUID, gateway: str, aliases: Sequence[str], credited: GatewayPayment | None = None
) -> list[UUID]:
    """Let the events go that wait for a payment with one of these ids, and return them. Budget: 1 statement.

    Behind a payment that was `credited` come those of its customer's later payments that credited nobody.
    """
    who = _payer(credited) if credited else Payer()
    since = credited.paid_at if credited else None
    params = {"org": organization_id, "gateway": gateway, "aliases": list(aliases), "since": since, **_of(who)}
    return [event_id for (event_id,) in db.run(_TAKE_PARKED, params)]


def _payer(payment: GatewayPayment) -> Payer:
    return Payer(payment.customer_id, payment.subscription_id, payment.email_normalized, payment.order_id)


def unreferred(*, organization_id: UUID, gateway: str, who: Payer, since: datetime | None) -> list[UUID]:
    """Return the events of a customer's uncredited payments since the second of `since`, the oldest first."""
    second = None if since is None else since.replace(microsecond=0)
    rows = db.run(_FIND_UNREFERRED, {"org": organization_id, "gateway": gateway, "since": second, **_of(who)})
    return [event_id for (event_id,) in rows]


_OF_BUYER = """
select event_id from gateway_payment
where organization_id = %(org)s and gateway = any(connected.gateways) and is_test = %(is_test)s
  and paid_at >= buyer.since and conversion_id is null and reason = 'nobody_referred'
"""
# The events by an array, not by a join: a plan that was made of empty tables would read all of a tenant's.
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
    """Stage that payments of these buyers are booked again that credited nobody, at any gateway, since a moment each.

    For buyers whose earlier sale was credited by another way than a gateway's. One statement for all.
    """
    known = [(who, since) for who, since in buyers if who != Payer()]
    if known:
        sent = {
            "org": organization_id,
            "is_test": is_test,
            "customers": [who.customer_id for who, _ in known],
            "subscriptions": [who.subscription_id for who, _ in known],
            "emails": [who.email_normalized for who, _ in known],
            "since": [since for _, since in known],
        }
        db.stage(_REOPEN, sent | rows.kind_columns(jobs.GATEWAY_EVENT))


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
