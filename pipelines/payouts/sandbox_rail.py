"""A rail without money, for trying out and for tests: it can be told to fail, to be silent or to settle late.

It stands in for an outside service, so it commits a unit of work of its own and refuses to be called inside one.
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
#: slow accepts, and has paid when it is asked again after `SETTLES_AFTER`.
MODES = ("ok", "fail", "ambiguous", "slow")

SETTLES_AFTER = timedelta(seconds=3)


class SandboxRail:
    """The sandbox of one organization in one of `MODES`, for one method, at one moment."""

    key_lasts = timedelta(days=3650)
    finds_by_key = True
    books = "sandbox"

    def __init__(self, *, method: Method, mode: str, now: datetime) -> None:
        self.method = method
        self._mode = mode
        self._now = now

    def send(self, transfer: Transfer) -> Answer:
        """Book the transfer, once. Raises KeyTaken."""
        state = first_state(self._mode, transfer.key)
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
                return Unknown("the sandbox does not say") if self._mode == "ambiguous" else self._said(booked)
            known = _known(transfer)
            sandbox.stage_carried_out(organization_id=transfer.organization_id, key=transfer.key)
        if known is None:
            raise KeyTaken(f"{transfer.key} is another organization's in the sandbox")
        return Paid(known.references) if known.state == SandboxState.Lost else self._said(known)

    def look_up(self, transfer: Transfer) -> Answer:
        """Say what the books hold. Raises KeyTaken."""
        with db.unit_of_work(transfer.organization_id):
            known = _known(transfer)
        return self._said(known) if known else NotFound()

    def list_since(self, since: datetime) -> Iterator[RailTransfer]:
        """Return nothing: its books are in the database and go back to the same time, so nothing in them is unknown."""
        return iter(())

    def parse_event(self, headers: Mapping[str, str], body: bytes) -> RailEvent | None:
        """Return None: the sandbox tells nothing by itself."""
        return None

    def _said(self, booked: BookedTransfer) -> Answer:
        match booked.state:
            case SandboxState.Lost:
                return NotFound()
            case SandboxState.Rejected:
                return Rejected("sandbox_rejected", "The sandbox was told to reject this transfer.")
            case SandboxState.Accepted if self._now - booked.created_at < SETTLES_AFTER:
                return Accepted(booked.references)
        return Paid(booked.references)


def first_state(mode: str, key: str) -> SandboxState:
    """Return what a sandbox in one of `MODES` does with a request that it sees for the first time."""
    match mode:
        case "fail":
            return SandboxState.Rejected
        case "slow":
            return SandboxState.Accepted
        case "ambiguous":
            return SandboxState.Paid if is_carried_out(key) else SandboxState.Lost
    return SandboxState.Paid


def is_carried_out(key: str) -> bool:
    """Return whether the ambiguous sandbox carries a key's first request out; the same for a key each time."""
    return hashlib.sha256(key.encode()).digest()[0] % 2 == 0


def _known(transfer: Transfer) -> BookedTransfer | None:
    known = sandbox.find(organization_id=transfer.organization_id, key=transfer.key)
    wanted = (transfer.amount_cents, transfer.currency, transfer.destination.account)
    if known is not None and (known.amount_cents, known.currency, known.account) != wanted:
        raise KeyTaken(f"{transfer.key} is another amount or recipient in the sandbox")
    return known


def _references(transfer: Transfer) -> dict[str, str]:
    number = hashlib.sha256(transfer.key.encode()).hexdigest()[:20]
    return dict.fromkeys(REFERENCES[transfer.destination.method], f"sandbox_{number}")
