"""The client: methods for sales, refunds and leads, and the groups of operations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .generated import Groups
from .transport import Send, Transport

if TYPE_CHECKING:
    from .generated import records


class Finderfee(Groups):
    """One installation, called with one API key of a brand. Any number of threads may share it.

    base_url: the URL of the service, such as https://affiliates.example.
    api_key: the brand's key; signing_secret: the key's secret, for sales, refunds and leads.
    timeout_s: time limit of one attempt. retries: further attempts after 429, 503 or a lost connection.
    send: replaces urllib, for persistent connections or for tests.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str,
        signing_secret: str | None = None,
        timeout_s: float = 10.0,
        retries: int = 4,
        send: Send | None = None,
    ) -> None:
        self._transport = Transport(base_url, api_key, signing_secret, timeout_s=timeout_s, retries=retries, send=send)
        super().__init__(self._transport)

    def __repr__(self) -> str:
        return f"Finderfee({self._transport!r})"

    def sale(self, body: records.SaleBody, *, idempotency_key: str | None = None) -> records.SaleAnswer:
        """Record a sale, signed. A repeated `externalEventId` is `deduped`, without a time limit: retry at any time.

        Amounts are integers in minor units. Raises ApiError, ConnectionFailed, and TypeError for another amount.
        """
        _require_integer(body, "amountCents")
        return self.sales.record_sale(body, idempotency_key=idempotency_key)

    def refund(self, body: records.RefundBody, *, idempotency_key: str | None = None) -> records.RefundAnswer:
        """Refund a sale by its `externalEventId`, signed: the rest of it, or `refundAmountCents`.

        A refund has no id of its own. To repeat one from your own queue, pass the same `idempotency_key` each time:
        within an hour it is executed once. Raises as `sale` does.
        """
        _require_integer(body, "refundAmountCents")
        return self.sales.refund_sale(body, idempotency_key=idempotency_key)

    def lead(self, body: records.LeadBody, *, idempotency_key: str | None = None) -> records.LeadAnswer:
        """Record a lead, signed. A repeated one is `deduped`. Raises ApiError and ConnectionFailed."""
        return self.leads.record_lead(body, idempotency_key=idempotency_key)

    def request(self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None) -> Any:
        """Call any other path of the service and return its response. Raises ApiError and ConnectionFailed."""
        return self._transport.call(method, path, query=query, body=body)


def _require_integer(body: Mapping[str, Any], name: str) -> None:
    amount = body.get(name)
    if amount is not None and (isinstance(amount, bool) or not isinstance(amount, int)):
        raise TypeError(f"{name} must be an integer in minor units of the currency, not {amount!r}")
