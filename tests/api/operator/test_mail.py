"""Emails at the console: list, read with masked sign-in links, send again."""

import pytest

from tests.support.outside.console import list_audit_entries
from tests.support.outside.post_office import PostOffice, read_message, stage_messages

_LINK = "https://acme.example/sign-in/link/S3cr3t-T0ken_abc.def"


@pytest.fixture
def mail_server(app, monkeypatch):
    """A mail server; SMTP_URL is unset until a test sets it."""
    opened = PostOffice(monkeypatch)
    opened.server = opened.settings.mail.smtp
    opened.set(smtp=None)
    yield opened
    opened.close()


def _list_emails(console, brand, **query):
    return console.get("mail", organizationId=brand.id, **query)["items"]


@pytest.mark.usefixtures("mail_server")
def test_emails_are_listed_newest_first_and_by_status(console, brand, rival, drain):
    stage_messages(brand, "First")
    stage_messages(rival, "Theirs")
    drain()
    stage_messages(brand, "Second")

    assert [(email["subject"], email["status"]) for email in _list_emails(console, brand)] == [
        ("Second", "Queued"),
        ("First", "Kept"),
    ]
    assert [email["subject"] for email in _list_emails(console, brand, status="Kept")] == ["First"]
    (email,) = _list_emails(console, brand, status="Kept")
    assert (email["recipient"], email["kind"], email["hasBody"]) == ("ben@example.com", "affiliate.invite", True)
    assert "text" not in email
    assert console.call("GET", "mail?status=Lost").status_code == 400


@pytest.mark.usefixtures("mail_server")
def test_list_has_pages(console, brand):
    for number in range(3):
        stage_messages(brand, f"Letter {number}")
    first = console.get("mail", organizationId=brand.id, take=2)
    last = console.get("mail", organizationId=brand.id, take=2, cursor=first["nextCursor"])

    subjects = [email["subject"] for page in (first, last) for email in page["items"]]
    assert subjects == ["Letter 2", "Letter 1", "Letter 0"]
    assert not last["hasMore"]


@pytest.mark.usefixtures("mail_server")
def test_reading_an_email_is_audited_and_masks_sign_in_links(console, brand, drain):
    (email_id,) = stage_messages(
        brand, text=f"Hello,\n{_LINK}\nand {_LINK}?next=/portal\nBye, https://acme.example/r/ben"
    )
    drain()
    opened = console.get(f"mail/{email_id}")

    assert "S3cr3t" not in str(opened)
    assert opened["text"].count("https://acme.example/sign-in/link/…") == 2
    assert "https://acme.example/r/ben" in opened["text"]
    assert list_audit_entries("mail.read", email_id) == [
        ("operator", "ops@example.com", brand.id, {"kind": "affiliate.invite"})
    ]


def test_sent_email_has_no_text(console, brand, mail_server, drain):
    mail_server.set(smtp=mail_server.server)
    (email_id,) = stage_messages(brand)
    drain()
    opened = console.get(f"mail/{email_id}")

    assert (opened["status"], opened["text"], opened["hasBody"]) == ("Sent", None, False)
    assert console.post(f"mail/{email_id}/retry").json["error"] == "not_retryable"


def test_unsent_email_is_sent_once_there_is_a_server(console, brand, mail_server, drain):
    (email_id,) = stage_messages(brand, "Join us")
    drain()
    refused = console.post(f"mail/{email_id}/retry")
    mail_server.set(smtp=mail_server.server)
    queued = console.post(f"mail/{email_id}/retry")
    drain()

    assert (refused.status_code, refused.json["error"]) == (409, "no_mail_server")
    assert queued.status_code == 202
    assert read_message(brand, "status") == ("Sent",)
    assert mail_server.subjects == ["Join us"]
    assert [entry[:3] for entry in list_audit_entries("mail.retried", email_id)] == [
        ("operator", "ops@example.com", brand.id)
    ]
