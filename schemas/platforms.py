"""Connections to newsletter and CRM platforms, and the catalogue of platforms, in the API."""

from marshmallow import fields

from domain.platforms.names import Platform, PlatformStatus
from schemas.base import Flag, Instant, Wire, line, one_of, text
from schemas.collection_fields import Entries

_MAX_CREDENTIAL_CHARS = 4_096
_MAX_CREDENTIALS = 20
_MAX_FIELD_CHARS = 100


def _credentials(*, required: bool) -> Entries:
    return Entries(
        most=_MAX_CREDENTIALS,
        least=1,
        keys=text(shortest=1, longest=64),
        values=text(shortest=1, longest=_MAX_CREDENTIAL_CHARS),
        required=required,
    )


class PlatformBody(Wire):
    """A platform to connect; the catalogue lists its credentials."""

    platform = one_of(Platform, required=True)
    credentials = _credentials(required=True)
    slug_field = line(longest=_MAX_FIELD_CHARS, allow_none=True, load_default=None)


class PlatformChanges(Wire):
    """Changes of a connection; missing fields and credentials stay."""

    credit_sales = Flag()
    slug_field = line(longest=_MAX_FIELD_CHARS, allow_none=True)
    credentials = _credentials(required=False)


class PlatformFieldRecord(Wire):
    """One credential of a platform."""

    name = fields.String()
    label = fields.String()
    secret = Flag()
    required = Flag()
    help = fields.String()


class PlatformRecord(Wire):
    """A platform that can be connected."""

    name = fields.String()
    label = fields.String()
    slug_field = fields.String()
    fields_ = fields.List(fields.Nested(PlatformFieldRecord()), attribute="fields", data_key="fields")


class PlatformConnectionRecord(Wire):
    """A connection to a platform, without its credentials."""

    id = fields.UUID()
    platform = one_of(Platform)
    status = one_of(PlatformStatus)
    credit_sales = Flag()
    slug_field = fields.String()
    connected_at = Instant()
    last_checked_at = Instant(allow_none=True)
    last_error = fields.String(allow_none=True)
