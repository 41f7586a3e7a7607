"""Messages of the Model Context Protocol, as JSON-RPC 2.0 has them, and what their address can ask for."""

from marshmallow import fields

from schemas.base import MAY_LACK, Wire, one_of, text
from schemas.bounded import Entries

_LONGEST_LIST = 200
_MAX_PARAMS = 50


class McpQuery(Wire):
    """Which tools a client is given, and whether they ask before they change something."""

    toolsets = text(longest=_LONGEST_LIST, load_default="")
    readonly = one_of(("1", "true", "0", "false"), load_default="0")
    confirm = one_of(("on", "off"), load_default="on")


class McpMessage(Wire):
    """A request or a notification of a client; the protocol says what `params` hold."""

    jsonrpc = fields.Constant("2.0")
    id = fields.Raw()
    method = fields.String(required=True)
    params = Entries(most=_MAX_PARAMS, keys=fields.String())


class McpAnswer(Wire):
    """The answer to a request: a result or an error, as the protocol has them."""

    jsonrpc = fields.Constant("2.0")
    id = fields.Raw(allow_none=True, metadata=MAY_LACK)
    result = fields.Dict(keys=fields.String(), metadata=MAY_LACK)
    error = fields.Dict(keys=fields.String(), metadata=MAY_LACK)


class ProtectedResource(Wire):
    """Where tokens for /mcp come from, in the words of RFC 9728."""

    resource = fields.String()
    resource_name = fields.Constant("Finderfee", data_key="resource_name")
    authorization_servers = fields.List(fields.String(), data_key="authorization_servers")
    scopes_supported = fields.List(fields.String(), data_key="scopes_supported")
    bearer_methods_supported = fields.List(fields.String(), data_key="bearer_methods_supported")
