"""How stripe tells of what it keeps: its objects, its lists, its events and their signatures.

Amounts are minor units, times Unix seconds. An object's id is its kind and a token: `in_7` is the invoice of `ch_7`.
"""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

StripeObject = dict[str, Any]

_VERSION = "2025-09-30.clover"
_PAGE, _LONGEST_PAGE = 10, 100


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidInvoice:
    """An invoice of a subscription that its customer has paid. `metadata` is the subscription's.

    `discounts` are ids, and `off_cents` is what they took off.
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
            "total_discount_amounts": [{"amount": self.off_cents, "discount": one} for one in self.discounts],
            "parent": {
                "type": "subscription_details",
                "subscription_details": {"subscription": self.subscription, "metadata": dict(self.metadata)},
            },
            "status_transitions": {"paid_at": self.paid_at},
            "livemode": not self.is_test,
        }

    def charge(self) -> StripeObject:
        """Return the charge by which it was paid."""
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
        """Return what says which payment it was paid by."""
        return {
            "id": f"inpay_{self.token}",
            "object": "invoice_payment",
            "created": self.paid_at,
            "invoice": f"in_{self.token}",
            "payment": {"type": "payment_intent", "payment_intent": f"pi_{self.token}"},
            "livemode": not self.is_test,
        }


def discount(
    discount_id: str, *, promotion: str, source: StripeObject, start: int, end: int | None = None
) -> StripeObject:
    """Return what a buyer was given who redeemed a promotion code of a coupon, the source."""
    return {
        "id": discount_id,
        "object": "discount",
        "promotion_code": promotion,
        "source": {"type": "coupon", "coupon": source},
        "start": start,
        "end": end,
    }


def refunded(charge: StripeObject, total_cents: int) -> StripeObject:
    """Return a charge of which so much has gone back, of all times together."""
    return {**charge, "amount_refunded": total_cents, "refunded": total_cents == charge["amount"]}


def event(
    event_id: str, kind: str, about: StripeObject, *, created: int, previous: StripeObject | None = None
) -> StripeObject:
    """Return an event about an object; `previous` is what changed of it, as it was before."""
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


def page(path: str, newest_first: Sequence[StripeObject], params: Mapping[str, str]) -> StripeObject:
    """Return a page of the list at a path, by created[gte], created[lt], starting_after, limit. Raises ValueError."""
    since, until = (int(params.get(name, "0")) for name in ("created[gte]", "created[lt]"))
    found = [item for item in newest_first if since <= item["created"] and (not until or item["created"] < until)]
    if after := params.get("starting_after"):
        found = found[[item["id"] for item in found].index(after) + 1 :]
    limit = int(params.get("limit", _PAGE))
    if not 1 <= limit <= _LONGEST_PAGE:
        raise ValueError("limit")
    return {"object": "list", "url": path, "data": found[:limit], "has_more": len(found) > limit}


def error(message: str, *, param: str | None = None) -> StripeObject:
    """Return what is answered to a call that cannot be done."""
    return {"error": {"type": "invalid_request_error", "message": message, "param": param}}


def signature(body: bytes, *, secret: str, at: int) -> str:
    """Return the header Stripe-Signature of an event."""
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"
