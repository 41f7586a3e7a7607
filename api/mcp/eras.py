"""The two eras of the protocol, on one address.

Since 2026-07-28 every request says by itself which revision it speaks, who it is and what it can do. Before, a
handshake said so once; this server keeps no sessions, so of such a client it knows nothing but the request.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from werkzeug.datastructures import Headers

from api.mcp.messages import HEADER_MISMATCH, INVALID_PARAMS, UNSUPPORTED_VERSION, RpcError, RpcMessage, an_object
from domain.text import one_line

MODERN = "2026-07-28"
#: The revisions with a handshake, the newest first.
HANDSHAKES = ("2025-11-25", "2025-06-18", "2025-03-26")
SUPPORTED = (MODERN, *HANDSHAKES)
SERVER_INFO = {"name": "finderfee", "title": "Finderfee", "version": "1"}

_VERSION = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
_CLIENT = "io.modelcontextprotocol/clientInfo"
_SERVER = "io.modelcontextprotocol/serverInfo"

#: Which parameter stands in the header Mcp-Name as well.
_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
#: What a client may keep, and for how long: lists change with a release, what a program is with every edit.
_KEPT_MS = {
    "server/discover": 300_000,
    "tools/list": 300_000,
    "prompts/list": 300_000,
    "resources/list": 300_000,
    "resources/templates/list": 300_000,
    "resources/read": 0,
}
_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class McpClient:
    """Who speaks: by the new rules or the old ones, what it calls itself, and whether it can ask the person at it."""

    is_modern: bool
    name: str | None = None
    asks_people: bool = False


def client_of(message: RpcMessage, headers: Headers) -> McpClient:
    """Return who sent a message, by the rules of its era. Raises RpcError."""
    meta = an_object(message.params, "_meta")
    header = headers.get("MCP-Protocol-Version")
    if _VERSION not in meta and (header is None or header in HANDSHAKES):
        return McpClient(is_modern=False)
    _check_meta(meta)
    _check_headers(message, meta, headers)
    version = meta[_VERSION]
    if version != MODERN:
        data = {"supported": list(SUPPORTED), "requested": version}
        raise RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", data=data)
    return McpClient(is_modern=True, name=_name(an_object(meta, _CLIENT)), asks_people=_asks_people(meta))


def finished(found: Mapping[str, Any], method: str, client: McpClient) -> Mapping[str, Any]:
    """Return a result with what every result of the client's era has."""
    if not client.is_modern:
        return found
    whole = {"resultType": "complete", **found, "_meta": {_SERVER: SERVER_INFO}}
    if method in _KEPT_MS:
        whole |= {"ttlMs": _KEPT_MS[method], "cacheScope": "private"}
    return whole


def _check_meta(meta: Mapping[str, Any]) -> None:
    missing = [name for name in (_VERSION, _CAPABILITIES) if name not in meta]
    if missing:
        raise RpcError(INVALID_PARAMS, f"params._meta must have {' and '.join(missing)}.")
    an_object(meta, _CAPABILITIES)


def _check_headers(message: RpcMessage, meta: Mapping[str, Any], headers: Headers) -> None:
    expected = {"MCP-Protocol-Version": meta[_VERSION], "Mcp-Method": message.method}
    if message.method in _NAMED_BY:
        expected["Mcp-Name"] = message.params.get(_NAMED_BY[message.method])
    for name, value in expected.items():
        if _decoded(headers.get(name)) != value:
            raise RpcError(HEADER_MISMATCH, f"The header {name} must say what the body says.")


def _decoded(value: str | None) -> str | None:
    """Return what a header says; a text that no header can hold comes as `=?base64?…?=`."""
    value = value if value is None else value.strip(" \t")  # not every server does that (RFC 9110, section 5.5)
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode()
    except (binascii.Error, ValueError):
        return None


def _name(info: Mapping[str, Any]) -> str | None:
    told = [info[part] for part in ("name", "version") if isinstance(info.get(part), str)]
    return one_line.clean(" ".join(told)).strip()[:_LONGEST_NAME] or None


def _asks_people(meta: Mapping[str, Any]) -> bool:
    capabilities = an_object(meta, _CAPABILITIES)
    if "elicitation" not in capabilities:
        return False
    modes = an_object(capabilities, "elicitation")
    return not modes or "form" in modes
