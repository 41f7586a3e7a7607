"""Calls APIs and pages whose host a brand typed: a public one, or one that webhooks may be sent to."""

import contextlib
import functools
from collections.abc import Mapping

import settings
from adapters.safe_http import client

_MAX_RESPONSE_BYTES = 2 * 1024 * 1024


class CannotBeSent(ValueError):
    """A header or a URL has characters that a request cannot contain."""


def call(
    method: str, url: str, headers: Mapping[str, str], body: bytes | None, *, timeout_s: int
) -> tuple[int, Mapping[str, str], bytes]:
    """Return status, headers (case-insensitive) and body of the response, with any status. One request.

    Raises addresses.UrlRefused before any packet, client.ReceiverUnreachable and CannotBeSent.
    """
    try:
        status, response_headers, content = _client(_policy(timeout_s)).ask(
            method, url, body=body or b"", headers=headers
        )
    except ValueError as error:
        raise CannotBeSent("it has characters that cannot be sent") from error
    return status, response_headers, bytes(content)


def get_once(url: str, headers: Mapping[str, str], *, timeout_s: int) -> tuple[int, Mapping[str, str], bytes]:
    """GET like `ask`, for hosts that are called rarely: the connection is closed."""
    with contextlib.closing(client.Client(_policy(timeout_s))) as http_client:
        status, response_headers, content = http_client.ask("GET", url, body=b"", headers=headers)
    return status, response_headers, bytes(content)


def _policy(timeout_s: int) -> client.Policy:
    config = settings.current().webhooks
    return client.Policy(
        allow_private=config.allow_private,
        also_allow=frozenset(config.also_allow),
        ca_bundle=config.ca_bundle,
        timeout_s=timeout_s,
        max_read_bytes=_MAX_RESPONSE_BYTES,
    )


@functools.cache
def _client(policy: client.Policy) -> client.Client:
    return client.Client(policy)
