"""Forms that a person had filled in when they had to log in again, sealed so that only they can restore them.

The browser stores the sealed form; the server stores nothing.
"""

import base64
import binascii
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

import orjson

from adapters import clock
from adapters.secret_key import sealing

#: How long a saved form can be restored.
LIFETIME = timedelta(minutes=15)

_MAX_BYTES = 256 * 1024  # the limit after decompression


@dataclass(frozen=True, slots=True)
class SavedForm:
    """A filled-in form: its texts by field, and the address of its page."""

    page: str
    values: Mapping[str, Sequence[str]]


def seal(form: SavedForm, *, owner: str) -> str:
    """Return a form as text of letters, digits, - and _, which only its owner can open, within LIFETIME."""
    until = int((clock.now() + LIFETIME).timestamp())
    content = orjson.dumps({"page": form.page, "values": dict(form.values), "until": until})
    packed = base64.b64encode(zlib.compress(content)).decode()
    return base64.urlsafe_b64encode(sealing.seal(packed, belongs_to=_sealing_context(owner))).decode().rstrip("=")


def unseal(sealed: str, *, owner: str) -> SavedForm | None:
    """Return the form; None if it has expired, belongs to another owner or is invalid."""
    try:
        packed = base64.urlsafe_b64decode(sealed + "=" * (-len(sealed) % 4))
        # Not through the cache of sealed secrets: the form must not stay in memory.
        content = base64.b64decode(sealing.unseal.__wrapped__(packed, belongs_to=_sealing_context(owner)))
        fields = orjson.loads(zlib.decompressobj().decompress(content, _MAX_BYTES))
        form, until = SavedForm(fields["page"], fields["values"]), fields["until"]
    except (binascii.Error, ValueError, KeyError, TypeError, zlib.error, sealing.CannotUnseal):
        return None  # KeyError, TypeError: sealed by another release
    return form if until > clock.now().timestamp() else None


def _sealing_context(owner: str) -> str:
    return f"kept form of {owner}"
