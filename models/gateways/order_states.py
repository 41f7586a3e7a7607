"""Totals of a gateway's orders whose payment is not known yet, and the conversion of an order."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import db
from models.prepared_statements import PreparedStatement


@dataclass(frozen=True, slots=True)
class OrderState:
    """An order when it last changed: the sum paid, and its total, 0 if cancelled. Minor units."""

    told_at: datetime
    amount_cents: int
    total_cents: int


#: SQL of the newest reported state of an order, by any of its ids.
NEWEST = """
select told_at, amount_cents, total_cents from gateway_order
where organization_id = %(org)s and gateway = %(gateway)s and order_id = any(%(aliases)s)
order by told_at desc limit 1
"""
#: SQL of the conversion of an order's payments.
CONVERSION = """
select conversion_id from gateway_payment
where organization_id = %(org)s and gateway = %(gateway)s and order_id = %(order)s and conversion_id is not null
order by created_at, id limit 1
"""
_STAGE_STATE = PreparedStatement("""
insert into gateway_order as o (organization_id, gateway, order_id, told_at, amount_cents, total_cents)
select %s, %s, order_id, %s, %s, %s from unnest(%s::text[]) order_id
on conflict (organization_id, gateway, order_id) do update
  set told_at = excluded.told_at, amount_cents = excluded.amount_cents, total_cents = excluded.total_cents
  where o.told_at <= excluded.told_at
""")


def stage(*, organization_id: UUID, gateway: str, order_ids: Sequence[str], state: OrderState) -> None:
    """Stage the state of an order whose payment is unknown, under each of its ids; the newest state wins."""
    params = (organization_id, gateway, state.told_at, state.amount_cents, state.total_cents, list(order_ids))
    db.stage(_STAGE_STATE, params)
