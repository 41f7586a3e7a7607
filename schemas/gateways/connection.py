"""Connections to payment gateways, and the catalogue of gateways, in the API."""

from marshmallow import fields

from domain.gateways.names import Gateway
from domain.gateways.states import ConnectionStatus
from schemas.base import Flag, Instant, Wire, bearer_secret, one_of, text
from schemas.collection_fields import Entries

_MODES = ("live", "test")
_MAX_CREDENTIAL_CHARS = 4_096
_MAX_CREDENTIALS = 20
_AT_CONNECTIONS = "It is under Connections on the dashboard."


def credential_values(*, required: bool = True) -> Entries:
    """Return the field of a connection's credentials by name."""
    return Entries(
        most=_MAX_CREDENTIALS,
        least=1,
        keys=text(shortest=1, longest=64),
        values=text(shortest=1, longest=_MAX_CREDENTIAL_CHARS),
        required=required,
    )


class ConnectionBody(Wire):
    """A gateway to connect; the catalogue lists its credentials."""

    gateway = one_of(Gateway, required=True)
    mode = one_of(_MODES, load_default="live")
    credentials = credential_values()


class ConnectionChanges(Wire):
    """Credentials to replace; the others stay."""

    credentials = credential_values()


class GatewayFieldRecord(Wire):
    """One credential of a gateway."""

    name = fields.String()
    label = fields.String()
    secret = Flag()
    required = Flag()
    help = fields.String()


class GuideStepRecord(Wire):
    """One step at the gateway."""

    text = fields.String()
    gives = fields.List(fields.String())


class GuidePermissionRecord(Wire):
    """A permission of the key at the gateway."""

    name = fields.String()
    purpose = fields.String()


class GatewayGuideRecord(Wire):
    """How the credentials of a gateway are made."""

    title = fields.String()
    key_url = fields.String(allow_none=True)
    steps = fields.List(fields.Nested(GuideStepRecord()))
    permissions = fields.List(fields.Nested(GuidePermissionRecord()))
    writes = fields.List(fields.String())
    outcome = fields.String()
    test_mode = fields.String()


class GatewayRecord(Wire):
    """A gateway that can be connected."""

    name = fields.String()
    label = fields.String()
    kind = fields.String()
    fields_ = fields.List(fields.Nested(GatewayFieldRecord()), attribute="fields", data_key="fields")
    guide = fields.Nested(GatewayGuideRecord())


class GatewayCapabilitiesRecord(Wire):
    """The features of a gateway."""

    coupons = Flag()
    refunds = one_of(("webhook", "poll"))
    history = Flag()


class WebPixelRecord(Wire):
    """The web pixel that counts visits in a store: the key of its clicks, and the store's error, if any."""

    status = one_of(("waiting", "active", "failed"))
    public_key = fields.String()
    error = fields.String(allow_none=True)


class GatewayConnectionRecord(Wire):
    """A connection, without its credentials."""

    id = fields.UUID()
    gateway = one_of(Gateway)
    mode = one_of(_MODES)
    status = one_of(ConnectionStatus)
    account = fields.String()
    webhook_url = bearer_secret(found_at=_AT_CONNECTIONS)
    capabilities = fields.Nested(GatewayCapabilitiesRecord())
    connected_at = Instant()
    disconnected_at = Instant(allow_none=True)
    last_event_at = Instant(allow_none=True)
    last_checked_at = Instant(allow_none=True)
    reconciled_to = Instant(allow_none=True)
    last_error = fields.String(allow_none=True)
    web_pixel = fields.Nested(WebPixelRecord(), allow_none=True)


class GatewaySetupValue(Wire):
    """A value to paste at the gateway."""

    name = fields.String()
    value = bearer_secret(found_at=_AT_CONNECTIONS)


class GatewaySetupRecord(Wire):
    """The remaining steps at the gateway."""

    steps = fields.List(fields.String())
    values = fields.List(fields.Nested(GatewaySetupValue()))


class NewGatewayConnection(GatewayConnectionRecord):
    """A new connection with the remaining steps."""

    setup = fields.Nested(GatewaySetupRecord())
