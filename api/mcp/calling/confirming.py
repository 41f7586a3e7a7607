"""Dangerous calls show what they would do, and are done when they are confirmed.

A client that can ask the person at it is answered with a question; what it brings back holds the answer. Any other is
given a preview with a `confirmToken`: the model can then confirm by itself, in a second call that stands in the
transcript.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from api.access import guards
from api.mcp.asking import results
from api.mcp.asking.arguments import SentArguments
from api.mcp.asking.asker import ToolAnswer
from api.mcp.calling import previews, tokens
from api.mcp.messages import INVALID_PARAMS, RpcError, an_object
from api.mcp.requests import McpRequest
from api.mcp.tools.binding import CONFIRM_TOKEN, BoundTool
from domain.refusals import Refused
from schemas.base import Instant

_QUESTION = "confirm"
_SCHEMA = {
    "type": "object",
    "properties": {"confirm": {"type": "boolean", "title": "Do it", "description": "Whether to do what is shown."}},
    "required": ["confirm"],
}


@dataclass(frozen=True, slots=True)
class Confirmation:
    """Whether a call may go on: under an Idempotency-Key where it was confirmed, or what the client is told instead."""

    idempotency_key: str | None = None
    told: Mapping[str, Any] | None = None


def settle(request: McpRequest, bound: BoundTool, sent: Mapping[str, Any], placed: SentArguments) -> Confirmation:
    """Return whether a call may go on. Raises Refused, and RpcError for a requestState that is none."""
    if CONFIRM_TOKEN in sent:
        return Confirmation(_by_token(bound, sent))
    if not request.choice.asks(bound):
        return Confirmation()
    if request.client.asks_people and "requestState" in request.params:
        key = _by_answer(request, bound, sent)
        if key is not None:
            return Confirmation(key)
    guards.check_permissions(bound.operation.guard)
    reader = previews.PreviewReader(request.tools, request.asker)
    try:
        if not previews.is_due(bound, sent, reader):
            return Confirmation()
        about = previews.named(bound.path, sent, reader)
        previews.check_body(bound, placed)
        preview = previews.of(bound, sent, about, reader)
    except previews.NothingToShow as nothing:
        return Confirmation(told=results.of(nothing.answer))
    return Confirmation(told=_question(request, bound, sent, preview))


def _by_token(bound: BoundTool, sent: Mapping[str, Any]) -> str:
    found = tokens.proof("token", sent[CONFIRM_TOKEN], bound.tool.name, sent)
    if found is None or found.is_expired:
        message = "This confirmToken is of another call, or older than five minutes. Call without it for a new one."
        raise Refused(400, "confirm_token_invalid", message, field=CONFIRM_TOKEN)
    return found.idempotency_key


def _by_answer(request: McpRequest, bound: BoundTool, sent: Mapping[str, Any]) -> str | None:
    """Return the key of a call that somebody confirmed; None where they have to be asked (again)."""
    answers = an_object(request.params, "inputResponses")
    answer = an_object(answers, _QUESTION)
    found = tokens.proof("state", request.params["requestState"], bound.tool.name, sent)
    if found is None:
        raise RpcError(INVALID_PARAMS, "requestState is not what this server gave out for this call.", status=200)
    if found.is_expired or "action" not in answer:
        return None
    content = an_object(answer, "content") if answer["action"] == "accept" else {}
    if content.get("confirm") is not True:
        raise Refused(409, "declined_by_user", "The user did not want this; nothing was done.")
    return found.idempotency_key


def _question(
    request: McpRequest, bound: BoundTool, sent: Mapping[str, Any], preview: Mapping[str, Any]
) -> Mapping[str, Any]:
    if request.client.asks_people:
        state, _ = tokens.made("state", bound.tool.name, sent)
        asked = {"mode": "form", "message": previews.text(preview), "requestedSchema": _SCHEMA}
        questions = {_QUESTION: {"method": "elicitation/create", "params": asked}}
        return {"resultType": "input_required", "inputRequests": questions, "requestState": state}
    token, expires_at = tokens.made("token", bound.tool.name, sent)
    told = {
        "needsConfirmation": True,
        "preview": preview,
        "confirmToken": token,
        "expiresAt": Instant.render(expires_at),
        "message": "Nothing was done yet. Show this to the user; when they agree, call again with confirmToken.",
    }
    return results.of(ToolAnswer(False, told))
