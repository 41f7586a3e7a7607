"""The bearer value of an embed token: its id and generation, with a signature.

It is computed from the row, so it is stored nowhere; a forged one is detected without the database.
"""

from uuid import UUID

from adapters.secret_key.signed_payloads import SignedPayload

_PREFIX = "ff_emb_"
_ID_BYTES = 16
_NUMBER_BYTES = 4
_SIGNED = SignedPayload("embed", _ID_BYTES + _NUMBER_BYTES, proof_bytes=28)


def encode(token_id: UUID, generation: int) -> str:
    """Return the bearer value of a token's generation, signed with the current key."""
    return _PREFIX + _SIGNED.encode(token_id.bytes + generation.to_bytes(_NUMBER_BYTES, "big"))


def decode(text: str) -> tuple[UUID, int] | None:
    """Return id and generation of a valid bearer value; None for any other text. Never raises."""
    payload = _SIGNED.decode(text.removeprefix(_PREFIX)) if text.startswith(_PREFIX) else None
    if payload is None:
        return None
    return UUID(bytes=payload[:_ID_BYTES]), int.from_bytes(payload[_ID_BYTES:], "big")
