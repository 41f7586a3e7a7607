"""The words of notifications: the title, which is also the subject of the email, and the page that it leads to.

A notification of a webhook, a connection or a payout brings its own title and page.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from domain.money import wording
from domain.notifications.kinds import NotificationKind
from domain.text import one_line

_MAX_NAME = 80
_APPLICATIONS = "/dashboard/affiliates/applications"
_CONVERSIONS = "/dashboard/conversions"


@dataclass(frozen=True, slots=True)
class EventFacts:
    """The affiliate of a notification's first event and the amount of their sale; None where they are unknown."""

    affiliate_name: str | None
    amount_cents: int | None = None
    currency: str | None = None


@dataclass(frozen=True, slots=True)
class SwitchLabel:
    """A kind in the settings of a person: its name, and when the notification is sent."""

    name: str
    hint: str


#: The names of the kinds in settings and in the footer of their emails.
LABELS: dict[NotificationKind, SwitchLabel] = {
    NotificationKind.NewApplication: SwitchLabel("New applications", "An affiliate applied and waits for approval."),
    NotificationKind.FirstSale: SwitchLabel("First sale", "The first sale that an affiliate brought in."),
    NotificationKind.LargeSale: SwitchLabel("Large sales", "A customer's first payment of a certain amount or more."),
    NotificationKind.WebhookFailing: SwitchLabel("Failing webhooks", "An endpoint has not answered for a day."),
    NotificationKind.ConnectionBroken: SwitchLabel(
        "Broken connections", "A payment provider or an email platform refuses your credentials."
    ),
    NotificationKind.PayoutDue: SwitchLabel("Payouts due", "Automatic payouts prepared a run that waits for you."),
}


def build_title(kind: NotificationKind, count: int, first: EventFacts) -> str:
    """Return the title of a notification of applications or sales, with its figure."""
    if kind == NotificationKind.NewApplication:
        return f"New application: {format_name(first)}" if count == 1 else f"{count:,} new applications"
    if kind == NotificationKind.FirstSale:
        return f"First sale: {format_sale(first)}"
    return f"Large sale: {format_sale(first)}" if count == 1 else f"{count:,} large sales"


def build_path(kind: NotificationKind, count: int, subject_id: UUID) -> str:
    """Return the page of a notification of applications or sales."""
    if kind == NotificationKind.NewApplication:
        return _APPLICATIONS
    return f"{_CONVERSIONS}/{subject_id}" if count == 1 else _CONVERSIONS


def format_sale(event: EventFacts) -> str:
    """Return a sale as `49.00 EUR via Ben Osei`."""
    return f"{wording.format_money(event.amount_cents, event.currency)} via {format_name(event)}"


def format_name(event: EventFacts) -> str:
    """Return the affiliate's name on one line."""
    return one_line.format_line(event.affiliate_name or "", max_length=_MAX_NAME).strip() or "an affiliate"


def list_events(lines: Sequence[str], count: int) -> str:
    """Return the lines of the first events of a digest, and how many more there are."""
    more = count - len(lines)
    return "\n".join([*(f"- {line}" for line in lines), *([f"and {more:,} more"] if more > 0 else [])])
