"""How what came in is read, by `prove` without ever failing and by `facts` strictly; and what a brand does by hand."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from adapters.gateways import proofs
from adapters.gateways.base import GatewayDelivery, Setup
from adapters.gateways.wire import parsed
from domain.gateways.facts import Fact, UnclearFact, UnreadableEvent

Reads = Callable[[bytes], Any]


def glance(body: bytes, reads: Reads = parsed) -> Any:
    """Return what a proved body holds; None where it cannot be read, for it is kept all the same."""
    try:
        return reads(body)
    except ValueError:
        return None


def kept(raw: bytes, reads: Reads = parsed) -> Any:
    """Return what an event that was kept holds. Raises UnreadableEvent."""
    try:
        return reads(raw)
    except ValueError as error:
        raise UnreadableEvent(str(error)) from error


def read_alongside_sale(reads: Callable[[], Sequence[Fact]]) -> Sequence[Fact]:
    """Return what the event of a sale says went back of it; where that cannot be read, it waits for a person.

    The sale counts in either case.
    """
    try:
        return reads()
    except UnreadableEvent:
        return (UnclearFact("refund_amount_unknown"),)


def delivery(body: bytes, event_id: str | None, kind: str | None) -> GatewayDelivery:
    """Return one event under its own id, or under its bytes where it has none; what tells no kind is unreadable."""
    return GatewayDelivery(event_id or proofs.fingerprint(body), kind or "unreadable", body, event_id)


def by_hand(address: str, steps: Sequence[str], events: Iterable[str] = (), **values: str) -> Setup:
    """Return the steps by which a brand makes the webhook, with what it pastes: the address, the events, and more."""
    named = ", ".join(events)
    pasted = {"webhookUrl": address, **({"events": named} if named else {}), **values}
    return Setup(tuple(steps), tuple(pasted.items()))
