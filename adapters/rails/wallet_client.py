"""Calls the PayPal REST API, signed in with the client's credentials."""

import base64
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from adapters import http_calls
from adapters.rails.base import RailMisconfigured

# A token is renewed early rather than used late.
_MARGIN_S = 60

_SIGNATURE_HEADERS = {
    "auth_algo": "PAYPAL-AUTH-ALGO",
    "cert_url": "PAYPAL-CERT-URL",
    "transmission_id": "PAYPAL-TRANSMISSION-ID",
    "transmission_sig": "PAYPAL-TRANSMISSION-SIG",
    "transmission_time": "PAYPAL-TRANSMISSION-TIME",
}


@dataclass(frozen=True, slots=True)
class WalletResponse:
    """An answer: its status and its JSON, an empty object when it is not JSON."""

    status: int
    body: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name of the error."""
        return str(self.body.get("name") or "")

    @property
    def message(self) -> str:
        """The error in words."""
        return str(self.body.get("message") or "")

    @property
    def details(self) -> list[dict[str, Any]]:
        """The fields that the error is about."""
        return _objects(self.body.get("details"))

    @property
    def links(self) -> list[dict[str, Any]]:
        """Where the answer points to."""
        return _objects(self.body.get("links"))


class WalletClient:
    """The API at `url` with one client's credentials; shared by all threads of a process."""

    def __init__(self, *, url: str, client_id: str, secret: str, timeout_s: float) -> None:
        self._url = url
        self._basic = base64.b64encode(f"{client_id}:{secret}".encode()).decode()
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._token = ""
        self._token_until = float("-inf")

    def ask(self, method: str, path: str, body: bytes | None = None) -> WalletResponse:
        """Return the answer with any other status. Raises NoAnswer; RailMisconfigured for 401 and 403."""
        response = self._send_with_token(method, path, body)
        if response.status == 401:  # the token may have been taken back; a request that was not let in did nothing
            self._forget_token()
            response = self._send_with_token(method, path, body)
        if response.status == 401 or (response.status == 403 and response.name != "INSUFFICIENT_FUNDS"):
            raise RailMisconfigured(
                f"the wallet service refuses our client with {response.status} {response.name}".rstrip()
            )
        return response

    def has_signed(self, webhook_id: str, headers: Mapping[str, str], body: bytes) -> bool:
        """Return whether the service signed an event, by its own answer; False without one. Raises RailMisconfigured.

        `body` must be JSON; it goes back byte for byte, since the signature covers the bytes.
        """
        fields = {name: headers.get(header, "") for name, header in _SIGNATURE_HEADERS.items()}
        if not all(fields.values()):
            return False
        question = orjson.dumps({**fields, "webhook_id": webhook_id})[:-1] + b',"webhook_event":' + body + b"}"
        try:
            response = self.ask("POST", "/v1/notifications/verify-webhook-signature", question)
        except http_calls.NoAnswer:
            return False
        return response.status == 200 and response.body.get("verification_status") == "SUCCESS"

    def _send_with_token(self, method: str, path: str, body: bytes | None) -> WalletResponse:
        headers = {"Authorization": f"Bearer {self._get_token()}", "Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        return self._call(method, path, headers, body)

    def _get_token(self) -> str:
        with self._lock:
            if time.monotonic() >= self._token_until:
                self._sign_in()
            return self._token

    def _sign_in(self) -> None:
        headers = {
            "Authorization": f"Basic {self._basic}",
            "Content-Type": "application/x-www-form-urlencoded",
            "Accept": "application/json",
        }
        response = self._call("POST", "/v1/oauth2/token", headers, b"grant_type=client_credentials")
        if response.status in (400, 401, 403):
            raise RailMisconfigured(f"the wallet service refuses our client's sign-in with {response.status}")
        token, lasts_s = response.body.get("access_token"), response.body.get("expires_in")
        if response.status != 200 or not isinstance(token, str) or type(lasts_s) is not int:
            raise http_calls.NoAnswer(f"signing in answers {response.status}; nothing was asked for")
        self._token, self._token_until = token, time.monotonic() + lasts_s - _MARGIN_S

    def _forget_token(self) -> None:
        with self._lock:
            self._token_until = float("-inf")

    def _call(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> WalletResponse:
        status, _, content = http_calls.call(method, self._url + path, headers, body, timeout_s=self._timeout_s)
        try:
            response = orjson.loads(content)
        except orjson.JSONDecodeError:
            response = None
        return WalletResponse(status, response if isinstance(response, dict) else {})


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
