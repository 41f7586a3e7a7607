"""JSON of transfers, charges and refunds as the three payment services show them, and their events."""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any


@dataclass
class Booking:
    """A booked transfer, charge or refund. `status` is paid, pending, waiting, failed or returned."""

    id: str
    method: str
    key: str
    amount: str
    currency: str
    account: str
    metadata: dict[str, str] = field(default_factory=dict)
    status: str = "paid"
    returned: int = 0
    created: int = field(default_factory=lambda: int(time.time()))


def transfer(booking: Booking) -> dict[str, Any]:
    """Return a transfer of the processor."""
    return {
        "id": booking.id,
        "object": "transfer",
        "amount": int(booking.amount),
        "currency": booking.currency,
        "destination": booking.account,
        "metadata": booking.metadata,
        "transfer_group": booking.key,
        "reversed": booking.status == "returned",
        "amount_reversed": int(booking.amount) if booking.status == "returned" else booking.returned,
        "created": booking.created,
    }


def payment(booking: Booking) -> dict[str, Any]:
    """Return an outbound payment."""
    statuses = {"paid": "posted", "pending": "processing"}
    return {
        "id": booking.id,
        "object": "v2.money_management.outbound_payment",
        "amount": {"value": int(booking.amount), "currency": booking.currency},
        "to": {"recipient": booking.account},
        "created": datetime.fromtimestamp(booking.created, UTC).isoformat(),
        "metadata": booking.metadata,
        "status": statuses.get(booking.status, booking.status),
        "status_details": {booking.status: {"reason": "payout_method_closed"}}
        if booking.status == "returned"
        else None,
    }


def charge(booking: Booking) -> dict[str, Any]:
    """Return a payment intent of the processor."""
    statuses = {"paid": "succeeded", "pending": "processing", "waiting": "requires_action"}
    failed = {"code": "card_declined", "message": "Your card was declined."}
    return {
        "id": booking.id,
        "object": "payment_intent",
        "amount": int(booking.amount),
        "currency": booking.currency,
        "customer": booking.account,
        "metadata": booking.metadata,
        "status": statuses.get(booking.status, "requires_payment_method"),
        "last_payment_error": failed if booking.status == "failed" else None,
        "created": booking.created,
        "latest_charge": {"object": "charge", "amount_refunded": booking.returned},
    }


def refund(booking: Booking) -> dict[str, Any]:
    """Return a refund of a payment intent."""
    statuses = {"paid": "succeeded", "pending": "pending", "failed": "failed"}
    return {
        "id": booking.id,
        "object": "refund",
        "amount": int(booking.amount),
        "currency": booking.currency,
        "payment_intent": booking.account,
        "metadata": booking.metadata,
        "status": statuses[booking.status],
        "failure_reason": "expired_or_canceled_card" if booking.status == "failed" else None,
    }


def _item(booking: Booking) -> dict[str, Any]:
    statuses = {"paid": "SUCCESS", "pending": "PENDING", "failed": "FAILED", "returned": "RETURNED"}
    item = {
        "payout_item_id": f"ITEM-{booking.id}",
        "payout_batch_id": booking.id,
        "transaction_status": statuses.get(booking.status, booking.status),
        "payout_item": {
            "receiver": booking.account,
            "amount": {"value": booking.amount, "currency": booking.currency},
            "sender_item_id": booking.key,
        },
    }
    if booking.status == "paid":
        item["transaction_id"] = f"TX-{booking.id}"
    if booking.status == "failed":
        item["errors"] = {"name": "RECEIVER_UNCONFIRMED", "message": "The receiver is not confirmed."}
    return item


def batch(booking: Booking, status: str) -> dict[str, Any]:
    """Return a batch of the wallet service with its one item."""
    header = {
        "payout_batch_id": booking.id,
        "batch_status": status,
        "sender_batch_header": {"sender_batch_id": booking.key},
    }
    return {"batch_header": header, "items": [_item(booking)]}


def _transfer_event(booking: Booking) -> dict[str, Any]:
    kind = "transfer.reversed" if booking.status == "returned" else "transfer.created"
    return {"id": f"evt_{booking.id}", "object": "event", "type": kind, "data": {"object": transfer(booking)}}


def _payment_event(booking: Booking) -> dict[str, Any]:
    path = f"/v2/money_management/outbound_payments/{booking.id}"
    return {
        "id": f"evt_test_{booking.id}",
        "object": "v2.core.event",
        "type": "v2.money_management.outbound_payment.posted",
        "created": "2026-01-01T00:00:00.000Z",
        "livemode": False,
        "related_object": {"id": booking.id, "type": "v2.money_management.outbound_payment", "url": path},
    }


def _item_event(booking: Booking) -> dict[str, Any]:
    return {"id": f"WH-{booking.id}", "event_type": "PAYMENT.PAYOUTS-ITEM.SUCCEEDED", "resource": _item(booking)}


#: The event that a service posts about a transfer, by method.
EVENTS = {"ProcessorConnect": _transfer_event, "GlobalPayouts": _payment_event, "Wallet": _item_event}

#: The JSON of a booking, by the method under which it was booked.
SHAPES = {"ProcessorConnect": transfer, "GlobalPayouts": payment, "Charge": charge, "Refund": refund}
