"""Refunds of a gateway's payments, by the gateway's refund ids, and refunds whose money came back."""

from dataclasses import dataclass
from datetime import datetime

from models.db import db
from models.gateways.payments import GatewayPayment
from models.prepared_statements import FreshSelect, PreparedStatement
from models.table import Rows

#: Prefix of the refund id of a lost dispute; the gateway's own totals of refunds exclude it.
DISPUTE_PREFIX = "dispute:"
#: Prefix of the refund id of a lowered order total or a cancellation.
TOTAL_PREFIX = "total:"
_IS_DISPUTE_OR_TOTAL = f"starts_with(r.refund_id, '{DISPUTE_PREFIX}') or starts_with(r.refund_id, '{TOTAL_PREFIX}')"


@dataclass(frozen=True, slots=True)
class BookedRefunds:
    """The sums booked as refunds of a payment, net of restorations; gross, in minor units.

    `cents` is the sum under one refund id, None if the id is unknown; `is_restored`: its money came back.
    `by_refunds` is the sum of all refunds and `by_total` what a lowered order total added; lost disputes are in
    neither. `in_dispute` is the amount of a lost dispute that was decided after the refund and includes it; `dispute`
    is that dispute's refund id.
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
  coalesce(sum(r.refunded_cents) filter (where not ({_IS_DISPUTE_OR_TOTAL})), 0)::bigint,
  coalesce(sum(r.refunded_cents) filter (where starts_with(r.refund_id, '{TOTAL_PREFIX}')), 0)::bigint,
  coalesce(max(r.refunded_cents) filter (where d.dispute_id is not null), 0)::bigint,
  max(r.refund_id) filter (where d.dispute_id is not null)
from gateway_refund r
left join gateway_dispute d on d.organization_id = r.organization_id and d.payment_id = r.payment_id
  and r.refund_id = %(of_dispute)s || d.dispute_id
  and d.covers_refunds and d.state = 'lost' and d.told_at >= %(at)s
where r.organization_id = %(org)s and r.payment_id = %(payment)s
""")


def sum_booked(payment: GatewayPayment, *, refund_id: str | None, at: datetime | None = None) -> BookedRefunds:
    """Return the booked refunds of a locked payment, with the sum under a refund id, of a refund made `at` a time.

    Without a time no dispute includes the refund. Budget: 1 statement.
    """
    booked = _BOOKED_ROWS.first(
        _BOOKED,
        {
            "org": payment.organization_id,
            "payment": payment.id,
            "refund": refund_id,
            "of_dispute": DISPUTE_PREFIX,
            "at": at,
        },
    )
    assert booked is not None  # sums have a row
    return booked


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
    """Stage an amount refunded of a locked payment under a refund id, gross, in minor units."""
    params = {
        "org": payment.organization_id,
        "gateway": payment.gateway,
        "refund": refund_id,
        "payment": payment.id,
        "cents": cents,
        "now": now,
    }
    db.stage(_STAGE, params)


# The newest first: of each refund as much as can still come back.
_STAGE_RESTORED = f"""
with standing as (
  select refund_id, refunded_cents,
    sum(refunded_cents) over (order by created_at desc, refund_id) - refunded_cents as before
  from gateway_refund r
  where organization_id = %(org)s and payment_id = %(payment)s and refunded_cents > 0
    and (refund_id = %(refund)s or %(refund)s::text is null and not ({_IS_DISPUTE_OR_TOTAL}))
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
    """Stage an amount that came back to a locked payment, of one refund or (None) of the newest refunds."""
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
    """Stage the refunded sum of a locked payment that its gateway reported, and when."""
    db.stage(_STAGE_REREAD, {"org": payment.organization_id, "payment": payment.id, "cents": cents, "at": at})
