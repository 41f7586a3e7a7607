"""`flask mail`: emails sent, kept because no mail server is set, and failed."""

from uuid import UUID

import click
from flask.cli import AppGroup

import settings
from adapters import clock
from adapters.mail import smtp
from commands import audit_trail, output
from domain.mail import smtp_address
from models import ids
from models.mail import MailMessage, any_org_list
from pipelines import mail

group = AppGroup("mail", help="Emails: sent, kept and failed.")

_STATUSES = ("Queued", "Sent", "Kept", "Failed")
_ENCRYPTION = {
    smtp_address.Security.Tls: "TLS",
    smtp_address.Security.StartTls: "STARTTLS",
    smtp_address.Security.Plain: "not encrypted",
}


@group.command("outbox")
@click.option("--org", "organization", type=click.UUID)
@click.option("--status", type=click.Choice(_STATUSES))
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True)
@output.json_option
def outbox(organization: UUID | None, status: str | None, limit: int, as_json: bool) -> None:
    """List emails, newest first. Kept means that SMTP_URL is not set."""
    with output.operator_transaction():
        listed = any_org_list(organization_id=organization, status=status, limit=limit)
    output.show(
        [_serialize(message) for message in listed],
        as_json=as_json,
        print_text=lambda: output.table(
            ("id", "when", "kind", "to", "subject", "status"),
            [
                (row.id, row.created_at.strftime("%Y-%m-%d %H:%M"), row.kind, row.recipient, row.subject, row.status)
                for row in listed
            ],
            empty="No messages.",
        ),
    )


@group.command("show")
@click.argument("message_id", type=click.UUID)
@output.json_option
def show(message_id: UUID, as_json: bool) -> None:
    """Show one email with its body, which may contain a one-time link; the audit log records the access."""
    with output.operator_transaction():
        opened = mail.any_org_open(message_id)
        audit_trail.record(
            "mail.read",
            {"kind": opened.message.kind},
            about=message_id,
            organization_id=opened.message.organization_id,
        )

    def print_text() -> None:
        for name, value in opened.headers.items():
            click.echo(f"{name}: {value}")
        click.echo(f"\n{opened.text if opened.text is not None else 'The body was deleted.'}\n")
        click.echo(_describe_status(opened.message))

    document = {**_serialize(opened.message), "headers": opened.headers, "text": opened.text, "html": opened.html}
    output.show(document, as_json=as_json, print_text=print_text)


@group.command("retry")
@click.argument("message_ids", type=click.UUID, nargs=-1, required=True)
@output.json_option
def retry(message_ids: tuple[UUID, ...], as_json: bool) -> None:
    """Queue Kept and Failed emails again, after SMTP_URL was set or the cause was fixed."""
    with output.operator_transaction():
        queued = mail.any_org_retry(message_ids)
        for organization_id, message_id in queued:
            audit_trail.record(
                "mail.retried", {"message": message_id}, about=message_id, organization_id=organization_id
            )
    retried = sorted(str(message_id) for _, message_id in queued)
    untouched = sorted({str(message_id) for message_id in message_ids} - set(retried))

    def print_text() -> None:
        click.echo(f"Queued {len(retried)}: {' '.join(retried) or 'none'}")
        if untouched:
            click.echo(f"Not queued (neither Kept nor Failed, or the body was deleted): {' '.join(untouched)}")

    output.show({"queued": retried, "untouched": untouched}, as_json=as_json, print_text=print_text)


@group.command("test")
@click.argument("address")
@output.json_option
def test(address: str, as_json: bool) -> None:
    """Send a test email to ADDRESS now, without the queue, and print what the mail server replied."""
    config = settings.current().mail
    if config.smtp is None:
        raise click.ClickException(
            "SMTP_URL is not set, so no email is sent. Next: set SMTP_URL (docs/settings.md) and MAIL_FROM."
        )
    email = smtp.OutgoingEmail(
        id=ids.new_id(),
        to=address,
        subject="Finderfee can send email",
        text="This is the test email of `flask mail test`. Sign-in links and other emails are sent in the same way.\n",
        html=None,
        written_at=clock.now(),
    )
    server = f"{config.smtp.host}:{config.smtp.port} ({_ENCRYPTION[config.smtp.security]})"
    try:
        smtp.Smtp(config.smtp, sender=config.sender).send(email)
    except (smtp.MailRejected, smtp.MailUnreachable) as error:
        reason = output.clean_line(str(error))
        raise click.ClickException(
            f"{server} did not accept the email: {reason}\nNext: {smtp.advise(error)}"
        ) from error
    output.show(
        {"sent": True, "to": address, "from": config.sender, "server": config.smtp.host, "port": config.smtp.port},
        as_json=as_json,
        print_text=lambda: click.echo(
            f"{server} accepted the email to {output.clean_line(address)} from {config.sender}.\n"
            "If it is not in the inbox within a minute, look in the spam folder, and publish SPF and DKIM records for"
            " the sender's domain."
        ),
    )


def _serialize(message: MailMessage) -> dict[str, object]:
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


def _describe_status(message: MailMessage) -> str:
    attempts = f"{message.attempts} attempt{'' if message.attempts == 1 else 's'}"
    text = f"{message.status} after {attempts}{f': {message.last_error}' if message.last_error else ''}"
    if message.status in ("Kept", "Failed") and message.body_sealed is not None:
        text += f"\nNext: flask mail retry {message.id}"
    elif message.status == "Queued" and message.last_error:
        text += "\nNext: flask jobs dead --queue mail"
    return text
