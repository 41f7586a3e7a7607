"""Bodies of manual refunds and commission changes."""

from typing import Any

from marshmallow import RAISE, post_load, validate

from domain.conversions.refund import Reason
from schemas.base import Wire, one_of, text
from schemas.conversions.sale import Cents

_MAX_NOTE_CHARACTERS = 1_000


class _Correction(Wire):
    """The reason of a correction. Unknown fields are refused, since an ignored one could change the amount."""

    class Meta:
        unknown = RAISE

    reason = one_of(Reason, required=True)
    note = text(longest=_MAX_NOTE_CHARACTERS, load_default=None, allow_none=True)

    @post_load
    def _trim_note(self, body: dict[str, Any], **_: object) -> dict[str, Any]:
        return body | {"note": (body["note"] or "").strip() or None}


class ConversionRefundBody(_Correction):
    """A refund of a conversion. Loads `amount_cents` to None for all that remains."""

    amount_cents = Cents(strict=True, load_default=None, allow_none=True)


class CommissionBody(_Correction):
    """A new commission of a conversion, after refunds."""

    commission_cents = Cents(strict=True, required=True, validate=validate.Range(min=0))
