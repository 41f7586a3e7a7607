"""Calls of an adapter to its platform: JSON in, within the time of its account, and one error for each remedy."""

import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import settings
from adapters import clock
from adapters.gateways.base import CredentialsRefused
from adapters.gateways.wire import AccountApi, Params, parse_json, words_of
from adapters.platforms.base import PlatformAccount, PlatformUnreachable
from domain.webhooks import delivery

_CONNECT_S = 1.0


def find_replacement(platform: str) -> str | None:
    """Return the scheme and host that API_ADDRESSES sets for a platform, or None."""
    return settings.current().addresses.apis.get(platform)


class PlatformApi(AccountApi):
    """The API of one account for one operation, within the time limit of the account.

    API_ADDRESSES replaces scheme and host of `address`. `refuses_in_json`: a 403 without JSON comes from a
    server in front of the API, not from the API.
    """

    unreachable = PlatformUnreachable

    def __init__(
        self,
        platform: str,
        account: PlatformAccount,
        address: str,
        headers: Mapping[str, str],
        *,
        is_brands_host: bool = False,
        refuses_in_json: bool = False,
    ) -> None:
        super().__init__(find_replacement(platform), address, headers, is_brands_host=is_brands_host)
        self._refuses_in_json = refuses_in_json
        self._until = time.monotonic() + account.within_s

    def get(self, path: str, params: Params | None = None) -> Any | None:
        """Return the JSON at a path, None where the platform has nothing there.

        Raises CredentialsRefused (401, 403) and PlatformUnreachable (every other error).
        """
        query = f"?{urlencode(params, doseq=True)}" if params else ""
        left_s = self._until - time.monotonic()
        if left_s <= 0:
            raise PlatformUnreachable("no answer in time")
        connect_s = min(_CONNECT_S, left_s / 3)
        url, timeouts_s = self._address + path + query, {"timeout_s": left_s - connect_s, "connect_s": connect_s}
        status, headers, content = self._send("GET", url, self._headers, None, **timeouts_s)
        try:
            answer = parse_json(content) if content.strip() else None
        except ValueError as error:
            if status < 300:
                raise PlatformUnreachable(f"the answer with {status} cannot be read") from error
            answer = None
        if status < 300:
            return answer
        if status in (404, 410):
            return None
        if status == 401 or (status == 403 and (answer is not None or not self._refuses_in_json)):
            raise CredentialsRefused(words_of(answer) or f"it answers {status}")
        wait_s = delivery.parse_retry_after(headers.get("Retry-After"), now=clock.now())
        raise PlatformUnreachable(f"it answers {status}", wait_s)

    def require(self, path: str) -> Any:
        """Return the JSON at a path that every account has. Raises as `get`."""
        answer = self.get(path)
        if answer is None:
            raise PlatformUnreachable("its API has moved")
        return answer
