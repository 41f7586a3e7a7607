"""How an adapter calls its platform: JSON in, within the time of its account, and errors that say what to do."""

import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode, urlsplit

import settings
from adapters import clock, http_calls
from adapters.gateways.base import CredentialsRefused
from adapters.gateways.wire import parsed, words_of
from adapters.platforms.base import PlatformAccount, PlatformUnreachable
from adapters.safe_http import addresses, client, typed_hosts
from domain.webhooks import delivery

_CONNECT_S = 1.0
_Params = Mapping[str, str | int | Sequence[str]]
_Answered = tuple[int, Mapping[str, str], bytes]


def replaced(platform: str) -> str | None:
    """Return the scheme and host that API_ADDRESSES sets for a platform, or None."""
    return settings.current().addresses.apis.get(platform)


class PlatformWire:
    """The API of one account for one act. Safe to throw away: nothing is kept open.

    API_ADDRESSES replaces scheme and host of `address`; the path stays. `is_typed` says that the brand typed
    the host: unless it is replaced, only public addresses are called.
    """

    def __init__(
        self,
        platform: str,
        account: PlatformAccount,
        address: str,
        headers: Mapping[str, str],
        *,
        is_typed: bool = False,
        refuses_in_json: bool = False,
    ) -> None:
        """Get ready. `refuses_in_json`: a 403 without JSON comes from what stands in front of the API, not from it."""
        place = replaced(platform)
        self._is_typed = is_typed and not place
        self._address = f"{place}{urlsplit(address).path}" if place else address
        if not all(value.isascii() and value.isprintable() for value in headers.values()):
            raise CredentialsRefused("they have characters that cannot be sent")
        self._headers = {"Accept": "application/json", "User-Agent": "finderfee", **headers}
        self._refuses_in_json = refuses_in_json
        self._until = time.monotonic() + account.within_s

    def get(self, path: str, params: _Params | None = None) -> Any | None:
        """Return the JSON at a path, None where the platform has nothing there.

        Raises CredentialsRefused (401, 403) and PlatformUnreachable (everything else that is no success).
        """
        query = f"?{urlencode(params, doseq=True)}" if params else ""
        status, headers, content = self._ask(self._address + path + query)
        try:
            said = parsed(content) if content.strip() else None
        except ValueError as error:
            if status < 300:
                raise PlatformUnreachable(f"the answer with {status} cannot be read") from error
            said = None
        if status < 300:
            return said
        if status in (404, 410):
            return None
        if status == 401 or (status == 403 and (said is not None or not self._refuses_in_json)):
            raise CredentialsRefused(words_of(said) or f"it answers {status}")
        wait_s = delivery.parse_retry_after(headers.get("Retry-After"), now=clock.now())
        raise PlatformUnreachable(f"it answers {status}", wait_s)

    def needed(self, path: str) -> Any:
        """Return the JSON at a path that every account has. Raises as `get`."""
        said = self.get(path)
        if said is None:
            raise PlatformUnreachable("its API has moved")
        return said

    def _ask(self, url: str) -> _Answered:
        left_s = self._until - time.monotonic()
        if left_s <= 0:
            raise PlatformUnreachable("no answer in time")
        try:
            if self._is_typed:
                return typed_hosts.ask("GET", url, self._headers, None, timeout_s=max(1, round(left_s)))
            connect_s = min(_CONNECT_S, left_s / 3)
            return http_calls.call("GET", url, self._headers, None, timeout_s=left_s - connect_s, connect_s=connect_s)
        except http_calls.NoAnswer as error:
            raise PlatformUnreachable(str(error)) from error
        except client.ReceiverUnreachable as error:
            raise PlatformUnreachable(error.reason) from error
        except addresses.UrlRefused as refused:
            raise CredentialsRefused(refused.message) from refused
        except typed_hosts.CannotBeSent as error:
            raise CredentialsRefused("they hold characters that cannot be sent") from error
