"""The revisions of the protocol, on one address: with and without a handshake.

Since 2026-07-28 every request names its revision, its client and the client's capabilities. Before, a handshake named
them once; this server keeps no sessions, so it knows nothing about such a client but the request.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from werkzeug.datastructures import Headers

from api.mcp.messages import HEADER_MISMATCH, INVALID_PARAMS, UNSUPPORTED_VERSION, RpcError, RpcMessage, object_member
from domain.text import one_line

MODERN = "2026-07-28"
#: The revisions with a handshake, the newest first.
HANDSHAKE_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26")
SUPPORTED_VERSIONS = (MODERN, *HANDSHAKE_VERSIONS)
SERVER_INFO = {"name": "finderfee", "title": "Finderfee", "version": "1"}

_VERSION = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
_CLIENT = "io.modelcontextprotocol/clientInfo"
_SERVER = "io.modelcontextprotocol/serverInfo"

#: By method, the parameter that the header Mcp-Name repeats.
_NAME_PARAMETERS = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
#: How long a client may cache a result: lists change with a release, a program with every edit.
_CACHE_MS = {
    "server/discover": 300_000,
    "tools/list": 300_000,
    "prompts/list": 300_000,
    "resources/list": 300_000,
    "resources/templates/list": 300_000,
    "resources/read": 0,
}
_MAX_NAME_LENGTH = 100


@dataclass(frozen=True, slots=True)
class McpClient:
    """The client of a message: whether it follows the newest revision, its name, and whether it can ask its user."""

    is_modern: bool
    name: str | None = None
    supports_elicitation: bool = False


def client_from_message(message: RpcMessage, headers: Headers) -> McpClient:
    """Return the client of a message, by the rules of its revision. Raises RpcError."""
    meta = object_member(message.params, "_meta")
    header = headers.get("MCP-Protocol-Version")
    if _VERSION not in meta and (header is None or header in HANDSHAKE_VERSIONS):
        return McpClient(is_modern=False)
    _check_meta(meta)
    _check_headers(message, meta, headers)
    version = meta[_VERSION]
    if version != MODERN:
        data = {"supported": list(SUPPORTED_VERSIONS), "requested": version}
        raise RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", data=data)
    return McpClient(
        is_modern=True,
        name=_client_name(object_member(meta, _CLIENT)),
        supports_elicitation=_supports_elicitation(meta),
    )


def add_common_fields(result: Mapping[str, Any], method: str, client: McpClient) -> Mapping[str, Any]:
    """Return a result with the fields that every result has in the client's revision."""
    if not client.is_modern:
        return result
    complete = {"resultType": "complete", **result, "_meta": {_SERVER: SERVER_INFO}}
    if method in _CACHE_MS:
        complete |= {"ttlMs": _CACHE_MS[method], "cacheScope": "private"}
    return complete


def _check_meta(meta: Mapping[str, Any]) -> None:
    missing = [name for name in (_VERSION, _CAPABILITIES) if name not in meta]
    if missing:
        raise RpcError(INVALID_PARAMS, f"params._meta must contain {' and '.join(missing)}.")
    object_member(meta, _CAPABILITIES)


def _check_headers(message: RpcMessage, meta: Mapping[str, Any], headers: Headers) -> None:
    expected = {"MCP-Protocol-Version": meta[_VERSION], "Mcp-Method": message.method}
    if message.method in _NAME_PARAMETERS:
        expected["Mcp-Name"] = message.params.get(_NAME_PARAMETERS[message.method])
    for name, value in expected.items():
        if _decode_header(headers.get(name)) != value:
            raise RpcError(HEADER_MISMATCH, f"The header {name} must have the same value as the body.")


def _decode_header(value: str | None) -> str | None:
    """Return the value of a header; a text that no header can hold comes as `=?base64?…?=`."""
    value = value if value is None else value.strip(" \t")  # not every server strips them (RFC 9110, section 5.5)
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode()
    except (binascii.Error, ValueError):
        return None


def _client_name(info: Mapping[str, Any]) -> str | None:
    parts = [info[part] for part in ("name", "version") if isinstance(info.get(part), str)]
    return one_line.clean(" ".join(parts)).strip()[:_MAX_NAME_LENGTH] or None


def _supports_elicitation(meta: Mapping[str, Any]) -> bool:
    capabilities = object_member(meta, _CAPABILITIES)
    if "elicitation" not in capabilities:
        return False
    modes = object_member(capabilities, "elicitation")
    return not modes or "form" in modes
