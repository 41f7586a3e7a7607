"""What the model wants is done for it as far as it only looks, and proposed where it would change something.

Between the two functions the person's own request asks the operations; no transaction is open then.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from domain.copilot.states import (
    ACT_TIMEOUT,
    CONFIRMATION_PERIOD,
    MODEL_TIMEOUT,
    ActState,
    ConversationState,
    CopilotFailure,
    EntryKind,
)
from domain.refusals import not_found
from models import ids
from models.copilot import acts, conversations, entries
from models.copilot.conversations import CopilotConversation
from pipelines.copilot import talk
from pipelines.copilot.asking import Asker
from pipelines.copilot.talk import Words


@dataclass(frozen=True, slots=True)
class WantedCalls:
    """The calls ({id, tool, arguments}) of a model's last reply, taken by this request."""

    conversation: CopilotConversation
    calls: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call: the `result` of one that looks (JSON), or the `preview` of one that is proposed."""

    call: Mapping[str, Any]
    result: str | None = None
    preview: Mapping[str, Any] | None = None


def take(asker: Asker, conversation_id: UUID, *, now: datetime) -> WantedCalls | None:
    """Take what the model wants to see, so that no other request looks it up as well; None when that is nothing.

    What a request took that died is given again after a minute. A model that is silent for too long has failed.
    Raises Refused (404).
    """
    held = conversations.lock(
        organization_id=asker.organization_id, member_id=asker.member_id, conversation_id=conversation_id
    )
    if held is None:
        raise not_found("conversation", conversation_id)
    if held.state == ConversationState.Thinking and now - held.changed_at >= MODEL_TIMEOUT:
        talk.fail(held, CopilotFailure.Silent, now=now)
    is_taken = held.begun_at is not None and now - held.begun_at < ACT_TIMEOUT
    if held.state != ConversationState.Working or is_taken:
        return None
    replies = [one for one in entries.of(held.organization_id, held.id) if one.kind == EntryKind.Reply]
    return WantedCalls(conversations.change(held, {"begun_at": now}), replies[-1].calls)


def record(asker: Asker, wanted: WantedCalls, outcomes: Sequence[Outcome], *, now: datetime) -> None:
    """Write down what came of the calls; the model goes on, or the person is asked where something is proposed.

    Changes nothing where another request took the calls meanwhile.
    """
    taken = wanted.conversation
    held = conversations.lock(
        organization_id=asker.organization_id, member_id=asker.member_id, conversation_id=taken.id
    )
    if held is None or (held.state, held.turn, held.begun_at) != (taken.state, taken.turn, taken.begun_at):
        return
    words = [Words(EntryKind.Result, one.result, call_id=one.call["id"]) for one in outcomes if one.result is not None]
    proposed = [one for one in outcomes if one.preview is not None]
    in_their_order = sorted(ids.new_id() for _ in proposed)
    for act_id, one in zip(in_their_order, proposed, strict=True):
        acts.insert(
            {
                "id": act_id,
                "organization_id": held.organization_id,
                "conversation_id": held.id,
                "call_id": one.call["id"],
                "tool": one.call["tool"],
                "arguments": one.call["arguments"],
                "preview": one.preview,
                "state": ActState.Proposed,
                "created_at": now,
                "expires_at": now + CONFIRMATION_PERIOD,
            }
        )
    if proposed:
        talk.add(held, words, {"state": ConversationState.Asking}, now=now)
    else:
        talk.go_on(held, words, now=now)
