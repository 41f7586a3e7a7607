"""Replies of the co-pilot's model, recorded as the worker does, without a model; and valid calls of its routes."""

from collections.abc import Callable
from typing import Any

from adapters import clock
from domain.copilot.replies import ModelReply, RequestedCall
from models import db
from pipelines.copilot import model_calls
from tests.support.rows.brands import Brand

CONVERSATIONS_URL = "/api/v1/copilot/conversations"
_ACT_URL = f"{CONVERSATIONS_URL}/<conversation_id>/acts/<act_id>"

#: POST routes that change no data of the brand except the conversation.
HARMLESS_ROUTES = {
    *(f"POST {CONVERSATIONS_URL}/<conversation_id>/{verb}" for verb in ("messages", "retry", "steps")),
    f"POST {_ACT_URL}/decline",
}


def propose_call(brand: Brand, tool: str, **arguments: object) -> None:
    """Record a reply of the model that requests a tool call, in the brand's newest conversation."""
    ((conversation_id, turn),) = brand.rows(
        "select id, turn from copilot_conversation order by created_at desc, id desc limit 1"
    )
    with db.unit_of_work(brand.id):
        prepared = model_calls.prepare(
            organization_id=brand.id, conversation_id=conversation_id, turn=turn, now=clock.now()
        )
        assert prepared is not None
        model_calls.record(prepared, ModelReply("", [RequestedCall(tool, arguments)], 0, 100), now=clock.now())


def _start_conversation(owner: Brand) -> str:
    return f"{CONVERSATIONS_URL}/{(owner.post(CONVERSATIONS_URL, {'text': 'Who sold most?'}).json or {})['id']}"


def _start_pending_call(owner: Brand) -> str:
    conversation_url = _start_conversation(owner)
    commission = {"defaultCommissionType": "Fixed", "defaultCommissionValue": 1}
    propose_call(owner, "create_program", name="Forks", **commission)
    act = (owner.post(f"{conversation_url}/steps").json or {})["acts"][0]
    return f"{conversation_url}/acts/{act['id']}/confirm"


#: A valid call of each of the other routes, as its path and body.
CALLS: dict[str, Callable[[Brand], tuple[str, Any]]] = {
    f"POST {CONVERSATIONS_URL}": lambda _: (CONVERSATIONS_URL, {"text": "Who sold most?"}),
    f"DELETE {CONVERSATIONS_URL}/<conversation_id>": lambda owner: (_start_conversation(owner), None),
    f"POST {_ACT_URL}/confirm": lambda owner: (_start_pending_call(owner), None),
}
