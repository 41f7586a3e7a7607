"""What a played gateway tells: its requests proved and translated as the inbox has it done."""

from datetime import UTC, datetime

from adapters.gateways.base import GatewayAccount, Inbound
from domain.gateways.facts import Fact
from tests.support.gateways.stage import Sent, Stage


def account(stage: Stage, **others: str) -> GatewayAccount:
    """Return the connection of a played gateway, with other credentials where they are given."""
    return GatewayAccount(stage.mode, {**stage.credentials, **others}, stage.made)


def inbound(sent: Sent, at: datetime | None = None) -> Inbound:
    """Return what is sent as the request that comes, now or at another moment."""
    return Inbound(sent.method, sent.headers, sent.query, sent.body, at or datetime.now(UTC))


def facts(stage: Stage, *sent: Sent) -> list[Fact]:
    """Return what is meant by what is sent."""
    own = account(stage)
    deliveries = [one for each in sent for one in stage.gateway.prove(own, inbound(each)).deliveries]
    return [fact for delivery in deliveries for fact in stage.gateway.facts(own, delivery)]


def listed(stage: Stage, since: datetime) -> dict[str, list[Fact]]:
    """Return what is meant by what the gateway lists, by the keys of the deliveries."""
    own = account(stage)
    deliveries = [one for page in stage.gateway.listed(own, since) for one in page]
    return {one.key: list(stage.gateway.facts(own, one)) for one in deliveries}
