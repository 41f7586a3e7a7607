"""A brand with a fake payment gateway, which repeats its notifications until they are accepted."""

import http.client
import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

from tests.support.gateways.stage import Notification, Purchase, Sale, Stage
from tests.support.installation.backing_servers import PATIENCE_S
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop

_RETRY_AFTER_S = 0.05


class GatewayShop(Shop):
    """A shop connected to one gateway; `outcome.check` compares the database with the gateway's sales and refunds."""

    def __init__(self, machine: Machine, stage: Stage) -> None:
        super().__init__(machine)
        self.stage = stage
        body = {"gateway": stage.gateway.name, "mode": stage.mode, "credentials": dict(stage.credentials)}
        status, self.connection = self.call_api("POST", "/api/v1/connections", body)
        assert status == 201, self.connection
        stage.now = max(stage.now, datetime.now(UTC))

    @property
    def path(self) -> str:
        """The path to which the gateway sends its notifications."""
        return "/" + str(self.connection["webhookUrl"]).split("/", 3)[3]

    def call_api(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Call the API with the Owner's dashboard session; return status and JSON."""
        headers = {"Authorization": f"Bearer {self.brand.person('Owner').api_key}", "Content-Type": "application/json"}
        with closing(http.client.HTTPConnection("127.0.0.1", self.machine.port, timeout=PATIENCE_S)) as connection:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            return response.status, json.loads(response.read() or b"null")

    def pay(self, **purchase: Any) -> Sale:
        """Pay for a purchase that ben referred; its notifications are not delivered yet."""
        sale = self.stage.pay(Purchase(**{"cents": 10_000, "slug": "ben"} | purchase))
        self.sold[sale.id] = None
        return sale

    def refund(self, sale: Sale, cents: int) -> tuple[Notification, ...]:
        """Refund a part of a sale; return the notifications about it, not delivered yet."""
        self.refunded_cents[sale.id] += cents
        return self.stage.refund(sale, cents)

    def deliver(self, *notifications: Notification) -> None:
        """Send each notification until the response is 200, as gateways do."""
        deadline = time.monotonic() + PATIENCE_S
        for notification in notifications:
            while self._deliver_one(notification) != 200:
                assert time.monotonic() < deadline, f"not accepted: {dict(self.statuses)}"
                time.sleep(_RETRY_AFTER_S)

    def deliver_concurrently(self, *notifications: Notification) -> None:
        """Deliver all notifications at the same time."""
        with ThreadPoolExecutor(len(notifications)) as pool:
            list(pool.map(self.deliver, notifications))

    def events(self, columns: str = "type, status, reason") -> list[tuple[Any, ...]]:
        """Return columns of the received gateway events, oldest first."""
        statement = f"select {columns} from gateway_event where organization_id = %s order by received_at, id"
        return self.machine.rows(statement, self.id)

    def close(self) -> None:
        """Close the shop and disconnect its gateway, so that the service no longer lists its payments."""
        super().close()
        self.machine.execute(
            "update gateway_connection set status = 'Disconnected' where organization_id = %s", str(self.id)
        )

    def _deliver_one(self, notification: Notification) -> int | None:
        answer = self.send_once(self.path, notification.body, notification.headers, notification.method)
        return answer and answer[0]
