"""The numbers of the signed-in affiliate's links in the API."""

from datetime import date, timedelta
from typing import Any

from marshmallow import ValidationError, fields

from schemas.base import Wire
from schemas.payouts.payout import day

_DEFAULT_DAYS = 30
_MAX_DAYS = 92


class _NumbersRecord(Wire):
    """Visits, leads and sales, and what they still earn, including overrides: `commissionCentsByCurrency`."""

    clicks = fields.Integer()
    leads = fields.Integer()
    sales = fields.Integer()
    commission_cents_by_currency = fields.Dict(
        keys=fields.String(), values=fields.Integer(), attribute="commission_cents"
    )


class OwnDayRecord(_NumbersRecord):
    """The numbers of one day (UTC)."""

    day = day(attribute="key")


class OwnChannelRecord(_NumbersRecord):
    """The numbers of one channel tag."""

    sub_id = fields.String(attribute="key", allow_none=True)


class OwnNumbersQuery(Wire):
    """The range of days (UTC), both included, and the program."""

    first = fields.Date(data_key="from", load_default=None)
    last = fields.Date(data_key="to", load_default=None)
    program_id = fields.UUID(load_default=None)


def days(query: dict[str, Any], *, today: date) -> tuple[date, date]:
    """Return the first and the last requested day: by default the last 30 days, at most 92.

    Raises ValidationError (problem details).
    """
    last = query["last"] or today
    try:
        first = query["first"] or last - timedelta(days=_DEFAULT_DAYS - 1)
        after = last + timedelta(days=1)
    except OverflowError as error:
        raise ValidationError({"to": ["There is no such time."]}) from error
    if not 0 < (after - first).days <= _MAX_DAYS:
        raise ValidationError({"from": [f"It must be a day before `to`, and at most {_MAX_DAYS} days in all."]})
    return first, last
