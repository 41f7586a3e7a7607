"""The bearer value of an embed token: its id and generation, with a signature.

It is computed from the row, so it is stored nowhere; a forged one is detected without the database.
"""

import base64
import binascii
import hmac
from uuid import UUID

from adapters import derived_keys

_PREFIX = "ff_emb_"
_USE = "embed"
_ID_BYTES = 16
_NUMBER_BYTES = 4
# In total 48 bytes: a multiple of three, so that every bit of the text is significant.
_PROOF_BYTES = 28
_LENGTH = len(_PREFIX) + (_ID_BYTES + _NUMBER_BYTES + _PROOF_BYTES) // 3 * 4


def encode(token_id: UUID, generation: int) -> str:
    """Return the bearer value of a token's generation, signed with the current key."""
    payload = token_id.bytes + generation.to_bytes(_NUMBER_BYTES, "big")
    return _PREFIX + base64.urlsafe_b64encode(payload + _sign(derived_keys.current_key(_USE), payload)).decode()


def decode(text: str) -> tuple[UUID, int] | None:
    """Return id and generation of a valid bearer value; None for any other text. Never raises."""
    if len(text) != _LENGTH or not text.startswith(_PREFIX):
        return None
    try:
        decoded = base64.b64decode(text.removeprefix(_PREFIX).encode("ascii"), altchars=b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error):
        return None
    payload, proof = decoded[:-_PROOF_BYTES], decoded[-_PROOF_BYTES:]
    if not any(hmac.compare_digest(_sign(key, payload), proof) for key in derived_keys.accepted_keys(_USE)):
        return None
    return UUID(bytes=payload[:_ID_BYTES]), int.from_bytes(payload[_ID_BYTES:], "big")


def _sign(key: bytes, payload: bytes) -> bytes:
    return hmac.digest(key, payload, "sha256")[:_PROOF_BYTES]
