"""Access tokens that a gateway gives for a while: asked for once in a process, and once more when one is refused."""

import time
from collections.abc import Callable
from typing import TypeVar

from adapters.gateways.base import CredentialsRefused

Result = TypeVar("Result")
#: Asks the gateway for a token: the token, and how many seconds it lives.
AskToken = Callable[[], tuple[str, float]]

_MARGIN_S = 60.0
_MOST_KEPT = 10_000


class AccessTokens:
    """The tokens of one gateway's accounts, by what they were given for. Safe for threads; nothing outlives them."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, ...], tuple[str, float]] = {}

    def fresh(self, account: tuple[str, ...], ask: AskToken) -> str:
        """Return a new token, which proves the credentials. Raises as `ask`."""
        token, lives_s = ask()
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        self._kept[account] = token, time.monotonic() + lives_s - _MARGIN_S
        return token

    def using(self, account: tuple[str, ...], ask: AskToken, act: Callable[[str], Result]) -> Result:
        """Return what `act` returns with a token; with a new one where the gateway refuses the one that was kept."""
        token, until = self._kept.get(account, ("", 0.0))
        if time.monotonic() >= until:
            return act(self.fresh(account, ask))
        try:
            return act(token)
        except CredentialsRefused:
            self._kept.pop(account, None)
            return act(self.fresh(account, ask))
