"""Email: staged with the change that it reports, sent at the installation's pace, stored if there is no mail server.

A message gets its slot when a worker first reads it, not when it is staged: staging takes no lock that others wait for,
and a backlog from a time without workers is spread out again. Every attempt takes a slot.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import orjson

import settings
from adapters.mail import smtp
from adapters.secret_key import sealing
from domain import jobs
from domain.mail import pace, smtp_address
from domain.notifications import kinds
from domain.refusals import Refused
from models import ids, mail
from models.notifications import readers
from models.organization import members
from pipelines import work

_KEPT = "Kept"
_FAILED = "Failed"
_OWNER_FOOTER = "You get this email because you are an Owner of the organization."
_UNWANTED = "The recipient left the team, lost the role for it, or switched these emails off."
_NO_SERVER = "There is no mail server: SMTP_URL is not set."


@dataclass(frozen=True, slots=True)
class PreparedMail:
    """A message whose attempt is counted, or one whose slot comes at `wait_until`."""

    message: mail.QueuedMessage
    server: smtp_address.Server
    wait_until: datetime | None


@dataclass(frozen=True, slots=True)
class MailOutcome:
    """The result of an attempt: accepted by the server, refused for good, or (neither) waiting for its slot."""

    is_sent: bool = False
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class OpenedMail:
    """A message with its headers and, unless it was dropped, its body."""

    message: mail.MailMessage
    headers: dict[str, str]
    text: str | None
    html: str | None


def send(
    *,
    organization_id: UUID,
    to: str,
    subject: str,
    text: str,
    html: str | None = None,
    kind: str,
    at: datetime,
    unsubscribe_url: str | None = None,
) -> None:
    """Stage one message and its job in the caller's transaction. `kind` names it for the operator (affiliate.invite).

    A POST to `unsubscribe_url` switches such messages off; it is in the headers of the email.
    Raises Refused 400: validation_failed for a line break or NUL in recipient or subject.
    """
    _check_one_line(to, field="email")
    _check_one_line(subject, field="subject")
    message_id = ids.new_id()
    body = orjson.dumps({"text": text, "html": html, "unsubscribe_url": unsubscribe_url}).decode()
    mail.stage(
        message_id=message_id,
        organization_id=organization_id,
        kind=kind,
        recipient=to,
        subject=subject,
        body_sealed=sealing.seal(body, belongs_to=str(message_id)),
        created_at=at,
    )
    work.enqueue(jobs.MAIL_SEND, organization_id=organization_id, message_id=message_id)


def send_to_owners(*, organization_id: UUID, subject: str, text: str, kind: str, at: datetime) -> None:
    """Stage a message to every Owner of an organization as `send` does, with the reason why they get it.

    White space in the subject is folded.
    """
    folded = " ".join(subject.split())
    text = f"{text.rstrip()}\n\n{_OWNER_FOOTER}\n"
    for email in members.list_owner_emails(organization_id):
        send(organization_id=organization_id, to=email, subject=folded, text=text, kind=kind, at=at)


def prepare(*, organization_id: UUID, message_id: UUID) -> PreparedMail | None:
    """Count an attempt, or reserve a slot to wait for; return None if there is nothing to send (any more).

    Without a mail server the message becomes Kept. A notification whose recipient may not get it any more is
    dropped: it may have waited for days.
    """
    message = mail.lock_queued(organization_id=organization_id, message_id=message_id)
    if message is None:
        return None
    server = settings.current().mail.smtp
    if server is None:
        mail.stage_final_status(organization_id=organization_id, message_id=message_id, status=_KEPT, error=None)
        return None
    if not _is_wanted(message):
        mail.stage_dropped(organization_id=organization_id, message_id=message_id, reason=_UNWANTED)
        return None
    wait_until = _reserve_slot(message)
    if wait_until is None:
        mail.stage_attempt(organization_id=organization_id, message_id=message_id)
    return PreparedMail(message=message, server=server, wait_until=wait_until)


def deliver(prepared: PreparedMail) -> MailOutcome:
    """Send the message to the mail server. Raises `adapters.mail.smtp.MailUnreachable` if a retry may succeed."""
    if prepared.wait_until is not None:
        return MailOutcome()
    try:
        smtp.Smtp(prepared.server, sender=settings.current().mail.sender).send(_message_from_row(prepared.message))
    except (smtp.MailRejected, sealing.CannotUnseal) as error:
        return MailOutcome(refusal=str(error))
    return MailOutcome(is_sent=True)


def record(prepared: PreparedMail, outcome: MailOutcome, *, now: datetime) -> datetime | None:
    """Stage the result of an attempt and return when the job is due again; None if the message is final."""
    organization_id, message_id = prepared.message.organization_id, prepared.message.id
    if outcome.is_sent:
        mail.stage_sent(organization_id=organization_id, message_id=message_id, at=now)
    elif outcome.refusal is not None:
        mail.stage_final_status(
            organization_id=organization_id, message_id=message_id, status=_FAILED, error=outcome.refusal
        )
    return prepared.wait_until


def record_error(prepared: PreparedMail, error: smtp.MailUnreachable) -> None:
    """Stage, for the operator, why an attempt failed; the job itself has the time of the next one."""
    message = prepared.message
    mail.stage_error(organization_id=message.organization_id, message_id=message.id, error=str(error))


def any_org_retry(message_ids: Sequence[UUID]) -> list[tuple[UUID, UUID]]:
    """Queue Kept and Failed messages again; return the (organization, message) pairs that were queued.

    Raises Refused: 409 no_mail_server.
    """
    if settings.current().mail.smtp is None:
        raise Refused(409, "no_mail_server", f"{_NO_SERVER} Set it, restart the mail workers, then retry.")
    queued = mail.any_org_requeue(message_ids)
    for organization_id, message_id in queued:
        work.enqueue(jobs.MAIL_SEND, organization_id=organization_id, message_id=message_id)
    return queued


def any_org_find(message_id: UUID) -> mail.MailMessage:
    """Return a message of any organization. Raises Refused 404 not_found."""
    message = mail.any_org_find(message_id)
    if message is None:
        raise Refused(404, "not_found", f"There is no message {message_id}. Next: flask mail outbox")
    return message


def any_org_open(message_id: UUID) -> OpenedMail:
    """Return a message of any organization with its body opened. Raises Refused: 404 not_found, 409 cannot_open."""
    message = any_org_find(message_id)
    body: dict[str, str | None] = {"text": None, "html": None, "unsubscribe_url": None}
    if message.body_sealed is not None:
        try:
            body |= _open(message.body_sealed, message.id)
        except sealing.CannotUnseal as error:
            raise Refused(409, "cannot_open", str(error)) from error
    return OpenedMail(message, _headers(message, body["unsubscribe_url"]), body["text"], body["html"])


def _is_wanted(message: mail.QueuedMessage) -> bool:
    """Return whether the recipient of a notification still gets its kind; True for other emails."""
    kind = kinds.kind_from_mail_kind(message.kind)
    return kind is None or bool(
        readers.list_recipients(
            organization_id=message.organization_id,
            kind=kind.value,
            roles=kinds.list_email_roles(kind),
            email=message.recipient,
        )
    )


def _reserve_slot(message: mail.QueuedMessage) -> datetime | None:
    """Return the time of the message's slot, reserving one if it has none; None if it may be sent now."""
    if pace.is_usable(message.slot_at, now=message.now):
        return None
    if pace.is_early(message.slot_at, now=message.now):
        return message.slot_at
    slot_at = mail.take_slot(now=message.now, gap=pace.gap(settings.current().mail.per_min))
    if slot_at <= message.now:
        return None
    mail.stage_slot(organization_id=message.organization_id, message_id=message.id, slot_at=slot_at)
    return slot_at


def _message_from_row(message: mail.QueuedMessage) -> smtp.OutgoingEmail:
    body = _open(message.body_sealed, message.id)
    return smtp.OutgoingEmail(
        id=message.id,
        to=message.recipient,
        subject=message.subject,
        text=body["text"] or "",
        html=body["html"],
        written_at=message.created_at,
        unsubscribe_url=body.get("unsubscribe_url"),
    )


def _open(sealed: bytes, message_id: UUID) -> dict[str, str | None]:
    # Not through the cache of sealed secrets: each body is opened once, and one-time links must not stay in memory.
    opened = sealing.unseal.__wrapped__(sealed, belongs_to=str(message_id))
    body: dict[str, str | None] = orjson.loads(opened)
    return body


def _headers(message: mail.MailMessage, unsubscribe_url: str | None) -> dict[str, str]:
    email = smtp.OutgoingEmail(
        message.id, message.recipient, message.subject, "", None, message.created_at, unsubscribe_url
    )
    return smtp.build_headers(email, sender=settings.current().mail.sender, recipient=message.recipient)


def _check_one_line(value: str, *, field: str) -> None:
    if any(character in value for character in "\r\n\x00"):
        raise Refused(400, "validation_failed", "It must be one line of text.", field=field)
