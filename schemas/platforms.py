"""Connections to newsletter and CRM platforms, and the catalogue of platforms, on the wire."""

from marshmallow import fields

from domain.platforms.names import Platform, PlatformStatus
from schemas.base import Flag, Instant, Wire, line, one_of, text
from schemas.bounded import Entries

_LONGEST_CREDENTIAL = 4_096
_MOST_CREDENTIALS = 20
_LONGEST_FIELD = 100


def _credentials(*, required: bool) -> Entries:
    return Entries(
        most=_MOST_CREDENTIALS,
        least=1,
        keys=text(shortest=1, longest=64),
        values=text(shortest=1, longest=_LONGEST_CREDENTIAL),
        required=required,
    )


class PlatformBody(Wire):
    """A platform to connect; which credentials it takes is in the catalogue."""

    platform = one_of(Platform, required=True)
    credentials = _credentials(required=True)
    slug_field = line(longest=_LONGEST_FIELD, allow_none=True, load_default=None)


class PlatformChanges(Wire):
    """What to change of a connection; what is left out stays, and so do credentials that are not named."""

    credit_sales = Flag()
    slug_field = line(longest=_LONGEST_FIELD, allow_none=True)
    credentials = _credentials(required=False)


class PlatformFieldRecord(Wire):
    """One credential of a platform."""

    wire_name = "PlatformField"

    name = fields.String()
    label = fields.String()
    secret = Flag()
    required = Flag()
    help = fields.String()


class PlatformRecord(Wire):
    """A platform that can be connected."""

    wire_name = "Platform"

    name = fields.String()
    label = fields.String()
    slug_field = fields.String()
    fields_ = fields.List(fields.Nested(PlatformFieldRecord()), attribute="fields", data_key="fields")


class PlatformConnectionRecord(Wire):
    """A connection to a platform, without its credentials."""

    wire_name = "PlatformConnection"

    id = fields.UUID()
    platform = one_of(Platform)
    status = one_of(PlatformStatus)
    credit_sales = Flag()
    slug_field = fields.String()
    connected_at = Instant()
    last_checked_at = Instant(allow_none=True)
    last_error = fields.String(allow_none=True)
