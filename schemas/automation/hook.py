"""Hooks of no-code platforms on the wire, the connection behind them, and the events that they are shown."""

from typing import Any

from marshmallow import fields, post_load, validate

from domain.organization import plans
from domain.refused import Refused
from domain.webhooks import events
from schemas.base import MAY_LACK, Instant, Wire, bearer_secret, one_of, text
from schemas.paging import QueryInteger

# Whether a URL may be called is decided elsewhere, with codes of its own; this only keeps it a text.
_LONGEST_TEXT = 65_536
_DEFAULT_SAMPLES = 3
_MOST_SAMPLES = 10


class HookBody(Wire):
    """A new hook: which trigger event, and where it is told. Refuses other types as `unknown_event`."""

    event = text(longest=100, required=True, metadata={"enum": [*events.TESTABLE]})
    target_url = text(longest=_LONGEST_TEXT, required=True)

    @post_load
    def _check(self, hook: dict[str, Any], **_: object) -> dict[str, Any]:
        check_trigger(hook["event"])
        return hook


class HookRecord(Wire):
    """A hook; its secret is there at the moment when it is made, and never again."""

    wire_name = "AutomationHook"

    id = fields.UUID()
    event = one_of(events.TESTABLE)
    secret = bearer_secret(found_at="The platform that made the hook has it.", metadata=MAY_LACK)
    created_at = Instant()


class AutomationConnectionRecord(Wire):
    """Whom a key connects to: enough for a person to tell two connections apart."""

    organization_id = fields.UUID()
    organization_name = fields.String()
    key_hint = fields.String(allow_none=True)
    scope = one_of(("read", "read_write"))
    is_test = fields.Boolean()
    plan_tier = one_of(plans.Tier)


class SamplesQuery(Wire):
    """How many events at most; more than ten are ten."""

    limit = QueryInteger(load_default=_DEFAULT_SAMPLES, validate=validate.Range(min=1))

    @post_load
    def _clamp(self, query: dict[str, Any], **_: object) -> dict[str, Any]:
        return {"limit": min(query["limit"], _MOST_SAMPLES)}


class SampleEvent(Wire):
    """An event as it is posted to a hook."""

    id = fields.String()
    type = one_of(events.TESTABLE)
    created_at = Instant()
    organization_id = fields.UUID()
    data = fields.Dict(keys=fields.String(), values=fields.Raw())


def check_trigger(event: str) -> None:
    """Refuse what is none of the nine trigger events: 400 unknown_event."""
    if event not in events.TESTABLE:
        message = f"That is no event that a workflow can begin with. They are: {', '.join(events.TESTABLE)}."
        raise Refused(400, "unknown_event", message, field="event", invalid=[event], valid=[*events.TESTABLE])
