"""Signs outbound webhooks and verifies signed inbound requests.

Source: tracking spec, section 5 "Authentication" (inbound, tag `sig`) and section 6 "Delivery headers" (outbound, tag
`v1`). Both are HMAC-SHA256 over the unix seconds, a dot and the raw body bytes. Refusing a replay of a valid
signature is the caller's.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from hmac import compare_digest
from hmac import new as new_hmac

#: How far a signature's time may lie from the server's, either side, in seconds. Source: tracking spec, "Limits".
TOLERANCE_S = 300

# Twelve digits hold every second until the year 33658 and keep the number small.
_INBOUND = re.compile(r"t=([0-9]{1,12}),sig=([0-9a-f]{64})")


class Fault(StrEnum):
    """What is wrong with an inbound signature. For our own log: the sender is told nothing."""

    Missing = "signature_missing"
    Malformed = "signature_malformed"
    OutOfTolerance = "timestamp_out_of_tolerance"
    Mismatch = "signature_mismatch"


@dataclass(frozen=True, slots=True)
class InboundSignature:
    """A well-formed inbound signature header: unix seconds and the 32 bytes of the digest.

    Two spellings of one signature are equal here, so a memory of used signatures keys on these fields and not on the
    header's text.
    """

    timestamp_s: int
    digest: bytes


def sign(*, secret: bytes, timestamp_s: int, body: bytes) -> str:
    """Return the 64 lower-case hex characters that sign a raw body at a unix second.

    Source: tracking spec, section 5 "Authentication", item 2.
    """
    return _digest(secret=secret, timestamp_s=timestamp_s, body=body).hex()


def parse_inbound(header: str) -> InboundSignature | None:
    """Return what `t=<unix-seconds>,sig=<hex>` carries, or None when the header is anything else.

    Strict: one t of 1 to 12 ASCII digits, then one sig of 64 lower-case hex characters, no white space.
    Source: tracking spec, section 5 "Authentication", items 2 and 4.
    """
    match = _INBOUND.fullmatch(header)
    if match is None:
        return None
    return InboundSignature(timestamp_s=int(match[1]), digest=bytes.fromhex(match[2]))


def verify_inbound(*, header: str, secret: bytes, body: bytes, now_s: int) -> bool:
    """Return whether the header signs these body bytes with this secret, within 300 seconds of now.

    Units: unix seconds; both ends of the tolerance are inside. Digests are compared in constant time.
    Source: tracking spec, section 5 "Authentication", items 2 to 4.
    """
    return inbound_fault(header=header, secret=secret, body=body, now_s=now_s) is None


def inbound_fault(*, header: str, secret: bytes, body: bytes, now_s: int) -> Fault | None:
    """Return the first check that a header fails, None when it signs these body bytes. Units as in `verify_inbound`."""
    signature = parse_inbound(header)
    if signature is None:
        return Fault.Malformed if header else Fault.Missing
    if abs(now_s - signature.timestamp_s) > TOLERANCE_S:
        return Fault.OutOfTolerance
    expected = _digest(secret=secret, timestamp_s=signature.timestamp_s, body=body)
    return None if compare_digest(expected, signature.digest) else Fault.Mismatch


def outbound_header(*, secret: bytes, timestamp_s: int, body: bytes) -> str:
    """Return the signature header of an outbound webhook: `t=<unix-seconds>,v1=<hex>`.

    Source: tracking spec, section 6 "Delivery headers".
    """
    return f"t={timestamp_s},v1={sign(secret=secret, timestamp_s=timestamp_s, body=body)}"


def _digest(*, secret: bytes, timestamp_s: int, body: bytes) -> bytes:
    return new_hmac(secret, b"%d." % timestamp_s + body, sha256).digest()
