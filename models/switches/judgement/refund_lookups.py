"""Sales that negative commissions take back: of this switch, and of earlier switches of the same source.

The amounts that are left of a sale are those after its own row is written.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from domain.statuses import EARNS_NOTHING, ConversionStatus
from models.db import db
from models.table import Rows


class RefundableSale(NamedTuple):
    """A sale with what is left of its amount and commission, but for refunds that were judged (`sum_refunds`).

    `name` is why it was looked for: its payment, or `CustomerToRefund.id`. `target_id` is its conversion here; `status`
    and `is_locked` are those that it has when the refund is written. `comes_over` is False for a row that is left out.
    """

    name: str
    source_id: str
    affiliate_ref: str | None
    currency: str | None
    target_id: UUID | None
    occurred_at: datetime | None
    comes_over: bool
    status: str
    is_locked: bool
    amount_cents: int
    commission_cents: int


@dataclass(frozen=True, slots=True)
class CustomerToRefund:
    """Whose newest sales to return under the name `id`: of one affiliate, not after a time, with enough left.

    The last three are the customer's names; `email` is normalized.
    """

    id: str
    customer_ref: str | None
    affiliate_ref: str
    owner_id: UUID
    currency: str
    latest_at: datetime
    least_cents: int
    customer_id: str | None
    subscription_id: str | None
    email: str | None


_SALES = Rows(RefundableSale)
_LOST = "({})".format(", ".join(f"'{status}'" for status in (*EARNS_NOTHING, ConversionStatus.Refunded)))
# Only a known or changed sale has a conversion already, and only a new or changed one a decision.
_LEFT_OF_ITEM = f"""
left join lateral (
  select status, payout_locked, amount_cents - refunded_cents as amount, commission_cents - reversed_cents as commission
  from conversion where organization_id = s.organization_id and id = s.target_id limit 1
) c on true
cross join lateral (select coalesce(s.decision->>'status', c.status, '') as status,
  coalesce((s.decision->>'is_locked')::boolean, c.payout_locked, true) as is_locked) later
cross join lateral (select
  case when later.status = 'Refunded' then 0 else coalesce(c.amount,
    (s.decision->>'amount_cents')::bigint - (s.decision->>'refunded_cents')::bigint, 0) end as amount,
  case when later.status in {_LOST} then 0 else coalesce(c.commission, s.commission_cents) end as commission
) sale_left
"""
_COLUMNS = """s.source_id, s.affiliate_ref, s.currency, s.target_id, s.occurred_at,
  coalesce(s.verdict in ('new', 'known', 'changed'), false) as comes_over, later.status, later.is_locked,
  greatest(sale_left.amount, 0), greatest(sale_left.commission, 0)"""
_OF_SWITCH = """s.organization_id = %(org)s and s.switch_id = %(switch)s and s.collection = 'commissions'
    and s.commission_cents >= 0"""
_FIND_OF_PAYMENTS = f"""
select s.key, {_COLUMNS}
from switch_item s {_LEFT_OF_ITEM}
where {_OF_SWITCH} and s.key = any(%(payments)s)
order by s.key, s.source_id
"""
_SUM_REFUNDS = """
select key, coalesce(sum((decision->>'refunded_cents')::bigint), 0)::bigint,
  coalesce(sum((decision->>'commission_cents')::bigint), 0)::bigint
from switch_item
where organization_id = %s and switch_id = %s and collection = 'commissions' and key = any(%s)
  and target_type = 'refund' and verdict = 'new'
group by key
"""


def find_sales_of_payments(
    *, organization_id: UUID, switch_id: UUID, payments: Sequence[str]
) -> dict[str, list[RefundableSale]]:
    """Return all sales of these payments in the switch, by payment and source id."""
    params = {"org": organization_id, "switch": switch_id, "payments": list(payments)}
    sales: dict[str, list[RefundableSale]] = {}
    for row in _SALES.all(_FIND_OF_PAYMENTS, params):
        sales.setdefault(row.name, []).append(row)
    return sales


def refund_key(sale_source_id: str) -> str:
    """Return the key of judged refunds of a sale, by which later slices find them."""
    return f"refund of {sale_source_id}"


def sum_refunds(*, organization_id: UUID, switch_id: UUID, sale_ids: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return the amounts and commissions that judged refunds take from these sales, by the sale's source id."""
    names = {refund_key(sale_id): sale_id for sale_id in sale_ids}
    rows = db.run(_SUM_REFUNDS, (organization_id, switch_id, list(names)))
    return {names[key]: (amount, commission) for key, amount, commission in rows}


_OF_ITEMS = f"""
  (select {_COLUMNS}
  from switch_item s {_LEFT_OF_ITEM}
  where {_OF_SWITCH} and s.customer_ref = w.customer_ref and s.affiliate_ref = w.affiliate_ref
    and s.currency = w.currency and s.occurred_at <= w.latest_at and s.commission_cents >= w.least_cents
    and s.verdict in ('new', 'known', 'changed') and sale_left.commission >= w.least_cents
  order by s.occurred_at desc, s.source_id desc limit %(limit)s)"""


def _select_earlier(condition: str) -> str:
    return f"""
  (select earlier.source_id, w.affiliate_ref, c.currency, c.id, c.occurred_at, true, c.status, c.payout_locked,
    c.amount_cents - c.refunded_cents, c.commission_cents - c.reversed_cents
  from conversion c
  cross join lateral (select substr(c.external_event_id, length(%(prefix)s) + 1) as source_id) earlier
  left join lateral (
    select true as is_judged from switch_item i
    where i.organization_id = %(org)s and i.switch_id = %(switch)s and i.collection = 'commissions'
      and i.source_id = earlier.source_id and i.verdict in ('new', 'known', 'changed') limit 1
  ) item on true
  where c.organization_id = %(org)s and {condition} and c.source = 'import' and c.switch_id is not null
    and starts_with(c.external_event_id, %(prefix)s) and c.affiliate_id = w.owner_id and c.currency = w.currency
    and c.occurred_at <= w.latest_at and c.status not in {_LOST} and item.is_judged is null
    and c.commission_cents - c.reversed_cents >= w.least_cents
  order by c.occurred_at desc limit %(limit)s)"""


# Two people with one email but different ids stay two.
_FIND_NEWEST = f"""
select w.id, sale.*
from unnest(%(id)s::text[], %(customer_ref)s::text[], %(affiliate_ref)s::text[], %(owner_id)s::uuid[],
  %(currency)s::text[], %(latest_at)s::timestamptz[], %(least_cents)s::bigint[], %(customer_id)s::text[],
  %(subscription_id)s::text[], %(email)s::text[])
  as w (id, customer_ref, affiliate_ref, owner_id, currency, latest_at, least_cents, customer_id, subscription_id,
    email)
cross join lateral (
  select * from (
{_OF_ITEMS}
    union all
{_select_earlier("c.processor_customer_id = w.customer_id")}
    union all
{_select_earlier("c.processor_subscription_id = w.subscription_id")}
    union all
{
    _select_earlier('''c.email_normalized = w.email
    and coalesce(c.processor_customer_id, w.customer_id, '') = coalesce(w.customer_id, c.processor_customer_id, '')''')
}
  ) newest (source_id, affiliate_ref, currency, target_id, occurred_at, comes_over, status, is_locked, amount_cents,
    commission_cents)
  order by newest.occurred_at desc, newest.source_id desc limit %(limit)s
) sale
order by w.id, sale.occurred_at desc, sale.source_id desc
"""


def find_newest_sales(
    customers: Sequence[CustomerToRefund], *, organization_id: UUID, switch_id: UUID, id_prefix: str, limit: int
) -> dict[str, list[RefundableSale]]:
    """Return up to `limit` sales of each of these customers, newest first, by `CustomerToRefund.id`.

    `id_prefix` and a source id make the external id of a conversion that an earlier switch brought.
    """
    params: dict[str, object] = {
        field.name: [getattr(customer, field.name) for customer in customers] for field in fields(CustomerToRefund)
    }
    params |= {"org": organization_id, "switch": switch_id, "prefix": id_prefix, "limit": limit}
    sales: dict[str, dict[str, RefundableSale]] = {}
    for row in _SALES.all(_FIND_NEWEST, params):
        sales.setdefault(row.name, {}).setdefault(row.source_id, row)
    return {name: list(rows.values()) for name, rows in sales.items()}
