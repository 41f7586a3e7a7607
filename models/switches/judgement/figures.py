"""Figures that the source states of itself, and the sums of the rows that were read which they are compared with."""

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from models.db import db
from models.table import Rows, columns


class FigureRow(NamedTuple):
    """A stated figure; `label` is for people: the email of its affiliate or customer, where they are read."""

    name: str
    subject: str
    currency: str
    value: int
    label: str | None


_FIGURES = Rows(FigureRow)
# The labels are looked up for the rows of the slice alone.
_LIST = f"""
with f as materialized (
  select * from switch_figure
  where organization_id = %s and switch_id = %s and (name, subject, currency) > (%s, %s, %s)
  order by name, subject, currency limit %s
)
select {columns(FigureRow, "f", label="coalesce(a.label, c.label)")} from f
left join switch_item a on a.organization_id = f.organization_id and a.switch_id = f.switch_id
  and a.collection = 'affiliates' and a.source_id = f.subject
left join switch_item c on c.organization_id = f.organization_id and c.switch_id = f.switch_id
  and c.collection = 'customers' and c.source_id = f.subject
order by f.name, f.subject, f.currency
"""


def list_slice(*, organization_id: UUID, switch_id: UUID, after: tuple[str, str, str], limit: int) -> list[FigureRow]:
    """Return the next stated figures by name, subject and currency."""
    return _FIGURES.all(_LIST, (organization_id, switch_id, *after, limit))


class Sums(NamedTuple):
    """Sums of the rows of one affiliate or customer in a currency; an empty one is all currencies."""

    subject: str
    currency: str
    referrals: int
    paying_customers: int
    sales: int
    sale_amount: int
    commission_amount: int
    paid_commission: int
    settled_commission: int
    paid_payouts: int


_SUMS = Rows(Sums)
# Unpaid earnings are no sale: their source counts each sale as paid, so they are the part of it that is not.
_MONEY = """
  select count(*) filter (where has_sale and not is_rest) as sales,
    coalesce(sum(amount) filter (where has_sale), 0)::bigint as amount,
    coalesce(sum(commission) filter (where not is_rest), 0)::bigint as commission,
    (coalesce(sum(paid), 0) - coalesce(sum(commission) filter (where is_rest), 0))::bigint as paid,
    coalesce(sum(settled), 0)::bigint as settled
  from (
    select bool_or(i.commission_cents >= 0) as has_sale, bool_or(i.record->>'word' = 'unpaid_earnings') as is_rest,
      max(i.amount_cents) filter (where i.commission_cents >= 0) as amount,
      sum(i.commission_cents) filter (where i.kind not in ('refunded', 'denied')) as commission,
      sum(i.commission_cents) filter (where i.kind = 'paid') as paid,
      sum(i.commission_cents) filter (where i.kind in ('paid', 'owed')) as settled
    from switch_item i
    where i.organization_id = %(org)s and i.switch_id = %(switch)s and i.collection = 'commissions'
      and {condition} and i.problem is distinct from 'not_money'
      and (r.currency = '' or i.currency = r.currency)
    group by case when i.commission_cents >= 0 then coalesce(i.record->>'payment', i.source_id) else i.source_id end
  ) payments
"""
_OF_AFFILIATES = f"""
select r.ref, r.currency, c.referrals, c.paying, m.sales, m.amount, m.commission, m.paid, m.settled, p.payouts
from unnest(%(refs)s::text[], %(currencies)s::text[]) as r (ref, currency)
cross join lateral (
  select count(*) as referrals, count(*) filter (where i.record->>'first_paid_at' is not null) as paying
  from switch_item i
  where i.organization_id = %(org)s and i.switch_id = %(switch)s and i.affiliate_ref = r.ref
    and i.collection = 'customers' and i.record->'affiliate' <> 'null'
) c
cross join lateral ({_MONEY.replace("{condition}", "i.affiliate_ref = r.ref")}) m
cross join lateral (
  select coalesce(sum(i.amount_cents), 0)::bigint as payouts from switch_item i
  where i.organization_id = %(org)s and i.switch_id = %(switch)s and i.affiliate_ref = r.ref
    and i.collection = 'payouts' and i.kind = 'paid' and (r.currency = '' or i.currency = r.currency)
) p
"""
_OF_CUSTOMERS = f"""
select r.ref, r.currency, 0, 0, m.sales, m.amount, m.commission, m.paid, m.settled, 0
from unnest(%(refs)s::text[], %(currencies)s::text[]) as r (ref, currency)
join switch_item c on c.organization_id = %(org)s and c.switch_id = %(switch)s and c.collection = 'customers'
  and c.source_id = r.ref
cross join lateral ({_MONEY.replace("{condition}", "i.customer_ref = c.key")}) m
"""


def sum_of_affiliates(
    *, organization_id: UUID, switch_id: UUID, subjects: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], Sums]:
    """Return the sums of affiliates (source id, currency) over their customers, commissions and payouts."""
    return _read(_OF_AFFILIATES, organization_id, switch_id, subjects)


def sum_of_customers(
    *, organization_id: UUID, switch_id: UUID, subjects: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], Sums]:
    """Return the sums of customers (source id, currency) over their commissions."""
    return _read(_OF_CUSTOMERS, organization_id, switch_id, subjects)


def _read(
    sql: str, organization_id: UUID, switch_id: UUID, subjects: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], Sums]:
    params: dict[str, Any] = {
        "org": organization_id,
        "switch": switch_id,
        "refs": [ref for ref, _ in subjects],
        "currencies": [currency for _, currency in subjects],
    }
    return {(row.subject, row.currency): row for row in _SUMS.all(sql, params)}


_GROUPS = """
select record->'group'->>'name', count(distinct coalesce(record->>'person', source_id)) from switch_item
where organization_id = %s and switch_id = %s and collection = 'affiliates' and record->'group'->>'name' = any(%s)
group by 1
"""
_PAYOUTS = """
select currency, sum(amount_cents)::bigint from switch_item
where organization_id = %s and switch_id = %s and collection = 'payouts' and kind = 'paid' and problem is null
group by currency order by currency
"""
_EXPLAINED = """
select affiliate_ref, problem, count(*), coalesce(sum(commission_cents), 0)::bigint from switch_item
where organization_id = %s and switch_id = %s and affiliate_ref = any(%s)
  and collection in ('customers', 'commissions') and problem is not null
group by 1, 2 order by 1, 2
"""


def count_groups(*, organization_id: UUID, switch_id: UUID, names: Sequence[str]) -> dict[str, int]:
    """Return the number of persons in each of these groups of the source, each once whatever programs they are in."""
    return dict(db.run(_GROUPS, (organization_id, switch_id, list(names))))


def sum_payouts(*, organization_id: UUID, switch_id: UUID) -> dict[str, int]:
    """Return what the source paid out, by currency."""
    return dict(db.run(_PAYOUTS, (organization_id, switch_id)))


def list_problems(
    *, organization_id: UUID, switch_id: UUID, affiliate_refs: Sequence[str]
) -> dict[str, list[dict[str, Any]]]:
    """Return why rows of these affiliates are left out by themselves: reason, count and cents, by source id."""
    problems: dict[str, list[dict[str, Any]]] = {}
    for ref, reason, count, cents in db.run(_EXPLAINED, (organization_id, switch_id, list(affiliate_refs))):
        problems.setdefault(ref, []).append({"reason": reason, "count": count, "cents": cents})
    return problems
