"""How paypal is called: by a token that its client credentials bring, kept until it ends."""

import hashlib
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from adapters.gateways import shapes
from adapters.gateways.base import CredentialsRefused, GatewayUnreachable
from adapters.gateways.wire import GatewayAnswer, GatewayWire, basic, bearer

_LIVE, _SANDBOX = "https://api-m.paypal.com", "https://api-m.sandbox.paypal.com"
# Before its end, so that none ends on its way.
_EARLY_S = 60
_MOST_KEPT = 1_000

# What brought a token (a digest) to the token and its end by the machine's steady clock.
_kept: dict[str, tuple[str, float]] = {}
_keeping = threading.Lock()


class PaypalWire(GatewayWire):
    """The API of one app. A token that is kept and refused is got anew, once."""

    def __init__(self, mode: str, credentials: Mapping[str, str]) -> None:
        super().__init__("paypal", _LIVE if mode == "live" else _SANDBOX, {})
        self._client = (credentials.get("clientId", ""), credentials.get("clientSecret", ""))
        self._kept_by = hashlib.sha256("\0".join((self._address, *self._client)).encode()).hexdigest()

    def ask(self, method: str, path: str, **what: Any) -> GatewayAnswer:
        """Ask one thing with a token. Raises as GatewayWire's."""
        headers = what.pop("headers", None) or {}
        kept, ends_at = _kept.get(self._kept_by, ("", 0.0))
        if kept and time.monotonic() < ends_at:
            # What is refused may be the token alone.
            with suppress(CredentialsRefused):
                return super().ask(method, path, headers={**headers, **bearer(kept)}, **what)
        return super().ask(method, path, headers={**headers, **bearer(self.new_token())}, **what)

    def new_token(self) -> str:
        """Get a token and keep it. Raises CredentialsRefused, GatewayRejected and GatewayUnreachable."""
        form = {"grant_type": "client_credentials"}
        said = super().ask("POST", "/v1/oauth2/token", form=form, headers=basic(*self._client)).json
        token, lives_s = shapes.at(said, "access_token"), shapes.at(said, "expires_in")
        if not isinstance(token, str) or not token:
            raise GatewayUnreachable("it answers without a token")
        if isinstance(lives_s, int) and lives_s > _EARLY_S:
            with _keeping:
                if len(_kept) >= _MOST_KEPT:
                    _kept.clear()
                _kept[self._kept_by] = (token, time.monotonic() + lives_s - _EARLY_S)
        return token
