"""Fixtures of a brand whose payments come through a simulated gateway."""

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from models import db
from tests.support import books
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.gateways.stage import Notification, Purchase, Sale, Stage
from tests.support.job_queues import drain
from tests.support.rows.brands import Brand


@dataclass
class Shop:
    """A brand, its simulated gateway, and the connection between them."""

    brand: Brand
    stage: Stage
    connection: dict[str, Any]

    def advance_clock(self) -> None:
        """Move the gateway's clock on by one second, so that its next events are newer than those so far."""
        self.stage.now += timedelta(seconds=1)

    @property
    def path(self) -> str:
        """Return the path to which the gateway sends its events."""
        return "/" + self.connection["webhookUrl"].split("/", 3)[3]

    def deliver(self, *notifications: Notification) -> list[int]:
        """Deliver notifications of the gateway; return the statuses of the responses."""
        client = self.brand.app.test_client()
        return [
            client.open(
                self.path,
                method=notification.method,
                data=notification.body,
                headers=dict(notification.headers),
                query_string=dict(notification.query),
            ).status_code
            for notification in notifications
        ]

    def change(self, sql: str, *params: object) -> None:
        """Run a statement that changes the brand's rows."""
        with db.unit_of_work(self.brand.id):
            db.db.run(sql, params)

    def list_webhook_data(self, event_type: str) -> list[dict[str, Any]]:
        """Return the `data` of the brand's webhook events of a type, oldest first."""
        rows = self.brand.rows("select body from event where type = %s order by created_at, id", event_type)
        return [json.loads(body)["data"] for (body,) in rows]

    def sell(self, **purchase: Any) -> Sale:
        """Simulate a payment, deliver its notifications and run the jobs; return the sale."""
        sale = self.stage.pay(Purchase(**purchase))
        assert set(self.deliver(*sale.notifications)) == {200}
        drain()
        return sale

    def build_stripe_event(self, event_type: str, fields: dict[str, Any]) -> Notification:
        """Return a signed Stripe event about an object."""
        event = {"id": f"evt_{self.stage.number()}", "object": "event", "livemode": True, "type": event_type}
        event |= {"created": int(self.stage.now.timestamp()), "data": {"object": fields}}
        return self.stage.sign_body(json.dumps(event).encode())

    def replace_fields(self, notification: Notification, **fields: Any) -> Notification:
        """Return a Stripe event with some fields of its object replaced, signed again."""
        event = json.loads(notification.body)
        event["data"]["object"] |= fields
        return self.stage.sign_body(json.dumps(event).encode())

    def receive(self, *notifications: Notification) -> None:
        """Deliver notifications and run the jobs that book them."""
        assert set(self.deliver(*notifications)) == {200}
        drain()

    def events(self, columns: str = "type, status, reason") -> list[tuple[Any, ...]]:
        """Return columns of the gateway's received events, in the order of arrival."""
        return self.brand.rows(f"select {columns} from gateway_event order by received_at, id")

    def conversions(self, columns: str = "external_event_id, amount_cents, commission_cents, type") -> list[Any]:
        """Return columns of the gateway's conversions, in the order of payment."""
        statement = f"select {columns} from conversion where source = %s order by occurred_at, created_at"
        return self.brand.rows(statement, self.stage.gateway.name)


@pytest.fixture
def stage(request):
    with play_gateway(getattr(request, "param", "stripe")) as stage:
        yield stage


@pytest.fixture
def shop(brand, stage):
    """Return a brand with a connected gateway and jane, an affiliate at 20 %; check its books afterwards."""
    brand.program(default_commission_type="Percentage", default_commission_value=20)
    brand.affiliate("jane")
    yield Shop(brand, stage, connect_gateway(brand.person("Owner"), stage))
    assert books.list_violations(brand.id, is_finished=False) == []
