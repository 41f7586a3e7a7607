"""Fraud events on the wire.

Source: core spec, "Click and lead fraud review".
"""

import re
from typing import Any

from marshmallow import ValidationError, fields

from domain.fraud.bands import Strictness
from domain.statuses import ConversionStatus
from schemas.base import NEEDED, Instant, Wire, one_of
from schemas.paging import QueryInteger

_DAYS = re.compile(r"-?[0-9]{1,30}")
_DEFAULT_DAYS = 30
_MOST_DAYS = 365


class FraudEventRecord(Wire):
    """A click or lead that was blocked or held, and why. `resolvedBy` is the member who closed it.

    Blocked clicks of one link with the same reasons within an hour are one event, and so are the leads of one burst:
    `occurrences` says how many they are, `subjectId` and `occurredAt` are those of the first.
    """

    id = fields.UUID()
    program_id = fields.UUID()
    affiliate_id = fields.UUID()
    subject = one_of(("click", "lead"))
    subject_id = fields.UUID()
    score = fields.Integer()
    reasons = fields.List(fields.String())
    severity = one_of(("low", "medium", "high"))
    action = one_of(("blocked", "held"))
    status = one_of(("open", "resolved", "dismissed"))
    occurred_at = Instant()
    occurrences = fields.Integer()
    resolved_at = Instant(allow_none=True)
    resolved_by = fields.UUID(allow_none=True)
    affiliate_name = fields.String()
    affiliate_email = fields.String()
    conversion_id = fields.UUID(allow_none=True)
    conversion_status = one_of(ConversionStatus, allow_none=True)


class FraudEventsQuery(Wire):
    """Which events: of one program when asked, and those that wait for a decision unless asked otherwise."""

    program_id = fields.UUID(load_default=None)
    status = one_of(("open", "resolved", "dismissed", "all"), load_default="open")


class FraudEventChange(Wire):
    """What the brand decides: resolve says that it was fraud, dismiss that it was not."""

    action = one_of(("resolve", "dismiss"), required=True)


class Days(QueryInteger):
    """A number of days in a query string; below 1 it is 1, above 365 it is 365."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> int:
        if not isinstance(value, str) or not _DAYS.fullmatch(value):
            raise ValidationError("Not a whole number.")
        return min(max(int(value), 1), _MOST_DAYS)


class SummaryQuery(Wire):
    """Which program, missing and malformed being refused alike, and over how many days."""

    program_id = fields.String(load_default="", metadata={"format": "uuid", **NEEDED})
    days = Days(load_default=_DEFAULT_DAYS)


class FraudSummary(Wire):
    """What was kept from a program. The estimate is in `currency`, null when a rate that it needs is missing."""

    window_days = fields.Integer()
    blocked_clicks = fields.Integer()
    blocked_clicks_by_reason = fields.Dict(keys=fields.String(), values=fields.Integer())
    held_clicks = fields.Integer()
    quarantined_leads = fields.Integer()
    estimated_not_billed_cents = fields.Integer(allow_none=True)
    currency = fields.String()
    fraud_strictness = one_of(Strictness)
