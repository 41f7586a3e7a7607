"""What somebody had typed into a page when they had to log in again, sealed so that only they get it back.

The browser itself holds it, so nothing of it is kept here.
"""

import base64
import binascii
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

import orjson

from adapters import clock, sealing

#: For how long a form waits.
LASTS = timedelta(minutes=15)

_MOST_BYTES = 256 * 1024  # what is unpacked at most


@dataclass(frozen=True, slots=True)
class WaitingForm:
    """A form as it was typed, its texts by field, and the address of its page."""

    page: str
    values: Mapping[str, Sequence[str]]


def seal(form: WaitingForm, *, owner: str) -> str:
    """Return a form as text of letters, digits, - and _, which opens for its owner alone while it lasts."""
    until = int((clock.now() + LASTS).timestamp())
    content = orjson.dumps({"page": form.page, "values": dict(form.values), "until": until})
    packed = base64.b64encode(zlib.compress(content)).decode()
    return base64.urlsafe_b64encode(sealing.seal(packed, belongs_to=_owned(owner))).decode().rstrip("=")


def unseal(sealed: str, *, owner: str) -> WaitingForm | None:
    """Return the form; None for one that is over, another's, or none of ours."""
    try:
        packed = base64.urlsafe_b64decode(sealed + "=" * (-len(sealed) % 4))
        # Not through the cache of sealed secrets: what somebody typed is not to stay in memory.
        content = base64.b64decode(sealing.unseal.__wrapped__(packed, belongs_to=_owned(owner)))
        said = orjson.loads(zlib.decompressobj().decompress(content, _MOST_BYTES))
        form, until = WaitingForm(said["page"], said["values"]), said["until"]
    except (binascii.Error, ValueError, KeyError, TypeError, zlib.error, sealing.CannotUnseal):
        return None  # KeyError, TypeError: sealed by another release
    return form if until > clock.now().timestamp() else None


def _owned(owner: str) -> str:
    return f"kept form of {owner}"
