"""Notifications of a fake gateway, verified and translated by its adapter as in the inbox."""

from datetime import UTC, datetime

from adapters.gateways.base import GatewayAccount, GatewayDelivery, Inbound
from domain.gateways.facts import Fact
from tests.support.gateways.stage import Notification, Stage


def build_account(stage: Stage, **other: str) -> GatewayAccount:
    """Return the account of a connection to a stage; `other` replaces credentials."""
    return GatewayAccount(stage.mode, {**stage.credentials, **other}, stage.subscription)


def build_inbound(notification: Notification, at: datetime | None = None) -> Inbound:
    """Return a notification as an incoming request."""
    return Inbound(
        notification.method, notification.headers, notification.query, notification.body, at or datetime.now(UTC)
    )


def list_deliveries(stage: Stage, *notifications: Notification) -> list[GatewayDelivery]:
    """Return the deliveries in notifications. Raises as `prove`."""
    own = build_account(stage)
    return [
        delivery
        for notification in notifications
        for delivery in stage.gateway.prove(own, build_inbound(notification)).deliveries
    ]


def read_facts(stage: Stage, *notifications: Notification) -> list[Fact]:
    """Return the facts in notifications. Raises as `prove` and `facts`."""
    return [
        fact
        for delivery in list_deliveries(stage, *notifications)
        for fact in stage.gateway.facts(build_account(stage), delivery)
    ]


def list_facts(stage: Stage, since: datetime) -> dict[str, list[Fact]]:
    """Return the facts of the payments that the gateway lists, by delivery key."""
    own = build_account(stage)
    deliveries = [delivery for page in stage.gateway.list_payments(own, since) for delivery in page]
    return {delivery.key: list(stage.gateway.facts(own, delivery)) for delivery in deliveries}
