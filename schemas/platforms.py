"""Connections to newsletter and CRM platforms, and the catalogue of platforms, in the API."""

from marshmallow import fields

from domain.platforms.names import Platform, PlatformStatus
from schemas.base import Flag, Instant, Wire, line, one_of
from schemas.gateways.connection import GatewayFieldRecord, credential_values

_MAX_FIELD_CHARS = 100


class PlatformBody(Wire):
    """A platform to connect; the catalogue lists its credentials."""

    platform = one_of(Platform, required=True)
    credentials = credential_values(required=True)
    slug_field = line(longest=_MAX_FIELD_CHARS, allow_none=True, load_default=None)


class PlatformChanges(Wire):
    """Changes of a connection; missing fields and credentials stay."""

    credit_sales = Flag()
    slug_field = line(longest=_MAX_FIELD_CHARS, allow_none=True)
    credentials = credential_values(required=False)


class PlatformFieldRecord(GatewayFieldRecord):
    """One credential of a platform."""


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
