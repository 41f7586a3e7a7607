"""`flask mail`: the outbox, a rendered message, and retries."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from models import db
from tests.support.databases import run_for_all_tenants
from tests.support.outside.post_office import PostOffice, read_message, stage_messages

_AT = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture
def office(app, monkeypatch):
    """Yield a mail server that is not configured as SMTP_URL until a test sets it."""
    post_office = PostOffice(monkeypatch)
    post_office.server = post_office.settings.mail.smtp
    post_office.set(smtp=None)
    yield post_office
    post_office.close()


def _list_audit_entries(action: str, about) -> list[tuple]:
    with db.any_org_work():
        return db.db.run(
            "select organization_id, actor_type, after from audit_entry where action = %s and entity_id = %s",
            (action, str(about)),
        )


def test_outbox_lists_kept_messages(flask, office, brand, drain):
    (message_id,) = stage_messages(brand, "Join [bold]us", at=_AT)
    drain()

    messages = flask.json("mail", "outbox", "--org", brand.id)
    code, output = flask("mail", "outbox", "--org", brand.id)

    assert messages == [
        {
            "id": str(message_id),
            "organization": str(brand.id),
            "created_at": "2030-01-02T03:04:05+00:00",
            "kind": "affiliate.invite",
            "to": "ben@example.com",
            "subject": "Join [bold]us",
            "status": "Kept",
            "attempts": 0,
            "sent_at": None,
            "error": None,
        }
    ]
    assert code == 0
    assert re.search(
        rf"^{message_id} +2030-01-02 03:04 +affiliate.invite +ben@example.com +Join \[bold\]us +Kept *$",
        output,
        re.MULTILINE,
    )


def test_outbox_is_filtered_and_sorted_newest_first(flask, office, brand, rival, drain):
    (first,) = stage_messages(brand, at=_AT)
    (second,) = stage_messages(brand, at=_AT + timedelta(seconds=1))
    drain()
    (third,) = stage_messages(brand, at=_AT + timedelta(seconds=2))
    stage_messages(rival, at=_AT + timedelta(seconds=3))

    def list_ids(*options) -> list[str]:
        return [row["id"] for row in flask.json("mail", "outbox", *options)]

    assert list_ids("--org", brand.id) == [str(third), str(second), str(first)]
    assert list_ids("--org", brand.id, "--status", "Kept") == [str(second), str(first)]
    assert list_ids("--org", brand.id, "--limit", "1") == [str(third)]
    assert {str(third), str(first)} < set(list_ids("--limit", "10000"))


def test_empty_outbox_prints_no_messages(flask, brand):
    assert flask("mail", "outbox", "--org", brand.id) == (0, "No messages.\n")
    assert flask.json("mail", "outbox", "--org", brand.id) == []


def test_show_prints_the_message_and_is_audited(flask, office, brand, drain):
    (message_id,) = stage_messages(brand, "Grüße", text="Your link: https://x.example/a", html="<p>link</p>", at=_AT)
    drain()

    view = flask.json("mail", "show", message_id)
    code, output = flask("mail", "show", message_id)

    assert (view["text"], view["html"]) == ("Your link: https://x.example/a", "<p>link</p>")
    assert view["headers"]["Message-ID"] == f"<{message_id}@localhost>"
    assert view["status"] == "Kept"
    assert code == 0
    assert output == (
        "From: Finderfee <no-reply@localhost>\n"
        "To: ben@example.com\n"
        "Subject: Grüße\n"
        "Date: Wed, 02 Jan 2030 03:04:05 +0000\n"
        f"Message-ID: <{message_id}@localhost>\n"
        "Auto-Submitted: auto-generated\n"
        "\n"
        "Your link: https://x.example/a\n"
        "\n"
        "Kept after 0 attempts\n"
        f"Next: flask mail retry {message_id}\n"
    )
    assert _list_audit_entries("mail.read", message_id) == [(brand.id, "operator", {"kind": "affiliate.invite"})] * 2


def test_show_of_a_sent_message_has_no_body(flask, office, brand, drain):
    office.set(smtp=office.server)
    (message_id,) = stage_messages(brand, text="Your link")
    drain()

    view = flask.json("mail", "show", message_id)
    code, output = flask("mail", "show", message_id)

    assert (view["status"], view["text"], view["html"]) == ("Sent", None, None)
    assert code == 0
    assert output.endswith("\nThe body was deleted.\n\nSent after 1 attempt\n")


def test_show_of_an_unsent_message_prints_the_error_and_the_next_step(flask, office, brand, drain):
    office.set(smtp=office.server)
    office.sink.scripts = [{"RCPT": "451 greylisted"}]
    (message_id,) = stage_messages(brand)
    drain()

    _, output = flask("mail", "show", message_id)

    assert output.endswith("Queued after 1 attempt: 451 greylisted\nNext: flask jobs dead --queue mail\n")


def test_unknown_message_is_a_one_line_error(flask, brand):
    unknown = uuid4()

    code, output = flask("mail", "show", unknown)

    assert (code, output) == (1, f"Error: There is no message {unknown}. Next: flask mail outbox\n")


def test_unreadable_body_is_a_one_line_error(flask, brand):
    (message_id,) = stage_messages(brand)
    run_for_all_tenants(
        "update mail_message set body_sealed = '\\x01' || repeat('x', 28)::bytea where organization_id = %s",
        brand.id,
    )

    code, output = flask("mail", "show", message_id)

    assert code == 1
    assert output.startswith("Error: A sealed secret cannot be read with this SECRET_KEY.")
    assert _list_audit_entries("mail.read", message_id) == []


@pytest.mark.parametrize("status", ["Kept", "Failed"])
def test_retry_sends_a_kept_or_failed_message(flask, office, brand, drain, status):
    (message_id,) = stage_messages(brand)
    drain()
    run_for_all_tenants(
        "update mail_message set status = %s, attempts = 3 where organization_id = %s", status, brand.id
    )
    office.set(smtp=office.server)

    code, output = flask("mail", "retry", message_id)
    drain()

    assert (code, output) == (0, f"Queued 1: {message_id}\n")
    assert office.subjects == ["Join us"]
    assert read_message(brand) == ("Sent", 1, None)
    assert _list_audit_entries("mail.retried", message_id) == [(brand.id, "operator", {"message": str(message_id)})]


def test_retry_skips_sent_queued_unknown_and_bodiless_messages(flask, office, brand, drain):
    office.set(smtp=office.server)
    (sent_id,) = stage_messages(brand)
    drain()
    (queued_id,) = stage_messages(brand)
    (bodiless_id,) = stage_messages(brand)
    run_for_all_tenants("update mail_message set status = 'Failed', body_sealed = null where id = %s", bodiless_id)
    run_for_all_tenants("delete from job where args ->> 'message_id' = %s", str(bodiless_id))
    others = sorted(map(str, (sent_id, queued_id, bodiless_id, uuid4())))

    result = flask.json("mail", "retry", *others, *others)
    _, output = flask("mail", "retry", *others)

    assert result == {"queued": [], "untouched": others}
    assert (
        output == f"Queued 0: none\nNot queued (neither Kept nor Failed, or the body was deleted): {' '.join(others)}\n"
    )
    assert brand.rows("select count(*) from job") == [(1,)]


def test_retry_without_a_mail_server_reports_the_missing_setting(flask, office, brand, drain):
    (message_id,) = stage_messages(brand)
    drain()

    code, output = flask("mail", "retry", message_id)

    assert code == 1
    assert output.startswith("Error: There is no mail server: SMTP_URL is not set.")
    assert read_message(brand)[0] == "Kept"


def test_test_email_is_sent_at_once_and_the_reply_is_printed(flask, office):
    office.set(smtp=office.server, sender="Acme <partners@acme.example>")

    code, output = flask("mail", "test", "ada@acme.example")

    (received,) = office.sink.messages
    assert (received.sender, received.recipients) == ("partners@acme.example", ["ada@acme.example"])
    assert code == 0
    assert f"127.0.0.1:{office.sink.port} (not encrypted) accepted the email to ada@acme.example" in output
    assert "SPF and DKIM" in output


def test_test_email_as_json(flask, office):
    office.set(smtp=office.server, sender="Acme <partners@acme.example>")

    assert flask.json("mail", "test", "ada@acme.example") == {
        "sent": True,
        "to": "ada@acme.example",
        "from": "Acme <partners@acme.example>",
        "server": "127.0.0.1",
        "port": office.sink.port,
    }


def test_test_email_without_a_mail_server_names_the_setting(flask, office):
    code, output = flask("mail", "test", "ada@acme.example")

    assert code == 1
    assert "SMTP_URL is not set" in output


@pytest.mark.parametrize(
    ("script", "advice"),
    [
        ({"MAIL": "550 not your domain"}, "set MAIL_FROM to an address"),
        ({"RCPT": "550 no such mailbox"}, "check the address"),
        ({"MESSAGE": "451 busy"}, "try again in a few minutes"),
    ],
)
def test_refused_test_email_says_the_reply_and_what_to_do(flask, office, script, advice):
    office.set(smtp=office.server)
    office.sink.scripts = [script]

    code, output = flask("mail", "test", "ada@acme.example")

    assert code == 1
    assert next(iter(script.values())) in output
    assert f"Next: {advice}" in output


def test_refused_login_of_a_test_email_names_the_credentials(flask, office):
    office.set(smtp=replace(office.server, user="acme", password="wrong"))
    office.sink.scripts = [{"AUTH": "535 wrong password"}]

    code, output = flask("mail", "test", "ada@acme.example")

    assert (code, "535 wrong password" in output, "wrong" in output.replace("535 wrong password", "")) == (
        1,
        True,
        False,
    )
    assert "Next: check user and password in SMTP_URL" in output


def test_test_email_to_a_closed_port_names_host_port_and_firewall(flask, office):
    with office.take_offline():
        code, output = flask("mail", "test", "ada@acme.example")

    assert code == 1
    assert "Next: check host and port in SMTP_URL" in output


@pytest.mark.parametrize("address", ["ada", "ada@acme.example\nBcc: eve@example.com", "a@b, c@d", ""])
def test_test_email_to_no_address_is_refused(flask, office, address):
    office.set(smtp=office.server)

    code, output = flask("mail", "test", address)

    assert code == 1
    assert "Next: check the address" in output
    assert office.sink.messages == []
