"""Finds the charges for deals that a restored server has forgotten. Funding a deal again finds its charge itself."""

from dataclasses import asdict

from domain.deals.states import DealStatus
from domain.restores.charges import ChargeProblem, ListedCharge, UnknownCharge
from models.deals import deals

_CHARGED = (DealStatus.Funded, DealStatus.Completed)


def any_org_find_unknown(charge: ListedCharge) -> UnknownCharge | None:
    """Return a charge whose deal does not exist here or is not funded; None for one that the books have."""
    status = deals.any_org_find_status(charge.deal_id)
    if status in _CHARGED:
        return None
    problem = ChargeProblem.deal_unknown if status is None else ChargeProblem.deal_not_funded
    return UnknownCharge(**asdict(charge), problem=problem)
