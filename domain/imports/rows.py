"""Parses one row of a conversion import, or rejects it with a code.

Source: core spec, "Conversions" (rows of the conversion import).
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from domain import statuses
from domain.imports import cells
from domain.money import currencies, money

_MAX_CHARS = {"externalId": 512, "affiliateEmail": 320, "customerEmail": 320}
_MAX_TEXT_CHARS = 255
_TYPES = (statuses.ConversionType.OneTime.value, statuses.ConversionType.Recurring.value)


class BadRow(ValueError):
    """The row cannot be imported; `code` says why."""

    def __init__(self, code: str):
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class ConversionRow:
    """A past sale. Money is minor units of `currency`, `occurred_at` aware UTC, names trimmed."""

    affiliate_email: str | None
    affiliate_slug: str | None
    customer_email: str | None
    customer_name: str | None
    amount_cents: int
    commission_cents: int
    currency: str
    occurred_at: datetime
    is_paid: bool
    type: str
    processor_customer_id: str | None
    processor_subscription_id: str | None
    external_id: str | None


def parse(value: object, *, now: datetime) -> ConversionRow:
    """Return a row, checked in the order of the spec's table; a BadRow from a file is raised.

    Raises BadRow: invalid_row (not an object), affiliate_email_or_slug_required, amount_out_of_range,
    commission_out_of_range, unsupported_currency, occurred_at_required, invalid_occurred_at, occurred_at_in_future,
    invalid_paid, invalid_type; and for a value that is not a text, is too long or has a NUL: invalid_affiliate_email,
    invalid_affiliate_slug, invalid_customer_email, invalid_customer_name, invalid_processor_customer_id,
    invalid_processor_subscription_id, invalid_external_id.
    """
    if isinstance(value, BadRow):
        raise value
    if not isinstance(value, Mapping):
        raise BadRow("invalid_row")
    email, slug = _text(value, "affiliateEmail"), _text(value, "affiliateSlug")
    if email is None and slug is None:
        raise BadRow("affiliate_email_or_slug_required")
    return ConversionRow(
        affiliate_email=email.strip().lower() if email else None,
        affiliate_slug=slug.strip().lower() if slug else None,
        customer_email=_trimmed_text(value, "customerEmail"),
        customer_name=_trimmed_text(value, "customerName"),
        amount_cents=_cents(value.get("amountCents"), "amount_out_of_range"),
        commission_cents=_cents(value.get("commissionCents"), "commission_out_of_range"),
        currency=_currency(value.get("currency")),
        occurred_at=_parse_time(value.get("occurredAt"), now),
        is_paid=_flag(value.get("paid")),
        type=_type(value.get("type")),
        processor_customer_id=_trimmed_text(value, "processorCustomerId"),
        processor_subscription_id=_trimmed_text(value, "processorSubscriptionId"),
        external_id=_text(value, "externalId"),
    )


def identity(row: ConversionRow, *, program_id: UUID, affiliate_id: UUID, occurrence: int = 1) -> str:
    """Return the key by which the row is recognized in another import: its external id, else a hash of its values.

    The paid flag and the customer's name don't count: both may be corrected between two exports. `occurrence` numbers
    the equal rows of one import without an external id, from 1.
    """
    if row.external_id is not None:
        return row.external_id
    content = [
        str(program_id),
        str(affiliate_id),
        row.customer_email,
        row.amount_cents,
        row.commission_cents,
        row.currency,
        row.occurred_at.isoformat(),
        row.type,
        row.processor_customer_id,
        row.processor_subscription_id,
    ]
    digest = f"sha256:{hashlib.sha256(json.dumps(content).encode()).hexdigest()}"
    return digest if occurrence == 1 else f"{digest}#{occurrence}"


def _text(row: Mapping[str, Any], name: str) -> str | None:
    """Return a text unchanged, None if it is blank or missing."""
    value = row.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or "\x00" in value or len(value) > _MAX_CHARS.get(name, _MAX_TEXT_CHARS):
        raise BadRow(f"invalid_{_snake(name)}")
    return value if value.strip() else None


def _trimmed_text(row: Mapping[str, Any], name: str) -> str | None:
    value = _text(row, name)
    return value.strip() if value else None


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def _cents(value: object, code: str) -> int:
    # A number beyond 64 bits is parsed as a float: it is out of the range anyway.
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= money.MAX_AMOUNT_CENTS:
        raise BadRow(code)
    return value


def _currency(value: object) -> str:
    code = currencies.normalize(value) if isinstance(value, str) else None
    if code is None:
        raise BadRow("unsupported_currency")
    return code


def _parse_time(value: object, now: datetime) -> datetime:
    if value is None:
        raise BadRow("occurred_at_required")
    if not isinstance(value, str):
        raise BadRow("invalid_occurred_at")
    try:
        at = cells.parse_time(value)
    except ValueError as error:
        raise BadRow("invalid_occurred_at") from error
    if at > now:
        raise BadRow("occurred_at_in_future")
    return at


def _flag(value: object) -> bool:
    if value is not None and not isinstance(value, bool):
        raise BadRow("invalid_paid")
    return bool(value)


def _type(value: object) -> str:
    if value is None:
        return _TYPES[0]
    if value not in _TYPES:
        raise BadRow("invalid_type")
    return str(value)
