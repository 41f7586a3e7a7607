"""Referrals that a brand writes on a subscription or a customer after the checkout, and what is sent about it."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.support.gateways.billing.chargebee import ChargebeeStage
from tests.support.gateways.billing.maxio import MaxioStage
from tests.support.gateways.billing.paddle import PaddleStage
from tests.support.gateways.billing.recurly import RecurlyStage
from tests.support.gateways.card.paypal import PaypalStage
from tests.support.gateways.card.stripe import StripeStage
from tests.support.gateways.stage import Notification, Purchase


def stripe_subscription(stage: StripeStage, purchase: Purchase, slug: str, **previous: Any) -> tuple[Notification, ...]:
    """Write a slug into a subscription's metadata; `previous` is what the event says was there before."""
    subscription = {"id": f"sub_{purchase.customer}", "object": "subscription", "status": "active"}
    subscription |= {"customer": f"cus_{purchase.customer}", "metadata": {"affiliate_slug": slug}, "livemode": True}
    return (stripe_update(stage, "customer.subscription.updated", subscription, previous or {"metadata": {}}),)


def stripe_customer(stage: StripeStage, purchase: Purchase, slug: str) -> tuple[Notification, ...]:
    """Write a slug into a customer's metadata."""
    customer = {"id": f"cus_{purchase.customer}", "object": "customer", "metadata": {"affiliate_slug": slug}}
    return (stripe_update(stage, "customer.updated", customer, {"metadata": {"affiliate_slug": None}}),)


def stripe_update(
    stage: StripeStage, kind: str, fields: dict[str, Any], previous: Mapping[str, Any] | None
) -> Notification:
    """Return the event of an object that changed, which the gateway lists too."""
    event = {"id": f"evt_{stage.number()}", "object": "event", "livemode": True, "type": kind}
    data = {"object": fields} | ({} if previous is None else {"previous_attributes": previous})
    event |= {"created": int(stage.now.timestamp()), "data": data}
    stage.events.append(event)
    return stage.sign_body(json.dumps(event).encode())


def _paddle_subscription(stage: PaddleStage, purchase: Purchase, slug: str) -> tuple[Notification, ...]:
    subscription = {"id": f"sub_{purchase.customer}", "status": "active", "customer_id": f"ctm_{purchase.customer}"}
    return (stage.event("subscription.updated", {**subscription, "custom_data": {"affiliate_slug": slug}}),)


def _paddle_customer(stage: PaddleStage, purchase: Purchase, slug: str) -> tuple[Notification, ...]:
    customer = {"id": f"ctm_{purchase.customer}", "email": purchase.email}
    return (stage.event("customer.updated", {**customer, "custom_data": {"affiliate_slug": slug}}),)


def _chargebee(kind: str, holder: str) -> Callable[[ChargebeeStage, Purchase, str], tuple[Notification, ...]]:
    def write(stage: ChargebeeStage, purchase: Purchase, slug: str) -> tuple[Notification, ...]:
        content = dict(stage.objects[f"/subscriptions/cb_s{purchase.customer}"])
        if holder == "customer":
            del content["subscription"]
        content[holder] = {**content[holder], "cf_affiliate_slug": slug}
        return (stage.event(kind, content),)

    return write


def _recurly_subscription(stage: RecurlyStage, purchase: Purchase, slug: str) -> tuple[Notification, ...]:
    subscription = stage.objects[f"/subscriptions/rsub{purchase.customer}"]
    subscription["custom_fields"] = [{"name": "affiliate_slug", "value": slug}]
    return (stage.notice("subscription", "updated", id=subscription["id"], uuid=subscription["uuid"]),)


def _recurly_account(stage: RecurlyStage, purchase: Purchase, slug: str) -> tuple[Notification, ...]:
    account = stage.objects[f"/accounts/racc{purchase.customer}"]
    account["custom_fields"] = [{"name": "affiliate_slug", "value": slug}]
    return (stage.notice("account", "updated", id=account["id"]),)


def _paypal(stage: PaypalStage, purchase: Purchase, slug: str) -> tuple[Notification, ...]:
    subscription = stage.objects[f"/v1/billing/subscriptions/I-SUB{purchase.customer}"]
    subscription["custom_id"] = slug
    return (stage.event("BILLING.SUBSCRIPTION.UPDATED", dict(subscription)),)


def _maxio(resource: str) -> Callable[[MaxioStage, Purchase, str], tuple[Notification, ...]]:
    def write(stage: MaxioStage, purchase: Purchase, slug: str) -> tuple[Notification, ...]:
        holder_id = {"Subscription": f"50{purchase.customer}", "Customer": f"30{purchase.customer}"}[resource]
        stage.change_field(resource, holder_id, "affiliate_slug", slug)
        return ()

    return write


#: By case the gateway, and how a slug is written later into a field of the brand's own; what is not sent is listed.
WRITTEN_LATER: Mapping[str, tuple[str, Callable[[Any, Purchase, str], tuple[Notification, ...]]]] = {
    "stripe subscription": ("stripe", stripe_subscription),
    "stripe customer": ("stripe", stripe_customer),
    "paddle subscription": ("paddle", _paddle_subscription),
    "paddle customer": ("paddle", _paddle_customer),
    "chargebee subscription": ("chargebee", _chargebee("subscription_changed", "subscription")),
    "chargebee customer": ("chargebee", _chargebee("customer_changed", "customer")),
    "recurly subscription": ("recurly", _recurly_subscription),
    "recurly account": ("recurly", _recurly_account),
    "paypal subscription": ("paypal", _paypal),
    "maxio subscription": ("maxio", _maxio("Subscription")),
    "maxio customer": ("maxio", _maxio("Customer")),
}
