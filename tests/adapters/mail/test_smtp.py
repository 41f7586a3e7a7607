"""One message to one mail server: how it arrives, what is final, what may pass, and whom we trust with it."""

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
    started = Sink()
    yield started
    started.stop()


@pytest.fixture
def trusted(monkeypatch):
    """Trust the certificate of the tests' own servers, as SSL_CERT_FILE of an operator does."""
    monkeypatch.setenv("SSL_CERT_FILE", os.environ["WEBHOOK_CA_BUNDLE"])
    smtp._tls_context.cache_clear()
    yield
    smtp._tls_context.cache_clear()


def _letter(**fields) -> smtp.OutgoingEmail:
    values = {"to": "ben@example.com", "subject": "Join us", "text": "Hello Ben", "html": None}
    return smtp.OutgoingEmail(id=ids.new_id(), written_at=_AT, **(values | fields))


def _send(port: int, letter: smtp.OutgoingEmail, *, security=Security.Plain, host="127.0.0.1", sender=_SENDER, **login):
    smtp.Smtp(Server(host, port, security, **login), sender=sender).send(letter)


def _certificate() -> Path:
    return Path(os.environ["WEBHOOK_CA_BUNDLE"]).parent


def test_a_letter_arrives_with_its_headers_and_text(sink):
    letter = _letter()

    _send(sink.port, letter)
    (taken,) = sink.taken

    assert (taken.sender, taken.recipients) == ("partners@acme.example", ["ben@example.com"])
    assert dict(taken.message.items()) | {"MIME-Version": "1.0"} == {
        "From": _SENDER,
        "To": "ben@example.com",
        "Subject": "Join us",
        "Date": "Wed, 02 Jan 2030 03:04:05 +0000",
        "Message-ID": f"<{letter.id}@acme.example>",
        "Auto-Submitted": "auto-generated",
        "Content-Type": 'text/plain; charset="utf-8"',
        "Content-Transfer-Encoding": "7bit",
        "MIME-Version": "1.0",
    }
    assert taken.message.get_content().strip() == "Hello Ben"
    assert sink.said[-1].upper() == "QUIT"


def test_html_is_the_alternative_to_the_text(sink):
    _send(sink.port, _letter(text="Grüße ✓\n.\nend", html="<p>Grüße ✓</p>"))
    message = sink.taken[0].message

    assert message.get_content_type() == "multipart/alternative"
    assert [part.get_content_type() for part in message.iter_parts()] == ["text/plain", "text/html"]
    assert sink.taken[0].text == "Grüße ✓\n.\nend"
    assert message.get_body(("html",)).get_content().strip() == "<p>Grüße ✓</p>"


@pytest.mark.parametrize(
    "text", ["", "\n", ".", "..\n.\n", "x" * 5_000, "é" * 5_000, "a\r\nb", "From here\n", "tab\tand \x01 control"]
)
def test_any_text_arrives(sink, text):
    _send(sink.port, _letter(text=text))

    assert sink.taken[0].text == text.replace("\r\n", "\n").rstrip("\n")
    assert sink.taken[0].raw.isascii()


@pytest.mark.parametrize("subject", ["", "Grüße ✓ 日本", "é" * 300, "a " * 300, "=?utf-8?q?x?=y", "😀👩‍👧 family"])
def test_a_subject_in_any_script_arrives_and_travels_in_ascii(sink, subject):
    _send(sink.port, _letter(subject=subject))
    (taken,) = sink.taken

    assert taken.raw.isascii()
    assert list(taken.message).count("Subject") == 1
    if not subject.startswith("=?"):
        assert taken.message["Subject"].strip() == subject.strip()


@pytest.mark.parametrize("between", ["\n", "\r\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\x00"])
def test_no_subject_can_add_a_header(sink, between):
    _send(sink.port, _letter(subject=f"Join{between}Bcc: eve@example.com"))
    (taken,) = sink.taken

    assert taken.message["Bcc"] is None
    assert taken.message["Subject"] == "Join Bcc: eve@example.com"
    assert taken.recipients == ["ben@example.com"]


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
def test_what_is_not_one_address_is_final_and_nobody_is_asked(sink, to):
    with pytest.raises(smtp.MailRejected, match="is not a valid email address"):
        _send(sink.port, _letter(to=to))

    assert sink.said == []


def test_a_domain_outside_ascii_travels_in_its_ascii_form(sink):
    sink.extensions.remove("SMTPUTF8")

    _send(sink.port, _letter(to="ben@faß.example"))

    assert sink.taken[0].recipients == ["ben@xn--fa-hia.example"]
    assert sink.taken[0].message["To"] == "ben@xn--fa-hia.example"


def test_a_mailbox_outside_ascii_goes_to_a_server_that_takes_it(sink):
    _send(sink.port, _letter(to="jörg@example.com", subject="Grüße"))
    (taken,) = sink.taken

    assert taken.recipients == ["jörg@example.com"]
    assert "To: jörg@example.com".encode() in taken.raw
    assert any("SMTPUTF8" in line for line in sink.said if line.upper().startswith("MAIL"))


def test_a_mailbox_outside_ascii_is_final_with_a_server_that_does_not(sink):
    sink.extensions.remove("SMTPUTF8")

    with pytest.raises(smtp.MailRejected, match="does not offer SMTPUTF8"):
        _send(sink.port, _letter(to="jörg@example.com"))


@pytest.mark.parametrize(
    "script",
    [
        {"RCPT": "550 5.1.1 no such user"},
        {"RCPT": "553 no"},
        {"DATA": "554 no"},
        {"MESSAGE": "552 too large"},
    ],
)
def test_a_5xx_about_the_recipient_or_the_message_is_final(sink, script):
    sink.scripts = [script]

    with pytest.raises(smtp.MailRejected) as rejected:
        _send(sink.port, _letter())

    assert str(rejected.value) == next(iter(script.values()))


@pytest.mark.parametrize(
    "script",
    [
        {"RCPT": "451 4.7.1 greylisted, come again"},
        {"DATA": "451 later"},
        {"MESSAGE": "452 full"},
        {"RCPT": "421 closing"},
        {"MAIL": "550 this sender may not"},  # set right by the operator, not by giving up on the recipient
        {"MAIL": "451 later"},
        {"EHLO": "550 no", "HELO": "550 no"},
        {"AUTH": "535 wrong password"},
    ],
)
def test_everything_else_that_a_server_says_may_pass(sink, script):
    sink.scripts = [script]

    with pytest.raises(smtp.MailUnreachable) as unreachable:
        _send(sink.port, _letter(), user="u", password="secret-word")

    assert str(unreachable.value) == next(iter(script.values()))


@pytest.mark.parametrize("moment", ["EHLO", "MAIL", "RCPT", "DATA", "MESSAGE"])
def test_a_connection_that_is_lost_may_do_better_next_time(sink, moment):
    sink.scripts = [{moment: HANG_UP}]

    with pytest.raises(smtp.MailUnreachable):
        _send(sink.port, _letter())


def test_a_server_that_is_rude_at_the_end_has_taken_the_letter(sink):
    for reply in (HANG_UP, "500 what?"):
        sink.scripts = [{"QUIT": reply}]
        _send(sink.port, _letter())

    assert len(sink.taken) == 2


def test_nobody_there_may_pass():
    with closing(ports.hold_port()) as nobody, pytest.raises(smtp.MailUnreachable, match="ConnectionRefusedError"):
        _send(ports.port_number(nobody), _letter())


def test_a_server_that_says_nothing_is_left(sink, monkeypatch):
    import socket

    monkeypatch.setattr(smtp, "_TIMEOUT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(smtp.MailUnreachable, match="timed out"):
        _send(silent.getsockname()[1], _letter())


def test_the_reason_is_one_short_line():
    sink = Sink()
    sink.scripts = [{"RCPT": "550 " + "x" * 600}]
    try:
        with pytest.raises(smtp.MailRejected) as rejected:
            _send(sink.port, _letter())
    finally:
        sink.stop()

    assert len(str(rejected.value)) == 500


@pytest.mark.parametrize("security", [Security.StartTls, Security.Tls])
def test_an_encrypted_letter_arrives_at_a_server_with_a_good_certificate(trusted, security):
    sink = Sink(_certificate(), is_tls=security == Security.Tls)
    try:
        _send(sink.port, _letter(), security=security, host="localhost", user="u", password="p")
    finally:
        sink.stop()

    assert sink.taken[0].is_encrypted


@pytest.mark.parametrize("security", [Security.StartTls, Security.Tls])
@pytest.mark.parametrize("is_unknown", [True, False], ids=["unknown authority", "another name"])
def test_a_server_that_cannot_prove_who_it_is_learns_nothing(security, is_unknown, request):
    if not is_unknown:
        request.getfixturevalue("trusted")
    sink = Sink(_certificate(), is_tls=security == Security.Tls)
    try:
        with pytest.raises(smtp.MailUnreachable, match="CERTIFICATE_VERIFY_FAILED"):
            _send(sink.port, _letter(), security=security, host="localhost" if is_unknown else "127.1")
    finally:
        sink.stop()

    assert sink.taken == []
    assert not any(line.startswith(("AUTH", "MAIL")) for line in sink.said)


def test_without_the_starttls_that_is_required_nothing_is_sent(sink):
    with pytest.raises(smtp.MailUnreachable, match="STARTTLS"):
        _send(sink.port, _letter(), security=Security.StartTls, user="u", password="p")

    assert not any(line.startswith(("AUTH", "MAIL")) for line in sink.said)


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
def test_the_address_says_where_as_whom_and_how_safely(url, expected):
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
def test_an_address_that_cannot_be_used_is_refused_by_the_settings_without_its_password(url):
    import settings

    with pytest.raises(settings.BadSetting, match=r"^SMTP_URL cannot be used: ") as refused:
        settings.read({"SMTP_URL": url})

    assert "s3cret" not in str(refused.value)


def test_the_settings_never_print_the_password():
    import settings

    assert "s3cret" not in repr(settings.read({"SMTP_URL": "smtp://u:s3cret@h"}))
