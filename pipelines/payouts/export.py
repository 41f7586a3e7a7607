"""Lists the payouts of a run that a brand pays by hand. A listed payout is never sent to a rail.

Source: core spec, "Payouts"; a brand without a rail pays by its own means and reports the payment's reference.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.payouts.transfers import Method
from domain.refusals import not_found
from models import advisory_locks
from models.payouts import manual_payouts
from models.payouts.manual_payouts import ManualPayout
from pipelines import restore_guard
from pipelines.payouts import rails


@dataclass(frozen=True, slots=True)
class ExportedList:
    """The payouts of a list, ordered by id, and how many of them are listed for the first time."""

    payouts: Sequence[ManualPayout]
    added: int


def list_payouts(*, organization_id: UUID, run_id: UUID, takes_all: bool, now: datetime) -> ExportedList:
    """Mark a run's Pending payouts without a rail as paid by hand, and return them with those marked before.

    `takes_all` marks payouts with a rail as well that were not sent yet. Raises Refused: 404 not_found, 409
    payouts_on_hold.
    """
    advisory_locks.stage_shared_payout_run_lock(organization_id)
    restore_guard.check_payouts_allowed()
    if not manual_payouts.has_run(organization_id=organization_id, run_id=run_id):
        raise not_found("run", run_id)
    rows = manual_payouts.lock_payable(organization_id=organization_id, run_id=run_id, now=now)
    with_rail = set() if takes_all else _methods_with_rail(organization_id, {row.method for row in rows})
    rows = [row for row in rows if row.is_listed or row.method not in with_rail]
    added = [row.payout_id for row in rows if not row.is_listed]
    if added:
        manual_payouts.stage_export(organization_id=organization_id, payout_ids=added, at=now)
    return ExportedList(rows, len(added))


def _methods_with_rail(organization_id: UUID, methods: set[str]) -> set[str]:
    return {method for method in methods if rails.has_rail(organization_id=organization_id, method=Method(method))}
