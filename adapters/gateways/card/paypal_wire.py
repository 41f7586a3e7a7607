"""How paypal is called: by a token that its client credentials bring, kept until it ends."""

from collections.abc import Mapping
from typing import Any

from adapters.gateways import shapes
from adapters.gateways.base import GatewayUnreachable
from adapters.gateways.tokens import AccessTokens
from adapters.gateways.wire import GatewayAnswer, GatewayWire, basic, bearer

_LIVE, _SANDBOX = "https://api-m.paypal.com", "https://api-m.sandbox.paypal.com"
_TOKENS = AccessTokens()


class PaypalWire(GatewayWire):
    """The API of one app. A token that is kept and refused is got anew, once."""

    def __init__(self, mode: str, credentials: Mapping[str, str]) -> None:
        super().__init__("paypal", _LIVE if mode == "live" else _SANDBOX, {})
        self._client = (credentials.get("clientId", ""), credentials.get("clientSecret", ""))

    def ask(self, method: str, path: str, **what: Any) -> GatewayAnswer:
        """Ask one thing with a token. Raises as GatewayWire's."""
        ask, headers = super().ask, what.pop("headers", None) or {}

        def act(token: str) -> GatewayAnswer:
            return ask(method, path, headers={**headers, **bearer(token)}, **what)

        return _TOKENS.using((self._address, *self._client), self._asked, act)

    def new_token(self) -> None:
        """Get a token, which proves the credentials. Raises CredentialsRefused, GatewayRejected, GatewayUnreachable."""
        _TOKENS.fresh((self._address, *self._client), self._asked)

    def _asked(self) -> tuple[str, float]:
        form = {"grant_type": "client_credentials"}
        said = super().ask("POST", "/v1/oauth2/token", form=form, headers=basic(*self._client)).json
        token, lives_s = shapes.at(said, "access_token"), shapes.at(said, "expires_in")
        if not isinstance(token, str) or not token:
            raise GatewayUnreachable("it answers without a token")
        return token, lives_s if type(lives_s) is int else 0
