"""What the links of the affiliate who signed in brought, on the wire."""

from datetime import date, timedelta
from typing import Any

from marshmallow import ValidationError, fields

from schemas.base import Wire
from schemas.payouts.payout import day

_USUAL_DAYS = 30
_MOST_DAYS = 92


class _NumbersRecord(Wire):
    """Visits, leads and sales, and what they still earn: `commissionCentsByCurrency`, overrides with it."""

    clicks = fields.Integer()
    leads = fields.Integer()
    sales = fields.Integer()
    commission_cents_by_currency = fields.Dict(
        keys=fields.String(), values=fields.Integer(), attribute="commission_cents"
    )


class DayNumbersRecord(_NumbersRecord):
    """The numbers of one day (UTC)."""

    wire_name = "OwnDay"

    day = day(attribute="key")


class ChannelNumbersRecord(_NumbersRecord):
    """The numbers of one channel tag."""

    wire_name = "OwnChannel"

    sub_id = fields.String(attribute="key", allow_none=True)


class OwnNumbersQuery(Wire):
    """Which days (UTC), both included, and of which program."""

    first = fields.Date(data_key="from", load_default=None)
    last = fields.Date(data_key="to", load_default=None)
    program_id = fields.UUID(load_default=None)


def days(query: dict[str, Any], *, today: date) -> tuple[date, date]:
    """Return the first and the last day that are asked for: without any the last 30, at most 92.

    Raises ValidationError (problem details).
    """
    last = query["last"] or today
    try:
        first = query["first"] or last - timedelta(days=_USUAL_DAYS - 1)
        after = last + timedelta(days=1)
    except OverflowError as error:
        raise ValidationError({"to": ["There is no such time."]}) from error
    if not 0 < (after - first).days <= _MOST_DAYS:
        raise ValidationError({"from": [f"It must be a day before `to`, and at most {_MOST_DAYS} days in all."]})
    return first, last
