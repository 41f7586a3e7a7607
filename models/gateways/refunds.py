"""What went back of the payments of a gateway, by the ids that it gives to refunds."""

from datetime import datetime
from uuid import UUID

from models.db import db
from models.gateways.payments import GatewayPayment

_BOOKED = """
select refunded_cents from gateway_refund
where organization_id = %s and gateway = %s and refund_id = %s and restored_at is null
"""


def booked_cents(payment: GatewayPayment, *, refund_id: str) -> int | None:
    """Return what is booked under a refund's id, gross, in minor units; None for an id that is not known."""
    row = db.row(_BOOKED, (payment.organization_id, payment.gateway, refund_id))
    return int(row[0]) if row else None


_STAGE = """
with booked as (
  insert into gateway_refund as r (organization_id, gateway, refund_id, payment_id, refunded_cents, created_at)
  values (%(org)s, %(gateway)s, %(refund)s, %(payment)s, %(cents)s, %(now)s)
  on conflict (organization_id, gateway, refund_id)
    do update set refunded_cents = r.refunded_cents + excluded.refunded_cents
)
update gateway_payment set refunded_cents = refunded_cents + %(cents)s
where organization_id = %(org)s and id = %(payment)s
"""


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


def known_ids(*, organization_id: UUID, gateway: str, refund_ids: list[str]) -> set[str]:
    """Return which of these refunds are booked."""
    rows = db.run(
        "select refund_id from gateway_refund where organization_id = %s and gateway = %s and refund_id = any(%s)",
        (organization_id, gateway, refund_ids),
    )
    return {refund_id for (refund_id,) in rows}
