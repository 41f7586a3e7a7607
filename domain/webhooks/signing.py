"""Signatures of outbound webhooks and of signed inbound requests.

Source: tracking spec, section 5 "Authentication" (inbound, tag `sig`) and section 6 "Delivery headers" (outbound, tag
`v1`). Both are HMAC-SHA256 over the unix seconds, a dot and the raw body bytes. The caller must refuse a replay of a
valid signature.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from hmac import compare_digest
from hmac import new as new_hmac

#: The maximum difference of a signature's time from the server's, in seconds. Source: tracking spec, "Limits".
TOLERANCE_S = 300

# Twelve digits cover every second until the year 33658 and limit the size of the number.
_INBOUND = re.compile(r"t=([0-9]{1,12}),sig=([0-9a-f]{64})")


class Fault(StrEnum):
    """Why an inbound signature is invalid. Only for our own log: the sender does not learn it."""

    Missing = "signature_missing"
    Malformed = "signature_malformed"
    OutOfTolerance = "timestamp_out_of_tolerance"
    Mismatch = "signature_mismatch"


@dataclass(frozen=True, slots=True)
class InboundSignature:
    """A well-formed inbound signature header: unix seconds and the 32 bytes of the digest.

    Two spellings of one signature are equal here, so a store of used signatures must use these fields as its key, not
    the header's text.
    """

    timestamp_s: int
    digest: bytes


def sign(*, secret: bytes, timestamp_s: int, body: bytes) -> str:
    """Return the signature of a raw body at a unix second: 64 lower-case hex characters.

    Source: tracking spec, section 5 "Authentication", item 2.
    """
    return _digest(secret=secret, timestamp_s=timestamp_s, body=body).hex()


def parse_inbound(header: str) -> InboundSignature | None:
    """Return the parts of a header `t=<unix-seconds>,sig=<hex>`, None for any other text.

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
    """Return the first check that a header fails, None if it signs these body bytes. Units as in `verify_inbound`."""
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
