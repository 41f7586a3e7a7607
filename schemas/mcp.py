"""Messages of the Model Context Protocol in JSON-RPC 2.0, and the query parameters of its endpoint."""

from marshmallow import fields

from schemas.base import MAY_LACK, Wire, one_of, text
from schemas.collection_fields import Entries

_MAX_LIST_CHARS = 200
_MAX_PARAMS = 50


class McpQuery(Wire):
    """The tools offered to a client, and whether they require confirmation before changes."""

    toolsets = text(longest=_MAX_LIST_CHARS, load_default="")
    readonly = one_of(("1", "true", "0", "false"), load_default="0")
    confirm = one_of(("on", "off"), load_default="on")


class McpMessage(Wire):
    """A request or a notification of a client; the protocol defines `params`."""

    jsonrpc = fields.Constant("2.0")
    id = fields.Raw()
    method = fields.String(required=True)
    params = Entries(most=_MAX_PARAMS, keys=fields.String())


class McpAnswer(Wire):
    """The response to a request: a result or an error, as defined by the protocol."""

    jsonrpc = fields.Constant("2.0")
    id = fields.Raw(allow_none=True, metadata=MAY_LACK)
    result = fields.Dict(keys=fields.String(), metadata=MAY_LACK)
    error = fields.Dict(keys=fields.String(), metadata=MAY_LACK)


class ProtectedResource(Wire):
    """The issuers of tokens for /mcp, in the form of RFC 9728."""

    resource = fields.String()
    resource_name = fields.Constant("Finderfee", data_key="resource_name")
    authorization_servers = fields.List(fields.String(), data_key="authorization_servers")
    scopes_supported = fields.List(fields.String(), data_key="scopes_supported")
    bearer_methods_supported = fields.List(fields.String(), data_key="bearer_methods_supported")
