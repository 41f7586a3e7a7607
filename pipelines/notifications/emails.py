"""Stages the emails of a notification: one to each member who can act on it and has not switched it off.

The emails and the mark that they are staged are one transaction, so each is staged once.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import settings
from adapters.mail import template_renderer, unsubscribe_links
from adapters.mail.unsubscribe_links import EmailSubscription
from domain.notifications import kinds, wording
from domain.notifications.kinds import RULES, NotificationKind
from domain.notifications.wording import LABELS, EventFacts
from domain.text import one_line
from models.notifications import feed, readers
from models.notifications.feed import NotificationView
from models.notifications.readers import Recipient
from models.organization import organizations
from pipelines import mail

#: The page on which a member chooses their notifications.
SETTINGS_PATH = "/dashboard/settings/notifications"
_MAX_BRAND = 80
_BUTTONS = {
    NotificationKind.NewApplication: "Review applications",
    NotificationKind.FirstSale: "View the sale",
    NotificationKind.LargeSale: "View the sale",
    NotificationKind.WebhookFailing: "Open webhooks",
    NotificationKind.ConnectionBroken: "Open the connection",
    NotificationKind.PayoutDue: "Review the payout run",
}


@dataclass(frozen=True, slots=True)
class EmailContent:
    """The words of a notification's email, the same for every recipient."""

    kind: NotificationKind
    brand: str
    subject: str
    body: str
    url: str


def send(*, organization_id: UUID, notification_id: UUID, now: datetime) -> None:
    """Stage the emails of a notification, unless they were staged, or every application was decided meanwhile.

    Budget: 7 round trips at most, and the commit.
    """
    notification = feed.lock_unsent(organization_id=organization_id, notification_id=notification_id)
    organization = organizations.find(organization_id)
    if notification is None or organization is None:
        return
    feed.stage_emailed(organization_id=organization_id, notification_id=notification_id, at=now)
    kind = NotificationKind(notification.kind)
    recipients = readers.list_recipients(
        organization_id=organization_id, kind=kind.value, roles=kinds.list_email_roles(kind)
    )
    if not recipients or (kind == NotificationKind.NewApplication and not _has_pending(notification, organization_id)):
        return
    brand = one_line.format_line(organization.name, max_length=_MAX_BRAND)
    content = _build_content(notification, kind, organization_id, brand)
    for recipient in recipients:
        _send_to(recipient, content, organization_id=organization_id, now=now)


def build_title(notification: NotificationView) -> str:
    """Return the title of a notification."""
    kind = NotificationKind(notification.kind)
    return notification.title or wording.build_title(kind, notification.event_count, _first_event(notification))


def build_path(notification: NotificationView) -> str:
    """Return the page that a notification leads to."""
    kind, subject_id = NotificationKind(notification.kind), notification.subject_ids[0]
    return notification.path or wording.build_path(kind, notification.event_count, subject_id)


def _build_content(
    notification: NotificationView, kind: NotificationKind, organization_id: UUID, brand: str
) -> EmailContent:
    body = notification.detail or _build_body(notification, kind, organization_id, brand)
    return EmailContent(
        kind=kind,
        brand=brand,
        subject=" ".join(build_title(notification).split()),
        body=body,
        url=f"{settings.current().web.url}{build_path(notification)}",
    )


def _build_body(notification: NotificationView, kind: NotificationKind, organization_id: UUID, brand: str) -> str:
    count, first = notification.event_count, _first_event(notification)
    if kind == NotificationKind.FirstSale:
        return f"Congratulations! An affiliate of {brand} has brought in the first sale: {wording.format_sale(first)}."
    if kind == NotificationKind.LargeSale:
        if count == 1:
            return f"An affiliate of {brand} has brought in a large sale: {wording.format_sale(first)}."
        sales = feed.list_sale_lines(organization_id=organization_id, conversion_ids=notification.subject_ids)
        lines = [
            wording.format_sale(EventFacts(sale.affiliate_name, sale.amount_cents, sale.currency)) for sale in sales
        ]
        return f"Affiliates of {brand} have brought in {count:,} large sales:\n\n{wording.list_events(lines, count)}"
    if count == 1:
        return f"{wording.format_name(first)} applied to become an affiliate of {brand} and waits for your decision."
    applicants = feed.list_applicant_lines(organization_id=organization_id, affiliate_ids=notification.subject_ids)
    lines = [wording.format_name(EventFacts(applicant.affiliate_name)) for applicant in applicants]
    return (
        f"{count:,} people applied to become affiliates of {brand} and wait for your decision:\n\n"
        f"{wording.list_events(lines, count)}"
    )


def _has_pending(notification: NotificationView, organization_id: UUID) -> bool:
    """Return whether an application of a notification waits for a decision; if not all are stored, whether any does."""
    is_complete = notification.event_count == len(notification.subject_ids)
    return feed.has_pending_applications(organization_id, notification.subject_ids if is_complete else None)


def _first_event(notification: NotificationView) -> EventFacts:
    return EventFacts(notification.affiliate_name, notification.amount_cents, notification.currency)


def _send_to(recipient: Recipient, content: EmailContent, *, organization_id: UUID, now: datetime) -> None:
    subscription = EmailSubscription(organization_id, recipient.member_id, RULES[content.kind].code)
    unsubscribe_url = unsubscribe_links.build_url(subscription)
    article = "an" if recipient.role[0] in "AO" else "a"
    label = LABELS[content.kind].name
    reason = f'You get this email because you are {article} {recipient.role} of {content.brand} and "{label}" is on.'
    settings_url = f"{settings.current().web.url}{SETTINGS_PATH}"
    button = _BUTTONS[content.kind]
    mail.send(
        organization_id=organization_id,
        to=recipient.email,
        subject=content.subject,
        text=(
            f"{content.body}\n\n{button}: {content.url}\n\n--\n{reason}\n"
            f"Turn off these emails: {unsubscribe_url}\nAll your notifications: {settings_url}\n"
        ),
        html=template_renderer.render(
            "notification.html",
            body=content.body,
            button=button,
            url=content.url,
            reason=reason,
            unsubscribe_url=unsubscribe_url,
            settings_url=settings_url,
        ),
        kind=kinds.to_mail_kind(content.kind),
        at=now,
        unsubscribe_url=unsubscribe_url,
    )
