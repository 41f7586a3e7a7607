"""What went back of the payments of a gateway, by the ids that it gives to refunds, and what came back of that."""

from dataclasses import dataclass
from datetime import datetime

from models.db import db
from models.gateways.payments import GatewayPayment
from models.prepared_statements import FreshSelect, PreparedStatement
from models.table import Rows

#: How the refund is called that a lost dispute is; the gateway's own totals of refunds leave it out.
OF_DISPUTE = "dispute:"
#: How the refund is called that a lower total of the order is, or its cancellation.
OF_TOTAL = "total:"
_NO_REFUND_ACT = f"starts_with(r.refund_id, '{OF_DISPUTE}') or starts_with(r.refund_id, '{OF_TOTAL}')"


@dataclass(frozen=True, slots=True)
class BookedRefunds:
    """What stands of a payment's refunds, gross, in minor units.

    `cents` is what stands under one id, None where the id is not known; `is_restored` says that its money came back.
    `by_refunds` is what stands of refunds in all and `by_total` what the order's total took beside them; lost disputes
    are in neither. `in_dispute` is what a lost dispute took that was decided after the refund and has it as a part;
    `dispute` is the name under which that stands.
    """

    cents: int | None
    is_restored: bool
    by_refunds: int
    by_total: int
    in_dispute: int
    dispute: str | None


_BOOKED_ROWS = Rows(BookedRefunds)
_BOOKED = FreshSelect(f"""
select sum(r.refunded_cents) filter (where r.refund_id = %(refund)s)::bigint,
  coalesce(bool_or(r.restored_at is not null) filter (where r.refund_id = %(refund)s), false),
  coalesce(sum(r.refunded_cents) filter (where not ({_NO_REFUND_ACT})), 0)::bigint,
  coalesce(sum(r.refunded_cents) filter (where starts_with(r.refund_id, '{OF_TOTAL}')), 0)::bigint,
  coalesce(max(r.refunded_cents) filter (where d.dispute_id is not null), 0)::bigint,
  max(r.refund_id) filter (where d.dispute_id is not null)
from gateway_refund r
left join gateway_dispute d on d.organization_id = r.organization_id and d.payment_id = r.payment_id
  and r.refund_id = %(of_dispute)s || d.dispute_id
  and d.covers_refunds and d.state = 'lost' and d.told_at >= %(at)s
where r.organization_id = %(org)s and r.payment_id = %(payment)s
""")


def booked(payment: GatewayPayment, *, refund_id: str | None, at: datetime | None = None) -> BookedRefunds:
    """Return what is booked of a locked payment, with what stands under a refund's id, made `at` a moment.

    Of a payment without a time no dispute has its refund as a part. Budget: 1 statement.
    """
    found = _BOOKED_ROWS.first(
        _BOOKED,
        {
            "org": payment.organization_id,
            "payment": payment.id,
            "refund": refund_id,
            "of_dispute": OF_DISPUTE,
            "at": at,
        },
    )
    assert found is not None  # sums have a row
    return found


_STAGE = PreparedStatement("""
with booked as (
  insert into gateway_refund as r (organization_id, gateway, refund_id, payment_id, refunded_cents, created_at)
  values (%(org)s, %(gateway)s, %(refund)s, %(payment)s, %(cents)s, %(now)s)
  on conflict (organization_id, gateway, refund_id, payment_id)
    do update set refunded_cents = r.refunded_cents + excluded.refunded_cents, restored_at = null
)
update gateway_payment set refunded_cents = refunded_cents + %(cents)s
where organization_id = %(org)s and id = %(payment)s
""")


def stage(payment: GatewayPayment, *, refund_id: str, cents: int, now: datetime) -> None:
    """Stage that more went back of a locked payment under a refund's id, gross, in minor units."""
    params = {
        "org": payment.organization_id,
        "gateway": payment.gateway,
        "refund": refund_id,
        "payment": payment.id,
        "cents": cents,
        "now": now,
    }
    db.stage(_STAGE, params)


# The newest first: of each as much as is left to come back.
_STAGE_RESTORED = f"""
with standing as (
  select refund_id, refunded_cents,
    sum(refunded_cents) over (order by created_at desc, refund_id) - refunded_cents as before
  from gateway_refund r
  where organization_id = %(org)s and payment_id = %(payment)s and refunded_cents > 0
    and (refund_id = %(refund)s or %(refund)s::text is null and not ({_NO_REFUND_ACT}))
), back as (
  select refund_id, least(refunded_cents, %(cents)s - before) as cents from standing where before < %(cents)s
), restored as (
  update gateway_refund r set refunded_cents = r.refunded_cents - back.cents, restored_at = %(now)s
  from back
  where r.organization_id = %(org)s and r.payment_id = %(payment)s and r.refund_id = back.refund_id
)
update gateway_payment set refunded_cents = refunded_cents - %(cents)s
where organization_id = %(org)s and id = %(payment)s
"""


def stage_restored(payment: GatewayPayment, *, refund_id: str | None, cents: int, now: datetime) -> None:
    """Stage that so much came back to a locked payment, of one refund or (None) of the newest refunds."""
    params = {
        "org": payment.organization_id,
        "payment": payment.id,
        "refund": refund_id,
        "cents": cents,
        "now": now,
    }
    db.stage(_STAGE_RESTORED, params)


_STAGE_REREAD = """
update gateway_payment set reread_cents = %(cents)s, reread_at = %(at)s
where organization_id = %(org)s and id = %(payment)s
"""


def stage_reread(payment: GatewayPayment, *, cents: int, at: datetime) -> None:
    """Stage what a gateway says is refunded still of a locked payment, and when it said so."""
    db.stage(_STAGE_REREAD, {"org": payment.organization_id, "payment": payment.id, "cents": cents, "at": at})
