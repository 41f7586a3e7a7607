"""Referrals that a brand writes on a subscription or customer after checkout, and the gateway's notifications of it."""

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


def write_stripe_subscription(
    stage: StripeStage, purchase: Purchase, slug: str, **previous: Any
) -> tuple[Notification, ...]:
    """Write a slug into a subscription's metadata; `previous` holds the former values that the event reports."""
    subscription = {"id": f"sub_{purchase.customer}", "object": "subscription", "status": "active"}
    subscription |= {"customer": f"cus_{purchase.customer}", "metadata": {"affiliate_slug": slug}, "livemode": True}
    return (build_stripe_update(stage, "customer.subscription.updated", subscription, previous or {"metadata": {}}),)


def write_stripe_customer(stage: StripeStage, purchase: Purchase, slug: str) -> tuple[Notification, ...]:
    """Write a slug into a customer's metadata."""
    customer = {"id": f"cus_{purchase.customer}", "object": "customer", "metadata": {"affiliate_slug": slug}}
    return (build_stripe_update(stage, "customer.updated", customer, {"metadata": {"affiliate_slug": None}}),)


def build_stripe_update(
    stage: StripeStage, event_type: str, fields: dict[str, Any], previous: Mapping[str, Any] | None
) -> Notification:
    """Return the signed event of a changed object, and add it to the events that the gateway lists."""
    event = {"id": f"evt_{stage.number()}", "object": "event", "livemode": True, "type": event_type}
    data = {"object": fields} | ({} if previous is None else {"previous_attributes": previous})
    event |= {"created": int(stage.now.timestamp()), "data": data}
    stage.events.append(event)
    return stage.sign_body(json.dumps(event).encode())


def _write_paddle_subscription(stage: PaddleStage, purchase: Purchase, slug: str) -> tuple[Notification, ...]:
    subscription = {"id": f"sub_{purchase.customer}", "status": "active", "customer_id": f"ctm_{purchase.customer}"}
    return (stage.event("subscription.updated", {**subscription, "custom_data": {"affiliate_slug": slug}}),)


def _write_paddle_customer(stage: PaddleStage, purchase: Purchase, slug: str) -> tuple[Notification, ...]:
    customer = {"id": f"ctm_{purchase.customer}", "email": purchase.email}
    return (stage.event("customer.updated", {**customer, "custom_data": {"affiliate_slug": slug}}),)


def _make_chargebee_writer(
    event_type: str, holder: str
) -> Callable[[ChargebeeStage, Purchase, str], tuple[Notification, ...]]:
    def write(stage: ChargebeeStage, purchase: Purchase, slug: str) -> tuple[Notification, ...]:
        content = dict(stage.objects[f"/subscriptions/cb_s{purchase.customer}"])
        if holder == "customer":
            del content["subscription"]
        content[holder] = {**content[holder], "cf_affiliate_slug": slug}
        return (stage.event(event_type, content),)

    return write


def _write_recurly_subscription(stage: RecurlyStage, purchase: Purchase, slug: str) -> tuple[Notification, ...]:
    subscription = stage.objects[f"/subscriptions/rsub{purchase.customer}"]
    subscription["custom_fields"] = [{"name": "affiliate_slug", "value": slug}]
    return (stage.notice("subscription", "updated", id=subscription["id"], uuid=subscription["uuid"]),)


def _write_recurly_account(stage: RecurlyStage, purchase: Purchase, slug: str) -> tuple[Notification, ...]:
    account = stage.objects[f"/accounts/racc{purchase.customer}"]
    account["custom_fields"] = [{"name": "affiliate_slug", "value": slug}]
    return (stage.notice("account", "updated", id=account["id"]),)


def _write_paypal_subscription(stage: PaypalStage, purchase: Purchase, slug: str) -> tuple[Notification, ...]:
    subscription = stage.objects[f"/v1/billing/subscriptions/I-SUB{purchase.customer}"]
    subscription["custom_id"] = slug
    return (stage.event("BILLING.SUBSCRIPTION.UPDATED", dict(subscription)),)


def _make_maxio_writer(resource: str) -> Callable[[MaxioStage, Purchase, str], tuple[Notification, ...]]:
    def write(stage: MaxioStage, purchase: Purchase, slug: str) -> tuple[Notification, ...]:
        holder_id = {"Subscription": f"50{purchase.customer}", "Customer": f"30{purchase.customer}"}[resource]
        stage.change_field(resource, holder_id, "affiliate_slug", slug)
        return ()

    return write


#: By case: the gateway, and the function that writes a slug into a custom field; without notifications, list events.
LATE_REFERRALS: Mapping[str, tuple[str, Callable[[Any, Purchase, str], tuple[Notification, ...]]]] = {
    "stripe subscription": ("stripe", write_stripe_subscription),
    "stripe customer": ("stripe", write_stripe_customer),
    "paddle subscription": ("paddle", _write_paddle_subscription),
    "paddle customer": ("paddle", _write_paddle_customer),
    "chargebee subscription": ("chargebee", _make_chargebee_writer("subscription_changed", "subscription")),
    "chargebee customer": ("chargebee", _make_chargebee_writer("customer_changed", "customer")),
    "recurly subscription": ("recurly", _write_recurly_subscription),
    "recurly account": ("recurly", _write_recurly_account),
    "paypal subscription": ("paypal", _write_paypal_subscription),
    "maxio subscription": ("maxio", _make_maxio_writer("Subscription")),
    "maxio customer": ("maxio", _make_maxio_writer("Customer")),
}
