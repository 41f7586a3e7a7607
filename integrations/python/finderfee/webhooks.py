"""Whether a webhook is the service's: its signature over the raw body, and its age."""

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

#: How many seconds a signature's time may lie from now, either side.
TOLERANCE_S = 300
_SECONDS = re.compile(r"[0-9]{1,12}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


class TestEvent(TypedDict):
    """What the Test action of an endpoint sends. It is in no list of events, and nothing happened."""

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
    """Return the event that a webhook carries, once it is known to be the service's.

    body: the raw body, byte by byte as it came; parsed and written again it has another signature.
    headers: those of the request, in any case; a value may be a list.
    secret: the endpoint's secret, or several of them while one takes the place of another.
    tolerance: how many seconds its time may lie from now, either side.
    now: unix seconds; the clock's unless given.

    Raises InvalidSignature. Deliveries may come more than once: remember the event's `id`.
    """
    if not isinstance(body, (bytes, str)):
        raise TypeError("verify_webhook needs the raw body, as bytes or text, not what was parsed of it")
    raw = body.encode() if isinstance(body, str) else body
    timestamp_s, digests = _read(_header(headers, "x-service-signature"))
    if abs((time.time() if now is None else now) - timestamp_s) > tolerance:
        raise InvalidSignature("The signature is too old, or its time lies ahead.")
    secrets = [secret] if isinstance(secret, str) else list(secret)
    expected = [signing.digest(one, timestamp_s, raw) for one in secrets if one]
    # Each pair is compared, and in constant time: how long it takes tells nothing of which one fits.
    fits = [hmac.compare_digest(one, sent) for one in expected for sent in digests]
    if not any(fits):
        raise InvalidSignature("The signature is not that of this body with this secret.")
    return cast("WebhookEvent | TestEvent", json.loads(raw))


def _header(headers: Mapping[str, Any], wanted: str) -> str:
    for name, value in headers.items():
        if str(name).lower() == wanted:
            found = value if isinstance(value, str) else ",".join(value)
            return str(found)
    raise InvalidSignature("The request has no X-Service-Signature.")


def _read(header: str) -> tuple[int, list[str]]:
    """Return the unix second and each v1 of `t=<unix seconds>,v1=<hex>`; tags that are not known are passed over."""
    pairs = [part.strip().partition("=") for part in header.split(",")]
    times = [value for tag, _, value in pairs if tag == "t"]
    digests = [value for tag, _, value in pairs if tag == "v1" and _DIGEST.fullmatch(value)]
    if len(times) != 1 or not _SECONDS.fullmatch(times[0]) or not digests:
        raise InvalidSignature("The X-Service-Signature is malformed.")
    return int(times[0]), digests
