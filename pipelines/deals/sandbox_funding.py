"""A funding source without money, for trying out and for tests: it behaves as the organization's sandbox rail does.

It stands in for an outside service, so it commits a unit of work of its own and refuses to be called inside one.
"""

import hashlib
from collections.abc import Iterator
from datetime import datetime, timedelta

from adapters.rails.base import KeyTaken
from domain.deals.funding import REFERENCE, FundingCall
from domain.payouts.states import SandboxState
from domain.payouts.transfers import Accepted, Answer, NotFound, Paid, Rejected, Unknown
from domain.restores.charges import ListedCharge
from models import db
from models.deals import sandbox
from models.deals.sandbox import BookedCharge
from pipelines.payouts import sandbox_rail


class SandboxFunding:
    """The sandbox of one organization in one of `sandbox_rail.MODES`, at one moment."""

    key_lasts = timedelta(days=3650)
    books = "sandbox"

    def __init__(self, *, mode: str, now: datetime) -> None:
        self._mode = mode
        self._now = now

    def ask(self, call: FundingCall) -> Answer:
        """Book the call, once. Raises KeyTaken."""
        state = sandbox_rail.initial_state(self._mode, call.key)
        booked = BookedCharge(
            call.kind,
            call.amount_cents,
            call.currency,
            call.charge_reference,
            state,
            f"sandbox_{hashlib.sha256(call.key.encode()).hexdigest()[:20]}",
            self._now,
        )
        with db.unit_of_work(call.organization_id):
            if sandbox.book(organization_id=call.organization_id, key=call.key, booked=booked):
                return Unknown("the sandbox does not say") if self._mode == "ambiguous" else self._said(booked)
            known = _known(call)
            sandbox.stage_carried_out(organization_id=call.organization_id, key=call.key)
        if known is None:
            raise KeyTaken(f"{call.key} is another organization's in the sandbox")
        return Paid({REFERENCE: known.reference}) if known.state == SandboxState.Lost else self._said(known)

    def look_up(self, call: FundingCall) -> Answer:
        """Say what the books hold. Raises KeyTaken."""
        with db.unit_of_work(call.organization_id):
            known = _known(call)
        return self._said(known) if known else NotFound()

    def list_charges(self, since: datetime) -> Iterator[ListedCharge]:
        """Return nothing: its books are in the database and go back to the same time."""
        return iter(())

    def _said(self, booked: BookedCharge) -> Answer:
        match booked.state:
            case SandboxState.Lost:
                return NotFound()
            case SandboxState.Rejected:
                return Rejected("sandbox_rejected", "The sandbox was told to reject this.")
            case SandboxState.Accepted if self._now - booked.created_at < sandbox_rail.SETTLES_AFTER:
                return Accepted({REFERENCE: booked.reference})
        return Paid({REFERENCE: booked.reference})


def _known(call: FundingCall) -> BookedCharge | None:
    known = sandbox.find(organization_id=call.organization_id, key=call.key)
    wanted = (call.kind, call.amount_cents, call.currency, call.charge_reference)
    if known is not None and (known.kind, known.amount_cents, known.currency, known.charge_reference) != wanted:
        raise KeyTaken(f"{call.key} is another amount or charge in the sandbox")
    return known
