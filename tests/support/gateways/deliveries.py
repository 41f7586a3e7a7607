"""What a played gateway tells its adapter: its requests proved and translated as the inbox has it done."""

from datetime import UTC, datetime

from adapters.gateways.base import GatewayAccount, GatewayDelivery, Inbound
from domain.gateways.facts import Fact
from tests.support.gateways.stage import Notification, Stage


def build_account(stage: Stage, **other: str) -> GatewayAccount:
    """Return a connection to the stage, with other credentials where they are given."""
    return GatewayAccount(stage.mode, {**stage.credentials, **other}, stage.subscription)


def build_inbound(notification: Notification, at: datetime | None = None) -> Inbound:
    """Return what the stage sends as it comes in."""
    return Inbound(
        notification.method, notification.headers, notification.query, notification.body, at or datetime.now(UTC)
    )


def list_deliveries(stage: Stage, *notification: Notification) -> list[GatewayDelivery]:
    """Return the deliveries of what the stage sends. Raises as `prove`."""
    own = build_account(stage)
    return [delivery for row in notification for delivery in stage.gateway.prove(own, build_inbound(row)).deliveries]


def read_facts(stage: Stage, *notification: Notification) -> list[Fact]:
    """Return the facts of what the stage sends. Raises as `prove` and `facts`."""
    return [
        fact
        for delivery in list_deliveries(stage, *notification)
        for fact in stage.gateway.facts(build_account(stage), delivery)
    ]


def list_facts(stage: Stage, since: datetime) -> dict[str, list[Fact]]:
    """Return the facts of what is listed, by their keys."""
    own = build_account(stage)
    pages = [delivery for page in stage.gateway.list_payments(own, since) for delivery in page]
    return {delivery.key: list(stage.gateway.facts(own, delivery)) for delivery in pages}
