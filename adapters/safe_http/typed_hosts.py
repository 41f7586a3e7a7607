"""Call an API whose host a brand typed, where that is a public one (or one that webhooks may be sent to)."""

import functools
from collections.abc import Mapping

import settings
from adapters.safe_http import client

_LONGEST_ANSWER = 2 * 1024 * 1024


class CannotBeSent(ValueError):
    """A header or an address that holds what a request cannot."""


def ask(
    method: str, url: str, headers: Mapping[str, str], body: bytes | None, *, timeout_s: int
) -> tuple[int, Mapping[str, str], bytes]:
    """Return status, headers (found by any case) and body of the answer, with any status. One request.

    Raises addresses.UrlRefused before any packet, client.ReceiverUnreachable and CannotBeSent.
    """
    chosen = settings.current().webhooks
    policy = client.Policy(
        allow_private=chosen.allow_private,
        also_allow=frozenset(chosen.also_allow),
        ca_bundle=chosen.ca_bundle,
        timeout_s=timeout_s,
        max_read_bytes=_LONGEST_ANSWER,
    )
    try:
        status, said_headers, content = _guarded(policy).ask(method, url, body=body or b"", headers=headers)
    except ValueError as error:
        raise CannotBeSent("it holds characters that cannot be sent") from error
    return status, said_headers, bytes(content)


@functools.cache
def _guarded(policy: client.Policy) -> client.Client:
    return client.Client(policy)
