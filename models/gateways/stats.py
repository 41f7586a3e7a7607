"""Counts of a connection's events and of their results."""

from dataclasses import dataclass
from uuid import UUID

from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class ConnectionStats:
    """How many events were received, and how many payments and refunds they reported.

    `credited` payments have a conversion, `unreferred` ones named no affiliate.
    """

    received: int
    credited: int
    unreferred: int
    refunds: int
    failed: int
    parked: int


_STATS = Rows(ConnectionStats)
_OF = f"""
select {columns(ConnectionStats)} from (
  select count(*) as received,
    count(*) filter (where status = 'Failed') as failed,
    count(*) filter (where status = 'Parked') as parked
  from gateway_event where organization_id = %(org)s and connection_id = %(connection)s
) inbox, (
  select count(*) filter (where p.conversion_id is not null) as credited,
    count(*) filter (where p.reason = 'nobody_referred') as unreferred
  from gateway_payment p join gateway_event e on e.organization_id = p.organization_id and e.id = p.event_id
  where e.organization_id = %(org)s and e.connection_id = %(connection)s
) paid, (
  select count(*) as refunds
  from gateway_refund r
  join gateway_payment p on p.organization_id = r.organization_id and p.id = r.payment_id
  join gateway_event e on e.organization_id = p.organization_id and e.id = p.event_id
  where e.organization_id = %(org)s and e.connection_id = %(connection)s
) back
"""


def count_events(*, organization_id: UUID, connection_id: UUID) -> ConnectionStats:
    """Return the counts of one connection."""
    stats = _STATS.first(_OF, {"org": organization_id, "connection": connection_id})
    assert stats is not None  # an aggregate has a row
    return stats
