"""Conversions from another service, in the API.

Rows are described here and parsed in `domain.imports.rows`: an invalid row is reported by its index, with a code.
Source: core spec, "Conversions" (conversion import) and "Shared import safeguards".
"""

import re
from typing import Any

from marshmallow import ValidationError, fields, post_load

from domain import statuses
from domain.imports import column_mapping, files
from domain.refusals import Refused
from schemas.base import NEEDED, CleanedLine, Flag, Instant, Wire, integer, one_of, text
from schemas.imports.affiliates import ImportResultRecord
from schemas.imports.common import (
    CommissionBalance,
    ImportPreview,
    MappedFile,
    import_file,
    import_rows,
    parse_rows,
    too_many_rows,
)

_SOURCE = re.compile(r"[a-z0-9-]{1,40}")


def _source(value: str) -> None:
    if not _SOURCE.fullmatch(value):
        raise ValidationError("It must be 1 to 40 of a-z, 0-9 and hyphen.")


class HistoricalRow(Wire):
    """A past sale; one of affiliateEmail and affiliateSlug is required."""

    affiliate_email = text(longest=320, allow_none=True)
    affiliate_slug = text(longest=255, allow_none=True)
    customer_email = text(longest=320, allow_none=True)
    customer_name = CleanedLine(longest=255, allow_none=True)
    amount_cents = integer(metadata=NEEDED)
    commission_cents = integer(metadata=NEEDED)
    currency = text(longest=255, metadata=NEEDED)
    occurred_at = Instant(metadata=NEEDED)
    paid = Flag(allow_none=True)
    type = one_of((statuses.ConversionType.OneTime, statuses.ConversionType.Recurring), allow_none=True)
    processor_customer_id = text(longest=255, allow_none=True)
    processor_subscription_id = text(longest=255, allow_none=True)
    external_id = text(longest=512, allow_none=True)


class _Unread(fields.Nested):
    """An object that is described, but loaded unchanged."""

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> Any:
        return value


class ConversionPreview(MappedFile):
    """A preview of up to 1,000 sales of one program, in `conversions` or in the text of a `file`.

    A file loads to its rows, with `lines` and its `form`. `source` is the service that they come from.
    Raises Refused 400: row_cap_exceeded.
    """

    program_id = fields.UUID(required=True)
    conversions = import_rows(_Unread(HistoricalRow, allow_none=True), "conversions")
    file = import_file()
    currency = text(longest=3, load_default=None, allow_none=True)
    exclude_paid = Flag(load_default=False)
    source = text(longest=40, load_default="api", validate=[_source])

    def too_many_items(self, max_count: int) -> Refused | None:
        return too_many_rows("conversions") if max_count > files.MAX_ROWS else None

    @post_load
    def _settle(self, body: dict[str, Any], **_: object) -> dict[str, Any]:
        return body | parse_rows(body, "conversions", files.parse_sales, column_mapping.SALE_WORDS)


class ConversionImport(ConversionPreview):
    """Up to 1,000 sales of one program; with `confirm_unpaid_payout` the unpaid ones become payable.

    With `skip_invalid` invalid rows are skipped and counted; without it one of them refuses the whole import.
    """

    confirm_unpaid_payout = Flag(load_default=False)
    skip_invalid = Flag(load_default=False)


class ConversionImportPreview(ImportPreview):
    """The preview of an import. Invalid rows are in `wouldError`, or would be skipped."""

    would_error = fields.Integer()
    paid_balance = fields.List(fields.Nested(CommissionBalance))
    unpaid_balance = fields.List(fields.Nested(CommissionBalance))


class ConversionImportResultRecord(ImportResultRecord):
    """The result of an import, and the sums that became payable by it.

    `unpaid_confirmed_cents` is a sum over currencies: an amount only if `unpaid_confirmed_currency` names the one.
    """

    unpaid_confirmed = fields.List(fields.Nested(CommissionBalance))
    unpaid_confirmed_currency = fields.String(allow_none=True)
    unpaid_confirmed_cents = fields.Integer()
    confirm_unpaid_payout = fields.Boolean()
    exclude_paid = fields.Boolean()
