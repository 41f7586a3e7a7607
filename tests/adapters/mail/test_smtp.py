"""One message to one mail server: delivery, permanent and temporary failures, and TLS trust."""

import os
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.mail import smtp
from domain.mail import smtp_address
from domain.mail.smtp_address import Security, Server
from models import ids
from tests.support.outside.smtp_sink import HANG_UP, Sink
from tests.support.running import ports

_AT = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
_SENDER = "Acme Partners <partners@acme.example>"


@pytest.fixture
def sink():
    server = Sink()
    yield server
    server.stop()


@pytest.fixture
def trusted_certificate(monkeypatch):
    """Trust the certificate of the tests' own servers, as an operator does with SSL_CERT_FILE."""
    monkeypatch.setenv("SSL_CERT_FILE", os.environ["WEBHOOK_CA_BUNDLE"])
    smtp._tls_context.cache_clear()
    yield
    smtp._tls_context.cache_clear()


def _email(**fields) -> smtp.OutgoingEmail:
    values = {"to": "ben@example.com", "subject": "Join us", "text": "Hello Ben", "html": None}
    return smtp.OutgoingEmail(id=ids.new_id(), written_at=_AT, **(values | fields))


def _send(port: int, email: smtp.OutgoingEmail, *, security=Security.Plain, host="127.0.0.1", sender=_SENDER, **login):
    smtp.Smtp(Server(host, port, security, **login), sender=sender).send(email)


def _certificate() -> Path:
    return Path(os.environ["WEBHOOK_CA_BUNDLE"]).parent


def test_email_arrives_with_its_headers_and_text(sink):
    email = _email()

    _send(sink.port, email)
    (delivered,) = sink.messages

    assert (delivered.sender, delivered.recipients) == ("partners@acme.example", ["ben@example.com"])
    assert dict(delivered.message.items()) | {"MIME-Version": "1.0"} == {
        "From": _SENDER,
        "To": "ben@example.com",
        "Subject": "Join us",
        "Date": "Wed, 02 Jan 2030 03:04:05 +0000",
        "Message-ID": f"<{email.id}@acme.example>",
        "Auto-Submitted": "auto-generated",
        "Content-Type": 'text/plain; charset="utf-8"',
        "Content-Transfer-Encoding": "7bit",
        "MIME-Version": "1.0",
    }
    assert delivered.message.get_content().strip() == "Hello Ben"
    assert sink.commands[-1].upper() == "QUIT"


@pytest.mark.parametrize("to", ["ben@example.com", "bén@example.com"])
def test_unsubscribe_link_of_any_length_is_sent_as_it_is(sink, to):
    link = f"https://partners.acme.example/unsubscribe/{'Aa-_' * 40}"

    _send(sink.port, _email(to=to, unsubscribe_url=link))
    lines = sink.messages[0].raw.splitlines()

    assert f"List-Unsubscribe: <{link}>".encode() in lines
    assert b"List-Unsubscribe-Post: List-Unsubscribe=One-Click" in lines


def test_html_is_the_alternative_to_the_text(sink):
    _send(sink.port, _email(text="Grüße ✓\n.\nend", html="<p>Grüße ✓</p>"))
    message = sink.messages[0].message

    assert message.get_content_type() == "multipart/alternative"
    assert [part.get_content_type() for part in message.iter_parts()] == ["text/plain", "text/html"]
    assert sink.messages[0].text == "Grüße ✓\n.\nend"
    assert message.get_body(("html",)).get_content().strip() == "<p>Grüße ✓</p>"


@pytest.mark.parametrize(
    "text", ["", "\n", ".", "..\n.\n", "x" * 5_000, "é" * 5_000, "a\r\nb", "From here\n", "tab\tand \x01 control"]
)
def test_any_text_arrives(sink, text):
    _send(sink.port, _email(text=text))

    assert sink.messages[0].text == text.replace("\r\n", "\n").rstrip("\n")
    assert sink.messages[0].raw.isascii()


@pytest.mark.parametrize("subject", ["", "Grüße ✓ 日本", "é" * 300, "a " * 300, "=?utf-8?q?x?=y", "😀👩‍👧 family"])
def test_subject_in_any_script_is_sent_as_ascii(sink, subject):
    _send(sink.port, _email(subject=subject))
    (delivered,) = sink.messages

    assert delivered.raw.isascii()
    assert list(delivered.message).count("Subject") == 1
    if not subject.startswith("=?"):
        assert delivered.message["Subject"].strip() == subject.strip()


@pytest.mark.parametrize("separator", ["\n", "\r\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\x00"])
def test_subject_cannot_add_a_header(sink, separator):
    _send(sink.port, _email(subject=f"Join{separator}Bcc: eve@example.com"))
    (delivered,) = sink.messages

    assert delivered.message["Bcc"] is None
    assert delivered.message["Subject"] == "Join Bcc: eve@example.com"
    assert delivered.recipients == ["ben@example.com"]


@pytest.mark.parametrize(
    "to",
    [
        "",
        "ben",
        "@example.com",
        "ben@",
        "ben@example.com, eve@example.com",
        "ben@example.com eve@example.com",
        "Ben <ben@example.com>",
        "ben@example.com>\r\nRCPT TO:<eve@example.com",
        "ben@example.com\nBcc: eve@example.com",
        "ben@example.com\n",
        "ben@exa mple.com",
        "b\x00n@example.com",
        "jörg@@example.com",
        "ben@" + "é" * 300 + ".com",
    ],
)
def test_malformed_address_is_rejected_without_connecting(sink, to):
    with pytest.raises(smtp.MailRejected, match="is not a valid email address"):
        _send(sink.port, _email(to=to))

    assert sink.commands == []


def test_international_domain_is_sent_in_ascii_form(sink):
    sink.extensions.remove("SMTPUTF8")

    _send(sink.port, _email(to="ben@faß.example"))

    assert sink.messages[0].recipients == ["ben@xn--fa-hia.example"]
    assert sink.messages[0].message["To"] == "ben@xn--fa-hia.example"


def test_international_mailbox_uses_smtputf8(sink):
    _send(sink.port, _email(to="jörg@example.com", subject="Grüße"))
    (delivered,) = sink.messages

    assert delivered.recipients == ["jörg@example.com"]
    assert "To: jörg@example.com".encode() in delivered.raw
    assert any("SMTPUTF8" in line for line in sink.commands if line.upper().startswith("MAIL"))


def test_international_mailbox_is_rejected_without_smtputf8(sink):
    sink.extensions.remove("SMTPUTF8")

    with pytest.raises(smtp.MailRejected, match="does not offer SMTPUTF8"):
        _send(sink.port, _email(to="jörg@example.com"))


@pytest.mark.parametrize(
    "script",
    [
        {"RCPT": "550 5.1.1 no such user"},
        {"RCPT": "553 no"},
        {"DATA": "554 no"},
        {"MESSAGE": "552 too large"},
    ],
)
def test_5xx_about_recipient_or_message_is_permanent(sink, script):
    sink.scripts = [script]

    with pytest.raises(smtp.MailRejected) as rejected:
        _send(sink.port, _email())

    assert str(rejected.value) == next(iter(script.values()))


@pytest.mark.parametrize(
    "script",
    [
        {"RCPT": "451 4.7.1 greylisted, come again"},
        {"DATA": "451 later"},
        {"MESSAGE": "452 full"},
        {"RCPT": "421 closing"},
        {"MAIL": "550 this sender may not"},  # the operator can fix it; the recipient is not at fault
        {"MAIL": "451 later"},
        {"EHLO": "550 no", "HELO": "550 no"},
        {"AUTH": "535 wrong password"},
    ],
)
def test_other_errors_are_temporary(sink, script):
    sink.scripts = [script]

    with pytest.raises(smtp.MailUnreachable) as unreachable:
        _send(sink.port, _email(), user="u", password="secret-word")

    assert str(unreachable.value) == next(iter(script.values()))


@pytest.mark.parametrize("command", ["EHLO", "MAIL", "RCPT", "DATA", "MESSAGE"])
def test_lost_connection_is_temporary(sink, command):
    sink.scripts = [{command: HANG_UP}]

    with pytest.raises(smtp.MailUnreachable):
        _send(sink.port, _email())


def test_error_after_delivery_is_ignored(sink):
    for reply in (HANG_UP, "500 what?"):
        sink.scripts = [{"QUIT": reply}]
        _send(sink.port, _email())

    assert len(sink.messages) == 2


def test_unreachable_server_is_temporary():
    with closing(ports.hold_port()) as closed_port, pytest.raises(smtp.MailUnreachable, match="ConnectionRefusedError"):
        _send(ports.port_number(closed_port), _email())


def test_silent_server_times_out(sink, monkeypatch):
    import socket

    monkeypatch.setattr(smtp, "_TIMEOUT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(smtp.MailUnreachable, match="timed out"):
        _send(silent.getsockname()[1], _email())


def test_reason_is_truncated():
    sink = Sink()
    sink.scripts = [{"RCPT": "550 " + "x" * 600}]
    try:
        with pytest.raises(smtp.MailRejected) as rejected:
            _send(sink.port, _email())
    finally:
        sink.stop()

    assert len(str(rejected.value)) == 500


@pytest.mark.parametrize("security", [Security.StartTls, Security.Tls])
def test_email_is_encrypted_with_a_trusted_certificate(trusted_certificate, security):
    sink = Sink(_certificate(), is_tls=security == Security.Tls)
    try:
        _send(sink.port, _email(), security=security, host="localhost", user="u", password="p")
    finally:
        sink.stop()

    assert sink.messages[0].is_encrypted


@pytest.mark.parametrize("security", [Security.StartTls, Security.Tls])
@pytest.mark.parametrize("is_unknown", [True, False], ids=["unknown authority", "another name"])
def test_untrusted_server_receives_nothing(security, is_unknown, request):
    if not is_unknown:
        request.getfixturevalue("trusted_certificate")
    sink = Sink(_certificate(), is_tls=security == Security.Tls)
    try:
        with pytest.raises(smtp.MailUnreachable, match="CERTIFICATE_VERIFY_FAILED"):
            _send(sink.port, _email(), security=security, host="localhost" if is_unknown else "127.1")
    finally:
        sink.stop()

    assert sink.messages == []
    assert not any(line.startswith(("AUTH", "MAIL")) for line in sink.commands)


def test_missing_starttls_prevents_sending(sink):
    with pytest.raises(smtp.MailUnreachable, match="STARTTLS"):
        _send(sink.port, _email(), security=Security.StartTls, user="u", password="p")

    assert not any(line.startswith(("AUTH", "MAIL")) for line in sink.commands)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("smtp://mail.example.com", Server("mail.example.com", 587, Security.StartTls)),
        ("smtp://mail.example.com:25/", Server("mail.example.com", 25, Security.StartTls)),
        ("smtp://u%40x:p%2F%3A@h.example", Server("h.example", 587, Security.StartTls, "u@x", "p/:")),
        ("smtps://u:p@h.example", Server("h.example", 465, Security.Tls, "u", "p")),
        ("smtp://h.example?starttls=off", Server("h.example", 587, Security.Plain)),
        ("smtp://localhost:1025", Server("localhost", 1025, Security.Plain)),
        ("smtp://127.0.0.2:25", Server("127.0.0.2", 25, Security.Plain)),
        ("smtp://[::1]:25", Server("::1", 25, Security.Plain)),
        ("smtp://localhost?starttls=on", Server("localhost", 587, Security.StartTls)),
    ],
)
def test_smtp_url_is_parsed(url, expected):
    assert smtp_address.parse(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        "mail.example.com:25",
        "http://u:s3cret@h",
        "smtp://",
        "smtp://u:s3cret@",
        "smtp://u:s3cret@h:0",
        "smtp://u:s3cret@h:65536",
        "smtp://u:s3cret@h:x",
        "smtp://u:s3cret#1@h",
        "smtp://u:s3cret/1@h",
        "smtp://u:s3cret@[h",
        "smtp://u:s3cret\u2100@h",
        "smtp://u@h",
        "smtp://:s3cret@h",
        "smtp://u:s3cret@h/path",
        "smtp://u:s3cret@h?starttls=no",
        "smtp://u:s3cret@h?starttls=off&x=1",
        "smtp://u:s3cret@h?x",
        "smtps://u:s3cret@h?starttls=off",
    ],
)
def test_malformed_smtp_url_is_rejected_without_showing_the_password(url):
    import settings

    with pytest.raises(settings.BadSetting, match=r"^SMTP_URL cannot be used: ") as refused:
        settings.read({"SMTP_URL": url})

    assert "s3cret" not in str(refused.value)


def test_settings_never_print_the_password():
    import settings

    assert "s3cret" not in repr(settings.read({"SMTP_URL": "smtp://u:s3cret@h"}))
