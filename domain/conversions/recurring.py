"""The window in which a customer's payments earn.

Source: core spec, "Program fields accepted on create or update", rule 4 (recurringMonths), and
recurringDelayInvoices. `commission` decides how much it earns. A payment that earns nothing is still a conversion.
"""

from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, datetime

from domain import statuses

_MAX_TIME = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class WindowFacts:
    """One payment's place in its customer's history, with the program's terms in force at that payment.

    `first_paid_at` is the customer's earliest known payment (aware), `ordinal` this payment's place counted from 1;
    refunds don't renumber. A sale without a customer is its own history: ordinal 1, first paid when it was paid.
    `recurring_months` None is lifetime, 0 is the first payment only. `recurring_delay_invoices` is how many first
    payments earn nothing.
    """

    first_paid_at: datetime
    ordinal: int
    recurring_months: int | None
    recurring_delay_invoices: int


def conversion_type(ordinal: int) -> str:
    """Return OneTime for a customer's first payment, Recurring from the second on.

    Raises ValueError for an ordinal below 1.
    Source: core spec, "Conversion", type.
    """
    if ordinal < 1:
        raise ValueError("ordinals count from 1")
    return statuses.ConversionType.OneTime if ordinal == 1 else statuses.ConversionType.Recurring


def window_end(*, first_paid_at: datetime, months: int) -> datetime:
    """Return the first instant (UTC) after a window of that many calendar months.

    Counted from the first payment in UTC and clamped to the month's end: one month from 31 January ends on 28 or 29
    February, two months end on 31 March. A window beyond the year 9999 ends at the largest representable time.
    Raises ValueError for a time without a zone or for negative months.
    Source: core spec, "Program fields accepted on create or update", rule 4.
    """
    if first_paid_at.tzinfo is None:
        raise ValueError("the first payment needs a time zone")
    if months < 0:
        raise ValueError("months cannot be negative")
    anchor = first_paid_at.astimezone(UTC)
    year, month_index = divmod(anchor.year * 12 + anchor.month - 1 + months, 12)
    if year > _MAX_TIME.year:
        return _MAX_TIME
    month = month_index + 1
    return anchor.replace(year=year, month=month, day=min(anchor.day, monthrange(year, month)[1]))


def earns(facts: WindowFacts, *, paid_at: datetime) -> bool:
    """Return whether a payment made then earns commission.

    The delayed first payments never do. After them: always with lifetime terms, the first payment alone with 0
    months, otherwise a payment from the first one (included) to the end of the window (excluded).
    Raises ValueError for a first payment without a zone or negative months.
    Source: core spec, "Program fields accepted on create or update", rule 4.
    """
    if facts.ordinal <= facts.recurring_delay_invoices:
        return False
    if facts.recurring_months is None:
        return True
    if facts.recurring_months == 0:
        return facts.ordinal == 1
    end = window_end(first_paid_at=facts.first_paid_at, months=facts.recurring_months)
    return facts.first_paid_at <= paid_at < end
