"""API keys in the API. Source: core spec, section 5 (keys and their scopes)."""

from marshmallow import fields

from schemas.base import Flag, Instant, Wire, bearer_secret, line, one_of

_SCOPES = ("read", "read_write")
_SHOWN_ONCE = "It is shown once, to the person who makes or rotates the key under API keys on the dashboard."


class ApiKeyBody(Wire):
    """A new key."""

    name = line(longest=100, load_default="")
    scope = one_of(_SCOPES, load_default="read")
    is_test = Flag(load_default=False)


class ApiKeyRecord(Wire):
    """A key without its secrets."""

    id = fields.UUID()
    name = fields.String()
    scope = one_of(_SCOPES)
    is_test = fields.Boolean()
    last_four = fields.String()
    created_by = fields.UUID()
    created_by_email = fields.String()
    created_at = Instant()
    last_used_at = Instant(allow_none=True)
    revoked_at = Instant(allow_none=True)


class NewApiKey(ApiKeyRecord):
    """A key with its two secrets, which are shown once."""

    api_key = bearer_secret(found_at=_SHOWN_ONCE)
    signing_secret = bearer_secret(found_at=_SHOWN_ONCE)
