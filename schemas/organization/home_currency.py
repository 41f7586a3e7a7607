"""The home currency on the wire. Source: core spec, "Other resources" (home currency)."""

from marshmallow import fields

from schemas.base import Instant, Wire


class HomeCurrencyBody(Wire):
    """The code to set; which ones there are is decided elsewhere, with a code of its own."""

    home_currency = fields.String(required=True)


class HomeCurrencyRecord(Wire):
    """The home currency and what it may become. `canChange` is about the caller."""

    home_currency = fields.String()
    changed_at = Instant(allow_none=True)
    supported_currencies = fields.List(fields.String())
    can_change = fields.Boolean()


class HomeCurrencyChange(Wire):
    """The home currency after a change; `changed` is false when it was that already."""

    home_currency = fields.String()
    changed = fields.Boolean()
    changed_at = Instant(allow_none=True)
