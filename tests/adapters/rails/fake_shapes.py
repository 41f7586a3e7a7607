"""How the three payment services show a transfer, a charge or a refund, and what they post about transfers."""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any


@dataclass
class Booked:
    """A transfer that was made. `status` is paid, pending, failed or returned."""

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


def transfer(booked: Booked) -> dict[str, Any]:
    """Return a transfer of the processor."""
    return {
        "id": booked.id,
        "object": "transfer",
        "amount": int(booked.amount),
        "currency": booked.currency,
        "destination": booked.account,
        "metadata": booked.metadata,
        "transfer_group": booked.key,
        "reversed": booked.status == "returned",
        "amount_reversed": int(booked.amount) if booked.status == "returned" else booked.returned,
        "created": booked.created,
    }


def payment(booked: Booked) -> dict[str, Any]:
    """Return an outbound payment."""
    statuses = {"paid": "posted", "pending": "processing"}
    return {
        "id": booked.id,
        "object": "v2.money_management.outbound_payment",
        "amount": {"value": int(booked.amount), "currency": booked.currency},
        "to": {"recipient": booked.account},
        "created": datetime.fromtimestamp(booked.created, UTC).isoformat(),
        "metadata": booked.metadata,
        "status": statuses.get(booked.status, booked.status),
        "status_details": {booked.status: {"reason": "payout_method_closed"}} if booked.status == "returned" else None,
    }


def charge(booked: Booked) -> dict[str, Any]:
    """Return a payment intent of the processor."""
    statuses = {"paid": "succeeded", "pending": "processing", "waiting": "requires_action"}
    failed = {"code": "card_declined", "message": "Your card was declined."}
    return {
        "id": booked.id,
        "object": "payment_intent",
        "amount": int(booked.amount),
        "currency": booked.currency,
        "customer": booked.account,
        "metadata": booked.metadata,
        "status": statuses.get(booked.status, "requires_payment_method"),
        "last_payment_error": failed if booked.status == "failed" else None,
        "created": booked.created,
        "latest_charge": {"object": "charge", "amount_refunded": booked.returned},
    }


def refund(booked: Booked) -> dict[str, Any]:
    """Return a refund of a payment intent."""
    statuses = {"paid": "succeeded", "pending": "pending", "failed": "failed"}
    return {
        "id": booked.id,
        "object": "refund",
        "amount": int(booked.amount),
        "currency": booked.currency,
        "payment_intent": booked.account,
        "metadata": booked.metadata,
        "status": statuses[booked.status],
        "failure_reason": "expired_or_canceled_card" if booked.status == "failed" else None,
    }


def _item(booked: Booked) -> dict[str, Any]:
    statuses = {"paid": "SUCCESS", "pending": "PENDING", "failed": "FAILED", "returned": "RETURNED"}
    item = {
        "payout_item_id": f"ITEM-{booked.id}",
        "payout_batch_id": booked.id,
        "transaction_status": statuses.get(booked.status, booked.status),
        "payout_item": {
            "receiver": booked.account,
            "amount": {"value": booked.amount, "currency": booked.currency},
            "sender_item_id": booked.key,
        },
    }
    if booked.status == "paid":
        item["transaction_id"] = f"TX-{booked.id}"
    if booked.status == "failed":
        item["errors"] = {"name": "RECEIVER_UNCONFIRMED", "message": "The receiver is not confirmed."}
    return item


def batch(booked: Booked, status: str) -> dict[str, Any]:
    """Return a batch of the wallet service with its one item."""
    header = {
        "payout_batch_id": booked.id,
        "batch_status": status,
        "sender_batch_header": {"sender_batch_id": booked.key},
    }
    return {"batch_header": header, "items": [_item(booked)]}


def _transfer_event(booked: Booked) -> dict[str, Any]:
    kind = "transfer.reversed" if booked.status == "returned" else "transfer.created"
    return {"id": f"evt_{booked.id}", "object": "event", "type": kind, "data": {"object": transfer(booked)}}


def _payment_event(booked: Booked) -> dict[str, Any]:
    path = f"/v2/money_management/outbound_payments/{booked.id}"
    return {
        "id": f"evt_test_{booked.id}",
        "object": "v2.core.event",
        "type": "v2.money_management.outbound_payment.posted",
        "created": "2026-01-01T00:00:00.000Z",
        "livemode": False,
        "related_object": {"id": booked.id, "type": "v2.money_management.outbound_payment", "url": path},
    }


def _item_event(booked: Booked) -> dict[str, Any]:
    return {"id": f"WH-{booked.id}", "event_type": "PAYMENT.PAYOUTS-ITEM.SUCCEEDED", "resource": _item(booked)}


#: What a service posts of a transfer by itself, by method.
EVENTS = {"ProcessorConnect": _transfer_event, "GlobalPayouts": _payment_event, "Wallet": _item_event}

#: How the processor shows each of its things, by what it was booked as.
SHAPES = {"ProcessorConnect": transfer, "GlobalPayouts": payment, "Charge": charge, "Refund": refund}
