"""The bearer value of an embed token: what it is for, and a proof that it is ours.

It follows from the row, so it can be shown again and is kept nowhere; a forged one is known without asking anybody.
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
# With the rest it makes 48 bytes: a multiple of three, so that every bit of the text counts.
_PROOF_BYTES = 28
_LENGTH = len(_PREFIX) + (_ID_BYTES + _NUMBER_BYTES + _PROOF_BYTES) // 3 * 4


def made(token_id: UUID, generation: int) -> str:
    """Return the bearer value of a token's generation, made with the key in force."""
    named = token_id.bytes + generation.to_bytes(_NUMBER_BYTES, "big")
    return _PREFIX + base64.urlsafe_b64encode(named + _proof(derived_keys.current(_USE), named)).decode()


def read(sent: str) -> tuple[UUID, int] | None:
    """Return id and generation of a bearer value that `made` made; None for every other text. Never raises."""
    if len(sent) != _LENGTH or not sent.startswith(_PREFIX):
        return None
    try:
        whole = base64.b64decode(sent.removeprefix(_PREFIX).encode("ascii"), altchars=b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error):
        return None
    named, proof = whole[:-_PROOF_BYTES], whole[-_PROOF_BYTES:]
    if not any(hmac.compare_digest(_proof(key, named), proof) for key in derived_keys.believed(_USE)):
        return None
    return UUID(bytes=named[:_ID_BYTES]), int.from_bytes(named[_ID_BYTES:], "big")


def _proof(key: bytes, named: bytes) -> bytes:
    return hmac.digest(key, named, "sha256")[:_PROOF_BYTES]
