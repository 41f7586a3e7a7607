"""Removes conversions that an import or a switch brought, with the rows that were derived from them.

The number of statements does not depend on how many there are. The caller has locked them and ensured that nothing
else refers to them.
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from models.db import db
from models.ledger import entries

_OF_ROWS = "c.organization_id = %(org)s and c.id = any(%(ids)s)"

_LEDGER = f"""
{entries.insert_sql(kind="'adjust'", cents="-booked.cents", cause="%(cause)s", at="%(at)s")}
from conversion c
cross join lateral (select sum(l.amount_cents) as cents from ledger_entry l
  where l.organization_id = c.organization_id and l.conversion_id = c.id) booked
where {_OF_ROWS} and booked.cents <> 0
"""

# In one order, so that two transactions that change several of the same days never deadlock.
_REVENUE = f"""
insert into affiliate_revenue as r (organization_id, affiliate_id, day, currency, net_cents)
select c.organization_id, c.affiliate_id, (c.occurred_at at time zone 'UTC')::date as day, c.currency,
  -sum(c.amount_cents - c.refunded_cents)
from conversion c where {_OF_ROWS} and not c.is_test
group by 1, 2, day, 4 order by 2, day, 4
on conflict (organization_id, affiliate_id, day, currency) do update set net_cents = r.net_cents + excluded.net_cents
"""

_DELETE_OF = "delete from {table} d where d.organization_id = %(org)s and d.conversion_id = any(%(ids)s)"
_DERIVED = tuple(_DELETE_OF.format(table=table) for table in ("conversion_event", "commission_change"))
_REFUNDS = tuple(_DELETE_OF.format(table=table) for table in ("reversal", "refund"))
_CONVERSIONS = f"delete from conversion c where {_OF_ROWS}"


def stage(
    *, organization_id: UUID, ids: Sequence[UUID], cause_id: UUID, at: datetime, with_refunds: bool = False
) -> None:
    """Stage the removal of locked conversions; the ledger gets opposite entries, whose cause is `cause_id`.

    `with_refunds`: they may have refunds that came with them.
    """
    if not ids:
        return
    params = {"org": organization_id, "ids": list(ids), "cause": cause_id, "at": at}
    for statement in (_LEDGER, _REVENUE, *_DERIVED, *(_REFUNDS if with_refunds else ()), _CONVERSIONS):
        db.stage(statement, params)
