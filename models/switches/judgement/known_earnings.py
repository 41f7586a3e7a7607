"""Earnings that a source has not paid yet and that grew since an earlier switch brought them."""

from typing import NamedTuple
from uuid import UUID

from models.table import Rows


class GrownEarnings(NamedTuple):
    """Affiliates whose unpaid earnings grew: their number, and of the first the label, growth in cents and currency."""

    affiliates: int
    label: str
    cents: int
    currency: str


_GROWN = Rows(GrownEarnings)
_FIND = """
select count(*) over (), coalesce(a.label, i.label), i.commission_cents - c.commission_cents, i.currency
from switch_item i
join conversion c on c.organization_id = i.organization_id and c.id = i.target_id
left join switch_item a on a.organization_id = i.organization_id and a.switch_id = i.switch_id
  and a.collection = 'affiliates' and a.source_id = i.affiliate_ref
where i.organization_id = %s and i.switch_id = %s and i.collection = 'commissions' and i.verdict = 'known'
  and i.record->>'word' = 'unpaid_earnings' and i.commission_cents > c.commission_cents
order by i.source_id limit 1
"""


def find_grown(*, organization_id: UUID, switch_id: UUID) -> GrownEarnings | None:
    """Return how many known unpaid earnings are greater there than what was brought, with an example; None if none."""
    rows = _GROWN.all(_FIND, (organization_id, switch_id))
    return rows[0] if rows else None
