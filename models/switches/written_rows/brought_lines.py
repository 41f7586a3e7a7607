"""Lines that describe the records which a switch brought, as they are here: equal for equal runs.

Without ids, times and generated slugs of this service; with the effects that a run has beyond the rows themselves
(counts, ledger, history). Source: the switch-over rules, "Screens and command" (digest).
"""

from collections.abc import Iterator
from uuid import UUID

from domain.switches.sources import Collection
from models.db import db

# Times of the source are from before the reading; others were chosen here.
_TIME = "case when {0} < s.reading_at then {0} end"
# Behind row-level security an index serves plain columns and `case`, but no `coalesce` and no cast.
_OWNER = """
left join affiliate a on a.organization_id = i.organization_id and a.id = {0}
left join program p on p.organization_id = a.organization_id and p.id = a.program_id"""

_SELECTS: dict[str, tuple[str, str]] = {
    Collection.Affiliates.value: (
        "p.name, a.email, a.full_name, a.status, a.wallet_email, a.tags, g.name, a.deleted_at is null",
        f"""{_OWNER.format("i.target_id")}
left join partner_group g on g.organization_id = a.organization_id and g.id = a.partner_group_id""",
    ),
    Collection.Links.value: (
        """p.name, a.email, t.token, l.deleted_at is null,
  case when i.old_token is null or i.slug is not null then l.slug end""",
        f"""left join tracking_link l on l.organization_id = i.organization_id and l.id = i.link_id
left join old_token t on t.organization_id = i.organization_id and t.token = i.old_token
{_OWNER.format("l.affiliate_id")}""",
    ),
    Collection.Codes.value: (
        "p.name, a.email, k.code, k.origin, k.status",
        f"""left join affiliate_coupon k on k.organization_id = i.organization_id and k.id = i.target_id
{_OWNER.format("k.affiliate_id")}""",
    ),
    Collection.Customers.value: (
        f"""p.name, a.email, b.source, b.customer_id, b.subscription_id, b.email, b.email_normalized, b.name,
  {_TIME.format("b.first_paid_at")}, b.payments, {_TIME.format("b.seen_at")}""",
        f"""left join brought_customer b on b.organization_id = i.organization_id and b.id = i.target_id
{_OWNER.format("b.affiliate_id")}""",
    ),
    Collection.Commissions.value: (
        """p.name, a.email, c.external_event_id, c.attribution_method, c.status, c.type, c.currency, c.amount_cents,
  c.commission_cents, c.refunded_cents, c.reversed_cents, c.payout_locked, c.processor_customer_id,
  c.processor_subscription_id, c.customer_email, c.customer_name, c.email_normalized, c.occurred_at, c.hold_until,
  (select jsonb_agg(jsonb_build_array(l.kind, l.amount_cents) order by l.kind, l.amount_cents) from ledger_entry l
    where l.organization_id = c.organization_id and l.conversion_id = c.id),
  (select jsonb_agg(jsonb_build_array(h.event_type, h.amount_cents, h.commission_cents)
    order by h.event_type, h.amount_cents, h.commission_cents) from conversion_event h
    where h.organization_id = c.organization_id and h.conversion_id = c.id),
  r.amount_cents, v.commission_cents""",
        f"""left join refund r on r.organization_id = i.organization_id and r.id = i.refund_id
left join reversal v on v.organization_id = r.organization_id and v.refund_id = r.id
  and v.conversion_id = r.conversion_id
left join conversion c on c.organization_id = i.organization_id
  and c.id = case when i.refund_id is null then i.target_id else r.conversion_id end
{_OWNER.format("c.affiliate_id")}""",
    ),
}
_LINES = {
    collection: f"""
with item as materialized (
  select i.organization_id, i.switch_id, i.source_id, i.verdict, i.target_id,
    case when i.target_type = 'refund' then i.target_id end as refund_id,
    (i.decision ->> 'link_id')::uuid as link_id, i.decision ->> 'slug' as slug, i.decision ->> 'old_token' as old_token
  from switch_item i
  where i.organization_id = %(org)s and i.switch_id = %(switch)s and i.collection = %(collection)s and i.is_written
    and i.source_id > %(after)s
  order by i.source_id limit %(limit)s
)
select i.source_id, jsonb_build_array(i.verdict, {values})::text
from item i
join switch s on s.organization_id = i.organization_id and s.id = i.switch_id
{joins}
order by i.source_id
"""
    for collection, (values, joins) in _SELECTS.items()
}


def list_lines(
    *, organization_id: UUID, switch_id: UUID, collection: str, after: str, limit: int
) -> list[tuple[str, str]]:
    """Return the next written rows of a collection by source id: the id, and the record here as JSON."""
    params = {
        "org": organization_id,
        "switch": switch_id,
        "collection": collection,
        "after": after,
        "limit": limit,
    }
    return [(source_id, line) for source_id, line in db.run(_LINES[collection], params)]


_COUNTED = f"""
select i.customer_key, jsonb_build_array(p.name, i.payments, {_TIME.format("i.first_paid_at")})::text
from import_customer i
join switch s on s.organization_id = i.organization_id and s.id = i.import_job_id
join program p on p.organization_id = i.organization_id and p.id = i.program_id
where i.organization_id = %(org)s and i.import_job_id = %(switch)s
order by i.customer_key collate "C", p.name
"""


def list_counted(*, organization_id: UUID, switch_id: UUID) -> Iterator[tuple[str, str]]:
    """Return the customers whose payments the switch counted: their name, and the count as JSON."""
    params = {"org": organization_id, "switch": switch_id}
    return ((name, line) for name, line in db.run(_COUNTED, params))
