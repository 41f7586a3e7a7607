"""Orders of a gateway: the payments of each, and their sums."""

from dataclasses import dataclass
from uuid import UUID

from models.db import db
from models.gateways import order_states
from models.gateways.payments import GatewayPayment
from models.prepared_statements import FreshSelect, PreparedStatement
from models.table import Rows

_STAGE_TOTAL = PreparedStatement("""
update gateway_payment set paid_cents = %s, total_cents = %s, told_at = %s where organization_id = %s and id = %s
""")


def stage_total(payment: GatewayPayment) -> None:
    """Stage a locked payment's totals: the sum paid, the total of its order, and when that was reported."""
    params = (payment.paid_cents, payment.total_cents, payment.told_at, payment.organization_id, payment.id)
    db.stage(_STAGE_TOTAL, params)


@dataclass(frozen=True, slots=True)
class PaidParts:
    """The sums paid and refunded of payments, gross, in minor units."""

    paid_cents: int
    refunded_cents: int


_PARTS = Rows(PaidParts)
_OTHER_PARTS = FreshSelect("""
select coalesce(sum(paid_cents), 0)::bigint, coalesce(sum(refunded_cents), 0)::bigint from gateway_payment
where organization_id = %s and conversion_id = %s and id <> %s
""")


def sum_other_payments(payment: GatewayPayment) -> PaidParts:
    """Return the sums of the other payments of a payment's conversion; final under the conversion's lock.

    Budget: 1 statement for a payment that names an order, else none.
    """
    if payment.order_id is None or payment.conversion_id is None:
        return PaidParts(0, 0)
    sums = _PARTS.first(_OTHER_PARTS, (payment.organization_id, payment.conversion_id, payment.id))
    assert sums is not None  # an aggregate has a row
    return sums


def find_conversion(payment: GatewayPayment) -> UUID | None:
    """Return the conversion of another payment of the same order. Budget: 1 statement, none without an order."""
    if payment.order_id is None:
        return None
    params = {"org": payment.organization_id, "gateway": payment.gateway, "order": payment.order_id}
    row = db.row(order_states.CONVERSION, params)
    return row[0] if row else None
