"""Which rail a payout takes: the one that is configured for its method, or the sandbox.

The sandbox stands in on a machine that runs its own servers, and for an organization whose operator chose it. An
installation with a database of its own and no rail pays nothing by itself: payouts wait, or are paid by hand.
"""

from typing import cast
from uuid import UUID

import settings
from adapters.rails import base, registry
from domain.payouts.transfers import Method
from models.organization import organizations
from models.payouts.payouts import Payout
from pipelines.payouts.sandbox import SandboxRail


def of(payout: Payout) -> base.Rail:
    """Return the rail of a payout. Raises RailMissing."""
    found = _of(cast(Method, payout.method), sandbox=payout.sandbox_rail)
    if found is None:
        raise base.RailMissing(f"no rail is configured for {payout.method}")
    return found


def of_method(*, organization_id: UUID, method: Method) -> base.Rail | None:
    """Return the rail by which an organization pays with a method, None when there is none."""
    return _of(method, sandbox=organizations.sandbox_rail(organization_id))


def _of(method: Method, *, sandbox: str | None) -> base.Rail | None:
    if sandbox is not None:
        return SandboxRail(method=method, mode=sandbox)
    configured = registry.configured(method)
    if configured is not None:
        return configured
    if settings.current().servers.database_url is None:
        return SandboxRail(method=method, mode="ok")
    return None
