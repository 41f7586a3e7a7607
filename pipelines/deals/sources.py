"""Which source a deal's money comes from: the processor, or the sandbox.

The sandbox stands in where it does for payouts: on a machine that runs its own servers and has no processor, and for
an organization whose operator chose it. A brand that the operator named no customer for is charged by nobody else.
"""

from datetime import datetime

from adapters.funding import base, registry
from domain.refusals import Refused
from models.deals.requests import FundingRequest
from models.organization.organizations import Organization
from pipelines.deals.sandbox_funding import SandboxFunding


class SourceMissing(Exception):
    """Nothing is configured that could be asked."""


def of(request: FundingRequest, *, now: datetime) -> base.FundingSource:
    """Return whom to ask. Raises SourceMissing."""
    mode = _sandbox_mode(request.sandbox)
    if mode is not None:
        return SandboxFunding(mode=mode, now=now)
    found = registry.configured()
    if found is None:
        raise SourceMissing("no payment processor is configured")
    return found


def check(organization: Organization) -> str | None:
    """Return whom a charge of the organization would be taken from, None where the sandbox stands in.

    Raises Refused 409 no_funding_source.
    """
    if _sandbox_mode(organization.sandbox_rail) is not None:
        return None
    if registry.configured() is None or organization.deal_funding_source is None:
        message = "Nobody can be charged for this organization's deals yet; its operator says who is."
        raise Refused(409, "no_funding_source", message)
    return organization.deal_funding_source


def _sandbox_mode(chosen: str | None) -> str | None:
    """Return how the sandbox behaves that stands in, None where it does not."""
    return "ok" if chosen is None and registry.is_stood_in_for() else chosen
