"""Chooses the rail of a payout: the rail that is configured for its method, or the sandbox.

The sandbox is used where the service runs its own embedded servers, and for an organization whose operator chose it. An
installation with an own database and no rail pays nothing itself: payouts wait, or are paid by hand.
"""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

import settings
from adapters.rails import base, registry
from domain import jobs, thread_slots
from domain.payouts import native_sums
from domain.payouts.transfers import Method
from models.organization import organizations
from models.payouts.payouts import Payout
from pipelines import work
from pipelines.payouts.sandbox_rail import SandboxRail


def choose(payout: Payout, *, now: datetime) -> base.Rail:
    """Return the rail of a payout. Raises RailMissing."""
    method = Method(payout.method)
    mode = _sandbox_mode(method, payout.sandbox_rail)
    rail = registry.find_rail(method) if mode is None else SandboxRail(method=method, mode=mode, now=now)
    if rail is None:
        raise base.RailMissing(f"no rail is configured for {method}")
    return rail


def has_rail(*, organization_id: UUID, method: Method) -> bool:
    """Return whether an organization has a rail for a method."""
    mode = _sandbox_mode(method, organizations.read_sandbox_rail(organization_id))
    return mode is not None or registry.find_rail(method) is not None


def enqueue_transfers(
    *, organization_id: UUID, method: str, payout_ids: Iterable[UUID], run_at: datetime | None = None
) -> None:
    """Stage the jobs that send payouts to the rail of a method. All jobs of a rail have one share of the threads."""
    work.enqueue_all(
        jobs.PAYOUT_TRANSFER,
        organization_id=organization_id,
        fair_key=thread_slots.fair_key(organization_id, method),
        run_at=run_at,
        args=[{"payout_id": payout_id} for payout_id in payout_ids],
    )


def build_labels(payout: Payout) -> dict[str, str]:
    """Return the labels that a rail stores with the ids of payout and organization, for a restore of this database."""
    labels = {"affiliate_id": str(payout.affiliate_id)}
    if payout.milestone_id is not None:
        labels["milestone_id"] = str(payout.milestone_id)
    sums = native_sums.from_text(payout.natives, total_cents=payout.amount_cents)
    if sums is not None and len(text := native_sums.to_text(sums)) <= native_sums.MAX_CHARACTERS:
        labels["native"] = text
    return labels


def _sandbox_mode(method: Method, chosen: str | None) -> str | None:
    """Return the mode of the sandbox, None where the sandbox is not used."""
    if chosen is None and registry.find_rail(method) is None and settings.current().servers.database_url is None:
        return "ok"
    return chosen
