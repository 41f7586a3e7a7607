"""Access tokens that expire: requested once in a process, and once more when one is refused."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

from adapters.gateways import shapes
from adapters.gateways.base import CredentialsRefused, GatewayUnreachable

Result = TypeVar("Result")
#: Requests a token of the gateway: the token, and how many seconds it lives.
RequestToken = Callable[[], tuple[str, float]]

_MARGIN_S = 60.0
_MAX_CACHED = 10_000


def read(answer: Any, default_lives_s: float = 0) -> tuple[str, float]:
    """Return the token of an answer, and how many seconds it lives. Raises GatewayUnreachable where it has none."""
    token, lives_s = shapes.get(answer, "access_token"), shapes.get(answer, "expires_in")
    if not isinstance(token, str) or not token:
        raise GatewayUnreachable("the answer holds no token")
    return token, lives_s if type(lives_s) is int else default_lives_s


class AccessTokens:
    """The tokens of one gateway's accounts, by account. Safe for threads; cached in this process alone."""

    def __init__(self) -> None:
        self._cached: dict[tuple[str, ...], tuple[str, float]] = {}

    def request_token(self, account: tuple[str, ...], request: RequestToken) -> str:
        """Return a new token, which proves the credentials. Raises as `request`."""
        token, lives_s = request()
        if len(self._cached) >= _MAX_CACHED:
            self._cached.clear()
        self._cached[account] = token, time.monotonic() + lives_s - _MARGIN_S
        return token

    def using(self, account: tuple[str, ...], request: RequestToken, act: Callable[[str], Result]) -> Result:
        """Return the result of `act` with a token; with a new one where the gateway refuses the cached one."""
        token, until = self._cached.get(account, ("", 0.0))
        if time.monotonic() >= until:
            return act(self.request_token(account, request))
        try:
            return act(token)
        except CredentialsRefused:
            self._cached.pop(account, None)
            return act(self.request_token(account, request))
