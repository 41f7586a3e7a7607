"""Stripe's JSON: objects, lists, events and their signatures.

Amounts are minor units, times Unix seconds. An object's id is its kind and a token: `in_7` is the invoice of `ch_7`.
"""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

StripeObject = dict[str, Any]

_VERSION = "2025-09-30.clover"
_DEFAULT_LIMIT, _MAX_LIMIT = 10, 100


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidInvoice:
    """A paid invoice of a subscription. `metadata` is the subscription's.

    `discounts` are ids, `off_cents` is their total amount.
    """

    token: str
    subscription: str
    customer: str
    email: str | None
    cents: int
    currency: str
    reason: str
    paid_at: int
    metadata: Mapping[str, str] = field(default_factory=dict)
    discounts: Sequence[str] = ()
    off_cents: int = 0
    is_test: bool = False

    def invoice(self) -> StripeObject:
        """Return the invoice."""
        return {
            "id": f"in_{self.token}",
            "object": "invoice",
            "created": self.paid_at,
            "status": "paid",
            "billing_reason": self.reason,
            "amount_paid": self.cents,
            "subtotal": self.cents + self.off_cents,
            "total": self.cents,
            "currency": self.currency.lower(),
            "customer": self.customer,
            "customer_email": self.email,
            "customer_name": "Ann",
            "metadata": {},
            "discounts": list(self.discounts),
            "total_discount_amounts": [
                {"amount": self.off_cents, "discount": discount_id} for discount_id in self.discounts
            ],
            "parent": {
                "type": "subscription_details",
                "subscription_details": {"subscription": self.subscription, "metadata": dict(self.metadata)},
            },
            "status_transitions": {"paid_at": self.paid_at},
            "livemode": not self.is_test,
        }

    def charge(self) -> StripeObject:
        """Return the charge that paid it."""
        return {
            "id": f"ch_{self.token}",
            "object": "charge",
            "created": self.paid_at,
            "amount": self.cents,
            "amount_refunded": 0,
            "refunded": False,
            "currency": self.currency.lower(),
            "customer": self.customer,
            "payment_intent": f"pi_{self.token}",
            "livemode": not self.is_test,
        }

    def payment(self) -> StripeObject:
        """Return the invoice payment, which links it to its charge."""
        return {
            "id": f"inpay_{self.token}",
            "object": "invoice_payment",
            "created": self.paid_at,
            "invoice": f"in_{self.token}",
            "payment": {"type": "payment_intent", "payment_intent": f"pi_{self.token}"},
            "livemode": not self.is_test,
        }


def build_discount(
    discount_id: str, *, promotion: str, source: StripeObject, start: int, end: int | None = None
) -> StripeObject:
    """Return the discount of a customer who redeemed a promotion code of a coupon, the source."""
    return {
        "id": discount_id,
        "object": "discount",
        "promotion_code": promotion,
        "source": {"type": "coupon", "coupon": source},
        "start": start,
        "end": end,
    }


def with_refund(charge: StripeObject, total_cents: int) -> StripeObject:
    """Return a charge of which `total_cents` are refunded in total."""
    return {**charge, "amount_refunded": total_cents, "refunded": total_cents == charge["amount"]}


def build_event(
    event_id: str, kind: str, about: StripeObject, *, created: int, previous: StripeObject | None = None
) -> StripeObject:
    """Return an event about an object; `previous` has the former values of changed fields."""
    data = {"object": about} | ({} if previous is None else {"previous_attributes": previous})
    return {
        "id": event_id,
        "object": "event",
        "api_version": _VERSION,
        "created": created,
        "livemode": about.get("livemode", True),
        "type": kind,
        "data": data,
    }


def build_page(path: str, newest_first: Sequence[StripeObject], params: Mapping[str, str]) -> StripeObject:
    """Return a page of the list at a path, by created[gte], created[lt], starting_after, limit. Raises ValueError."""
    since, until = (int(params.get(name, "0")) for name in ("created[gte]", "created[lt]"))
    items = [item for item in newest_first if since <= item["created"] and (not until or item["created"] < until)]
    if after := params.get("starting_after"):
        items = items[[item["id"] for item in items].index(after) + 1 :]
    limit = int(params.get("limit", _DEFAULT_LIMIT))
    if not 1 <= limit <= _MAX_LIMIT:
        raise ValueError("limit")
    return {"object": "list", "url": path, "data": items[:limit], "has_more": len(items) > limit}


def build_error(message: str, *, param: str | None = None) -> StripeObject:
    """Return the JSON of an error response."""
    return {"error": {"type": "invalid_request_error", "message": message, "param": param}}


def sign(body: bytes, *, secret: str, at: int) -> str:
    """Return the Stripe-Signature header of an event."""
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"
