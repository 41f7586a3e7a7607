"""Disputes of a gateway's payments, and where each stands."""

from dataclasses import dataclass
from datetime import datetime

from models.db import db
from models.gateways.payments import GatewayPayment
from models.table import Rows


@dataclass(frozen=True, slots=True)
class KnownDispute:
    """Where a dispute stands, and since when by what the gateway told."""

    state: str
    told_at: datetime


_ROWS = Rows(KnownDispute)
_FIND = """
select state, told_at from gateway_dispute where organization_id = %s and gateway = %s and dispute_id = %s
"""


def find(payment: GatewayPayment, *, dispute_id: str) -> KnownDispute | None:
    """Return where a dispute stands; None for one that is not known."""
    return _ROWS.first(_FIND, (payment.organization_id, payment.gateway, dispute_id))


_STAGE = """
insert into gateway_dispute (organization_id, gateway, dispute_id, payment_id, state, told_at, covers_refunds)
values (%s, %s, %s, %s, %s, %s, %s)
on conflict (organization_id, gateway, dispute_id) do update
  set state = excluded.state, told_at = excluded.told_at, covers_refunds = excluded.covers_refunds
"""


def stage(payment: GatewayPayment, *, dispute_id: str, state: str, at: datetime, covers_refunds: bool) -> None:
    """Stage where a dispute of a locked payment stands, and whether refunds until then are part of what it took."""
    params = (payment.organization_id, payment.gateway, dispute_id, payment.id, state, at, covers_refunds)
    db.stage(_STAGE, params)


_OPEN = """
select from gateway_dispute
where organization_id = %s and payment_id = %s and state = 'opened' and dispute_id is distinct from %s limit 1
"""


def has_open(payment: GatewayPayment, *, beside: str | None = None) -> bool:
    """Say whether a dispute of a payment is open, besides the one with this id."""
    return bool(db.run(_OPEN, (payment.organization_id, payment.id, beside)))
