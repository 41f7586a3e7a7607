"""Rules about accepted money that a job has yet to book, in the form of `models.ledger.rules`."""

from collections.abc import Mapping

from models.jobs.losses import DISCARDED_OVERRIDE, UNCASCADED_REFUND, UNSETTLED_SALE

# An override that was paid for gives nothing back, and may be owed more later: only one that never was is looked at.
#: What was accepted and is booked later.
WORK: Mapping[str, str] = {
    UNSETTLED_SALE: """
select format('sale %s: %s %s accepted at %s and not credited. Send it again', s.external_event_id, s.amount_cents,
  s.currency, s.accepted_at) from sale s
where {org:s} and not exists (select from conversion c where c.organization_id = s.organization_id and c.id = s.id)
and not exists (select from uncredited_conversion u where u.organization_id = s.organization_id
  and u.source = 's2s' and u.external_event_id = s.external_event_id)
and not exists (select from job j where j.organization_id = s.organization_id and j.name = 'sale.settle'
  and j.args ->> 'sale_id' = s.id::text)""",
    DISCARDED_OVERRIDE: """
select format('override of sale %s: %s percent of %s %s for affiliate %s is not written. Send the sale again',
  p.external_event_id, d.args ->> 'percent', p.commission_cents, p.currency, d.args ->> 'recruiter_id')
from discarded_job d join conversion p on p.organization_id = d.organization_id
  and p.id::text = d.args ->> 'conversion_id'
where {org:d} and d.name = 'override.write' and p.commission_cents * (d.args ->> 'percent')::numeric / 100 > 0.5
and not exists (select from conversion c where c.organization_id = p.organization_id and c.parent_id = p.id)
and not exists (select from job j where j.organization_id = p.organization_id and j.name = 'override.write'
  and j.args ->> 'conversion_id' = p.id::text)""",
    UNCASCADED_REFUND: """
select format('sale %s: refund of %s %s is not taken from its override %s. Send the sale again', p.external_event_id,
  r.amount_cents, p.currency, c.id)
from refund r join conversion p on p.organization_id = r.organization_id and p.id = r.conversion_id
join conversion c on c.organization_id = p.organization_id and c.parent_id = p.id
where {org:r} and c.status <> 'Paid' and c.paid_cents = 0 and not exists (select from reversal v
  where v.organization_id = r.organization_id and v.refund_id = r.id and v.conversion_id = c.id)
and not exists (select from job j where j.organization_id = p.organization_id
  and j.name in ('refund.cascade', 'override.write') and j.args ->> 'conversion_id' = p.id::text)""",
}
