"""Hooks of no-code platforms in the API, the connection behind them, and sample events."""

from typing import Any

from marshmallow import fields, post_load, validate

from domain.organization import plans
from domain.refusals import Refused
from domain.webhooks import events
from schemas.base import MAY_LACK, Instant, Wire, bearer_secret, one_of, text
from schemas.paging import QueryInteger

# Whether a URL may be called is decided elsewhere, with codes of its own; this only limits the text.
_MAX_TEXT_CHARS = 65_536
_DEFAULT_SAMPLES = 3
_MAX_SAMPLES = 10


class HookBody(Wire):
    """A new hook: its trigger event and its URL. Refuses other types as `unknown_event`."""

    event = text(longest=100, required=True, metadata={"enum": [*events.TESTABLE]})
    target_url = text(longest=_MAX_TEXT_CHARS, required=True)

    @post_load
    def _check(self, hook: dict[str, Any], **_: object) -> dict[str, Any]:
        check_trigger(hook["event"])
        return hook


class AutomationHookRecord(Wire):
    """A hook; its secret is present only in the response to its creation."""

    id = fields.UUID()
    event = one_of(events.TESTABLE)
    secret = bearer_secret(found_at="The platform that made the hook has it.", metadata=MAY_LACK)
    created_at = Instant()


class AutomationConnectionRecord(Wire):
    """The organization of a key: enough for a person to distinguish two connections."""

    organization_id = fields.UUID()
    organization_name = fields.String()
    key_hint = fields.String(allow_none=True)
    scope = one_of(("read", "read_write"))
    is_test = fields.Boolean()
    plan_tier = one_of(plans.Tier)


class SamplesQuery(Wire):
    """The maximum number of events, at most ten."""

    limit = QueryInteger(load_default=_DEFAULT_SAMPLES, validate=validate.Range(min=1))

    @post_load
    def _clamp(self, query: dict[str, Any], **_: object) -> dict[str, Any]:
        return {"limit": min(query["limit"], _MAX_SAMPLES)}


class SampleEvent(Wire):
    """An event as it is posted to a hook."""

    id = fields.String()
    type = one_of(events.TESTABLE)
    created_at = Instant()
    organization_id = fields.UUID()
    data = fields.Dict(keys=fields.String(), values=fields.Raw())


def check_trigger(event: str) -> None:
    """Refuse anything other than the nine trigger events: 400 unknown_event."""
    if event not in events.TESTABLE:
        message = f"A workflow cannot start with this event. Use one of: {', '.join(events.TESTABLE)}."
        raise Refused(400, "unknown_event", message, field="event", invalid=[event], valid=[*events.TESTABLE])
