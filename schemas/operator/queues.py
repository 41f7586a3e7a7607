"""Queues, dead letters and the schedule on the wire."""

from marshmallow import fields

from schemas.base import Instant, Wire, not_blank, text, whole
from schemas.paging import PageQuery

_LONGEST_WHY = 1_000
_LONGEST_NAME = 200


class WhyBody(Wire):
    """Why something is done, for the audit log."""

    why = text(longest=_LONGEST_WHY, required=True, validate=[not_blank])


class QueueRecord(Wire):
    """A queue: who works on it and how much waits. Ages in seconds."""

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
    """Which dead letters; what is left out narrows nothing."""

    queue = text(longest=_LONGEST_NAME, load_default=None)
    name = text(longest=_LONGEST_NAME, load_default=None)
    organization_id = fields.UUID(load_default=None)
    error = text(longest=_LONGEST_NAME, load_default=None)


class DeadLettersQuery(DeadLettersFilter, PageQuery):
    """Which dead letters, and which page of them."""


class ReplayBody(DeadLettersFilter):
    """Which dead letters are to run again, and how many there were when one looked."""

    queue = text(longest=_LONGEST_NAME, load_default=None, allow_none=True)
    name = text(longest=_LONGEST_NAME, load_default=None, allow_none=True)
    organization_id = fields.UUID(load_default=None, allow_none=True)
    error = text(longest=_LONGEST_NAME, load_default=None, allow_none=True)
    confirm_count = whole(required=True)
    why = text(longest=_LONGEST_WHY, load_default="")


class DiscardBody(ReplayBody):
    """Which dead letters are deleted for good, how many there were when one looked, and why."""

    why = text(longest=_LONGEST_WHY, required=True, validate=[not_blank])


class LeavesRecord(Wire):
    """What a discard of a job leaves undone, and how to have it done after all. Null: it is about no amount."""

    wire_name = "JobLeaves"

    kind = fields.String()
    external_event_id = fields.String(allow_none=True)
    amount_cents = fields.Integer(allow_none=True)
    currency = fields.String(allow_none=True)
    text = fields.String()
    remedy = fields.String()


class DeadLetterRecord(Wire):
    """A job that gave up. `lastLine` is the line of its error that says what happened: the first of the message."""

    wire_name = "DeadLetter"

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
    """A job that gave up, with its whole error."""

    wire_name = "DeadLetterWhole"

    error = fields.String(attribute="last_error", allow_none=True)


class CountRecord(Wire):
    """How many there are."""

    count = fields.Integer()


class DiscardedSumRecord(Wire):
    """How much of a currency jobs are about."""

    wire_name = "DeadLetterSum"

    currency = fields.String()
    amount_cents = fields.Integer()


class DeadLetterKindRecord(Wire):
    """How many dead letters of one kind there are, and what a discard of them leaves undone."""

    wire_name = "DeadLetterKind"

    name = fields.String()
    count = fields.Integer()
    leaves = fields.String(metadata={"description": "What stays undone."})
    remedy = fields.String()
    sums = fields.List(fields.Nested(DiscardedSumRecord()))


class DeadLetterSummaryRecord(Wire):
    """Dead letters of a filter, counted by kind."""

    wire_name = "DeadLetterSummary"

    count = fields.Integer()
    kinds = fields.List(fields.Nested(DeadLetterKindRecord()))


class DiscardedRecord(Wire):
    """Which jobs were deleted for good."""

    wire_name = "Discarded"

    discarded = fields.List(fields.Integer())


class ReplayedRecord(Wire):
    """Which jobs run again."""

    wire_name = "Replayed"

    replayed = fields.List(fields.Integer())


class ScheduleLineRecord(Wire):
    """A line of the schedule, in UTC."""

    wire_name = "ScheduleLine"

    name = fields.String()
    cron = fields.String()
    last_at = Instant(allow_none=True)
    next_at = Instant()
    is_late = fields.Boolean()
