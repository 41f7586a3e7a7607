"""How mail is sent."""

from dataclasses import dataclass

from domain.mail import smtp_address
from settings.parsers import mail_sender, smtp_server, whole_number
from settings.table import Concern, setting

_SENDER = "Finderfee <no-reply@localhost>"


@dataclass(frozen=True, slots=True)
class Mail(Concern):
    """The mail server, the sender and the pace."""

    smtp: smtp_address.Server | None = setting(
        "SMTP_URL",
        smtp_server,
        None,
        "`smtp://user:password@host:587` (STARTTLS is required unless the host is loopback; `?starttls=off` or `on`"
        " overrides that) or `smtps://…:465`; without it mail is stored for `flask mail outbox`",
    )
    sender: str = setting("MAIL_FROM", mail_sender(_SENDER), _SENDER, "the sender of all mail")
    per_min: int = setting(
        "MAIL_PER_MINUTE", whole_number(1, 60_000), 60, "how many messages are sent a minute, by all workers together"
    )
