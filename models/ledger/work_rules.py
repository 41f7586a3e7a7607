"""Rules about accepted money that a job has yet to book, in the form of `models.ledger.rules`."""

from collections.abc import Mapping

from models.jobs import discarded_jobs
from models.jobs.losses import DISCARDED_WORK, UNCASCADED_REFUND, UNSETTLED_SALE

_SALE_ACCEPTED = discarded_jobs.accepted_condition("sale.settle", "sale_id", of="s", since="s.accepted_at")
_REFUND_ACCEPTED = discarded_jobs.accepted_condition("refund.cascade", "conversion_id", of="p", since="r.created_at")

# An override that was paid for gives nothing back, and may be owed more later: only one that never was is looked at.
#: What was accepted and is booked later.
WORK: Mapping[str, str] = {
    UNSETTLED_SALE: f"""
select format('sale %s: %s %s accepted at %s and not credited. Send it again, or: flask jobs losses',
  s.external_event_id, s.amount_cents, s.currency, s.accepted_at) from sale s
where {{org:s}} and not exists (select from conversion c where c.organization_id = s.organization_id and c.id = s.id)
and not exists (select from uncredited_conversion u where u.organization_id = s.organization_id
  and u.source = 's2s' and u.external_event_id = s.external_event_id)
and not exists (select from job j where j.organization_id = s.organization_id and j.name = 'sale.settle'
  and j.args ->> 'sale_id' = s.id::text) and not {_SALE_ACCEPTED}""",
    DISCARDED_WORK: discarded_jobs.DISCARDED,
    UNCASCADED_REFUND: f"""
select format('sale %s: refund of %s %s is not taken from its override %s. Send it again, or: flask jobs losses',
  p.external_event_id, r.amount_cents, p.currency, c.id)
from refund r join conversion p on p.organization_id = r.organization_id and p.id = r.conversion_id
join conversion c on c.organization_id = p.organization_id and c.parent_id = p.id
where {{org:r}} and c.status <> 'Paid' and c.paid_cents = 0 and not exists (select from reversal v
  where v.organization_id = r.organization_id and v.refund_id = r.id and v.conversion_id = c.id)
and not exists (select from job j where j.organization_id = p.organization_id
  and j.name in ('refund.cascade', 'override.write') and j.args ->> 'conversion_id' = p.id::text)
and not {_REFUND_ACCEPTED}""",
}
