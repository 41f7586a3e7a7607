"""Metadata of the server that issues tokens for /mcp. Source: RFC 9728; Model Context Protocol, "Authorization".

Without MCP_OAUTH_ISSUER there is no metadata: a client that reads of OAuth would try to register, and fail.
"""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint

import settings
from adapters.identity import tokens
from api.access.guards import Guard
from api.edge.operations import object_of, operation
from domain.refusals import Refused
from schemas.mcp import ProtectedResource

blueprint = Blueprint("mcp_metadata", __name__)

_OPEN = Guard(audience="public", bucket="anonymous", open_cors=True)
_METADATA = ProtectedResource()


@blueprint.get("/.well-known/oauth-protected-resource/mcp")
@operation(_OPEN, object_of(_METADATA), refuses=("404 not_found",))
def get_mcp_resource_metadata() -> Mapping[str, Any]:
    """Show which server issues tokens for `/mcp`, and their scopes. 404 where agents use API keys only."""
    return _metadata()


@blueprint.get("/.well-known/oauth-protected-resource")
@operation(_OPEN, object_of(_METADATA), refuses=("404 not_found",))
def get_resource_metadata() -> Mapping[str, Any]:
    """Show the same to clients that look at the root."""
    return _metadata()


def _metadata() -> Mapping[str, Any]:
    config = settings.current()
    if config.identity.mcp_issuer is None:
        raise Refused(404, "not_found", "No tokens are issued for /mcp here. Connect with an API key.")
    metadata: Mapping[str, Any] = _METADATA.dump(
        {
            "resource": f"{config.web.url}/mcp",
            "authorization_servers": [config.identity.mcp_issuer],
            "scopes_supported": [tokens.READ_SCOPE, tokens.WRITE_SCOPE],
            "bearer_methods_supported": ["header"],
        }
    )
    return metadata
