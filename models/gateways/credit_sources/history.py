"""The select of the affiliates who were credited for earlier payments of the same buyer, from any source.

By subscription, else by customer id, else by email; of each the newest payment whose conversion still earns. Ids of
imports and signed sales do not contain a gateway: they match any gateway, but an id of digits only matches if the
emails agree or one is unknown.
"""

from models.conditions import EARNS_NOTHING
from models.gateways.credit_sources.columns import NO_CODE, NO_LEAD

_PAID = f"""select p.affiliate_id, g.paid_at from gateway_payment g
    join lateral (select status, affiliate_id from conversion
      where organization_id = g.organization_id and id = g.conversion_id offset 0) p on p.status not in {EARNS_NOTHING}
    where g.organization_id = %(org)s and g.gateway = %(gateway)s and g.is_test = %(is_test)s and g.paid_at <= %(at)s"""
_SIGNED = f"""select p.affiliate_id, s.accepted_at from sale s
    join lateral (select status, affiliate_id from conversion
      where organization_id = s.organization_id and id = s.id offset 0) p on p.status not in {EARNS_NOTHING}
    where s.organization_id = %(org)s and s.is_test = %(is_test)s and s.accepted_at <= %(at)s"""
_PAST = f"""select c.affiliate_id, c.occurred_at from conversion c
    where c.organization_id = %(org)s and c.is_test = %(is_test)s and c.occurred_at <= %(at)s
      and c.status not in {EARNS_NOTHING}"""


def same_id_sql(name: str, email: str) -> str:
    """Return SQL for whether the buyer's id (the parameter `name`), found without a gateway, is of the same person.

    Different shops number their customers alike, so an id of digits counts only if the emails agree or one is unknown.
    """
    return f"""(%({name})s !~ '^[0-9]+$' or {email} is null or %(email)s::text is null or {email} = %(email)s)"""


def _newest_sql(*selects: str) -> str:
    each = (f"({select} order by 2 desc limit 1)" for select in selects)
    return f"select affiliate_id from ({' union all '.join(each)}) earlier order by paid_at desc limit 1"


_BY = {
    "subscription": _newest_sql(
        f"{_PAID} and g.subscription_id = %(subscription)s",
        f"""{_PAST} and c.source = 'import' and c.processor_subscription_id = %(subscription)s
      and {same_id_sql("subscription", "c.email_normalized")}""",
    ),
    "customer": _newest_sql(
        f"{_PAID} and g.customer_id = %(customer)s",
        f"{_SIGNED} and s.customer_id = %(customer)s and {same_id_sql('customer', 's.email_normalized')}",
        f"""{_PAST} and c.source in ('import', 'manual') and c.processor_customer_id = %(customer)s
      and {same_id_sql("customer", "c.email_normalized")}""",
    ),
    "email": _newest_sql(
        f"{_PAID} and g.email_normalized = %(email)s",
        f"{_SIGNED} and s.email_normalized = %(email)s",
        f"{_PAST} and c.source in ('import', 'manual') and c.type <> 'Bonus' and c.email_normalized = %(email)s",
    ),
}
SELECT = "\nunion all\n".join(
    f"""(select {place}, '{by}', null, a.id, {NO_LEAD}, {NO_CODE} from ({earlier}) known
  join affiliate a on a.id = known.affiliate_id and a.deleted_at is null)"""
    for place, (by, earlier) in enumerate(_BY.items(), 1)
)
