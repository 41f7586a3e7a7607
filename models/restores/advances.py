"""Re-inserts payouts that a restore lost. Such a payout is an advance: it paid conversions that are no longer known.

Each of its currencies therefore gets a conversion that was paid and earns nothing. That is a debt, which the
affiliate's next payouts net in any currency (`domain.payouts.plan`).
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from uuid import UUID

from domain.payouts.native_sums import NativeSum
from models import conditions
from models.db import Json, db
from models.ids import new_id

#: The source of a conversion that stands for what a lost payout paid.
SOURCE = "restore"


@dataclass(frozen=True, slots=True)
class ForgottenPayout:
    """A lost payout to insert again. US cents; `key` is None for a payout that a brand paid by hand."""

    payout_id: UUID
    organization_id: UUID
    program_id: UUID
    affiliate_id: UUID
    amount_cents: int
    method: str
    destination: str
    attempt: int
    key: str | None
    notes: str
    made_at: datetime
    day: date


_RUN = """
insert into payout_run (id, organization_id, confirmed_by, confirmed_cents, confirmed_totals, filters, notes,
  created_at)
values (%(run_id)s, %(organization_id)s, null, %(confirmed_cents)s, %(totals)s, %(filters)s, %(notes)s, %(made_at)s)
"""
_PAYOUT = """
insert into payout (id, organization_id, run_id, program_id, affiliate_id, amount_cents, method, destination, status,
  attempt, notes, period_start, period_end, created_at, submitted_at)
values (%(payout_id)s, %(organization_id)s, %(run_id)s, %(program_id)s, %(affiliate_id)s, %(amount_cents)s, %(method)s,
  %(destination)s, 'Processing', %(attempt)s, %(notes)s, %(day)s, %(day)s, %(made_at)s, %(made_at)s)
"""
_ATTEMPT = """
insert into payout_attempt (organization_id, payout_id, number, key, method, destination, amount_cents, state,
  created_at)
values (%(organization_id)s, %(payout_id)s, %(attempt)s, %(key)s, %(method)s, %(destination)s, %(amount_cents)s,
  'unknown', %(made_at)s)
"""
# Its status is Invalidated, so it does not count and earns nothing.
_CONVERSION = """
insert into conversion (id, organization_id, program_id, affiliate_id, source, external_event_id, amount_cents,
  currency, commission_cents, status, type, attribution_method, rate_source, occurred_at, hold_until, created_at)
values (%(conversion_id)s, %(organization_id)s, %(program_id)s, %(affiliate_id)s, 'restore', %(event_id)s, 0,
  %(currency)s, 0, 'Invalidated', 'Bonus', 'restore', 'restore', %(made_at)s, %(made_at)s, %(made_at)s)
"""
_LINE = """
insert into payout_line (id, organization_id, payout_id, conversion_id, native_amount_cents, native_currency, fx_rate,
  fx_rate_date, amount_cents)
values (%(line_id)s, %(organization_id)s, %(payout_id)s, %(conversion_id)s, %(native_cents)s, %(currency)s, %(fx_rate)s,
  %(fx_rate_date)s, %(cents)s)
"""


def stage_insert(payout: ForgottenPayout, sums: Sequence[NativeSum]) -> None:
    """Stage the insertion of a lost payout as sent to its rail, with a line for each of its currencies."""
    params = asdict(payout) | {
        "run_id": new_id(),
        "confirmed_cents": sum(native.native_cents for native in sums),
        "totals": Json({native.currency: native.native_cents for native in sums}),
        "filters": Json({"affiliateIds": [str(payout.affiliate_id)]}),
    }
    db.stage(_RUN, params)
    db.stage(_PAYOUT, params)
    if payout.key is not None:
        db.stage(_ATTEMPT, params)
    for native in sums:
        ids = {"conversion_id": new_id(), "line_id": new_id(), "event_id": f"{payout.payout_id}:{native.currency}"}
        db.stage(_CONVERSION, params | asdict(native) | ids)
        db.stage(_LINE, params | asdict(native) | ids)


_OUTSTANDING = f"""
select distinct c.affiliate_id from conversion c
where c.organization_id = %s and c.affiliate_id = any(%s::uuid[]) and {conditions.is_restored_debt("c")}
"""


def filter_outstanding(*, organization_id: UUID, affiliate_ids: Sequence[UUID]) -> set[UUID]:
    """Return which of these affiliates have advances from before the restore that are not netted yet."""
    rows = db.run(_OUTSTANDING, (organization_id, list(affiliate_ids)))
    return {affiliate_id for (affiliate_id,) in rows}


def any_org_find_organization(affiliate_id: UUID) -> UUID | None:
    """Return the organization of an affiliate."""
    row = db.row("select organization_id from affiliate where id = %s", (affiliate_id,))
    return row[0] if row else None
