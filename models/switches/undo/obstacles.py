"""What an undo keeps: records that something of this organization came to depend on since the run.

Each function is one statement for any number of records. The same conditions serve the preview of an undo, for all
records of the switch (`models.switches.undo.figures`), and each of its slices.
Source: the switch-over rules, "Undo".
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from models.db import db

#: SQL: the brought customers of `brought` with a payment, sale or lead here since the run, for the same affiliate. What
#: a later switch brought counts as well. Takes the parameters `org`, `switch` and `since`.
LATER = """
recent as materialized (
  select c.id, c.affiliate_id, c.processor_customer_id, c.processor_subscription_id, c.email_normalized
  from conversion c
  where c.organization_id = %(org)s and c.affiliate_id = any(array(select distinct affiliate_id from brought))
    and c.created_at > %(since)s and c.switch_id is distinct from %(switch)s and c.parent_id is null
), named as materialized (
  select distinct r.affiliate_id, n.name from recent r
  left join gateway_payment g on g.organization_id = %(org)s and g.conversion_id = r.id
  left join sale s on s.organization_id = %(org)s and s.id = r.id
  left join lead l on l.organization_id = %(org)s and l.id = r.id
  cross join lateral (values ('id:' || r.processor_customer_id), ('id:' || g.customer_id), ('id:' || s.customer_id),
    ('subscription:' || r.processor_subscription_id), ('subscription:' || g.subscription_id),
    ('email:' || r.email_normalized), ('email:' || g.email_normalized), ('email:' || s.email_normalized),
    ('email:' || l.email_normalized)) n (name)
  where n.name is not null
), later as materialized (
  select distinct b.id, b.program_id, b.affiliate_id, b.customer_id, b.subscription_id, b.email_normalized
  from brought b
  cross join lateral (values ('id:' || b.customer_id), ('subscription:' || b.subscription_id),
    ('email:' || b.email_normalized)) o (name)
  join named n on n.affiliate_id = b.affiliate_id and n.name = o.name
)"""
#: SQL: the columns of the brought customers `b` in `brought`.
CUSTOMER_COLUMNS = "b.id, b.program_id, b.affiliate_id, b.customer_id, b.subscription_id, b.email_normalized"
_LATER_OF = f"""
with brought as materialized (
  select {CUSTOMER_COLUMNS} from brought_customer b where b.organization_id = %(org)s and b.id = any(%(ids)s)
), {LATER}
select id from later
"""
#: SQL: whether the conversion `c` is of the brought customer `b`.
IS_PAYER = """(b.customer_id = c.processor_customer_id or b.subscription_id = c.processor_subscription_id
    or b.email_normalized = c.email_normalized
      and (b.customer_id is null or c.processor_customer_id is null or b.customer_id = c.processor_customer_id))"""
_LATER_PAID = f"""
with paid as materialized (
  select c.id as conversion_id, {CUSTOMER_COLUMNS} from conversion c
  join brought_customer b on b.organization_id = %(org)s and b.program_id = c.program_id and {IS_PAYER}
  where c.organization_id = %(org)s and c.id = any(%(ids)s)
), brought as materialized (select distinct {CUSTOMER_COLUMNS} from paid b), {LATER}
select distinct p.conversion_id from paid p join later l on l.id = p.id
"""


def find_later_customers(
    *, organization_id: UUID, switch_id: UUID, customer_ids: Sequence[UUID], since: datetime
) -> set[UUID]:
    """Return which of these brought customers paid, bought or signed up here since then for the same affiliate.

    What later switches brought counts, what this one brought does not.
    """
    params = {"org": organization_id, "switch": switch_id, "ids": list(customer_ids), "since": since}
    return {customer_id for (customer_id,) in db.run(_LATER_OF, params)}


def find_conversions_of_later(
    *, organization_id: UUID, switch_id: UUID, conversion_ids: Sequence[UUID], since: datetime
) -> set[UUID]:
    """Return which of these conversions are of a brought customer whom `find_later_customers` returns."""
    params = {"org": organization_id, "switch": switch_id, "ids": list(conversion_ids), "since": since}
    return {conversion_id for (conversion_id,) in db.run(_LATER_PAID, params)}


#: SQL: the refunds `r` of a conversion `c` that the switch did not book itself. Takes the parameter `switch`.
IS_REFUND_HERE = """(r.created_at <> c.created_at or r.place <> 1) and not exists (
  select from switch_item i where i.organization_id = r.organization_id and i.switch_id = %(switch)s
    and i.target_type = 'refund' and i.target_id = r.id)"""
_OBSTACLES = f"""
select c.id, case
  when exists (select from payout_line l where l.organization_id = c.organization_id and l.conversion_id = c.id)
    or exists (select from ledger_entry l where l.organization_id = c.organization_id and l.conversion_id = c.id
      and l.kind in ('pay', 'clawback'))
  then 'in_payout'
  when exists (select from refund r where r.organization_id = c.organization_id and r.conversion_id = c.id
    and {IS_REFUND_HERE})
  then 'refunded'
  when exists (select from conversion o where o.organization_id = c.organization_id and o.parent_id = c.id)
  then 'override'
end
from conversion c where c.organization_id = %(org)s and c.id = any(%(ids)s)
"""
_LOCK = "select from conversion where organization_id = %s and id = any(%s) order by id for update"


def lock_conversions(
    *, organization_id: UUID, switch_id: UUID, conversion_ids: Sequence[UUID]
) -> dict[UUID, str | None]:
    """Lock conversions until the transaction ends; return why each is kept (in_payout, refunded, override), or None.

    Conversions that do not exist any more are left out.
    """
    ids = list(conversion_ids)
    db.stage(_LOCK, (organization_id, ids))
    return dict(db.run(_OBSTACLES, {"org": organization_id, "switch": switch_id, "ids": ids}))


#: SQL: the links and codes that the switch brought. Takes the parameters `org` and `switch`.
BROUGHT_LINKS = """
brought_link as materialized (
  select (decision ->> 'link_id')::uuid as id from switch_item
  where organization_id = %(org)s and switch_id = %(switch)s and collection in ('affiliates', 'links')
    and is_written and decision ->> 'link_id' is not null
), brought_code as materialized (
  select target_id as id from switch_item
  where organization_id = %(org)s and switch_id = %(switch)s and collection = 'codes' and is_written
    and target_id is not null
)"""
_EXISTS = "exists (select from {table} x where x.organization_id = a.organization_id and x.affiliate_id = a.id{more})"
_USES = tuple(
    _EXISTS.format(table=table, more=" and not x.is_test" if table == "uncredited_conversion" else "")
    for table in ("click", "uncredited_conversion", "coupon_grant", "payout", "deal", "embed_token", "tax_form")
)
_OWN_OR_REDEEMED = """ and (x.redemption_count > 0 or x.last_redeemed_at is not null
    or x.id not in (select id from brought_code))"""
_HAS_CUSTOMER = _EXISTS.format(table="brought_customer", more="")
_HAS_CONVERSION = _EXISTS.format(table="conversion", more="")
#: SQL: whether an affiliate `a` is used, apart from conversions and brought customers.
IS_USED = f"""(a.account_id is not null
  or {" or ".join(_USES)}
  or exists (select from click_hour x where x.organization_id = a.organization_id and x.program_id = a.program_id
    and x.affiliate_id = a.id)
  or exists (select from affiliate x where x.organization_id = a.organization_id and x.recruited_by_affiliate_id = a.id)
  or {_EXISTS.format(table="tracking_link", more=" and x.id not in (select id from brought_link)")}
  or {_EXISTS.format(table="affiliate_coupon", more=_OWN_OR_REDEEMED)}
  or exists (select from old_token t join tracking_link x on x.organization_id = t.organization_id and x.id = t.link_id
    where x.organization_id = a.organization_id and x.affiliate_id = a.id and t.switch_id <> %(switch)s))"""
_USED = f"""
with {BROUGHT_LINKS}
select a.id, case when {_HAS_CUSTOMER} then 'later_payment' else 'in_use' end
from affiliate a
where a.organization_id = %(org)s and a.id = any(%(ids)s)
  and ({_HAS_CUSTOMER} or {_HAS_CONVERSION} or {IS_USED})
"""


def find_used_affiliates(*, organization_id: UUID, switch_id: UUID, affiliate_ids: Sequence[UUID]) -> dict[UUID, str]:
    """Return why affiliates are kept: later_payment of a customer of theirs, or in_use; unused ones are left out."""
    params = {"org": organization_id, "switch": switch_id, "ids": list(affiliate_ids)}
    return dict(db.run(_USED, params))


#: SQL: whether a buyer has redeemed a code `k`.
IS_REDEEMED = """(k.redemption_count > 0 or k.last_redeemed_at is not null
    or exists (select from conversion c where c.organization_id = k.organization_id and c.affiliate_coupon_id = k.id
      and c.affiliate_coupon_id is not null))"""
_USED_CODES = f"""
select k.id from affiliate_coupon k where k.organization_id = %(org)s and k.id = any(%(ids)s) and {IS_REDEEMED}
"""


def find_used_codes(*, organization_id: UUID, code_ids: Sequence[UUID]) -> set[UUID]:
    """Return which of these codes a buyer has redeemed."""
    return {code_id for (code_id,) in db.run(_USED_CODES, {"org": organization_id, "ids": list(code_ids)})}
