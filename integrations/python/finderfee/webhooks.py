"""Verifies webhooks: the signature over the raw body, and its age."""

from __future__ import annotations

import hmac
import json
import re
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast

from . import signing
from .errors import InvalidSignature

if TYPE_CHECKING:
    from .generated.records import WebhookEvent

#: Seconds by which a signature's time may differ from now.
TOLERANCE_S = 300
_SECONDS = re.compile(r"[0-9]{1,12}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


class TestEvent(TypedDict):
    """The event of an endpoint's Test action. It is in no list of events, and stands for no change."""

    id: str
    type: Literal["test"]
    createdAt: str
    organizationId: str
    data: dict[str, Any]


def verify_webhook(
    body: bytes | str,
    headers: Mapping[str, Any],
    secret: str | Sequence[str],
    *,
    tolerance: int = TOLERANCE_S,
    now: float | None = None,
) -> WebhookEvent | TestEvent:
    """Verify a webhook and return its event.

    body: the raw body as received; parsed and serialized again it has another signature.
    headers: the request's headers, in any case; a value may be a list.
    secret: the endpoint's secret, or several during a rotation.
    tolerance: seconds by which its time may differ from now.
    now: unix seconds; default: the clock.

    Raises InvalidSignature. Deliveries may be repeated: store the event's `id`.
    """
    if not isinstance(body, (bytes, str)):
        raise TypeError("verify_webhook needs the raw body, as bytes or text, not the parsed one")
    raw = body.encode() if isinstance(body, str) else body
    timestamp_s, digests = _read(_header(headers, "x-service-signature"))
    if abs((time.time() if now is None else now) - timestamp_s) > tolerance:
        raise InvalidSignature("The signature is too old, or its time is in the future.")
    secrets = [secret] if isinstance(secret, str) else list(secret)
    expected = [signing.digest(key, timestamp_s, raw) for key in secrets if key]
    # All pairs are compared in constant time, so that timing does not reveal which one matches.
    matches = [hmac.compare_digest(digest, received) for digest in expected for received in digests]
    if not any(matches):
        raise InvalidSignature("The signature does not match this body and secret.")
    return cast("WebhookEvent | TestEvent", json.loads(raw))


def _header(headers: Mapping[str, Any], header_name: str) -> str:
    for name, value in headers.items():
        if str(name).lower() == header_name:
            return str(value if isinstance(value, str) else ",".join(value))
    raise InvalidSignature("The request has no X-Service-Signature.")


def _read(header: str) -> tuple[int, list[str]]:
    """Return the unix second and each v1 of `t=<unix seconds>,v1=<hex>`; unknown tags are ignored."""
    pairs = [part.strip().partition("=") for part in header.split(",")]
    times = [value for tag, _, value in pairs if tag == "t"]
    digests = [value for tag, _, value in pairs if tag == "v1" and _DIGEST.fullmatch(value)]
    if len(times) != 1 or not _SECONDS.fullmatch(times[0]) or not digests:
        raise InvalidSignature("The X-Service-Signature is malformed.")
    return int(times[0]), digests
