"""paypal: captures of orders and sales of subscriptions, their refunds, reversals and disputes.

An app receives only events of payments that were made through it. Whether paypal sent an event is verified by paypal
itself: the raw bytes are sent back as they came, for a body that is serialized again is no longer the one it signed.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import orjson

from adapters import clock
from adapters.gateways import shapes, tokens
from adapters.gateways.adapter import StoredWebhookAdapter, make_listed
from adapters.gateways.base import (
    Capabilities,
    CredentialField,
    CredentialsRefused,
    GatewayAccount,
    GatewayDelivery,
    GatewayRejected,
    GatewayUnreachable,
    Inbound,
    Known,
    NotProved,
    Setup,
    Subscribed,
)
from adapters.gateways.card import paypal_facts
from adapters.gateways.wire import GatewayAnswer, GatewayApi, basic, bearer
from domain.gateways.facts import DisputeState, Facts, UnreadableEvent

_LIVE, _SANDBOX = "https://api-m.paypal.com", "https://api-m.sandbox.paypal.com"
_TOKENS = tokens.AccessTokens()
_VERIFY = "/v1/notifications/verify-webhook-signature"
_SIGNED = {
    "auth_algo": "Paypal-Auth-Algo",
    "cert_url": "Paypal-Cert-Url",
    "transmission_id": "Paypal-Transmission-Id",
    "transmission_sig": "Paypal-Transmission-Sig",
    "transmission_time": "Paypal-Transmission-Time",
}
_SEARCH = "Switch on Transaction search for the app (Apps & Credentials, Features), so that what was missed is found."
_PAGE = 100
# Reports are up to three hours late, and cover a month at most.
_LATE, _WINDOW = timedelta(hours=3), timedelta(days=30)


class PaypalApi(GatewayApi):
    """The API of one app, called with a token for its credentials. A cached token that is refused is renewed once."""

    def __init__(self, mode: str, credentials: Mapping[str, str]) -> None:
        super().__init__("paypal", _LIVE if mode == "live" else _SANDBOX, {})
        self._client = (credentials.get("clientId", ""), credentials.get("clientSecret", ""))

    def request(self, method: str, path: str, **request: Any) -> GatewayAnswer:
        """Make one call with a token. Raises as `GatewayApi.request`."""
        send, headers = super().request, request.pop("headers", None) or {}

        def send_with_token(token: str) -> GatewayAnswer:
            return send(method, path, headers={**headers, **bearer(token)}, **request)

        return _TOKENS.using((self._address, *self._client), self._request_token, send_with_token)

    def new_token(self) -> None:
        """Get a token, which proves the credentials. Raises CredentialsRefused, GatewayRejected, GatewayUnreachable."""
        _TOKENS.request_token((self._address, *self._client), self._request_token)

    def _request_token(self) -> tuple[str, float]:
        form = {"grant_type": "client_credentials"}
        return tokens.read(super().request("POST", "/v1/oauth2/token", form=form, headers=basic(*self._client)).json)


class Paypal(StoredWebhookAdapter):
    name = "paypal"
    label = "PayPal"
    kind = "payments"
    fields = (
        CredentialField("clientId", "Client ID", "Apps & Credentials, of the app that takes your payments"),
        CredentialField("clientSecret", "Secret", "Apps & Credentials, next to the client ID of the same app"),
    )
    capabilities = Capabilities(
        disputes=(DisputeState.Lost, DisputeState.Won),
        lacks=(
            "PayPal has no discount codes.",
            "Only payments that were made through the app are reported.",
            "A dispute is reported only when it is decided.",
        ),
    )
    type_path = ("event_type",)
    object_path = ("resource",)
    time_path = ("create_time",)
    readers = paypal_facts.READERS
    webhooks_path = "/v1/notifications/webhooks"

    def api(self, account: GatewayAccount) -> PaypalApi:
        return PaypalApi(account.mode, account.credentials)

    def check(self, account: GatewayAccount) -> Known:
        """Get a token, and check that the app still has our webhook."""
        api = self.api(account)
        api.new_token()
        webhook = account.made.get(self.webhook_key)
        if webhook and api.find(f"{self.webhooks_path}/{webhook}") is None:
            raise CredentialsRefused("the app has not the webhook that was made for this connection")
        client = account.credentials.get("clientId", "")
        return Known(client, account.mode == "live", (client,))

    def subscribe(self, account: GatewayAccount, address: str) -> Subscribed:
        """Create the webhook, or reuse the one that exists for this address."""
        api = self.api(account)
        webhook = {"url": address, "event_types": [{"name": name} for name in paypal_facts.READERS]}
        try:
            existing = api.request("POST", self.webhooks_path, json=webhook).json
        except GatewayRejected:
            webhooks = shapes.items(api.get(self.webhooks_path), "webhooks")
            existing = next((item for item in webhooks if item.get("url") == address), None)
            if existing is None:
                raise
        return Subscribed({self.webhook_key: shapes.require(existing, "id")}, Setup((_SEARCH,)))

    def verify(self, account: GatewayAccount, request: Inbound) -> None:
        """Ask paypal whether it sent this to our webhook. Raises GatewayUnreachable where it cannot be asked."""
        signed = {name: request.headers.get(header, "") for name, header in _SIGNED.items()}
        if not all(signed.values()) or not isinstance(self.glance(request.body), dict):
            raise NotProved
        trouble = None
        for credentials in account.sets:
            try:
                if _is_from_paypal(account, credentials, signed, request.body):
                    return
            except GatewayRejected:
                continue
            except (CredentialsRefused, GatewayUnreachable) as error:
                trouble = str(error)
        if trouble is not None:
            raise GatewayUnreachable(trouble)
        raise NotProved

    def translate(self, account: GatewayAccount, event: Any, kind: str) -> Facts:
        if (line := shapes.get(event, "transaction_info")) is not None:
            return paypal_facts.of_report(self.api(account), line, shapes.get(event, "payer_info"))
        if not isinstance(shapes.get(event, "resource"), Mapping):
            raise UnreadableEvent("resource is missing")
        return super().translate(account, event, kind)

    def list_payments(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Read the report of transactions since three hours before, month by month."""
        api, now = self.api(account), clock.now()
        api.new_token()  # an error after this is not the credentials'
        start = since - _LATE
        while start < now:
            end = min(start + _WINDOW, now)
            yield from _pages(api, start, end)
            start = end


GATEWAY = Paypal()


def _is_from_paypal(
    account: GatewayAccount, credentials: Mapping[str, str], signed: Mapping[str, str], body: bytes
) -> bool:
    """Ask for the verdict on a body, which was read as one JSON object, with one set of credentials."""
    if not (webhook := credentials.get("webhook")):
        return False
    content = orjson.dumps({**signed, "webhook_id": webhook})[:-1] + b',"webhook_event":' + body + b"}"
    api = PaypalApi(account.mode, credentials)
    verdict = api.request("POST", _VERIFY, content=content, headers={"Content-Type": "application/json"}).json
    return shapes.text(verdict, "verification_status") == "SUCCESS"


def _pages(api: GatewayApi, start: datetime, end: datetime) -> Iterator[Sequence[GatewayDelivery]]:
    number, last = 1, 1
    while number <= last:
        params: dict[str, str | int] = {
            "start_date": start.isoformat(timespec="seconds"),
            "end_date": end.isoformat(timespec="seconds"),
            "fields": "transaction_info,payer_info",
            "page_size": _PAGE,
            "page": number,
        }
        page = _read_report(api, params)
        if items := [item for item in shapes.items(page, "transaction_details") if paypal_facts.is_money(item)]:
            yield [_to_delivery(item) for item in items]
        pages = shapes.get(page, "total_pages")
        number, last = number + 1, pages if isinstance(pages, int) else 1


def _read_report(api: GatewayApi, params: Mapping[str, str | int]) -> Any:
    """Return a page of the report. An app without that right has good credentials all the same."""
    try:
        return api.get("/v1/reporting/transactions", params)
    except CredentialsRefused as error:
        raise GatewayRejected(403, f"{error}. {_SEARCH}") from error


def _to_delivery(item: Any) -> GatewayDelivery:
    transaction_id = shapes.require(item, "transaction_info", "transaction_id")
    kind = shapes.text(item, "transaction_info", "transaction_event_code") or ""
    return make_listed(transaction_id, kind, item, transaction_id)
