"""The kinds of notifications, the roles that each concerns, and when its email is sent."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from domain.organization import access
from domain.organization.access import Role

#: A notification that collects events is emailed once per hour at most.
DIGEST_AFTER = timedelta(hours=1)
#: Unread notifications are counted up to this number.
MAX_UNREAD = 100
_AT_ONCE = timedelta(0)
_MAIL_PREFIX = "notification."


class NotificationKind(StrEnum):
    """An event that people of a brand are notified of."""

    NewApplication = "new_application"
    FirstSale = "first_sale"
    LargeSale = "large_sale"
    WebhookFailing = "webhook_failing"
    ConnectionBroken = "connection_broken"
    PayoutDue = "payout_due"


@dataclass(frozen=True, slots=True)
class KindRules:
    """The rules of a kind.

    Members with the role `seen_by` or a higher one see it in the dashboard. Those with `emailed_to` or a higher one can
    act on it and get its email, `email_after` the first event. With `is_collected`, further events until then count in
    the same notification. `code` identifies the kind in unsubscribe links and never changes.
    """

    code: int
    seen_by: Role
    emailed_to: Role
    email_after: timedelta = _AT_ONCE

    @property
    def is_collected(self) -> bool:
        """Whether events within an hour are one notification."""
        return self.email_after > _AT_ONCE


RULES: dict[NotificationKind, KindRules] = {
    NotificationKind.NewApplication: KindRules(1, Role.Viewer, Role.Manager, DIGEST_AFTER),
    NotificationKind.FirstSale: KindRules(2, Role.Viewer, Role.Manager),
    NotificationKind.LargeSale: KindRules(3, Role.Viewer, Role.Manager, DIGEST_AFTER),
    NotificationKind.WebhookFailing: KindRules(4, Role.Viewer, Role.Manager),
    NotificationKind.ConnectionBroken: KindRules(5, Role.Viewer, Role.Admin),
    NotificationKind.PayoutDue: KindRules(6, Role.Admin, Role.Owner),
}


def to_mail_kind(kind: NotificationKind) -> str:
    """Return the kind of the emails of a notification, as operators see it."""
    return f"{_MAIL_PREFIX}{kind.value}"


def kind_from_mail_kind(mail_kind: str) -> NotificationKind | None:
    """Return the kind of notification that an email is about; None for other emails."""
    return next((kind for kind in NotificationKind if to_mail_kind(kind) == mail_kind), None)


_BY_CODE = {rules.code: kind for kind, rules in RULES.items()}


def kind_from_code(code: int) -> NotificationKind | None:
    """Return the kind with a code; None for an unknown one."""
    return _BY_CODE.get(code)


def list_visible(role: str) -> Sequence[NotificationKind]:
    """Return the kinds that a role sees in the dashboard."""
    return [kind for kind, rules in RULES.items() if access.at_least(role, rules.seen_by)]


def list_counted(role: str) -> Sequence[NotificationKind]:
    """Return the kinds of which a role has a number of unread ones. A Viewer, who changes nothing, has none."""
    return list_visible(role) if access.at_least(role, Role.Manager) else []


def list_emailed(role: str) -> Sequence[NotificationKind]:
    """Return the kinds whose emails a role can get."""
    return [kind for kind, rules in RULES.items() if access.at_least(role, rules.emailed_to)]


def list_email_roles(kind: NotificationKind) -> Sequence[Role]:
    """Return the roles whose members can get the emails of a kind."""
    return [role for role in Role if access.at_least(role, RULES[kind].emailed_to)]
