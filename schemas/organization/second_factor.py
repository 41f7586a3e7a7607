"""The caller's own second factor in the API."""

from marshmallow import fields

from schemas.base import Instant, Wire, bearer_secret, text

_SHOWN_ONCE = "It is shown once, to the person who sets up two-factor authentication on the dashboard."


class SecondFactorRecord(Wire):
    """Whether the person has a second factor, and how many recovery codes are left."""

    enabled = fields.Boolean()
    enabled_at = Instant(allow_none=True)
    recovery_codes_left = fields.Integer()
    is_required = fields.Boolean()


class SecondFactorCodeBody(Wire):
    """A code of the authenticator app, or a recovery code."""

    code = text(longest=100, required=True)


class NewSecondFactor(Wire):
    """The secret for an authenticator app, and the address that a QR code contains."""

    secret = bearer_secret(found_at=_SHOWN_ONCE)
    otpauth_uri = bearer_secret(found_at=_SHOWN_ONCE)


class NewRecoveryCodes(Wire):
    """Recovery codes, each for one use; they are never shown again."""

    recovery_codes = fields.List(bearer_secret(found_at=_SHOWN_ONCE))
