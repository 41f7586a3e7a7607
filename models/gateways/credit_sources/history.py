"""The select of the affiliates who were credited for earlier payments of the same buyer, from any source.

By subscription, else by customer id, else by email; of each the newest payment whose conversion still earns, or the
newest payment of a customer of a former system, who credits their affiliate there, also as a lead without a payment.
Ids of imports, signed sales and former systems do not contain a gateway: they match any gateway, but an id of digits
only matches if the emails agree or one is unknown. A former system's sales credit by its customers alone.
"""

from models.conditions import EARNS_NOTHING
from models.gateways.credit_sources.brought import EVIDENCE, same_id_sql
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
      and c.status not in {EARNS_NOTHING} and c.switch_id is null"""


def _newest_sql(*selects: str) -> str:
    each = (f"({select} order by 2 desc limit 1)" for select in selects)
    earlier = f"({' union all '.join(each)}) earlier (affiliate_id, paid_at)"
    return f"select affiliate_id from {earlier} order by paid_at desc limit 1"


_BY = {
    "subscription": _newest_sql(
        EVIDENCE["subscription"],
        f"{_PAID} and g.subscription_id = %(subscription)s",
        f"""{_PAST} and c.source = 'import' and c.processor_subscription_id = %(subscription)s
      and {same_id_sql("subscription", "c.email_normalized")}""",
    ),
    "customer": _newest_sql(
        EVIDENCE["customer"],
        f"{_PAID} and g.customer_id = %(customer)s",
        f"{_SIGNED} and s.customer_id = %(customer)s and {same_id_sql('customer', 's.email_normalized')}",
        f"""{_PAST} and c.source in ('import', 'manual') and c.processor_customer_id = %(customer)s
      and {same_id_sql("customer", "c.email_normalized")}""",
    ),
    "email": _newest_sql(
        EVIDENCE["email"],
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
