"""What the co-pilot proposed is done when the person confirms it, once, exactly as it was shown, as that person."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from flask import Blueprint

from adapters import clock
from api.access import guards
from api.copilot import shown, toolbox
from api.edge import path
from api.edge.operations import one, operation
from api.mcp.asking import arguments, asker, results
from api.mcp.asking.asker import ToolAnswer
from domain.refused import Refused
from models import db
from models.copilot.acts import CopilotAct
from pipelines.copilot import questions
from pipelines.copilot.questions import CopilotUser
from schemas.copilot import CopilotConversationRecord

blueprint = Blueprint("copilot_acts", __name__)

_ACT = "/api/v1/copilot/conversations/<conversation_id>/acts/<act_id>"
_FRESH = "fresh_login_required"
# Of these nothing was done, or it may have been and the same key finds it: the act may be confirmed again.
_NOT_NOW = {_FRESH: 403, "rate_limited": 429, "temporarily_unavailable": 503}


@blueprint.post(f"{_ACT}/confirm")
@operation(
    toolbox.ASKS,
    one(CopilotConversationRecord()),
    refuses=("403 fresh_login_required", "404 not_found", "409 copilot_act_expired"),
)
def confirm_copilot_act(conversation_id: str, act_id: str) -> Mapping[str, Any]:
    """Have what was proposed done, exactly as it was shown. What was decided before is not done again."""
    toolbox.check_is_on()
    wanted_id, wanted_act, who = path.uuid(conversation_id, "conversation"), path.uuid(act_id, "act"), _who()
    with db.unit_of_work(who.organization_id):
        act = questions.claim(who, wanted_id, wanted_act, now=clock.now())
    if act is not None:
        _do(who, act)
    return shown.found(wanted_id)


@blueprint.post(f"{_ACT}/decline")
@operation(toolbox.ASKS, one(CopilotConversationRecord()), refuses=("404 not_found",))
def decline_copilot_act(conversation_id: str, act_id: str) -> Mapping[str, Any]:
    """Say no to what was proposed. What was decided before stays as it is."""
    toolbox.check_is_on()
    wanted_id, wanted_act, who = path.uuid(conversation_id, "conversation"), path.uuid(act_id, "act"), _who()
    with db.unit_of_work(who.organization_id):
        questions.decline(who, wanted_id, wanted_act, now=clock.now())
    return shown.found(wanted_id)


def _who() -> CopilotUser:
    return toolbox.of_person()


def _do(who: CopilotUser, act: CopilotAct) -> None:
    """Ask the operation behind an act, under a key of the act's own: one that is asked again is done once."""
    try:
        answer = _asked(act)
    except Refused:
        _give_back(who, act)
        raise
    if answer.is_refusal and answer.data.get("error") == "idempotency_conflict":
        return  # the request that took it first is still at it, and writes down what comes of it
    with db.unit_of_work(who.organization_id):
        result = results.without_nulls(answer.data)
        questions.finish(who, act, result, is_done=not answer.is_refusal, now=clock.now())


def _asked(act: CopilotAct) -> ToolAnswer:
    bound = toolbox.every().get(act.tool)
    if bound is None:  # it went with a release
        return asker.refused(Refused(404, "unknown_tool", f"There is no tool {act.tool} any more."))
    guard = bound.operation.guard
    if guard.fresh_s is not None:
        guards.check_fresh_login(guards.caller().signed_in_at, within_s=guard.fresh_s)
    try:
        placed = arguments.placed(bound, act.arguments)
    except Refused as refusal:
        return asker.refused(refusal)
    answer = toolbox.door().ask(bound, placed, idempotency_key=_key(act.id))
    code = answer.data.get("error") if answer.is_refusal else None
    if code in _NOT_NOW:
        raise Refused(_NOT_NOW[code], code if code != "rate_limited" else "", str(answer.data.get("message", "")))
    return answer


def _key(act_id: UUID) -> str:
    return f"copilot-{act_id}"


def _give_back(who: CopilotUser, act: CopilotAct) -> None:
    with db.unit_of_work(who.organization_id):
        questions.unclaim(who, act)
