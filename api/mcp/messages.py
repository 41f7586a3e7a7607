"""JSON-RPC 2.0: parses one message of a client and builds its response; any body gives a message or an RpcError."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022

# The response repeats it.
_MAX_ID_CHARACTERS = 255
# A user's possible reactions to a question (MCP, elicitation).
_ACTIONS = ("accept", "decline", "cancel")

RpcId = str | int | float


class RpcError(Exception):
    """A message that cannot be answered with a result: the error's code, and the HTTP status around it."""

    def __init__(self, code: int, message: str, *, status: int = 400, data: Mapping[str, Any] | None = None):
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.data = data


@dataclass(frozen=True, slots=True)
class RpcMessage:
    """One message. `id` is None for a notification, and for a response to a request that was never sent."""

    id: RpcId | None
    method: str
    params: Mapping[str, Any]


def find_id(parsed: object) -> RpcId | None:
    """Return the valid id of a parsed body, or None; it is for the response to a malformed message."""
    id = parsed.get("id") if isinstance(parsed, dict) else None
    return id if _is_id(id) else None


def parse_message(parsed: object, raw: bytes) -> RpcMessage:
    """Return the message in a body; `parsed` is the result of `body.parse` for the raw bytes. Raises RpcError."""
    if parsed is None and raw.strip() != b"null":  # null is JSON, but no message
        raise RpcError(PARSE_ERROR, "The body must be one JSON object in UTF-8 that names each key once.")
    if not isinstance(parsed, dict) or parsed.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, "The body must be one JSON-RPC 2.0 message; batches are not accepted.")
    if "id" in parsed and not _is_id(parsed["id"]):
        raise RpcError(INVALID_REQUEST, f"The id must be a number or at most {_MAX_ID_CHARACTERS} characters.")
    if "method" not in parsed and ("result" in parsed or "error" in parsed):
        return RpcMessage(None, "", {})
    method = parsed.get("method")
    if not isinstance(method, str) or not method:
        raise RpcError(INVALID_REQUEST, "The method must be a string.")
    params = object_member(parsed, "params")
    _check_input_responses(params)
    return RpcMessage(parsed.get("id"), method, params)


def _check_input_responses(params: Mapping[str, Any]) -> None:
    """Raise RpcError for a user's response in a form that no question of this server allows."""
    responses = object_member(params, "inputResponses")
    for name in responses:
        response = object_member(responses, name)
        if response.get("action", "accept") not in _ACTIONS:
            raise RpcError(INVALID_PARAMS, f"The action of {name} must be accept, decline or cancel.")
        if response.get("content") is not None:
            object_member(response, "content")
    if not isinstance(params.get("requestState", ""), str):
        raise RpcError(INVALID_PARAMS, "requestState must be a string.")


def object_member(holder: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return an object that may be missing. Raises RpcError for any other type."""
    value = holder.get(name, {})
    if not isinstance(value, dict):
        raise RpcError(INVALID_PARAMS, f"{name} must be an object.")
    return value


def text_member(holder: Mapping[str, Any], name: str) -> str:
    """Return a required text. Raises RpcError when it is missing or not a text."""
    value = holder.get(name)
    if not isinstance(value, str) or not value:
        raise RpcError(INVALID_PARAMS, f"{name} must be a string.")
    return value


def result_response(id: RpcId | None, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the response with a result."""
    return {"jsonrpc": "2.0", "id": id, "result": result}


def error_response(id: RpcId | None, error: RpcError) -> dict[str, Any]:
    """Return the response with an error."""
    description: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        description["data"] = error.data
    return {"jsonrpc": "2.0", "id": id, "error": description}


def _is_id(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= _MAX_ID_CHARACTERS
    return isinstance(value, int | float) and not isinstance(value, bool)
