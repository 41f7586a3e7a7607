"""A dangerous call returns a preview first, and is done when it is confirmed.

A client that can ask its user gets a question; its next request has the user's response. Any other client gets a
preview with a `confirmToken`: the model can then confirm by itself, in a second call that is in the transcript.

A `confirmToken` or a `requestState` is sealed by this server for one caller, one tool, its arguments and five minutes;
neither opens as the other. Each has a nonce, so that the same call confirmed twice is done twice, and one confirmation
that is sent twice is done once (the Idempotency-Key of the operation's request).
"""

import base64
import binascii
import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

import orjson

from adapters import clock
from adapters.secret_key import sealing
from api.access import guards
from api.mcp.messages import INVALID_PARAMS, RpcError, object_member
from api.mcp.operation_calls import arguments, results
from api.mcp.operation_calls.arguments import PlacedArguments
from api.mcp.operation_calls.client import ToolAnswer
from api.mcp.requests import McpRequest
from api.mcp.tool_calls import previews
from api.mcp.tools.binding import CONFIRM_TOKEN, BoundTool
from domain.refusals import Refused
from schemas.base import Instant

LIFETIME = timedelta(minutes=5)

_NONCE_BYTES = 12

TokenUse = Literal["token", "state"]

_QUESTION = "confirm"
_SCHEMA = {
    "type": "object",
    "properties": {"confirm": {"type": "boolean", "title": "Do it", "description": "Whether to do what is shown."}},
    "required": ["confirm"],
}


@dataclass(frozen=True, slots=True)
class _CallProof:
    """A confirmation of this server for exactly this call."""

    idempotency_key: str
    is_expired: bool


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The Idempotency-Key of a confirmed call, or the result that replaces the call; neither: go on."""

    idempotency_key: str | None = None
    result: Mapping[str, Any] | None = None


def confirm(request: McpRequest, bound: BoundTool, args: Mapping[str, Any], placed: PlacedArguments) -> Confirmation:
    """Return the confirmation of a call, or the preview to confirm. Raises Refused, and RpcError (requestState)."""
    if CONFIRM_TOKEN in args:
        return Confirmation(_key_from_token(bound, args))
    if not request.choice.requires_confirmation(bound):
        return Confirmation()
    if request.client.supports_elicitation and "requestState" in request.params:
        key = _key_from_user_response(request, bound, args)
        if key is not None:
            return Confirmation(key)
    guards.check_permissions(bound.operation.guard)
    reader = previews.PreviewReader(request.tools, request.operations)
    try:
        if not previews.needs_confirmation(bound, args, reader):
            return Confirmation()
        about = previews.read_by_ids(bound.path, args, reader)
        previews.check_body(bound, placed)
        preview = previews.build_preview(bound, args, about, reader)
    except previews.PreviewUnavailable as nothing:
        return Confirmation(result=results.serialize_result(nothing.answer))
    return Confirmation(result=_request_confirmation(request, bound, args, preview))


def _key_from_token(bound: BoundTool, args: Mapping[str, Any]) -> str:
    proof = _open_proof("token", args[CONFIRM_TOKEN], bound.tool.name, args)
    if proof is None or proof.is_expired:
        message = "This confirmToken is for another call, or older than five minutes. Call without it to get a new one."
        raise Refused(400, "confirm_token_invalid", message, field=CONFIRM_TOKEN)
    return proof.idempotency_key


def _key_from_user_response(request: McpRequest, bound: BoundTool, args: Mapping[str, Any]) -> str | None:
    """Return the key of a call that the user confirmed; None when they must be asked (again)."""
    answers = object_member(request.params, "inputResponses")
    answer = object_member(answers, _QUESTION)
    proof = _open_proof("state", request.params["requestState"], bound.tool.name, args)
    if proof is None:
        raise RpcError(
            INVALID_PARAMS, "requestState is not the value that this server issued for this call.", status=200
        )
    if proof.is_expired or "action" not in answer:
        return None
    content = object_member(answer, "content") if answer["action"] == "accept" else {}
    if content.get("confirm") is not True:
        raise Refused(409, "declined_by_user", "The user declined this call. Nothing was done.")
    return proof.idempotency_key


def _request_confirmation(
    request: McpRequest, bound: BoundTool, args: Mapping[str, Any], preview: Mapping[str, Any]
) -> Mapping[str, Any]:
    if request.client.supports_elicitation:
        state, _ = _seal_proof("state", bound.tool.name, args)
        params = {"mode": "form", "message": previews.render_text(preview), "requestedSchema": _SCHEMA}
        questions = {_QUESTION: {"method": "elicitation/create", "params": params}}
        return {"resultType": "input_required", "inputRequests": questions, "requestState": state}
    token, expires_at = _seal_proof("token", bound.tool.name, args)
    data = {
        "needsConfirmation": True,
        "preview": preview,
        "confirmToken": token,
        "expiresAt": Instant.render(expires_at),
        "message": "Nothing was done yet. Show this to the user. If they agree, call again with confirmToken.",
    }
    return results.serialize_result(ToolAnswer(False, data))


def _seal_proof(use: TokenUse, tool: str, args: Mapping[str, Any]) -> tuple[str, datetime]:
    """Return a sealed proof that confirms a call, and its expiry."""
    expires_at = clock.now() + LIFETIME
    claims = {
        "digest": _digest(tool, args),
        "nonce": secrets.token_hex(_NONCE_BYTES),
        "until": int(expires_at.timestamp()),
    }
    sealed = sealing.seal(orjson.dumps(claims).decode(), belongs_to=_proof_owner(use))
    return base64.urlsafe_b64encode(sealed).decode(), expires_at


def _open_proof(use: TokenUse, sealed_text: object, tool: str, args: Mapping[str, Any]) -> _CallProof | None:
    """Return the proof of a call; None for one that is forged, another caller's, or for another call."""
    if not isinstance(sealed_text, str):
        return None
    try:
        sealed = base64.b64decode(sealed_text.encode("ascii"), altchars=b"-_", validate=True)
        claims = orjson.loads(sealing.unseal(sealed, belongs_to=_proof_owner(use)))
        digest, nonce, until = claims["digest"], claims["nonce"], claims["until"]
    except (UnicodeEncodeError, binascii.Error, KeyError, TypeError, sealing.CannotUnseal):
        return None  # KeyError, TypeError: sealed by another release
    return (
        _CallProof(f"mcp-{digest}-{nonce}", until < clock.now().timestamp()) if digest == _digest(tool, args) else None
    )


def _digest(tool: str, args: Mapping[str, Any]) -> str:
    confirmed = {name: value for name, value in args.items() if name != CONFIRM_TOKEN}
    return hashlib.sha256(arguments.canonical_json({"tool": tool, "arguments": confirmed})).hexdigest()


def _proof_owner(use: TokenUse) -> str:
    return f"mcp {use} {guards.caller().id}"
