"""Whether every way by which money leaves was compared since the time of a restore."""

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
class Cleanness:
    """What is compared on this server, which methods are not, and which transfers wait for an operator.

    `waiting` wait for their milestones, and hold nothing.
    """

    listings: Sequence[RestoreListing]
    missing: Sequence[str]
    open: Sequence[RestoredTransfer]
    waiting: Sequence[RestoredTransfer]

    @property
    def is_clean(self) -> bool:
        """Whether payouts may go on."""
        return not self.missing and not self.open


def any_org_methods() -> list[str]:
    """Return the methods whose payments have to be compared: of every rail that is set up or was used, and by hand."""
    set_up = [method for method in Method if registry.configured(method) is not None]
    return [*sorted({*set_up, *listings.any_org_list_used_methods()}), MANUAL]


def any_org_cleanness(*, restored_to: datetime | None) -> Cleanness:
    """Return what is compared since a time; None: since whenever it was compared."""
    done = listings.list_of_this_server()
    reaching = {one.method for one in done if restored_to is None or one.since <= restored_to}
    missing = [method for method in any_org_methods() if method not in reaching]
    open_transfers = transfers.any_org_list_open(limit=_MAX_OPEN)
    return Cleanness(done, missing, open_transfers, transfers.any_org_list_waiting(limit=_MAX_OPEN))
