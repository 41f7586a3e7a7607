"""Sales that negative commissions of the same switch take back, and what is taken already."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from models.db import db
from models.table import Rows


class SaleItem(NamedTuple):
    """A judged commission that a negative one takes back; `target_id` is its conversion here.

    `status` and `is_locked` are those that the conversion has when the refund is written.
    """

    refund: str
    source_id: str
    target_id: UUID
    affiliate_id: UUID
    program_id: UUID
    amount_cents: int
    refunded_cents: int
    commission_cents: int
    status: str
    is_locked: bool


_SALES = Rows(SaleItem)
# In this order: the payment, the charge, the customer's newest sale. Amounts are those of the decision: only one
# commission of a payment has the amount. A known sale has no decision, but a conversion.
_JUDGED_SALE = """
select s.source_id, s.affiliate_ref, s.target_id, s.decision, s.amount_cents, s.commission_cents
from switch_item s
where s.organization_id = n.organization_id and s.switch_id = n.switch_id and s.collection = 'commissions'
  and s.verdict in ('new', 'known', 'changed') and s.commission_cents >= 0
"""
_SAME_AFFILIATE = "(s.affiliate_ref is not distinct from n.affiliate_ref)"
_FIND = f"""
select n.source_id, s.source_id, s.target_id, a.target_id, a.program_id,
  coalesce((s.decision->>'amount_cents')::bigint, s.amount_cents, 0),
  coalesce((s.decision->>'refunded_cents')::bigint, 0), s.commission_cents,
  coalesce(s.decision->>'status', c.status, ''), coalesce((s.decision->>'is_locked')::boolean, c.payout_locked, true)
from switch_item n
cross join lateral (
  select found.* from (
    (select 1 as place, by_payment.* from ({_JUDGED_SALE} and s.key = n.key
      order by {_SAME_AFFILIATE} desc, s.source_id limit 1) by_payment)
    union all
    (select 2, by_charge.* from ({_JUDGED_SALE} and s.key = n.record->>'charge_id'
      order by {_SAME_AFFILIATE} desc, s.source_id limit 1) by_charge)
    union all
    (select 3, newest.* from ({_JUDGED_SALE} and s.customer_ref = n.customer_ref
      and s.commission_cents >= -n.commission_cents and s.currency = n.currency and s.occurred_at <= n.occurred_at
      and {_SAME_AFFILIATE}
      order by s.occurred_at desc, s.source_id desc limit 1) newest)
  ) found order by found.place limit 1
) s
join switch_item a on a.organization_id = n.organization_id and a.switch_id = n.switch_id
  and a.collection = 'affiliates' and a.source_id = s.affiliate_ref
left join conversion c on c.organization_id = n.organization_id and c.id = s.target_id
where n.organization_id = %(org)s and n.switch_id = %(switch)s and n.collection = 'commissions'
  and n.source_id = any(%(ids)s)
"""
_SUM = """
select key, coalesce(sum((decision->>'refunded_cents')::bigint), 0)::bigint,
  coalesce(sum((decision->>'commission_cents')::bigint), 0)::bigint
from switch_item
where organization_id = %s and switch_id = %s and collection = 'commissions' and key = any(%s)
  and target_type = 'refund'
group by key
"""


def find_refunded_sales(*, organization_id: UUID, switch_id: UUID, source_ids: Sequence[str]) -> dict[str, SaleItem]:
    """Return the sale that each of these negative commissions takes back, by the commission's source id."""
    params = {"org": organization_id, "switch": switch_id, "ids": list(source_ids)}
    return {row.refund: row for row in _SALES.all(_FIND, params)}


def sum_refunds(*, organization_id: UUID, switch_id: UUID, keys: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return the amounts and commissions that judged refunds with these keys take back."""
    rows = db.run(_SUM, (organization_id, switch_id, list(keys)))
    return {key: (amount, commission) for key, amount, commission in rows}
