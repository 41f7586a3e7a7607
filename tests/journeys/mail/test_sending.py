"""An email from the transaction that stages it to the mail server, sent once whatever the server responds."""

from datetime import UTC, datetime

import pytest

from domain.refusals import Refused
from models import db, ids
from models import mail as messages
from models.jobs import admin_queries
from pipelines import mail, upkeep
from tests.support.databases import run_for_all_tenants
from tests.support.outside.post_office import list_jobs, list_waits_s, make_jobs_due, read_message, stage_messages
from tests.support.outside.smtp_sink import HANG_UP


def test_email_is_sent_once_despite_repeated_jobs(office, brand, drain):
    (message_id,) = stage_messages(brand, text="Hello Ben", html="<p>Hello Ben</p>")

    drain(deliveries=3)
    (delivered,) = office.sink.messages

    assert delivered.recipients == ["ben@example.com"]
    assert delivered.text == "Hello Ben"
    assert delivered.message.get_body(("html",)).get_content().strip() == "<p>Hello Ben</p>"
    assert delivered.message["Message-ID"] == f"<{message_id}@localhost>"
    assert list_jobs(brand) == []


def test_body_is_deleted_once_sent(office, brand, drain):
    stage_messages(brand, text="Your one-time link")
    ((sealed,),) = brand.rows("select body_sealed from mail_message")

    drain()

    assert b"one-time" not in bytes(sealed)
    assert read_message(brand, "status, attempts, last_error, body_sealed, sent_at <= now()") == (
        "Sent",
        1,
        None,
        None,
        True,
    )


def test_rolled_back_transaction_sends_no_email(office, brand, drain):
    def stage_and_fail():
        with db.unit_of_work(brand.id):
            mail.send(
                organization_id=brand.id, to="a@example.com", subject="x", text="x", kind="x", at=datetime.now(UTC)
            )
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        stage_and_fail()
    drain()

    assert brand.rows("select count(*) from mail_message") == [(0,)]
    assert office.sink.commands == []


@pytest.mark.parametrize("invalid_text", ["a\nBcc: eve@example.com", "a\rb", "a\r\n", "a\x00b"])
def test_multi_line_recipient_or_subject_is_rejected(brand, invalid_text):
    for fields in ({"to": invalid_text}, {"subject": invalid_text}):
        with pytest.raises(Refused) as refused, db.unit_of_work(brand.id):
            mail.send(
                organization_id=brand.id,
                text="x",
                kind="x",
                at=datetime.now(UTC),
                **({"to": "a@example.com", "subject": "x"} | fields),
            )
        assert (refused.value.status, refused.value.code) == (400, "validation_failed")

    assert brand.rows("select count(*) from mail_message") == [(0,)]


def test_other_tenants_email_is_not_visible(office, brand, rival):
    stage_messages(brand)

    assert rival.rows("select count(*) from mail_message") == [(0,)]
    with db.unit_of_work(rival.id):
        row = messages.lock_queued(organization_id=rival.id, message_id=ids.new_id())
    assert row is None


@pytest.mark.parametrize("to", ["ben@faß.example", "jörg@example.com"])
def test_subject_and_address_in_any_script_arrive(office, brand, drain, to):
    stage_messages(brand, "Grüße ✓ 日本", to=to)

    drain()

    assert office.subjects == ["Grüße ✓ 日本"]
    assert read_message(brand, "status, recipient") == ("Sent", to)


def test_unsupported_address_fails_with_the_reason(office, brand, drain):
    office.sink.extensions.remove("SMTPUTF8")
    stage_messages(brand, to="jörg@example.com")

    drain()
    status, attempts, reason = read_message(brand)

    assert (status, attempts) == ("Failed", 1)
    assert "SMTPUTF8" in reason
    assert list_jobs(brand) == []


def test_rejected_recipient_fails_at_once_without_a_dead_letter(office, brand, drain):
    office.sink.scripts = [{"RCPT": "550 5.1.1 no such user"}]
    stage_messages(brand)

    drain()

    assert read_message(brand) == ("Failed", 1, "550 5.1.1 no such user")
    assert read_message(brand, "body_sealed is not null, sent_at") == (True, None)
    assert list_jobs(brand) == []


def test_temporary_rejection_is_retried_after_a_minute(office, brand, drain):
    office.sink.scripts = [{"RCPT": "451 greylisted"}, {}]
    stage_messages(brand)

    drain()
    queued_message, (wait_s,) = read_message(brand), list_waits_s(brand)
    make_jobs_due()
    drain()

    assert queued_message == ("Queued", 1, "451 greylisted")
    assert wait_s == pytest.approx(60, abs=30)
    assert read_message(brand) == ("Sent", 2, None)


def test_email_is_sent_after_an_outage(office, brand, drain):
    stage_messages(brand)
    with office.take_offline():
        drain()
    queued_message = read_message(brand)

    make_jobs_due()
    drain()

    assert queued_message[:2] == ("Queued", 1)
    assert "ConnectionRefusedError" in queued_message[2]
    assert office.subjects == ["Join us"]


def test_unknown_outcome_is_resent_with_the_same_message_id(office, brand, drain):
    office.sink.scripts = [{"MESSAGE": HANG_UP}, {}]
    stage_messages(brand)

    drain()
    make_jobs_due()
    drain()
    first, second = office.sink.messages

    assert first.message["Message-ID"] == second.message["Message-ID"]
    assert first.message["Date"] == second.message["Date"]
    assert read_message(brand)[:2] == ("Sent", 2)


def test_waits_grow_and_the_eighth_failure_is_a_replayable_dead_letter(office, brand, drain):
    office.sink.scripts = [{"MAIL": "451 later"}]
    stage_messages(brand)
    waits = []
    for _ in range(8):
        make_jobs_due()
        drain()
        waits += list_waits_s(brand)
    dead_jobs, queued_message = list_jobs(brand), read_message(brand)

    office.sink.scripts = []
    with db.any_org_work():
        dead_letters = admin_queries.any_org_list_dead(queue="mail", organization_id=brand.id, name=None, limit=9)
        admin_queries.any_org_replay([job.id for job in dead_letters])
    drain()

    assert waits[:7] == pytest.approx([60, 300, 900, 3600, 3600, 3600, 3600], abs=30)
    assert dead_jobs == [(0, True)]
    assert queued_message == ("Queued", 8, "451 later")
    assert office.subjects == ["Join us"]


def test_undecryptable_body_fails_with_the_reason(office, brand, drain):
    stage_messages(brand)
    run_for_all_tenants(
        "update mail_message set body_sealed = '\\x01' || repeat('x', 28)::bytea where organization_id = %s",
        brand.id,
    )

    drain()

    assert read_message(brand, "status, last_error like '%%SECRET_KEY%%'") == ("Failed", True)
    assert office.sink.commands == []


def test_email_without_a_mail_server_is_kept_without_a_slot(office, brand, drain):
    office.set(smtp=None)
    run_for_all_tenants("update mail_pace set next_at = now() + interval '1 hour'")
    stage_messages(brand)

    drain()

    assert read_message(brand) == ("Kept", 0, None)
    assert read_message(brand, "body_sealed is not null") == (True,)
    assert list_jobs(brand) == []


@pytest.mark.parametrize(
    ("status", "days", "expected"),
    [
        ("Kept", 13, ("Kept", True, None)),
        ("Kept", 15, ("Kept", False, None)),
        ("Failed", 15, ("Failed", False, "550 no")),
        ("Queued", 13, ("Queued", True, None)),
        ("Queued", 15, ("Failed", False, "not sent within 14 days; no attempt")),
    ],
)
def test_bodies_are_deleted_after_fourteen_days(brand, status, days, expected):
    stage_messages(brand)
    error = "550 no" if status == "Failed" else None
    run_for_all_tenants(
        "update mail_message set status = %s, last_error = %s, created_at = now() - make_interval(days => %s)"
        " where organization_id = %s",
        status,
        error,
        days,
        brand.id,
    )

    with db.any_org_work():
        upkeep.delete_expired()

    assert read_message(brand, "status, body_sealed is not null, last_error") == expected
