"""Orders of a gateway: the payments of one, its total, and orders that were cancelled before a payment was known."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import db
from models.gateways.payments import GatewayPayment
from models.hot import FreshSelect, Hot
from models.table import Rows

_STAGE_CANCELLED = """
insert into gateway_order as o (organization_id, gateway, order_id, cancelled_at) values (%s, %s, %s, %s)
on conflict (organization_id, gateway, order_id) do update
  set cancelled_at = greatest(o.cancelled_at, excluded.cancelled_at)
"""


def stage_cancelled(*, organization_id: UUID, gateway: str, order_ids: Sequence[str], at: datetime) -> None:
    """Stage that an order was told as cancelled whose payment is not known, by each of its ids."""
    for order_id in order_ids:
        db.stage(_STAGE_CANCELLED, (organization_id, gateway, order_id, at))


_STAGE_TOTAL = Hot("""
update gateway_payment set paid_cents = %s, total_cents = %s, told_at = %s where organization_id = %s and id = %s
""")


def stage_total(payment: GatewayPayment) -> None:
    """Stage what a locked payment comes to: what was paid in all, the total of its order, and when that was told."""
    params = (payment.paid_cents, payment.total_cents, payment.told_at, payment.organization_id, payment.id)
    db.stage(_STAGE_TOTAL, params)


@dataclass(frozen=True, slots=True)
class PaidParts:
    """What was paid and refunded of payments, gross, in minor units."""

    paid_cents: int
    refunded_cents: int


_PARTS = Rows(PaidParts)
_OTHER_PARTS = FreshSelect("""
select coalesce(sum(paid_cents), 0)::bigint, coalesce(sum(refunded_cents), 0)::bigint from gateway_payment
where organization_id = %s and conversion_id = %s and id <> %s
""")


def other_parts(payment: GatewayPayment) -> PaidParts:
    """Return the sums of the other payments of a payment's conversion; final under the conversion's lock.

    Budget: 1 statement for a payment that names an order, else none.
    """
    if payment.order_id is None or payment.conversion_id is None:
        return PaidParts(0, 0)
    found = _PARTS.first(_OTHER_PARTS, (payment.organization_id, payment.conversion_id, payment.id))
    assert found is not None  # sums have a row
    return found


_ORDER_CONVERSION = """
select conversion_id from gateway_payment
where organization_id = %s and gateway = %s and order_id = %s and conversion_id is not null
order by created_at, id limit 1
"""


def conversion_of(payment: GatewayPayment) -> UUID | None:
    """Return the conversion of another payment of a payment's order. Budget: 1 statement, none without an order."""
    if payment.order_id is None:
        return None
    row = db.row(_ORDER_CONVERSION, (payment.organization_id, payment.gateway, payment.order_id))
    return row[0] if row else None
