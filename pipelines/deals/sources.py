"""The source of a deal's money: the payment processor, or the sandbox.

The sandbox is used where it is for payouts: on a machine that runs its own servers and has no processor, and for an
organization whose operator chose it. Any other brand needs a customer id, set by the operator, to be charged.
"""

import hashlib
from collections.abc import Iterator
from datetime import datetime, timedelta

from adapters.funding import base, registry
from adapters.rails.base import KeyTaken
from domain.deals.funding import REFERENCE, FundingCall
from domain.payouts.states import SandboxState
from domain.payouts.transfers import Accepted, Answer, NotFound, Paid, Rejected, Unknown
from domain.refusals import Refused
from domain.restores.charges import ListedCharge
from models import db
from models.deals import sandbox
from models.deals.requests import FundingRequest
from models.deals.sandbox import BookedCharge
from models.organization.organizations import Organization
from pipelines.payouts import sandbox_rail


class SourceMissing(Exception):
    """No funding source is configured."""


def find_source(request: FundingRequest, *, now: datetime) -> base.FundingSource:
    """Return the source of a request. Raises SourceMissing."""
    mode = _sandbox_mode(request.sandbox)
    if mode is not None:
        return SandboxFunding(mode=mode, now=now)
    source = registry.find_source()
    if source is None:
        raise SourceMissing("no payment processor is configured")
    return source


def check_source(organization: Organization) -> str | None:
    """Return the customer whom a charge of the organization would debit, None with the sandbox.

    Raises Refused 409 no_funding_source.
    """
    if _sandbox_mode(organization.sandbox_rail) is not None:
        return None
    if registry.find_source() is None or organization.deal_funding_source is None:
        message = "This organization's deals cannot be charged yet. Ask your operator to set its funding source."
        raise Refused(409, "no_funding_source", message)
    return organization.deal_funding_source


def _sandbox_mode(chosen: str | None) -> str | None:
    """Return the sandbox's mode, None if the sandbox is not used."""
    return "ok" if chosen is None and registry.is_replaced_by_sandbox() else chosen


class SandboxFunding:
    """A funding source without money, for trying out and for tests; it behaves as the organization's sandbox rail does.

    `mode` is one of `sandbox_rail.MODES`. It replaces an outside service, so it commits its own unit of work and must
    not be called inside one.
    """

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
            if sandbox.book(organization_id=call.organization_id, key=call.key, charge=booked):
                return Unknown("the sandbox gives no answer") if self._mode == "ambiguous" else self._answer(booked)
            existing = _find_booked(call)
            sandbox.stage_carried_out(organization_id=call.organization_id, key=call.key)
        if existing is None:
            raise KeyTaken(f"{call.key} belongs to another organization in the sandbox")
        return Paid({REFERENCE: existing.reference}) if existing.state == SandboxState.Lost else self._answer(existing)

    def look_up(self, call: FundingCall) -> Answer:
        """Return the booked answer. Raises KeyTaken."""
        with db.unit_of_work(call.organization_id):
            existing = _find_booked(call)
        return self._answer(existing) if existing else NotFound()

    def list_charges(self, since: datetime) -> Iterator[ListedCharge]:
        """Return nothing: its books are in the database, so a restore affects them alike."""
        return iter(())

    def _answer(self, booked: BookedCharge) -> Answer:
        match booked.state:
            case SandboxState.Lost:
                return NotFound()
            case SandboxState.Rejected:
                return Rejected("sandbox_rejected", "The sandbox is set to reject this.")
            case SandboxState.Accepted if self._now - booked.created_at < sandbox_rail.SETTLES_AFTER:
                return Accepted({REFERENCE: booked.reference})
        return Paid({REFERENCE: booked.reference})


def _find_booked(call: FundingCall) -> BookedCharge | None:
    existing = sandbox.find(organization_id=call.organization_id, key=call.key)
    expected = (call.kind, call.amount_cents, call.currency, call.charge_reference)
    if (
        existing is not None
        and (existing.kind, existing.amount_cents, existing.currency, existing.charge_reference) != expected
    ):
        raise KeyTaken(f"{call.key} has another amount or charge in the sandbox")
    return existing
