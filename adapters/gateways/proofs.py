"""Proofs that several gateways share: a digest of the raw bytes under a secret that only they and we have."""

import base64
import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass

from adapters.gateways.base import NotProved


def hex_digest(secret: bytes, signed: bytes) -> str:
    """Return the HMAC-SHA256 of what is signed, in lower-case hex."""
    return hmac.new(secret, signed, hashlib.sha256).hexdigest()


def base64_digest(secret: bytes, signed: bytes) -> str:
    """Return the HMAC-SHA256 of what is signed, in base64."""
    return base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode()


def require_match(sent: Iterable[str], expected: Iterable[str]) -> None:
    """Raise NotProved unless one of the sent digests is one of the expected, in a time that tells nothing."""
    wanted = [value.encode() for value in expected if value]
    given = [value.encode("utf-8", "surrogateescape") for value in sent if value]
    matches = [hmac.compare_digest(one, other) for one in given for other in wanted]
    if not any(matches):
        raise NotProved


def require_recent(sent: str, received_s: float, *, tolerance_s: int = 300, unit_s: float = 1.0) -> None:
    """Raise NotProved unless a time that was signed, in units of `unit_s`, is near the time at which it came."""
    if not (sent.isascii() and sent.isdigit() and len(sent) < 16) or abs(int(sent) * unit_s - received_s) > tolerance_s:
        raise NotProved


@dataclass(frozen=True, slots=True)
class Stamp:
    """How a gateway writes a time and digests of `time + joint + body` into a header: `t=1,v1=aa,v1=bb`."""

    between: str
    time: str
    digest: str
    joint: bytes


def require_stamped(header: str, stamp: Stamp, body: bytes, received_s: float, *, secrets: Iterable[str]) -> None:
    """Raise NotProved unless a header has one recent time, and a digest of it and the body under one of the secrets."""
    parts = [(name.strip(), value) for name, _, value in (part.partition("=") for part in header.split(stamp.between))]
    times = [value for name, value in parts if name == stamp.time]
    if len(times) != 1:
        raise NotProved
    require_recent(times[0], received_s)
    signed = times[0].encode() + stamp.joint + body
    expected = (hex_digest(secret.encode(), signed) for secret in secrets)
    require_match((value for name, value in parts if name == stamp.digest), expected)


def fingerprint(body: bytes) -> str:
    """Return a key for a delivery that has none of its own."""
    return f"sha256:{hashlib.sha256(body).hexdigest()}"
