"""A brand whose payments come through a gateway that is played on this machine."""

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
    """A brand with a connection, and its gateway."""

    brand: Brand
    stage: Stage
    connection: dict[str, Any]

    def wait(self) -> None:
        """Let a second pass at the gateway: what it tells from now on is later than what it told."""
        self.stage.now += timedelta(seconds=1)

    @property
    def path(self) -> str:
        """Where the gateway sends its events."""
        return "/" + self.connection["webhookUrl"].split("/", 3)[3]

    def deliver(self, *sent: Notification) -> list[int]:
        """Send what the gateway sends; return the statuses of the answers."""
        client = self.brand.app.test_client()
        return [
            client.open(
                self.path, method=one.method, data=one.body, headers=dict(one.headers), query_string=dict(one.query)
            ).status_code
            for one in sent
        ]

    def change(self, sql: str, *params: object) -> None:
        """Change rows of the brand."""
        with db.unit_of_work(self.brand.id):
            db.db.run(sql, params)

    def told(self, type: str) -> list[dict[str, Any]]:
        """Return the data of the webhook events of a type, in their order."""
        found = self.brand.rows("select body from event where type = %s order by created_at, id", type)
        return [json.loads(body)["data"] for (body,) in found]

    def sell(self, **purchase: Any) -> Sale:
        """Let somebody pay, have it told and booked."""
        sale = self.stage.pay(Purchase(**purchase))
        assert set(self.deliver(*sale.notifications)) == {200}
        drain()
        return sale

    def event(self, kind: str, told: dict[str, Any]) -> Notification:
        """Return an event of stripe's about an object."""
        event = {"id": f"evt_{self.stage.number()}", "object": "event", "livemode": True, "type": kind}
        event |= {"created": int(self.stage.now.timestamp()), "data": {"object": told}}
        return self.stage.sign_body(json.dumps(event).encode())

    def changed(self, sent: Notification, **fields: Any) -> Notification:
        """Return an event of stripe's with other fields of its object."""
        event = json.loads(sent.body)
        event["data"]["object"] |= fields
        return self.stage.sign_body(json.dumps(event).encode())

    def hear(self, *sent: Notification) -> None:
        """Take what the gateway sends, and book it."""
        assert set(self.deliver(*sent)) == {200}
        drain()

    def events(self, columns: str = "type, status, reason") -> list[tuple[Any, ...]]:
        """Return columns of the inbox, in the order of arrival."""
        return self.brand.rows(f"select {columns} from gateway_event order by received_at, id")

    def conversions(self, columns: str = "external_event_id, amount_cents, commission_cents, type") -> list[Any]:
        """Return columns of the gateway's conversions, in the order of payment."""
        statement = f"select {columns} from conversion where source = %s order by occurred_at, created_at"
        return self.brand.rows(statement, self.stage.gateway.name)


@pytest.fixture
def stage(request):
    with play_gateway(getattr(request, "param", "stripe")) as playing:
        yield playing


@pytest.fixture
def shop(brand, stage):
    """Return a brand with jane, an affiliate at 20 %, whose gateway is connected; in the end its money must add up."""
    brand.program(default_commission_type="Percentage", default_commission_value=20)
    brand.affiliate("jane")
    yield Shop(brand, stage, connect_gateway(brand.person("Owner"), stage))
    assert books.list_violations(brand.id, is_finished=False) == []
