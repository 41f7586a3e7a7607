"""Counts of an affiliate's leads from one network within an hour."""

from datetime import datetime, timedelta
from uuid import UUID

from domain.leads import LeadMethod
from models.db import db
from models.prepared_statements import PreparedStatement

_SPAN = timedelta(hours=1)

# A known person creates no new lead, as the unique index lead_person enforces.
_COUNT = PreparedStatement(f"""
insert into lead_network as n (organization_id, affiliate_id, network, since, leads)
select %(org)s, %(affiliate)s, %(network)s, %(at)s, 1
where not exists (
  select from lead where organization_id = %(org)s and affiliate_id = %(affiliate)s and email_normalized = %(email)s
    and method = '{LeadMethod.lead_signup.value}' and is_test = %(is_test)s
    and external_event_id is null and state <> 'Expired'
)
on conflict (organization_id, affiliate_id, network) do update set
  leads = case when n.since > excluded.since - interval '{_SPAN.seconds} s' then n.leads + 1 else 1 end,
  since = case when n.since > excluded.since - interval '{_SPAN.seconds} s' then n.since else excluded.since end
returning leads
""")


def count(
    *, organization_id: UUID, affiliate_id: UUID, network: bytes, email_normalized: str, is_test: bool, at: datetime
) -> int | None:
    """Count a new lead from a network and return how many it has sent within the hour; None if the person is known.

    The count stays locked until the transaction ends, so that no two leads have the same number. Budget: 1 round trip.
    """
    row = db.row(
        _COUNT,
        {
            "org": organization_id,
            "affiliate": affiliate_id,
            "network": network,
            "email": email_normalized,
            "is_test": is_test,
            "at": at,
        },
    )
    return row[0] if row else None


_DROP = """
delete from lead_network where ctid = any(array(
  select ctid from lead_network where since < %s order by since limit %s for update skip locked
))
returning 1
"""


def any_org_drop(*, now: datetime, limit: int) -> int:
    """Delete up to `limit` counts that can no longer increase; return how many."""
    return len(db.run(_DROP, (now - 2 * _SPAN, limit)))
