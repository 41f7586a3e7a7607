"""Sends emails to an SMTP server; distinguishes final refusals from errors that may be retried.

Certificates are verified with the system's and the public authorities; SSL_CERT_FILE names another bundle.
"""

import contextlib
import functools
import re
import smtplib
import ssl
from dataclasses import dataclass, field
from datetime import datetime
from email.message import EmailMessage
from email.policy import EmailPolicy
from email.utils import format_datetime, parseaddr
from uuid import UUID

import certifi
import email_validator

from domain.mail.smtp_address import Security, Server

# Seconds for each exchange with the server, connecting included.
_TIMEOUT_S = 10
_REASON_CHARACTERS = 500

# A mailbox of plain characters needs no conversion, with any domain (also an intranet's).
_PLAIN_MAILBOX = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9.-]+")
_UNSUBSCRIBE = "List-Unsubscribe"
_LINE_AND_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


class _OutgoingPolicy(EmailPolicy):
    """SMTP's rules, with the link of List-Unsubscribe as it is.

    A long link in another header would be encoded in parts (RFC 2047), which mail programs do not decode in this one.
    """

    def fold(self, name: str, value: str) -> str:
        """Return the lines of a header."""
        return f"{name}: {value}{self.linesep}" if _is_link(name, value) else super().fold(name, value)

    def fold_binary(self, name: str, value: str) -> bytes:
        """Return the lines of a header as bytes."""
        return self.fold(name, value).encode() if _is_link(name, value) else super().fold_binary(name, value)


_POLICY = _OutgoingPolicy(linesep="\r\n", cte_type="7bit")  # a server need not accept 8-bit bodies


class MailRejected(Exception):
    """The server will never accept this email, or its address is invalid."""


class MailUnreachable(Exception):
    """The email was not accepted, or it is unknown whether it was; it may be retried."""


@dataclass(frozen=True, slots=True)
class OutgoingEmail:
    """An email to one mailbox. The Message-ID is made from `id`.

    A POST to `unsubscribe_url` ends such emails to this mailbox; None for emails that cannot be switched off.
    """

    id: UUID
    to: str
    subject: str
    text: str = field(repr=False)
    html: str | None = field(repr=False)
    written_at: datetime
    unsubscribe_url: str | None = field(default=None, repr=False)


class Smtp:
    """Sends each email over a new connection. `sender` is `Name <address>`."""

    def __init__(self, server: Server, *, sender: str) -> None:
        self._server = server
        self._sender = sender

    def send(self, email: OutgoingEmail) -> None:
        """Send an email; return when the server has accepted it. Raises MailRejected, MailUnreachable."""
        recipient = parse_mailbox(email.to)
        message = build_message(email, sender=self._sender, recipient=recipient)
        connection: smtplib.SMTP | None = None
        try:
            connection = self._connect()
            options = _mail_options(recipient, connection)
            connection.sendmail(extract_address(self._sender), [recipient], message.as_bytes(), mail_options=options)
        except (smtplib.SMTPException, OSError) as error:
            raise _classify(error) from error
        finally:
            _disconnect(connection)

    def _connect(self) -> smtplib.SMTP:
        connection = self._open_connection()
        try:
            connection.ehlo_or_helo_if_needed()
            if self._server.security == Security.StartTls:
                connection.starttls(context=_tls_context())
            if self._server.user is not None and self._server.password is not None:
                connection.login(self._server.user, self._server.password)
        except BaseException:
            connection.close()
            raise
        return connection

    def _open_connection(self) -> smtplib.SMTP:
        server, name = self._server, extract_address(self._sender).rpartition("@")[2]
        if server.security == Security.Tls:
            return smtplib.SMTP_SSL(
                server.host, server.port, local_hostname=name, timeout=_TIMEOUT_S, context=_tls_context()
            )
        return smtplib.SMTP(server.host, server.port, local_hostname=name, timeout=_TIMEOUT_S)


def advise(error: MailRejected | MailUnreachable) -> str:
    """Return what an operator does next about a failed attempt."""
    cause = error.__cause__
    if isinstance(cause, smtplib.SMTPAuthenticationError):
        return "check user and password in SMTP_URL; special characters are percent-encoded."
    if isinstance(cause, smtplib.SMTPSenderRefused):
        return "set MAIL_FROM to an address that this server may send from."
    if isinstance(cause, smtplib.SMTPNotSupportedError):
        return "the server offers no STARTTLS or no login on this port; try smtps:// with port 465, or another port."
    if isinstance(cause, ssl.SSLError):
        return "use the host name of the server's certificate in SMTP_URL; smtps:// is for port 465, smtp:// for 587."
    if isinstance(cause, OSError) and not isinstance(cause, smtplib.SMTPException):
        return "check host and port in SMTP_URL, and whether a firewall blocks outgoing connections to that port."
    if isinstance(error, MailRejected):
        return "check the address; the server refuses this recipient or message for good."
    return "try again in a few minutes; if it stays, ask the operator of the mail server about this reply."


def build_message(email: OutgoingEmail, *, sender: str, recipient: str) -> EmailMessage:
    """Return the MIME message: headers, text, and the HTML as its alternative."""
    message = EmailMessage(policy=_POLICY if recipient.isascii() else _POLICY.clone(utf8=True))
    for name, value in build_headers(email, sender=sender, recipient=recipient).items():
        message[name] = value
    message.set_content(email.text)
    if email.html is not None:
        message.add_alternative(email.html, subtype="html")
    return message


def build_headers(email: OutgoingEmail, *, sender: str, recipient: str) -> dict[str, str]:
    """Return the headers: From, To, Subject, Date, Message-ID, Auto-Submitted, and those of RFC 8058."""
    headers = {
        "From": sender,
        "To": recipient,
        "Subject": _LINE_AND_CONTROL.sub(" ", email.subject),
        "Date": format_datetime(email.written_at),
        "Message-ID": f"<{email.id}@{extract_address(sender).rpartition('@')[2]}>",
        "Auto-Submitted": "auto-generated",
    }
    if email.unsubscribe_url is not None:
        headers[_UNSUBSCRIBE] = f"<{email.unsubscribe_url}>"
        headers["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    return headers


def parse_mailbox(to: str) -> str:
    """Return the mailbox that `to` names, its domain in ASCII. Raises MailRejected unless it is exactly one."""
    if _PLAIN_MAILBOX.fullmatch(to):
        return to
    try:
        validated = email_validator.validate_email(to, check_deliverability=False, test_environment=True)
    except email_validator.EmailNotValidError as error:
        raise MailRejected(f"The address is not a valid email address: {error}") from error
    return f"{validated.local_part}@{validated.ascii_domain}"


def extract_address(sender: str) -> str:
    """Return the address of `Name <address>`."""
    return parseaddr(sender)[1]


def _is_link(name: str, value: str) -> bool:
    return name == _UNSUBSCRIBE and value.isascii()


def _mail_options(recipient: str, connection: smtplib.SMTP) -> tuple[str, ...]:
    if recipient.isascii():
        return ()
    if not connection.has_extn("smtputf8"):
        raise MailRejected("The server accepts no addresses outside ASCII (it does not offer SMTPUTF8).")
    return ("SMTPUTF8", "BODY=8BITMIME")


def _classify(error: Exception) -> MailRejected | MailUnreachable:
    """Classify an error: only a 5xx about this recipient or content is final; other errors may be fixed."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        code, text = next(iter(error.recipients.values()))
        return _classify_reply(code, text)
    if isinstance(error, smtplib.SMTPDataError):
        return _classify_reply(error.smtp_code, error.smtp_error)
    if isinstance(error, smtplib.SMTPResponseException):
        return MailUnreachable(_format_reply(error.smtp_code, error.smtp_error))
    return MailUnreachable(_shorten(f"{type(error).__name__}: {error}"))


def _classify_reply(code: int, text: bytes | str) -> MailRejected | MailUnreachable:
    return MailRejected(_format_reply(code, text)) if 500 <= code <= 599 else MailUnreachable(_format_reply(code, text))


def _format_reply(code: int, text: bytes | str) -> str:
    decoded = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return _shorten(f"{code} {decoded}")


def _shorten(reason: str) -> str:
    return _LINE_AND_CONTROL.sub(" ", reason).strip()[:_REASON_CHARACTERS]


def _disconnect(connection: smtplib.SMTP | None) -> None:
    # The outcome is known; an error while closing must not cause another attempt.
    if connection is not None:
        with contextlib.suppress(smtplib.SMTPException, OSError):
            connection.quit()
        connection.close()


@functools.cache
def _tls_context() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context
