"""Call an API, or look at a page, whose host a brand typed: a public one, or one that webhooks may be sent to."""

import contextlib
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
    try:
        status, said_headers, content = _guarded(_policy(timeout_s)).ask(method, url, body=body or b"", headers=headers)
    except ValueError as error:
        raise CannotBeSent("it holds characters that cannot be sent") from error
    return status, said_headers, bytes(content)


def look(url: str, headers: Mapping[str, str], *, timeout_s: int) -> tuple[int, Mapping[str, str], bytes]:
    """GET like `ask`, of a host that is not asked often: no connection is kept."""
    with contextlib.closing(client.Client(_policy(timeout_s))) as guarded:
        status, said_headers, content = guarded.ask("GET", url, body=b"", headers=headers)
    return status, said_headers, bytes(content)


def _policy(timeout_s: int) -> client.Policy:
    chosen = settings.current().webhooks
    return client.Policy(
        allow_private=chosen.allow_private,
        also_allow=frozenset(chosen.also_allow),
        ca_bundle=chosen.ca_bundle,
        timeout_s=timeout_s,
        max_read_bytes=_LONGEST_ANSWER,
    )


@functools.cache
def _guarded(policy: client.Policy) -> client.Client:
    return client.Client(policy)
