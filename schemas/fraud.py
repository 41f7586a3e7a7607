"""Fraud events in the API.

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
_MAX_DAYS = 365


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
    """The filters of events: optionally one program; by default only those that wait for a decision."""

    program_id = fields.UUID(load_default=None)
    status = one_of(("open", "resolved", "dismissed", "all"), load_default="open")


class FraudEventChange(Wire):
    """The brand's decision: resolve if it was fraud, dismiss if it was not."""

    action = one_of(("resolve", "dismiss"), required=True)


class Days(QueryInteger):
    """A number of days in a query string; below 1 it is 1, above 365 it is 365."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> int:
        if not isinstance(value, str) or not _DAYS.fullmatch(value):
            raise ValidationError("Not a whole number.")
        return min(max(int(value), 1), _MAX_DAYS)


class SummaryQuery(Wire):
    """The program (a missing and a malformed id get the same refusal) and the number of days."""

    program_id = fields.String(load_default="", metadata={"format": "uuid", **NEEDED})
    days = Days(load_default=_DEFAULT_DAYS)


class FraudSummary(Wire):
    """The fraud kept from a program. The estimate is in `currency`, null if a necessary rate is missing."""

    window_days = fields.Integer()
    blocked_clicks = fields.Integer()
    blocked_clicks_by_reason = fields.Dict(keys=fields.String(), values=fields.Integer())
    held_clicks = fields.Integer()
    quarantined_leads = fields.Integer()
    estimated_not_billed_cents = fields.Integer(allow_none=True)
    currency = fields.String()
    fraud_strictness = one_of(Strictness)
