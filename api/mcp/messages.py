"""JSON-RPC 2.0: reads one message of a client, writes what it is answered; any body gives a message or an RpcError."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022

# It is answered as it was sent.
_MAX_ID_CHARACTERS = 255
# What a user can have done with a question (MCP, elicitation).
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
    """One message. `id` is None for a notification, and for an answer to something that nobody asked."""

    id: RpcId | None
    method: str
    params: Mapping[str, Any]


def sent_id(sent: object) -> RpcId | None:
    """Return the id of a parsed body, if it has a valid one, for the answer that the message is malformed."""
    found = sent.get("id") if isinstance(sent, dict) else None
    return found if _is_id(found) else None


def read(sent: object, raw: bytes) -> RpcMessage:
    """Return the message in a body; `sent` is what `body.parse` makes of the raw bytes. Raises RpcError."""
    if sent is None and raw.strip() != b"null":  # null is JSON, but no message
        raise RpcError(PARSE_ERROR, "The body must be one JSON object in UTF-8 that names each key once.")
    if not isinstance(sent, dict) or sent.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, "The body must be one JSON-RPC 2.0 message; batches are not taken.")
    if "id" in sent and not _is_id(sent["id"]):
        raise RpcError(INVALID_REQUEST, f"The id must be a number or at most {_MAX_ID_CHARACTERS} characters.")
    if "method" not in sent and ("result" in sent or "error" in sent):
        return RpcMessage(None, "", {})
    method = sent.get("method")
    if not isinstance(method, str) or not method:
        raise RpcError(INVALID_REQUEST, "The method must be a text.")
    params = an_object(sent, "params")
    _check_input_responses(params)
    return RpcMessage(sent.get("id"), method, params)


def _check_input_responses(params: Mapping[str, Any]) -> None:
    """Raise RpcError for what a client brings back of its user, where it cannot be an answer to a question of ours."""
    responses = an_object(params, "inputResponses")
    for name in responses:
        response = an_object(responses, name)
        if response.get("action", "accept") not in _ACTIONS:
            raise RpcError(INVALID_PARAMS, f"The action of {name} must be accept, decline or cancel.")
        if response.get("content") is not None:
            an_object(response, "content")
    if not isinstance(params.get("requestState", ""), str):
        raise RpcError(INVALID_PARAMS, "requestState must be a text.")


def an_object(holder: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return an object that may be missing. Raises RpcError when something else stands in its place."""
    found = holder.get(name, {})
    if not isinstance(found, dict):
        raise RpcError(INVALID_PARAMS, f"{name} must be an object.")
    return found


def a_text(holder: Mapping[str, Any], name: str) -> str:
    """Return a text that must be there. Raises RpcError."""
    found = holder.get(name)
    if not isinstance(found, str) or not found:
        raise RpcError(INVALID_PARAMS, f"{name} must be a text.")
    return found


def result(id: RpcId | None, found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer that holds a result."""
    return {"jsonrpc": "2.0", "id": id, "result": found}


def failure(id: RpcId | None, error: RpcError) -> dict[str, Any]:
    """Return the answer that holds an error."""
    said: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        said["data"] = error.data
    return {"jsonrpc": "2.0", "id": id, "error": said}


def _is_id(found: object) -> bool:
    if isinstance(found, str):
        return len(found) <= _MAX_ID_CHARACTERS
    return isinstance(found, int | float) and not isinstance(found, bool)
