"""`flask mail`: what went out, what is kept for lack of a mail server, what failed and why."""

from uuid import UUID

import click
from flask.cli import AppGroup

from commands import output, trail
from models.mail import MailMessage, any_org_list
from pipelines import mail

group = AppGroup("mail", help="Messages: sent, kept and failed.")

_STATUSES = ("Queued", "Sent", "Kept", "Failed")


@group.command("outbox")
@click.option("--org", "organization", type=click.UUID)
@click.option("--status", type=click.Choice(_STATUSES))
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True)
@output.json_option
def outbox(organization: UUID | None, status: str | None, limit: int, as_json: bool) -> None:
    """List messages, newest first. Kept means that SMTP_URL is not set."""
    with output.every_tenant():
        listed = any_org_list(organization_id=organization, status=status, limit=limit)
    output.show(
        [_as_json(message) for message in listed],
        as_json=as_json,
        person=lambda: output.table(
            ("id", "when", "kind", "to", "subject", "status"),
            [
                (one.id, one.created_at.strftime("%Y-%m-%d %H:%M"), one.kind, one.recipient, one.subject, one.status)
                for one in listed
            ],
            empty="No messages.",
        ),
    )


@group.command("show")
@click.argument("message_id", type=click.UUID)
@output.json_option
def show(message_id: UUID, as_json: bool) -> None:
    """Show one message with its body, which may hold a one-time link; the audit log keeps that it was read."""
    with output.every_tenant():
        opened = mail.any_org_open(message_id)
        trail.record(
            "mail.read",
            {"kind": opened.message.kind},
            about=message_id,
            organization_id=opened.message.organization_id,
        )

    def person() -> None:
        for name, value in opened.headers.items():
            click.echo(f"{name}: {value}")
        click.echo(f"\n{opened.text if opened.text is not None else 'The body was dropped.'}\n")
        click.echo(_fate(opened.message))

    shown = {**_as_json(opened.message), "headers": opened.headers, "text": opened.text, "html": opened.html}
    output.show(shown, as_json=as_json, person=person)


@group.command("retry")
@click.argument("message_ids", type=click.UUID, nargs=-1, required=True)
@output.json_option
def retry(message_ids: tuple[UUID, ...], as_json: bool) -> None:
    """Queue Kept and Failed messages again, once SMTP_URL is set or the cause is gone."""
    with output.every_tenant():
        queued = mail.any_org_retry(message_ids)
        for organization_id, message_id in queued:
            trail.record("mail.retried", {"message": message_id}, about=message_id, organization_id=organization_id)
    retried = sorted(str(message_id) for _, message_id in queued)
    untouched = sorted({str(message_id) for message_id in message_ids} - set(retried))

    def person() -> None:
        click.echo(f"Queued {len(retried)}: {' '.join(retried) or 'none'}")
        if untouched:
            click.echo(f"Neither Kept nor Failed, or without a body by now: {' '.join(untouched)}")

    output.show({"queued": retried, "untouched": untouched}, as_json=as_json, person=person)


def _as_json(message: MailMessage) -> dict[str, object]:
    return {
        "id": str(message.id),
        "organization": str(message.organization_id),
        "created_at": message.created_at.isoformat(),
        "kind": message.kind,
        "to": message.recipient,
        "subject": message.subject,
        "status": message.status,
        "attempts": message.attempts,
        "sent_at": message.sent_at.isoformat() if message.sent_at else None,
        "error": message.last_error,
    }


def _fate(message: MailMessage) -> str:
    attempts = f"{message.attempts} attempt{'' if message.attempts == 1 else 's'}"
    told = f"{message.status} after {attempts}{f': {message.last_error}' if message.last_error else ''}"
    if message.status in ("Kept", "Failed") and message.body_sealed is not None:
        told += f"\nNext: flask mail retry {message.id}"
    elif message.status == "Queued" and message.last_error:
        told += "\nNext: flask jobs dead --queue mail"
    return told
