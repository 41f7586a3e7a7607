"""What other items of the same switch say: owners of rows, referrals, first sales, sums of customers.

Each function is one statement for any number of rows.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from models.db import db
from models.table import Rows, columns


class AffiliateItem(NamedTuple):
    """An affiliate that a row may name, by `name`: their source id, `key` or the key of a link."""

    name: str
    source_id: str
    campaign: str | None
    program_id: UUID | None


_AFFILIATES = Rows(AffiliateItem)
_FIND_AFFILIATES = """
select source_id, source_id, campaign_ref, program_id from switch_item
where organization_id = %(org)s and switch_id = %(switch)s and collection = 'affiliates' and source_id = any(%(ids)s)
union all
select key, source_id, campaign_ref, program_id from switch_item
where organization_id = %(org)s and switch_id = %(switch)s and collection = 'affiliates' and key = any(%(keys)s)
union all
select l.key, a.source_id, a.campaign_ref, a.program_id from switch_item l
join switch_item a on a.organization_id = l.organization_id and a.switch_id = l.switch_id
  and a.collection = 'affiliates' and a.source_id = l.affiliate_ref
where l.organization_id = %(org)s and l.switch_id = %(switch)s and l.collection = 'links' and l.key = any(%(tokens)s)
order by 1, 2
"""


def find_affiliates(
    *, organization_id: UUID, switch_id: UUID, ids: Sequence[str], keys: Sequence[str], tokens: Sequence[str]
) -> list[AffiliateItem]:
    """Return the affiliates with these source ids, keys or tokens of links, by source id."""
    params = {"org": organization_id, "switch": switch_id, "ids": list(ids), "keys": list(keys), "tokens": list(tokens)}
    return _AFFILIATES.all(_FIND_AFFILIATES, params)


class CustomerItem(NamedTuple):
    """A customer that a commission may name, with the names that were chosen for them."""

    source_id: str
    key: str | None
    customer_ref: str | None
    affiliate_ref: str | None
    billing_id: str | None
    subscription_id: str | None
    email: str | None
    name: str | None
    problem: str | None


_CUSTOMERS = Rows(CustomerItem)
_CUSTOMER_COLUMNS = columns(
    CustomerItem,
    billing_id="record->>'billing_id'",
    subscription_id="record->>'subscription_id'",
    email="record->>'email'",
    name="record->>'name'",
)
_OF_SWITCH = "organization_id = %(org)s and switch_id = %(switch)s and collection = 'customers'"
_FIND_CUSTOMERS = f"""
select {_CUSTOMER_COLUMNS} from switch_item where {_OF_SWITCH} and source_id = any(%(ids)s)
union
select {_CUSTOMER_COLUMNS} from switch_item where {_OF_SWITCH} and key = any(%(keys)s)
union
select {_CUSTOMER_COLUMNS} from switch_item where {_OF_SWITCH} and customer_ref = any(%(inboxes)s)
"""


def find_customers(
    *, organization_id: UUID, switch_id: UUID, ids: Sequence[str], keys: Sequence[str], inboxes: Sequence[str]
) -> list[CustomerItem]:
    """Return the customers with these source ids, keys, or inboxes (their `customer_ref`)."""
    params = {"org": organization_id, "switch": switch_id, "ids": list(ids), "keys": list(keys)}
    return _CUSTOMERS.all(_FIND_CUSTOMERS, params | {"inboxes": list(inboxes)})


_WITH_REFERRALS = """
select ref from unnest(%(refs)s::text[]) as ref
where exists (
  select from switch_item i where i.organization_id = %(org)s and i.switch_id = %(switch)s and i.affiliate_ref = ref
    and i.collection in ('customers', 'commissions')
)
"""


def find_with_referrals(*, organization_id: UUID, switch_id: UUID, affiliate_refs: Sequence[str]) -> set[str]:
    """Return which of these affiliates (source ids) have a customer or a commission."""
    params = {"org": organization_id, "switch": switch_id, "refs": list(affiliate_refs)}
    return {ref for (ref,) in db.run(_WITH_REFERRALS, params)}


class FirstLink(NamedTuple):
    """The first link of an affiliate that comes over; `kind` says whether it is a slug or an old token."""

    owner_id: UUID
    source_id: str
    token: str
    kind: str | None
    verdict: str


_FIRST_LINKS = Rows(FirstLink)
_FIND_FIRST_LINKS = """
select distinct on (a.target_id) a.target_id, l.source_id, l.key, l.kind, l.verdict
from switch_item a
join switch_item l on l.organization_id = a.organization_id and l.switch_id = a.switch_id
  and l.collection = 'links' and l.affiliate_ref = a.source_id
where a.organization_id = %(org)s and a.switch_id = %(switch)s and a.collection = 'affiliates'
  and a.key = any(%(keys)s) and a.target_id is not null and l.verdict in ('new', 'known', 'merged')
window same_token as (
  partition by a.target_id, l.key order by (l.record->>'place')::int, l.source_id
)
order by a.target_id, first_value((l.record->>'place')::int) over same_token,
  first_value(l.source_id) over same_token, l.verdict <> 'new', l.source_id
"""


def find_first_links(*, organization_id: UUID, switch_id: UUID, keys: Sequence[str]) -> dict[UUID, FirstLink]:
    """Return the first link of each affiliate with these keys, by the affiliate's id here.

    Of several rows with the first token it is the one that comes over, to which the others are merged.
    """
    rows = _FIRST_LINKS.all(_FIND_FIRST_LINKS, {"org": organization_id, "switch": switch_id, "keys": list(keys)})
    return {row.owner_id: row for row in rows}


_DEFAULT_LINKS = """
select key, max(decision->>'link_id')::uuid from switch_item
where organization_id = %s and switch_id = %s and collection = 'affiliates' and key = any(%s)
  and decision->>'link_id' is not null
group by key
"""


def find_default_links(*, organization_id: UUID, switch_id: UUID, keys: Sequence[str]) -> dict[str, UUID]:
    """Return the default link here of affiliates with these keys, by key; those without a link are left out."""
    return dict(db.run(_DEFAULT_LINKS, (organization_id, switch_id, list(keys))))


_TAKEN = """
select l.key, a.key from switch_item l
left join switch_item a on a.organization_id = l.organization_id and a.switch_id = l.switch_id
  and a.collection = 'affiliates' and a.source_id = l.affiliate_ref
where l.organization_id = %(org)s and l.switch_id = %(switch)s and l.collection = 'links' and l.key = any(%(slugs)s)
union all
select substr(customer_ref, 6), key from switch_item
where organization_id = %(org)s and switch_id = %(switch)s and collection = 'affiliates'
  and customer_ref = any(%(chosen)s)
"""


def find_slug_owners(*, organization_id: UUID, switch_id: UUID, slugs: Sequence[str]) -> list[tuple[str, str | None]]:
    """Return (slug, affiliate's key) of tokens of this switch, and of slugs chosen for its affiliates, among these."""
    params = {"org": organization_id, "switch": switch_id, "slugs": list(slugs)}
    return [(slug, key) for slug, key in db.run(_TAKEN, params | {"chosen": [f"slug:{slug}" for slug in slugs]})]


_FIRST_OF_PAYMENTS = """
select key, min(source_id) from switch_item
where organization_id = %s and switch_id = %s and collection = 'commissions' and key = any(%s)
  and problem is null and commission_cents >= 0
group by key
"""
_FIRST_SALES = """
select r.ref, s.source_id, s.key from unnest(%(refs)s::text[]) as r (ref)
cross join lateral (
  select source_id, key from switch_item i
  where i.organization_id = %(org)s and i.switch_id = %(switch)s and i.customer_ref = r.ref
    and i.collection = 'commissions' and i.problem is null and i.commission_cents >= 0 and i.occurred_at is not null
  order by i.occurred_at, i.source_id limit 1
) s
"""


def find_first_of_payments(*, organization_id: UUID, switch_id: UUID, keys: Sequence[str]) -> dict[str, str]:
    """Return the first commission of each payment by source id, whatever becomes of it: the source's own sums."""
    return dict(db.run(_FIRST_OF_PAYMENTS, (organization_id, switch_id, list(keys))))


_PAYMENT_ROWS = """
select i.key, i.source_id, coalesce(i.verdict = 'new' and (i.decision->>'amount_cents')::bigint > 0, false)
from switch_item i
where i.organization_id = %s and i.switch_id = %s and i.collection = 'commissions' and i.key = any(%s)
  and i.commission_cents >= 0
"""
# By a list of ids, and none of another statement: else the planner may read all conversions for each.
_WITH_AMOUNT = """
select external_event_id from conversion
where organization_id = %s and source = 'import' and external_event_id = any(%s) and amount_cents > 0
"""


def find_amount_carriers(
    *, organization_id: UUID, switch_id: UUID, keys: Sequence[str], id_prefix: str
) -> dict[str, str]:
    """Return the commission that has the amount of each payment already, by payment: here, or in a judged row.

    A conversion that an earlier switch brought keeps its amount, so it comes before rows that were judged already.
    `id_prefix` and a source id make its external id. Budget: 2 round trips.
    """
    rows = db.run(_PAYMENT_ROWS, (organization_id, switch_id, list(keys)))
    external_ids = [id_prefix + source_id for _, source_id, _ in rows]
    with_amount = {external_id for (external_id,) in db.run(_WITH_AMOUNT, (organization_id, external_ids))}
    carriers: dict[str, tuple[bool, str]] = {}
    for key, source_id, is_judged in rows:
        is_here = id_prefix + source_id in with_amount
        if is_here or is_judged:
            rank = (not is_here, source_id)
            carriers[key] = min(carriers.get(key, rank), rank)
    return {key: source_id for key, (_, source_id) in carriers.items()}


def find_first_sales(
    *, organization_id: UUID, switch_id: UUID, customer_refs: Sequence[str]
) -> dict[str, tuple[str, str | None]]:
    """Return the source id and the payment of each customer's first sale, by `customer_ref`."""
    params = {"org": organization_id, "switch": switch_id, "refs": list(customer_refs)}
    return {ref: (source_id, key) for ref, source_id, key in db.run(_FIRST_SALES, params)}


class CustomerSales(NamedTuple):
    """The payments of a customer that come over; the affiliate (source id) and the names of the newest commissions.

    `new_payments` are those of which no commission was brought before. A sale without an amount, of which the source
    tells only the commission, counts as a payment; `unpriced_at` is the time of the first one, `first_at` that of the
    first with an amount.
    """

    customer_ref: str
    payments: int
    new_payments: int
    first_at: datetime | None
    unpriced_at: datetime | None
    last_at: datetime | None
    newest_affiliate: str | None
    billing_id: str | None
    subscription_id: str | None
    email: str | None
    name: str | None


_SALES = Rows(CustomerSales)
_IS_UNPRICED = "i.amount_cents = 0 and i.commission_cents > 0 and i.record->>'is_sale' is distinct from 'false'"
_NEWEST = "(array_agg({0} order by i.occurred_at desc, i.source_id desc) filter (where {0} is not null))[1]"
_COUNT_PAYMENTS = f"""count(distinct coalesce(i.key, i.source_id)) filter (
    where (i.amount_cents > 0 or {_IS_UNPRICED})"""
_CUSTOMER_SALES = f"""
select r.ref, s.* from unnest(%(refs)s::text[]) as r (ref)
cross join lateral (
  select {_COUNT_PAYMENTS}), {_COUNT_PAYMENTS}) - {_COUNT_PAYMENTS} and i.verdict in ('known', 'changed')),
    min(i.occurred_at) filter (where i.amount_cents > 0), min(i.occurred_at) filter (where {_IS_UNPRICED}),
    max(i.occurred_at), {_NEWEST.format("i.affiliate_ref")}, {_NEWEST.format("i.record->>'billing_id'")},
    {_NEWEST.format("i.record->>'subscription_id'")}, {_NEWEST.format("i.record->>'customer_email'")},
    {_NEWEST.format("i.record->>'customer_name'")}
  from switch_item i
  where i.organization_id = %(org)s and i.switch_id = %(switch)s and i.customer_ref = r.ref
    and i.collection = 'commissions' and i.commission_cents >= 0 and i.verdict in ('new', 'known', 'changed')
) s
"""


def sum_customer_sales(
    *, organization_id: UUID, switch_id: UUID, customer_refs: Sequence[str]
) -> dict[str, CustomerSales]:
    """Return the payments of customers among the judged commissions, by `customer_ref`."""
    params = {"org": organization_id, "switch": switch_id, "refs": list(customer_refs)}
    return {row.customer_ref: row for row in _SALES.all(_CUSTOMER_SALES, params)}


class AffiliateTarget(NamedTuple):
    """An affiliate that comes over: the source id, and the record here."""

    source_id: str
    id: UUID
    program_id: UUID


_TARGETS = Rows(AffiliateTarget)
_FIND_TARGETS = """
select source_id, target_id, program_id from switch_item
where organization_id = %s and switch_id = %s and collection = 'affiliates' and source_id = any(%s)
  and target_id is not null
"""


def find_affiliate_targets(
    *, organization_id: UUID, switch_id: UUID, source_ids: Sequence[str]
) -> dict[str, AffiliateTarget]:
    """Return the affiliates with these source ids that come over, by source id."""
    rows = _TARGETS.all(_FIND_TARGETS, (organization_id, switch_id, list(source_ids)))
    return {row.source_id: row for row in rows}
