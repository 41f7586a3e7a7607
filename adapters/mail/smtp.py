"""Hands one message to an SMTP server, and tells a refusal that is final from everything that may pass.

The certificate is verified against the system's authorities and the public ones; SSL_CERT_FILE names another bundle.
"""

import contextlib
import functools
import re
import smtplib
import ssl
from dataclasses import dataclass, field
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from email.utils import format_datetime, parseaddr
from typing import Protocol
from uuid import UUID

import certifi
import email_validator

from domain.mail.smtp_address import Security, Server

# Seconds for each exchange with the server, connecting included.
_TIMEOUT_S = 10
_REASON_CHARACTERS = 500

# One mailbox of plain characters needs no converting, with any domain (an intranet's own too).
_PLAIN_MAILBOX = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9.-]+")
_LINE_AND_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


class MailRejected(Exception):
    """The server, or the rules for addresses, will never take this message."""


class MailUnreachable(Exception):
    """The message was not taken, or it is unknown whether it was; another attempt may do better."""


@dataclass(frozen=True, slots=True)
class Letter:
    """One message to one mailbox. The same `id` again is the same Message-ID."""

    id: UUID
    to: str
    subject: str
    text: str = field(repr=False)
    html: str | None = field(repr=False)
    written_at: datetime


class Transport(Protocol):
    """What takes letters away."""

    def send(self, letter: Letter) -> None:
        """Return when the letter was taken; raises MailRejected, MailUnreachable."""


class Smtp:
    """Sends over a connection of its own per letter. `sender` is `Name <address>`."""

    def __init__(self, server: Server, *, sender: str) -> None:
        self._server = server
        self._sender = sender

    def send(self, letter: Letter) -> None:
        """Return when the server has taken the letter; raises MailRejected, MailUnreachable."""
        recipient = mailbox(letter.to)
        message = compose(letter, sender=self._sender, recipient=recipient)
        connection: smtplib.SMTP | None = None
        try:
            connection = self._connected()
            options = _options_for(recipient, connection)
            connection.sendmail(address_of(self._sender), [recipient], message.as_bytes(), mail_options=options)
        except (smtplib.SMTPException, OSError) as error:
            raise _meaning(error) from error
        finally:
            _leave(connection)

    def _connected(self) -> smtplib.SMTP:
        connection = self._greeted()
        try:
            connection.ehlo_or_helo_if_needed()
            if self._server.security == Security.StartTls:
                connection.starttls(context=_verified())
            if self._server.user is not None and self._server.password is not None:
                connection.login(self._server.user, self._server.password)
        except BaseException:
            connection.close()
            raise
        return connection

    def _greeted(self) -> smtplib.SMTP:
        server, name = self._server, address_of(self._sender).rpartition("@")[2]
        if server.security == Security.Tls:
            return smtplib.SMTP_SSL(
                server.host, server.port, local_hostname=name, timeout=_TIMEOUT_S, context=_verified()
            )
        return smtplib.SMTP(server.host, server.port, local_hostname=name, timeout=_TIMEOUT_S)


def compose(letter: Letter, *, sender: str, recipient: str) -> EmailMessage:
    """Return the message as it travels: headers, text, and the HTML as its alternative."""
    policy = SMTP if recipient.isascii() else SMTPUTF8
    message = EmailMessage(policy=policy.clone(cte_type="7bit"))  # a server need not take 8-bit bodies
    for name, value in headers(letter, sender=sender, recipient=recipient).items():
        message[name] = value
    message.set_content(letter.text)
    if letter.html is not None:
        message.add_alternative(letter.html, subtype="html")
    return message


def headers(letter: Letter, *, sender: str, recipient: str) -> dict[str, str]:
    """Return the headers that say who, to whom, what and when."""
    return {
        "From": sender,
        "To": recipient,
        "Subject": _LINE_AND_CONTROL.sub(" ", letter.subject),
        "Date": format_datetime(letter.written_at),
        "Message-ID": f"<{letter.id}@{address_of(sender).rpartition('@')[2]}>",
        "Auto-Submitted": "auto-generated",
    }


def mailbox(to: str) -> str:
    """Return the one mailbox that `to` names, its domain in ASCII; MailRejected when it names none, or more."""
    if _PLAIN_MAILBOX.fullmatch(to):
        return to
    try:
        found = email_validator.validate_email(to, check_deliverability=False, test_environment=True)
    except email_validator.EmailNotValidError as error:
        raise MailRejected(f"The address cannot be mailed to: {error}") from error
    return f"{found.local_part}@{found.ascii_domain}"


def address_of(sender: str) -> str:
    """Return the address of `Name <address>`."""
    return parseaddr(sender)[1]


def _options_for(recipient: str, connection: smtplib.SMTP) -> tuple[str, ...]:
    if recipient.isascii():
        return ()
    if not connection.has_extn("smtputf8"):
        raise MailRejected("The server takes no addresses with characters outside ASCII (it does not offer SMTPUTF8).")
    return ("SMTPUTF8", "BODY=8BITMIME")


def _meaning(error: Exception) -> MailRejected | MailUnreachable:
    """Sort an error: only a 5xx about this recipient or this content is final; a server may be set right."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        code, said = next(iter(error.recipients.values()))
        return _answered(code, said)
    if isinstance(error, smtplib.SMTPDataError):
        return _answered(error.smtp_code, error.smtp_error)
    if isinstance(error, smtplib.SMTPResponseException):
        return MailUnreachable(_said(error.smtp_code, error.smtp_error))
    return MailUnreachable(_short(f"{type(error).__name__}: {error}"))


def _answered(code: int, said: bytes | str) -> MailRejected | MailUnreachable:
    return MailRejected(_said(code, said)) if 500 <= code <= 599 else MailUnreachable(_said(code, said))


def _said(code: int, said: bytes | str) -> str:
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    return _short(f"{code} {text}")


def _short(reason: str) -> str:
    return _LINE_AND_CONTROL.sub(" ", reason).strip()[:_REASON_CHARACTERS]


def _leave(connection: smtplib.SMTP | None) -> None:
    # The letter's fate is known; a server that is rude at the end must not have it sent again.
    if connection is not None:
        with contextlib.suppress(smtplib.SMTPException, OSError):
            connection.quit()
        connection.close()


@functools.cache
def _verified() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context
