"""A brand's connection to stripe, and what stripe would send to it: paid invoices that carry the slug of an affiliate.

Nothing is asked of stripe: an invoice says whose customer paid, and who referred them.
"""

import hashlib
import hmac
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from adapters.gateways import registry
from adapters.gateways.base import GatewayAccount, GatewayDelivery, Setup
from bench.ground.brand import AFFILIATES, Brand
from domain.coupons.discounts import CodeOrigin
from models import db, ids
from models.affiliates import affiliates
from models.gateways.connections import GatewayConnection
from pipelines.coupons import families, minting
from pipelines.coupons.calls import Made
from pipelines.coupons.minting import WantedCode
from pipelines.gateways import connect, receive
from pipelines.gateways.connect import ProvedConnection
from schemas.coupons.campaign import CampaignCouponBody

_SECRET = "whsec_made_up_for_the_benchmark"
_PAGE = 1_000
_COUPON = {
    "name": "Partner 15",
    "discountType": "PercentOff",
    "discountValue": 15,
    "duration": "Once",
    "selfMintMode": "AllAffiliates",
}


@dataclass(frozen=True, slots=True)
class StripeShop:
    """A brand whose payments come through stripe. Those of a backlog take turns in redeeming its codes."""

    brand: Brand
    connection: GatewayConnection
    token: str
    codes: Sequence[str] = ()

    def requests(self, count: int, *, port: int, prefix: str) -> list[bytes]:
        """Return `count` events as raw signed HTTP requests; they are good for 300 seconds."""
        t = int(time.time())
        events = (paid_invoice(f"{prefix}-{number}", number, t) for number in range(count))
        return [_request(event, t, port, self.token) for event in events]

    def take(self, count: int, *, prefix: str) -> None:
        """Put events into the inbox with their jobs: a backlog as the web processes would leave it."""
        now = datetime.now(UTC)
        for first in range(0, count, _PAGE):
            numbers = range(first, min(first + _PAGE, count))
            events = [
                paid_invoice(
                    f"{prefix}-{number}",
                    number,
                    int(now.timestamp()),
                    code=self.codes[number % len(self.codes)] if self.codes else None,
                )
                for number in numbers
            ]
            with db.unit_of_work(self.brand.id):
                receive.stage(self.connection, _deliveries(events), now=now)


def connected(brand: Brand) -> StripeShop:
    """Connect a brand to stripe as the product does once stripe took the credentials."""
    account = GatewayAccount("live", {"apiKey": "sk_live_made_up", "webhookSecret": _SECRET})
    token = f"made-up-for-{brand.id}"
    proved = ProvedConnection(ids.new_id(), registry.get("stripe"), account, "acct_bench", token, Setup())
    with db.unit_of_work(brand.id):
        return StripeShop(brand, connect.store(proved, organization_id=brand.id, now=datetime.now(UTC)), token)


def with_codes(shop: StripeShop) -> StripeShop:
    """Make a coupon and mint a code of it for each affiliate, as the product does once stripe made them."""
    organization_id, now = shop.brand.id, datetime.now(UTC)
    with db.unit_of_work(organization_id):
        family = families.begin(
            organization_id=organization_id,
            program_id=shop.brand.program_id,
            coupon_id=ids.new_id(),
            wanted=CampaignCouponBody().load(_COUPON),
            now=now,
        )
        coupon = families.settle(family, Made("co_bench"), now=now, note=_unnoted)
    assert coupon is not None
    texts = []
    for affiliate_id in shop.brand.affiliate_ids:
        with db.unit_of_work(organization_id):
            affiliate = affiliates.find(organization_id=organization_id, affiliate_id=affiliate_id)
            assert affiliate is not None
            wanted = WantedCode(id=ids.new_id(), coupon_id=coupon.id, text=None, origin=CodeOrigin.SelfMinted)
            begun = minting.begin(affiliate, wanted, now=now)
            minting.settle(begun, Made(f"promo_{begun.code.code}"), now=now, note=_unnoted)
        texts.append(begun.code.code)
    return replace(shop, codes=texts)


def _unnoted(made: object) -> None:
    """Leave no entry in the audit log."""


def paid_invoice(name: str, number: int, t: int, code: str | None = None) -> bytes:
    """Return the event that a subscription's first invoice was paid at a time (Unix seconds), and a code redeemed."""
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
        "discounts": [] if code is None else [_discount(name, code)],
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


def _discount(name: str, code: str) -> dict[str, object]:
    """Return a discount with all that it says, so that nobody has to ask for it."""
    promotion = {"id": f"promo_{code}", "object": "promotion_code", "active": True, "code": code}
    return {"id": f"di_{name}", "object": "discount", "promotion_code": promotion, "invoice": f"in_{name}"}


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
    found = []
    for event in events:
        event_id = json.loads(event)["id"]
        found.append(GatewayDelivery(event_id, "invoice.paid", event, event_id))
    return found


def _request(event: bytes, t: int, port: int, token: str) -> bytes:
    digest = hmac.new(_SECRET.encode(), b"%d." % t + event, hashlib.sha256).hexdigest()
    head = (
        f"POST /api/gateways/stripe/{token} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Stripe-Signature: t={t},v1={digest}\r\nContent-Length: {len(event)}\r\n\r\n"
    )
    return head.encode() + event
