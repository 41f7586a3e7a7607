"""Queues, dead letters and the schedule in the API."""

from marshmallow import fields

from schemas.base import Instant, Wire, integer, not_blank, text
from schemas.paging import PageQuery

_MAX_WHY_CHARS = 1_000
_MAX_NAME_CHARS = 200


class WhyBody(Wire):
    """The reason of an action, for the audit log."""

    why = text(longest=_MAX_WHY_CHARS, required=True, validate=[not_blank])


class QueueRecord(Wire):
    """A queue: its workers and its waiting jobs. Ages in seconds."""

    queue = fields.String()
    threads = fields.Integer()
    waiting = fields.Integer()
    retrying = fields.Integer()
    out = fields.Integer()
    dead = fields.Integer()
    oldest_s = fields.Integer()
    done_last_minute = fields.Integer()
    paused_at = Instant(allow_none=True)
    paused_why = fields.String(allow_none=True)
    held_up = fields.Integer()
    waits_for = fields.String(allow_none=True)
    waits_until = Instant(allow_none=True)


class DeadLettersFilter(Wire):
    """The filters of dead letters; missing ones do not filter."""

    queue = text(longest=_MAX_NAME_CHARS, load_default=None)
    name = text(longest=_MAX_NAME_CHARS, load_default=None)
    organization_id = fields.UUID(load_default=None)
    error = text(longest=_MAX_NAME_CHARS, load_default=None)


class DeadLettersQuery(DeadLettersFilter, PageQuery):
    """The filters of dead letters, and the page."""


class ReplayBody(DeadLettersFilter):
    """The dead letters to retry, and their number as displayed to the operator."""

    queue = text(longest=_MAX_NAME_CHARS, load_default=None, allow_none=True)
    name = text(longest=_MAX_NAME_CHARS, load_default=None, allow_none=True)
    organization_id = fields.UUID(load_default=None, allow_none=True)
    error = text(longest=_MAX_NAME_CHARS, load_default=None, allow_none=True)
    confirm_count = integer(required=True)
    why = text(longest=_MAX_WHY_CHARS, load_default="")


class DiscardBody(ReplayBody):
    """The dead letters to delete permanently, their number as displayed to the operator, and the reason."""

    why = text(longest=_MAX_WHY_CHARS, required=True, validate=[not_blank])


class LeavesRecord(Wire):
    """The consequence of discarding a job, and how to do its work otherwise. Null: no amount is concerned."""

    wire_name = "JobLeaves"

    kind = fields.String()
    external_event_id = fields.String(allow_none=True)
    amount_cents = fields.Integer(allow_none=True)
    currency = fields.String(allow_none=True)
    text = fields.String()
    remedy = fields.String()


class DeadLetterRecord(Wire):
    """A failed job. `lastLine` is the first line of its error's message."""

    id = fields.Integer()
    queue = fields.String()
    name = fields.String()
    organization_id = fields.UUID(allow_none=True)
    arguments = fields.Dict(keys=fields.String(), values=fields.String(), attribute="args")
    attempts = fields.Integer(attribute="attempt")
    asked_by = fields.String(allow_none=True)
    last_line = fields.String(allow_none=True)
    leaves = fields.Nested(LeavesRecord(), allow_none=True)
    created_at = Instant()
    failed_at = Instant()


class WholeDeadLetterRecord(DeadLetterRecord):
    """A failed job with its whole error."""

    wire_name = "DeadLetterWhole"

    error = fields.String(attribute="last_error", allow_none=True)


class CountRecord(Wire):
    """The number of dead letters."""

    count = fields.Integer()


class DiscardedSumRecord(Wire):
    """The sum of the concerned amounts in a currency."""

    wire_name = "DeadLetterSum"

    currency = fields.String()
    amount_cents = fields.Integer()


class DeadLetterKindRecord(Wire):
    """The number of dead letters of one kind, and the consequence of discarding them."""

    name = fields.String()
    count = fields.Integer()
    leaves = fields.String(metadata={"description": "What stays undone."})
    remedy = fields.String()
    sums = fields.List(fields.Nested(DiscardedSumRecord()))


class DeadLetterSummaryRecord(Wire):
    """The number of filtered dead letters by kind."""

    count = fields.Integer()
    kinds = fields.List(fields.Nested(DeadLetterKindRecord()))


class DiscardedRecord(Wire):
    """The permanently deleted jobs."""

    discarded = fields.List(fields.Integer())


class ReplayedRecord(Wire):
    """The retried jobs."""

    replayed = fields.List(fields.Integer())


class ScheduleLineRecord(Wire):
    """A line of the schedule, in UTC."""

    name = fields.String()
    cron = fields.String()
    last_at = Instant(allow_none=True)
    next_at = Instant()
    is_late = fields.Boolean()
