"""Lists of runs for the brand, with the current counts of their payouts."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from models.listing import Position
from models.prepared_statements import Lookup, PreparedStatement
from models.table import Rows, columns


class ListedRun(NamedTuple):
    """A run with its payouts counted by status; ids are text. US cents, except for the confirmed totals.

    A voided payout counts as voided and not as Failed, and not in `total_cents`. `confirmed_by_email` None: an
    automatic cadence created it.
    """

    id: str
    created_at: datetime
    confirmed_by_email: str | None
    confirmed_totals: Mapping[str, int]
    notes: str | None
    external_transaction_id: str | None
    needs_manual_review: bool
    review_status: str | None
    hold_until: datetime | None
    payout_count: int
    pending_count: int
    processing_count: int
    paid_count: int
    failed_count: int
    voided_count: int
    total_cents: int
    paid_cents: int


_OF = {
    "id": "r.id::text",
    "confirmed_by_email": "m.email",
    "needs_manual_review": "coalesce(r.review_status = 'Pending', false)",
    **{
        name: f"now.{name}"
        for name in ListedRun._fields
        if name.endswith("_count") or name in ("total_cents", "paid_cents")
    },
}
_SELECT = f"""
select {columns(ListedRun, "r", **_OF)}
from (
  select * from payout_run where organization_id = %(organization_id)s and {{which}}
  order by created_at desc, id desc limit %(limit)s
) r
left join member m on m.organization_id = r.organization_id and m.id = r.confirmed_by
cross join lateral (
  select count(*) as payout_count,
    count(*) filter (where p.status = 'Pending') as pending_count,
    count(*) filter (where p.status = 'Processing') as processing_count,
    count(*) filter (where p.status = 'Paid') as paid_count,
    count(*) filter (where p.status = 'Failed' and p.voided_at is null) as failed_count,
    count(*) filter (where p.voided_at is not null) as voided_count,
    coalesce(sum(p.amount_cents) filter (where p.voided_at is null), 0)::bigint as total_cents,
    coalesce(sum(p.amount_cents) filter (where p.status = 'Paid'), 0)::bigint as paid_cents
  from payout p where p.organization_id = r.organization_id and p.run_id = r.id
) now
order by r.created_at desc, r.id desc
"""
_PAGE = PreparedStatement(_SELECT.format(which="true"))
_NEXT_PAGE = PreparedStatement(_SELECT.format(which="(created_at, id) < (%(before)s, %(before_id)s)"))
_ONE = Lookup(_SELECT.format(which="id = %(run_id)s"))
_runs = Rows(ListedRun)


def page(*, organization_id: UUID, after: Position | None, limit: int) -> list[ListedRun]:
    """Return up to `limit` runs, newest first, after the keyset position `after`.

    Budget: 1 round trip, which reads every payout of the runs of the page.
    """
    params = {"organization_id": organization_id, "limit": limit}
    if after is None:
        return _runs.all(_PAGE, params)
    before, before_id = after
    return _runs.all(_NEXT_PAGE, params | {"before": before, "before_id": before_id})


def find(*, organization_id: UUID, run_id: UUID) -> ListedRun | None:
    """Return one run of the organization, or None. Budget: 1 round trip."""
    return _runs.first(_ONE, {"organization_id": organization_id, "run_id": run_id, "limit": 1})
