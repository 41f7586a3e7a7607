"""The list of a run's payouts that a brand pays by hand. A payout that was listed is never sent to a rail.

Source: core spec, "Payouts"; a brand without a rail pays by its own means and says so with the payment's reference.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.payouts.transfers import Method
from domain.refusals import not_found
from models import advisory_locks
from models.payouts import by_hand
from models.payouts.by_hand import Listable
from pipelines import whole_books
from pipelines.payouts import rails


@dataclass(frozen=True, slots=True)
class ExportedList:
    """The payouts of a list in the order of their ids, and how many of them are listed for the first time."""

    payouts: Sequence[Listable]
    added: int


def list_payouts(*, organization_id: UUID, run_id: UUID, takes_all: bool, now: datetime) -> ExportedList:
    """Take down that a run's Pending payouts without a rail are paid by hand, and return them with those that were.

    `takes_all` takes those as well whose rail was not asked yet. Raises Refused: 404 not_found,
    409 payouts_on_hold.
    """
    advisory_locks.stage_shared_payout_run_lock(organization_id)
    whole_books.refuse_payouts()
    if not by_hand.has_run(organization_id=organization_id, run_id=run_id):
        raise not_found("run", run_id)
    found = by_hand.lock_listable(organization_id=organization_id, run_id=run_id, now=now)
    railed = set() if takes_all else _railed(organization_id, {payout.method for payout in found})
    listed = [payout for payout in found if payout.is_listed or payout.method not in railed]
    added = [payout.payout_id for payout in listed if not payout.is_listed]
    if added:
        by_hand.stage_listed(organization_id=organization_id, payout_ids=added, at=now)
    return ExportedList(listed, len(added))


def _railed(organization_id: UUID, methods: set[str]) -> set[str]:
    return {method for method in methods if rails.has(organization_id=organization_id, method=Method(method))}
