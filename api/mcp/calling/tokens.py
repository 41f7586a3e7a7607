"""What a client brings back to confirm a call: sealed by us, for one caller, one tool, its arguments, and five minutes.

It is a `confirmToken` or a `requestState`, and neither opens as the other. Each has a nonce, so that the same call
confirmed twice is done twice, and one confirmation that is sent twice is done once (the Idempotency-Key of the
operation's request).
"""

import base64
import binascii
import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

import orjson

from adapters import clock, sealing
from api.access import guards
from api.mcp.asking import arguments
from api.mcp.tools.binding import CONFIRM_TOKEN

LIFETIME = timedelta(minutes=5)

_NONCE_BYTES = 12

TokenUse = Literal["token", "state"]


@dataclass(frozen=True, slots=True)
class CallProof:
    """A confirmation of ours that was brought back for this very call."""

    idempotency_key: str
    is_expired: bool


def made(use: TokenUse, tool: str, sent: Mapping[str, Any]) -> tuple[str, datetime]:
    """Return what confirms a call, and until when."""
    expires_at = clock.now() + LIFETIME
    said = {
        "digest": _digest(tool, sent),
        "nonce": secrets.token_hex(_NONCE_BYTES),
        "until": int(expires_at.timestamp()),
    }
    sealed = sealing.seal(orjson.dumps(said).decode(), belongs_to=_owner(use))
    return base64.urlsafe_b64encode(sealed).decode(), expires_at


def proof(use: TokenUse, brought: object, tool: str, sent: Mapping[str, Any]) -> CallProof | None:
    """Return what was brought for a call; None for what is not ours, another caller's, or for another call."""
    if not isinstance(brought, str):
        return None
    try:
        sealed = base64.b64decode(brought.encode("ascii"), altchars=b"-_", validate=True)
        said = orjson.loads(sealing.unseal(sealed, belongs_to=_owner(use)))
        digest, nonce, until = said["digest"], said["nonce"], said["until"]
    except (UnicodeEncodeError, binascii.Error, KeyError, TypeError, sealing.CannotUnseal):
        return None  # KeyError, TypeError: sealed by another release
    return (
        CallProof(f"mcp-{digest}-{nonce}", until < clock.now().timestamp()) if digest == _digest(tool, sent) else None
    )


def _digest(tool: str, sent: Mapping[str, Any]) -> str:
    said = {name: value for name, value in sent.items() if name != CONFIRM_TOKEN}
    return hashlib.sha256(arguments.encoded({"tool": tool, "arguments": said})).hexdigest()


def _owner(use: TokenUse) -> str:
    return f"mcp {use} {guards.caller().id}"
