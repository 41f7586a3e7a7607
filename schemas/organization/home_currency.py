"""The home currency in the API. Source: core spec, "Other resources" (home currency)."""

from marshmallow import fields

from schemas.base import Instant, Wire


class HomeCurrencyBody(Wire):
    """The currency to set; whether it is supported is checked elsewhere, with an error code of its own."""

    home_currency = fields.String(required=True)


class HomeCurrencyRecord(Wire):
    """The home currency and the possible ones. `canChange` is about the caller."""

    home_currency = fields.String()
    changed_at = Instant(allow_none=True)
    supported_currencies = fields.List(fields.String())
    can_change = fields.Boolean()


class HomeCurrencyChange(Wire):
    """The home currency after a change; `changed` is false if it was the same before."""

    home_currency = fields.String()
    changed = fields.Boolean()
    changed_at = Instant(allow_none=True)
