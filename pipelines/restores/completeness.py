"""Checks whether the payments of every method were compared since the time of a restore."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from adapters.rails import registry
from domain.payouts.transfers import MANUAL, Method
from models.restores import listings, transfers
from models.restores.listings import RestoreListing
from models.restores.transfers import RestoredTransfer

_MAX_OPEN = 10_000


@dataclass(frozen=True, slots=True)
class Completeness:
    """The comparisons on this server, the methods that are missing, and the transfers that wait for an operator.

    `waiting` wait for their milestones, and keep no payout on hold.
    """

    listings: Sequence[RestoreListing]
    missing: Sequence[str]
    open: Sequence[RestoredTransfer]
    waiting: Sequence[RestoredTransfer]

    @property
    def is_complete(self) -> bool:
        """Whether payouts may continue."""
        return not self.missing and not self.open


def any_org_list_methods() -> list[str]:
    """Return the methods whose payments have to be compared: of every configured or used rail, and by hand."""
    configured = [method for method in Method if registry.find_rail(method) is not None]
    return [*sorted({*configured, *listings.any_org_list_used_methods()}), MANUAL]


def any_org_check(*, restored_to: datetime | None) -> Completeness:
    """Return what was compared since a time; None: whatever the time since which it was compared."""
    comparisons = listings.list_of_this_server()
    compared = {row.method for row in comparisons if restored_to is None or row.since <= restored_to}
    missing = [method for method in any_org_list_methods() if method not in compared]
    open_transfers = transfers.any_org_list_open(limit=_MAX_OPEN)
    return Completeness(comparisons, missing, open_transfers, transfers.any_org_list_waiting(limit=_MAX_OPEN))
