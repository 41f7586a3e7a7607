"""What becomes of the rows of one customer of the old system in one program.

Source: the switch-over rules, "Customers" and "First payment and ordinals".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

#: More payments of one customer than this make no difference to what an affiliate earns.
MAX_PAYMENTS = 100_000
_NEVER = datetime(1, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class CustomerRow:
    """A row of a customer, as far as rows of one customer differ. `payments` is the source's own number."""

    source_id: str
    billing_id: str | None
    subscription_id: str | None
    email: str | None
    name: str | None
    first_paid_at: datetime | None
    became_lead_at: datetime | None
    created_at: datetime | None
    payments: int | None


@dataclass(frozen=True, slots=True)
class BroughtSales:
    """The payments of a customer among the commissions that come over, and the names that the newest of these tell.

    `new_payments` of them no earlier switch brought. `first_at` is the earliest above 0, `unpriced_at` the earliest
    without an amount.
    """

    payments: int = 0
    first_at: datetime | None = None
    last_at: datetime | None = None
    unpriced_at: datetime | None = None
    new_payments: int = 0
    billing_id: str | None = None
    subscription_id: str | None = None
    email: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class CustomerSummary:
    """A customer by every name of their rows, with first payment, number of payments and the newest evidence.

    `brought_payments` of the payments came over as commissions, in this switch or an earlier one.
    """

    billing_id: str | None
    subscription_id: str | None
    email: str | None
    name: str | None
    first_paid_at: datetime | None
    payments: int
    seen_at: datetime
    brought_payments: int = 0


def key(*, program: str, billing_id: str | None, subscription_id: str | None, email: str | None) -> str | None:
    """Return what rows of one customer in one program have in common; None without any name.

    The billing id counts first, then the subscription, then the email (normalized): two people of one email with
    different billing ids stay two.
    """
    for kind, name in (("id", billing_id), ("subscription", subscription_id), ("email", email)):
        if name:
            return f"{program}|{kind}:{name}"
    return None


def choose_row(rows: Sequence[CustomerRow]) -> CustomerRow:
    """Return the row that says who is credited: the latest first payment, then the latest created, then the last id."""
    return max(rows, key=lambda row: (row.first_paid_at or _NEVER, row.created_at or _NEVER, row.source_id))


def summarize(
    rows: Sequence[CustomerRow], sales: BroughtSales, *, read_at: datetime, earlier: CustomerSummary | None = None
) -> CustomerSummary:
    """Return a customer from all their rows; the chosen one is the first. `read_at` dates a customer without any time.

    Names that no row has are those of the commissions. Payments are at most `MAX_PAYMENTS`. What an `earlier` switch
    said is completed: payments do not become fewer, the first one not later, and no name is lost.
    """
    stated = [row.first_paid_at for row in rows if row.first_paid_at]
    leads = [at for row in rows for at in (row.became_lead_at, row.created_at) if at]
    brought = max(sales.payments, earlier.brought_payments + sales.new_payments if earlier else 0)
    payments = max([brought, *(row.payments or 0 for row in rows), earlier.payments if earlier else 0])
    first_paid_at = _earliest(*stated, sales.first_at, earlier.first_paid_at if earlier else None) or sales.unpriced_at
    if payments and first_paid_at is None:
        first_paid_at = _earliest(*leads, sales.last_at) or read_at
    seen_at = sales.last_at or (max(stated) if stated else max(leads, default=read_at))
    sources: list[CustomerRow | BroughtSales | CustomerSummary] = [*rows, sales]
    if earlier is not None:
        is_newer = sales.last_at is not None and sales.last_at >= earlier.seen_at
        sources.insert(len(sources) if is_newer else len(rows), earlier)
        seen_at = max(seen_at, earlier.seen_at)
    return CustomerSummary(
        billing_id=next((each.billing_id for each in sources if each.billing_id), None),
        subscription_id=next((each.subscription_id for each in sources if each.subscription_id), None),
        email=next((each.email for each in sources if each.email), None),
        name=next((each.name for each in sources if each.name), None),
        first_paid_at=first_paid_at,
        payments=min(max(payments, 1), MAX_PAYMENTS) if first_paid_at else 0,
        seen_at=seen_at,
        brought_payments=min(brought, MAX_PAYMENTS),
    )


def _earliest(*times: datetime | None) -> datetime | None:
    return min((at for at in times if at is not None), default=None)
