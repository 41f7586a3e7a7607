"""A brand's connection to stripe, and events that stripe would send to it: paid invoices with the slug of an affiliate.

Stripe is never called: an invoice names the customer who paid and the affiliate who referred them.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from adapters.gateways import registry
from adapters.gateways.base import GatewayAccount, GatewayDelivery, Setup
from bench.ground.brand import AFFILIATES, Brand
from models import db, ids
from models.gateways.connections import GatewayConnection
from pipelines.gateways import connect, receive
from pipelines.gateways.connect import VerifiedConnection

_SECRET = "whsec_made_up_for_the_benchmark"
_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class StripeShop:
    """A brand whose payments are made through stripe."""

    brand: Brand
    connection: GatewayConnection

    def take(self, count: int, *, prefix: str) -> None:
        """Insert events into the inbox with their jobs: a backlog as the web processes would leave it."""
        now = datetime.now(UTC)
        for first in range(0, count, _PAGE):
            numbers = range(first, min(first + _PAGE, count))
            events = [paid_invoice(f"{prefix}-{number}", number, int(now.timestamp())) for number in numbers]
            with db.unit_of_work(self.brand.id):
                receive.stage(self.connection, _deliveries(events), now=now)


def connect_shop(brand: Brand) -> StripeShop:
    """Connect a brand to stripe as the product does once stripe has accepted the credentials."""
    account = GatewayAccount("live", {"apiKey": "sk_live_made_up", "webhookSecret": _SECRET})
    token = f"made-up-for-{brand.id}"
    verified = VerifiedConnection(ids.new_id(), registry.get("stripe"), account, "acct_bench", token, Setup())
    with db.unit_of_work(brand.id):
        return StripeShop(brand, connect.store(verified, organization_id=brand.id, now=datetime.now(UTC)))


def paid_invoice(name: str, number: int, t: int) -> bytes:
    """Return the event that a subscription's first invoice was paid at a time (Unix seconds)."""
    invoice = {
        "id": f"in_{name}",
        "object": "invoice",
        "account_country": "US",
        "billing_reason": "subscription_create",
        "collection_method": "charge_automatically",
        "amount_due": 10_000 + number,
        "amount_paid": 10_000 + number,
        "amount_remaining": 0,
        "currency": "usd",
        "customer": f"cus_{name}",
        "customer_email": f"buyer-{name}@example.com",
        "customer_name": "A Buyer",
        "discounts": [],
        "lines": {"object": "list", "data": [_line(name, 10_000 + number, t)], "has_more": False},
        "livemode": True,
        "metadata": {},
        "parent": {
            "type": "subscription_details",
            "subscription_details": {
                "subscription": f"sub_{name}",
                "metadata": {"affiliate_slug": f"partner-{number % AFFILIATES}"},
            },
        },
        "status": "paid",
        "status_transitions": {"finalized_at": t, "paid_at": t},
        "subtotal": 10_000 + number,
        "total": 10_000 + number,
        "total_excluding_tax": 10_000 + number,
    }
    event = {
        "id": f"evt_{name}",
        "object": "event",
        "api_version": "2025-09-30.clover",
        "created": t,
        "data": {"object": invoice},
        "livemode": True,
        "pending_webhooks": 1,
        "request": {"id": None, "idempotency_key": None},
        "type": "invoice.paid",
    }
    return json.dumps(event, indent=2).encode()


def _line(name: str, cents: int, t: int) -> dict[str, object]:
    return {
        "id": f"il_{name}",
        "object": "line_item",
        "amount": cents,
        "currency": "usd",
        "description": "1 x Growth (at $100.00 / month)",
        "livemode": True,
        "metadata": {},
        "period": {"start": t, "end": t + 2_592_000},
        "pricing": {"type": "price_details", "price_details": {"price": "price_1", "product": "prod_1"}},
        "quantity": 1,
    }


def _deliveries(events: Sequence[bytes]) -> list[GatewayDelivery]:
    deliveries = []
    for event in events:
        event_id = json.loads(event)["id"]
        deliveries.append(GatewayDelivery(event_id, "invoice.paid", event, event_id))
    return deliveries
