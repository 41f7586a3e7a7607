"""What the co-pilot's model says, without a model: its reply is written down as the worker would; and valid calls."""

from collections.abc import Callable
from typing import Any

from adapters import clock
from domain.copilot.replies import ModelReply, RequestedCall
from models import db
from pipelines.copilot import model_calls
from tests.support.rows.brands import Brand

CONVERSATIONS_URL = "/api/v1/copilot/conversations"
_ACT = f"{CONVERSATIONS_URL}/<conversation_id>/acts/<act_id>"

#: Operations that change nothing of the brand's.
HARMLESS_ROUTES = {
    *(f"POST {CONVERSATIONS_URL}/<conversation_id>/{what}" for what in ("messages", "retry", "steps")),
    f"POST {_ACT}/decline",
}


def propose_call(brand: Brand, tool: str, **arguments: object) -> None:
    """Have the model of the brand's newest conversation want a tool called."""
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
    path, program = _start_conversation(owner), {"defaultCommissionType": "Fixed", "defaultCommissionValue": 1}
    propose_call(owner, "create_program", name="Forks", **program)
    act = (owner.post(f"{path}/steps").json or {})["acts"][0]
    return f"{path}/acts/{act['id']}/confirm"


#: A valid call of each of the others: it returns the path and the body to send.
CALLS: dict[str, Callable[[Brand], tuple[str, Any]]] = {
    f"POST {CONVERSATIONS_URL}": lambda _: (CONVERSATIONS_URL, {"text": "Who sold most?"}),
    f"DELETE {CONVERSATIONS_URL}/<conversation_id>": lambda owner: (_start_conversation(owner), None),
    f"POST {_ACT}/confirm": lambda owner: (_start_pending_call(owner), None),
}
