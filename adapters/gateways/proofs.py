"""Proofs that several gateways share: a digest of the raw bytes under a secret that only they and we have."""

import base64
import hashlib
import hmac
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from adapters.gateways.base import GatewayAccount, Inbound, NotProved


def hex_digest(secret: bytes, signed: bytes) -> str:
    """Return the HMAC-SHA256 of signed bytes, in lower-case hex."""
    return hmac.new(secret, signed, hashlib.sha256).hexdigest()


def base64_digest(secret: bytes, signed: bytes) -> str:
    """Return the HMAC-SHA256 of signed bytes, in base64."""
    return base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode()


def require_match(sent: Iterable[str], expected: Iterable[str]) -> None:
    """Raise NotProved unless one of the sent digests is one of the expected, in a time that reveals nothing."""
    valid = [value.encode() for value in expected if value]
    given = [value.encode("utf-8", "surrogateescape") for value in sent if value]
    matches = [hmac.compare_digest(digest, other) for digest in given for other in valid]
    if not any(matches):
        raise NotProved


def require_recent(sent: str, received_s: float, *, tolerance_s: int = 300, unit_s: float = 1.0) -> None:
    """Raise NotProved unless a time that was signed, in units of `unit_s`, is near the time at which it came."""
    if not (sent.isascii() and sent.isdigit() and len(sent) < 16) or abs(int(sent) * unit_s - received_s) > tolerance_s:
        raise NotProved


@dataclass(frozen=True, slots=True)
class BodyDigest:
    """A header that holds a digest of the body under one of the credentials. No time is in it."""

    header: str
    credential: str = "webhookSecret"
    digest: Callable[[bytes, bytes], str] = hex_digest

    def require(self, account: GatewayAccount, request: Inbound) -> None:
        """Raise NotProved unless a request has such a header."""
        secrets = account.secrets(self.credential)
        expected = [self.digest(secret.encode(), request.body) for secret in secrets]
        require_match([request.headers.get(self.header, "")], expected)


@dataclass(frozen=True, slots=True)
class StampedHeader:
    """A header that holds one time and any number of digests of `time + joint + body`: `t=1,v1=aa,v1=bb`."""

    header: str
    between: str
    time: str
    digest: str
    joint: bytes
    credential: str = "webhookSecret"

    def require(self, account: GatewayAccount, request: Inbound) -> None:
        """Raise NotProved unless a header has one recent time, and a digest of it and the body."""
        header = request.headers.get(self.header, "")
        parts = [
            (name.strip(), value) for name, _, value in (part.partition("=") for part in header.split(self.between))
        ]
        times = [value for name, value in parts if name == self.time]
        if len(times) != 1:
            raise NotProved
        require_recent(times[0], request.received_at.timestamp())
        signed = times[0].encode() + self.joint + request.body
        expected = (hex_digest(secret.encode(), signed) for secret in account.secrets(self.credential))
        require_match((value for name, value in parts if name == self.digest), expected)


def fingerprint(body: bytes) -> str:
    """Return a key for a delivery that has none of its own."""
    return f"sha256:{hashlib.sha256(body).hexdigest()}"
