"""Releases: payouts of milestones, each in a run of its own, with the rate that converted it to US cents."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

from models.db import Json, db
from models.prepared_statements import FreshSelect


@dataclass(frozen=True, slots=True)
class Release:
    """A payout of a milestone. `amount_cents` are US cents, native amounts minor units of the deal's currency.

    `confirmed_by` None: it was released automatically or by an operator's settlement.
    """

    run_id: UUID
    payout_id: UUID
    organization_id: UUID
    milestone_id: UUID
    program_id: UUID
    affiliate_id: UUID
    amount_cents: int
    native_amount_cents: int
    native_currency: str
    fx_rate: Decimal
    fx_rate_date: date
    method: str
    destination: str
    confirmed_by: UUID | None
    review_status: str | None
    hold_until: datetime | None
    day: date
    created_at: datetime


_RUN = """
insert into payout_run (id, organization_id, confirmed_by, confirmed_cents, confirmed_totals, filters, review_status,
  hold_until, created_at)
values (%(run_id)s, %(organization_id)s, %(confirmed_by)s, %(native_amount_cents)s, %(totals)s, %(filters)s,
  %(review_status)s, %(hold_until)s, %(created_at)s)
"""
_PAYOUT = """
insert into payout (id, organization_id, run_id, program_id, affiliate_id, milestone_id, amount_cents, method,
  destination, period_start, period_end, created_at)
values (%(payout_id)s, %(organization_id)s, %(run_id)s, %(program_id)s, %(affiliate_id)s, %(milestone_id)s,
  %(amount_cents)s, %(method)s, %(destination)s, %(day)s, %(day)s, %(created_at)s)
"""
_RELEASE = """
insert into deal_release (payout_id, organization_id, milestone_id, native_amount_cents, native_currency, fx_rate,
  fx_rate_date, created_at)
values (%(payout_id)s, %(organization_id)s, %(milestone_id)s, %(native_amount_cents)s, %(native_currency)s,
  %(fx_rate)s, %(fx_rate_date)s, %(created_at)s)
"""


def stage(release: Release, *, filters: Mapping[str, str]) -> None:
    """Stage a payout of a milestone; `filters` are the filters recorded for its run."""
    totals = {release.native_currency: release.native_amount_cents}
    params = asdict(release) | {"totals": Json(totals), "filters": Json(dict(filters))}
    for statement in (_RUN, _PAYOUT, _RELEASE):
        db.stage(statement, params)


_OPEN = FreshSelect("""
select id from payout where organization_id = %s and milestone_id = %s and voided_at is null
""")
_PAYS = "select native_amount_cents from deal_release where organization_id = %s and payout_id = %s"


def find_payout(*, organization_id: UUID, milestone_id: UUID) -> UUID | None:
    """Return the payout that pays, or paid, a milestone and was not voided."""
    row = db.row(_OPEN, (organization_id, milestone_id))
    return row[0] if row else None


def read_native_cents(*, organization_id: UUID, payout_id: UUID) -> int:
    """Return what a milestone's payout pays in the deal's currency. Raises LookupError for any other payout."""
    row = db.row(_PAYS, (organization_id, payout_id))
    if row is None:
        raise LookupError(f"payout {payout_id} pays no milestone")
    return int(row[0])
