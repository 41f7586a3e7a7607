"""Conversions from another service, on the wire.

Rows are described here and read in `domain.imports.rows`: a wrong row is named by its place, with a code.
Source: core spec, "Conversions" (conversion import) and "Shared import safeguards".
"""

import re
from typing import Any

from marshmallow import ValidationError, fields, post_load

from domain import statuses
from domain.imports import files
from domain.refused import Refused
from schemas.base import NEEDED, CleanedLine, Flag, Instant, Wire, one_of, text, whole
from schemas.imports.affiliates import ImportRecord
from schemas.imports.sent import (
    CommissionBalance,
    ImportPreview,
    import_file,
    import_rows,
    rows_of,
    too_many_rows,
)

_SOURCE = re.compile(r"[a-z0-9-]{1,40}")


def _source(value: str) -> None:
    if not _SOURCE.fullmatch(value):
        raise ValidationError("It may have a to z, 0 to 9 and hyphens, at most 40 of them.")


class HistoricalRow(Wire):
    """A sale of the past; one of affiliateEmail and affiliateSlug is needed."""

    affiliate_email = text(longest=320, allow_none=True)
    affiliate_slug = text(longest=255, allow_none=True)
    customer_email = text(longest=320, allow_none=True)
    customer_name = CleanedLine(longest=255, allow_none=True)
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
    """Up to 1,000 sales of one program, in `conversions` or in the text of a `file`, to be looked at.

    A file loads to its rows, with `lines` and its `form`. `source` is the service that they come from.
    Raises Refused 400: row_cap_exceeded.
    """

    program_id = fields.UUID(required=True)
    conversions = import_rows(_Unread(HistoricalRow, allow_none=True), "conversions")
    file = import_file()
    exclude_paid = Flag(load_default=False)
    source = text(longest=40, load_default="api", validate=[_source])

    def too_many_items(self, max_count: int) -> Refused | None:
        return too_many_rows("conversions") if max_count > files.MAX_ROWS else None

    @post_load
    def _settle(self, sent: dict[str, Any], **_: object) -> dict[str, Any]:
        return sent | rows_of(sent, "conversions", files.parse_sales)


class ConversionImport(ConversionPreview):
    """Up to 1,000 sales of one program; with `confirm_unpaid_payout` those that were not paid become payable.

    With `skip_invalid` wrong rows are left out and counted; without it one of them refuses all.
    """

    confirm_unpaid_payout = Flag(load_default=False)
    skip_invalid = Flag(load_default=False)


class ConversionImportPreview(ImportPreview):
    """What an import of these rows would come to. Wrong rows are in `wouldError`, or would be skipped."""

    would_error = fields.Integer()
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
