"""Disputes of a gateway's payments, with their state."""

from dataclasses import dataclass
from datetime import datetime

from models.db import db
from models.gateways.payments import GatewayPayment
from models.table import Rows


@dataclass(frozen=True, slots=True)
class KnownDispute:
    """The state of a dispute, and the time from which the gateway reported it."""

    state: str
    told_at: datetime


_ROWS = Rows(KnownDispute)
_FIND = """
select state, told_at from gateway_dispute where organization_id = %s and gateway = %s and dispute_id = %s
"""


def find(payment: GatewayPayment, *, dispute_id: str) -> KnownDispute | None:
    """Return the state of a dispute; None for an unknown one."""
    return _ROWS.first(_FIND, (payment.organization_id, payment.gateway, dispute_id))


_STAGE = """
insert into gateway_dispute (organization_id, gateway, dispute_id, payment_id, state, told_at, covers_refunds)
values (%s, %s, %s, %s, %s, %s, %s)
on conflict (organization_id, gateway, dispute_id) do update
  set state = excluded.state, told_at = excluded.told_at, covers_refunds = excluded.covers_refunds
"""


def stage(payment: GatewayPayment, *, dispute_id: str, state: str, at: datetime, covers_refunds: bool) -> None:
    """Stage the state of a locked payment's dispute, and whether its amount includes refunds made until then."""
    params = (payment.organization_id, payment.gateway, dispute_id, payment.id, state, at, covers_refunds)
    db.stage(_STAGE, params)


_OPEN = """
select from gateway_dispute
where organization_id = %s and payment_id = %s and state = 'opened' and dispute_id is distinct from %s limit 1
"""


def has_open(payment: GatewayPayment, *, except_id: str | None = None) -> bool:
    """Return whether a dispute of a payment is open, other than the one with this id."""
    return bool(db.run(_OPEN, (payment.organization_id, payment.id, except_id)))
