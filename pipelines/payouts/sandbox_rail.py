"""A rail without money, for demos and tests: it can be set to fail, not to answer, or to settle late.

It replaces an external service, so it commits a unit of work of its own and refuses to be called inside one.
"""

import hashlib
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from adapters.rails.base import KeyTaken, RailEvent
from domain.payouts.states import SandboxState
from domain.payouts.transfers import REFERENCES, Accepted, Answer, Method, NotFound, Paid, Rejected, Transfer, Unknown
from domain.restores.transfers import RailTransfer
from models import db
from models.payouts import sandbox
from models.payouts.sandbox import BookedTransfer

#: ok pays at once; fail rejects; ambiguous never answers a first request, and carries out every second one of them;
#: slow accepts, and has paid when it is called again after `SETTLES_AFTER`.
MODES = ("ok", "fail", "ambiguous", "slow")

SETTLES_AFTER = timedelta(seconds=3)


class SandboxRail:
    """The sandbox of one organization in one of `MODES`, for one method, at one time."""

    key_lasts = timedelta(days=3650)
    finds_by_key = True
    books = "sandbox"

    def __init__(self, *, method: Method, mode: str, now: datetime) -> None:
        self.method = method
        self._mode = mode
        self._now = now

    def send(self, transfer: Transfer) -> Answer:
        """Book the transfer once. Raises KeyTaken."""
        state = initial_state(self._mode, transfer.key)
        booked = BookedTransfer(
            transfer.amount_cents,
            transfer.currency,
            transfer.destination.account,
            state,
            _references(transfer),
            self._now,
        )
        with db.unit_of_work(transfer.organization_id):
            if sandbox.book(
                organization_id=transfer.organization_id, key=transfer.key, method=self.method, transfer=booked
            ):
                return Unknown("the sandbox does not answer") if self._mode == "ambiguous" else self._answer(booked)
            earlier = _find(transfer)
            sandbox.stage_carried_out(organization_id=transfer.organization_id, key=transfer.key)
        if earlier is None:
            raise KeyTaken(f"{transfer.key} belongs to another organization in the sandbox")
        return Paid(earlier.references) if earlier.state == SandboxState.Lost else self._answer(earlier)

    def look_up(self, transfer: Transfer) -> Answer:
        """Return the booked answer. Raises KeyTaken."""
        with db.unit_of_work(transfer.organization_id):
            booked = _find(transfer)
        return self._answer(booked) if booked else NotFound()

    def list_since(self, since: datetime) -> Iterator[RailTransfer]:
        """Return nothing: its books are in this database and restored with it, so none of its transfers is unknown."""
        return iter(())

    def parse_event(self, headers: Mapping[str, str], body: bytes) -> RailEvent | None:
        """Return None: the sandbox sends no events."""
        return None

    def _answer(self, booked: BookedTransfer) -> Answer:
        match booked.state:
            case SandboxState.Lost:
                return NotFound()
            case SandboxState.Rejected:
                return Rejected("sandbox_rejected", "The sandbox is set to reject transfers.")
            case SandboxState.Accepted if self._now - booked.created_at < SETTLES_AFTER:
                return Accepted(booked.references)
        return Paid(booked.references)


def initial_state(mode: str, key: str) -> SandboxState:
    """Return the state in which a sandbox in one of `MODES` books a first request."""
    match mode:
        case "fail":
            return SandboxState.Rejected
        case "slow":
            return SandboxState.Accepted
        case "ambiguous":
            return SandboxState.Paid if is_carried_out(key) else SandboxState.Lost
    return SandboxState.Paid


def is_carried_out(key: str) -> bool:
    """Return whether the ambiguous sandbox carries out a key's first request; always the same for a key."""
    return hashlib.sha256(key.encode()).digest()[0] % 2 == 0


def _find(transfer: Transfer) -> BookedTransfer | None:
    booked = sandbox.find(organization_id=transfer.organization_id, key=transfer.key)
    terms = (transfer.amount_cents, transfer.currency, transfer.destination.account)
    if booked is not None and (booked.amount_cents, booked.currency, booked.account) != terms:
        raise KeyTaken(f"{transfer.key} has another amount or recipient in the sandbox")
    return booked


def _references(transfer: Transfer) -> dict[str, str]:
    number = hashlib.sha256(transfer.key.encode()).hexdigest()[:20]
    return dict.fromkeys(REFERENCES[transfer.destination.method], f"sandbox_{number}")
