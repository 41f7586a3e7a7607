"""Payloads of a fixed length in URLs and headers, signed with a key derived from SECRET_KEY and stored nowhere."""

import base64
import binascii
import hmac
from dataclasses import dataclass

from adapters.secret_key import derived_keys


@dataclass(frozen=True, slots=True)
class SignedPayload:
    """One use of signed payloads: `use` names its key, the lengths are in bytes.

    The two lengths add up to a multiple of three, so that every bit of the text is significant.
    """

    use: str
    payload_bytes: int
    proof_bytes: int

    def __post_init__(self) -> None:
        """Check the lengths."""
        assert (self.payload_bytes + self.proof_bytes) % 3 == 0

    def encode(self, payload: bytes) -> str:
        """Return a payload with its signature by the current key, as base64 for URLs."""
        assert len(payload) == self.payload_bytes
        return base64.urlsafe_b64encode(payload + self._sign(derived_keys.current_key(self.use), payload)).decode()

    def decode(self, text: str) -> bytes | None:
        """Return the payload of a text signed by an accepted key; None for any other text. Never raises."""
        if len(text) != (self.payload_bytes + self.proof_bytes) // 3 * 4:
            return None
        try:
            decoded = base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
        except (UnicodeEncodeError, binascii.Error):
            return None
        payload, proof = decoded[: self.payload_bytes], decoded[self.payload_bytes :]
        accepted = derived_keys.accepted_keys(self.use)
        return payload if any(hmac.compare_digest(self._sign(key, payload), proof) for key in accepted) else None

    def _sign(self, key: bytes, payload: bytes) -> bytes:
        return hmac.digest(key, payload, "sha256")[: self.proof_bytes]
