"""Conversions from another service, on the wire.

Rows are described here and read in `domain.import_rows`: a wrong row is named by its place, with a code.
Source: core spec, "Conversions" (conversion import) and "Shared import safeguards".
"""

from collections.abc import Mapping
from typing import Any

from marshmallow import fields, pre_load, validate

from domain import statuses
from domain.refused import Refused
from schemas.base import NEEDED, Flag, Instant, Wire, one_of, text, whole
from schemas.imports.affiliates import ImportRecord

_MOST_ROWS = 1000


class HistoricalRow(Wire):
    """A sale of the past; one of affiliateEmail and affiliateSlug is needed."""

    affiliate_email = text(longest=320, allow_none=True)
    affiliate_slug = text(longest=255, allow_none=True)
    customer_email = text(longest=320, allow_none=True)
    customer_name = text(longest=255, allow_none=True)
    amount_cents = whole(metadata=NEEDED)
    commission_cents = whole(metadata=NEEDED)
    currency = text(longest=255, metadata=NEEDED)
    occurred_at = Instant(metadata=NEEDED)
    paid = Flag(allow_none=True)
    type = one_of((statuses.ConversionType.OneTime, statuses.ConversionType.Recurring), allow_none=True)
    processor_customer_id = text(longest=255, allow_none=True)
    processor_subscription_id = text(longest=255, allow_none=True)
    external_id = text(longest=512, allow_none=True)


class _Unread(fields.Nested):
    """An object that is described, and loaded as it was sent."""

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> Any:
        return value


class ConversionPreview(Wire):
    """Up to 1,000 sales of one program, to be looked at. Raises Refused 400: row_cap_exceeded."""

    program_id = fields.UUID(required=True)
    conversions = fields.List(
        _Unread(HistoricalRow, allow_none=True), required=True, validate=validate.Length(min=1, max=_MOST_ROWS)
    )
    exclude_paid = Flag(load_default=False)

    @pre_load
    def _count(self, sent: Mapping[str, Any], **_: object) -> Mapping[str, Any]:
        rows = sent.get("conversions")
        if isinstance(rows, list) and len(rows) > _MOST_ROWS:
            message = f"One import takes at most {_MOST_ROWS} rows; this one has {len(rows)}."
            raise Refused(400, "row_cap_exceeded", message, field="conversions")
        return sent


class ConversionImport(ConversionPreview):
    """Up to 1,000 sales of one program; with `confirm_unpaid_payout` those that were not paid become payable."""

    confirm_unpaid_payout = Flag(load_default=False)


class CommissionBalance(Wire):
    """Commission of one currency, in its minor units, and of how many rows."""

    currency = fields.String()
    commission_cents = fields.Integer()
    count = fields.Integer()


class ConversionImportPreview(Wire):
    """What an import of these rows would come to; `skip_reasons` counts why rows would be skipped."""

    rows_total = fields.Integer()
    would_import = fields.Integer()
    would_skip = fields.Integer()
    would_error = fields.Integer()
    skip_reasons = fields.Dict(keys=fields.String(), values=fields.Integer())
    paid_balance = fields.List(fields.Nested(CommissionBalance))
    unpaid_balance = fields.List(fields.Nested(CommissionBalance))


class ConversionImportRecord(ImportRecord):
    """What an import came to, and what became payable by it.

    `unpaid_confirmed_cents` is a sum over currencies: money only when `unpaid_confirmed_currency` names the one.
    """

    wire_name = "ConversionImportResult"

    unpaid_confirmed = fields.List(fields.Nested(CommissionBalance))
    unpaid_confirmed_currency = fields.String(allow_none=True)
    unpaid_confirmed_cents = fields.Integer()
    confirm_unpaid_payout = fields.Boolean()
    exclude_paid = fields.Boolean()
