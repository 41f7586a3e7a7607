"""What is known of every payment that a gateway told, the ids by which it may be named, and what waits for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from models.db import db
from models.gateways import order_states
from models.gateways.order_states import OrderState
from models.hot import FreshSelect, Hot, of_each
from models.table import Rows, Table, as_json, columns


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
    """Return the payment that has one of these ids, locked until the transaction ends; take the ids' turns first."""
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

    `told` is who referred its buyer, as `referrals.of` has it; `is_awaited` says that events wait for it, or that later
    payments of its buyer credited nobody; `order_conversion_id` is the conversion of another payment of its order;
    `state` is what its order came to by what was told before it; `payment` is itself, where it is known.
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
select coalesce(jsonb_agg(origin order by subject desc), '[]') as origins from gateway_referral
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


# Known payments are locked in the order of their ids, so that two that lock several never wait for each other.
_LOCK_ALL_BEFORE = FreshSelect(f"""
with asked as materialized (
  select * from jsonb_to_recordset(%(asked)s) as asked (place int, gateway text, aliases text[], subjects text[],
    customer text, subscription text, email text, "order" text, since timestamptz)
), locked as materialized (
  select p.* from gateway_payment p
  where p.organization_id = %(org)s and p.id = any(array(
    select known.payment_id from asked cross join lateral unnest(asked.aliases) as named (alias) cross join lateral (
      select payment_id from gateway_alias
      where organization_id = %(org)s and gateway = asked.gateway and alias = named.alias offset 0
    ) known
  ))
  order by p.id
  for no key update of p
)
select told.origins, {of_each(_IS_AWAITED)}, null, null, null, null, {columns(GatewayPayment, "known")}
from asked
cross join lateral ({of_each(_TOLD)}) told
left join lateral (
  select * from locked
  where id = any(array(
    select payment_id from gateway_alias
    where organization_id = %(org)s and gateway = asked.gateway and alias = any(asked.aliases)
  ))
  order by created_at, id
  limit 1
) known on true
order by asked.place
""")


def lock_all_known_before(asked: Sequence[AskedBefore], *, organization_id: UUID) -> list[KnownBefore]:
    """Return of each payment what `lock_known_before` does, in the order in which they are asked for.

    Budget: 1 statement for all.
    """
    rows = [{"place": place, **_asked(one)} for place, one in enumerate(asked)]
    return _BEFORE_ROWS.all(_LOCK_ALL_BEFORE, {"org": organization_id, "asked": as_json(rows)})


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
_STAGE = Hot(f"""
with written as (
  insert into gateway_payment ({_TABLE.columns}) values ({", ".join(f"%({name})s" for name in _FIELDS)})
  on conflict (organization_id, gateway, external_id) do update
    set {", ".join(f"{name} = excluded.{name}" for name in _RESTATED)}
) {_STAGE_ALIASES}
""")
_STAGE_ALIASES_ALONE = Hot(_STAGE_ALIASES)


def stage(payment: GatewayPayment, *, aliases: Sequence[str]) -> None:
    """Stage a payment, or what is known of a locked one by now, with its ids as `stage_aliases` does.

    The conversion itself is staged first.
    """
    db.stage(_STAGE, {name: getattr(payment, name) for name in _FIELDS} | {"aliases": list(aliases)})


_STAGE_ALL = Hot(f"""
with written as (
  insert into gateway_payment ({_TABLE.columns})
  select {_TABLE.columns} from json_populate_recordset(null::gateway_payment, %(payments)s)
)
insert into gateway_alias (organization_id, gateway, alias, payment_id)
select %(org)s, gateway, alias, payment_id
from unnest(%(gateways)s::text[], %(aliases)s::text[], %(ids)s::uuid[]) as named (gateway, alias, payment_id)
on conflict (organization_id, gateway, alias) do nothing
""")


def stage_all(
    new: Sequence[GatewayPayment], *, organization_id: UUID, aliases: Sequence[tuple[GatewayPayment, Sequence[str]]]
) -> None:
    """Stage payments that are new and ids by which payments of one organization may be named, as `stage` does of one.

    One statement for all. Their conversions are staged first.
    """
    named = [(payment, alias) for payment, its_aliases in aliases for alias in its_aliases]
    db.stage(
        _STAGE_ALL,
        {
            "org": organization_id,
            "payments": as_json(new),
            "gateways": [payment.gateway for payment, _ in named],
            "aliases": [alias for _, alias in named],
            "ids": [payment.id for payment, _ in named],
        },
    )


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


_TAKE_PARKED = Hot(f"""
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
    """Return the events of a customer's payments since then that credited nobody, the oldest first."""
    rows = db.run(_FIND_UNREFERRED, {"org": organization_id, "gateway": gateway, "since": since, **_of(who)})
    return [event_id for (event_id,) in rows]


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
