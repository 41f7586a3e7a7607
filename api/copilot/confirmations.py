"""Confirmations of the co-pilot's proposals: an action runs once, exactly as shown, as the person who confirms it."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint

from adapters import clock
from api.access import guards, login_age
from api.copilot import serializers, toolbox
from api.edge import path
from api.edge.operations import object_of, operation
from api.mcp.operation_calls import arguments, client, results
from api.mcp.operation_calls.client import ToolAnswer
from domain.refusals import Refused
from models import db
from models.copilot.acts import CopilotAct
from pipelines.copilot import questions
from pipelines.copilot.questions import CopilotUser
from schemas.copilot import CopilotConversationRecord

blueprint = Blueprint("copilot_acts", __name__)

_ACT = "/api/v1/copilot/conversations/<conversation_id>/acts/<act_id>"
_FRESH = "fresh_login_required"
# After these errors nothing was done, or the same idempotency key finds what was: the act may be confirmed again.
_TEMPORARY = {_FRESH: 403, "rate_limited": 429, "temporarily_unavailable": 503}


@blueprint.post(f"{_ACT}/confirm")
@operation(
    toolbox.ASKS,
    object_of(CopilotConversationRecord()),
    refuses=("403 fresh_login_required", "404 not_found", "409 copilot_act_expired"),
)
def confirm_copilot_act(conversation_id: str, act_id: str) -> Mapping[str, Any]:
    """Run a proposed action exactly as it was shown. An action that was decided before does not run again."""
    toolbox.check_is_on()
    conversation_uuid, act_uuid = path.uuid(conversation_id, "conversation"), path.uuid(act_id, "act")
    member = toolbox.asker_without_tools()
    with db.unit_of_work(member.organization_id):
        act = questions.claim(member, conversation_uuid, act_uuid, now=clock.now())
    if act is not None:
        _execute(member, act)
    return serializers.find_conversation(conversation_uuid)


@blueprint.post(f"{_ACT}/decline")
@operation(toolbox.ASKS, object_of(CopilotConversationRecord()), refuses=("404 not_found",))
def decline_copilot_act(conversation_id: str, act_id: str) -> Mapping[str, Any]:
    """Decline a proposed action. An action that was decided before stays as it is."""
    toolbox.check_is_on()
    conversation_uuid, act_uuid = path.uuid(conversation_id, "conversation"), path.uuid(act_id, "act")
    member = toolbox.asker_without_tools()
    with db.unit_of_work(member.organization_id):
        questions.decline(member, conversation_uuid, act_uuid, now=clock.now())
    return serializers.find_conversation(conversation_uuid)


def _execute(member: CopilotUser, act: CopilotAct) -> None:
    """Call the operation of an act with the act's own idempotency key, so that it runs once."""
    try:
        answer = _call_operation(act)
    except Refused:
        _release(member, act)
        raise
    if answer.is_refusal and answer.data.get("error") == "idempotency_conflict":
        return  # the first request is still running, and records the result
    with db.unit_of_work(member.organization_id):
        result = results.remove_nulls(answer.data)
        questions.finish(member, act, result, is_done=not answer.is_refusal, now=clock.now())


def _call_operation(act: CopilotAct) -> ToolAnswer:
    bound = toolbox.list_tools().get(act.tool)
    if bound is None:  # a release has removed it
        return client.answer_from_refusal(Refused(404, "unknown_tool", f"The tool {act.tool} no longer exists."))
    guard = bound.operation.guard
    if guard.fresh_s is not None:
        login_age.check_member(guards.caller(), within_s=guard.fresh_s)
    try:
        request = arguments.place_arguments(bound, act.arguments)
    except Refused as refusal:
        return client.answer_from_refusal(refusal)
    answer = toolbox.operation_caller().call(bound, request, idempotency_key=f"copilot-{act.id}")
    code = answer.data.get("error") if answer.is_refusal else None
    if code in _TEMPORARY:
        raise Refused(_TEMPORARY[code], code if code != "rate_limited" else "", str(answer.data.get("message", "")))
    return answer


def _release(member: CopilotUser, act: CopilotAct) -> None:
    with db.unit_of_work(member.organization_id):
        questions.unclaim(member, act)
