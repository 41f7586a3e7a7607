"""A brand whose money comes through a gateway that is played on this machine, and sends again what got no answer."""

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

_AGAIN_AFTER_S = 0.05


class GatewayShop(Shop):
    """A shop with one connection. What its gateway took and gave back is what `outcome.check` looks for."""

    def __init__(self, machine: Machine, stage: Stage) -> None:
        super().__init__(machine)
        self.stage = stage
        expected = {"gateway": stage.gateway.name, "mode": stage.mode, "credentials": dict(stage.credentials)}
        status, self.connection = self.call_api("POST", "/api/v1/connections", expected)
        assert status == 201, self.connection
        stage.now = max(stage.now, datetime.now(UTC))

    @property
    def path(self) -> str:
        """Where the gateway sends its events."""
        return "/" + str(self.connection["webhookUrl"]).split("/", 3)[3]

    def call_api(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Ask as the Owner at the dashboard; return status and JSON."""
        headers = {"Authorization": f"Bearer {self.brand.person('Owner').api_key}", "Content-Type": "application/json"}
        with closing(http.client.HTTPConnection("127.0.0.1", self.machine.port, timeout=PATIENCE_S)) as connection:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            return response.status, json.loads(response.read() or b"null")

    def pay(self, **purchase: Any) -> Sale:
        """Let a buyer pay whom ben sent; nothing is told yet."""
        sale = self.stage.pay(Purchase(**{"cents": 10_000, "slug": "ben"} | purchase))
        self.sold[sale.id] = None
        return sale

    def refund(self, sale: Sale, cents: int) -> tuple[Notification, ...]:
        """Give money back; return what is to be told about it."""
        self.refunded_cents[sale.id] += cents
        return self.stage.refund(sale, cents)

    def deliver(self, *notifications: Notification) -> None:
        """Send each until it is answered with 200, as gateways do."""
        deadline = time.monotonic() + PATIENCE_S
        for notification in notifications:
            while self._deliver_one(notification) != 200:
                assert time.monotonic() < deadline, f"not taken: {dict(self.statuses)}"
                time.sleep(_AGAIN_AFTER_S)

    def deliver_concurrently(self, *notifications: Notification) -> None:
        """Send all of it at the same time."""
        with ThreadPoolExecutor(len(notifications)) as pool:
            list(pool.map(self.deliver, notifications))

    def events(self, columns: str = "type, status, reason") -> list[tuple[Any, ...]]:
        """Return columns of the inbox, in the order of arrival."""
        statement = f"select {columns} from gateway_event where organization_id = %s order by received_at, id"
        return self.machine.rows(statement, self.id)

    def close(self) -> None:
        """Close the shop, and end its connection: nothing is listed for it any more."""
        super().close()
        self.machine.execute(
            "update gateway_connection set status = 'Disconnected' where organization_id = %s", str(self.id)
        )

    def _deliver_one(self, notification: Notification) -> int | None:
        answer = self.send_once(self.path, notification.body, notification.headers, notification.method)
        return answer and answer[0]
