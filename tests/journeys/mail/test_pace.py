"""Emails are sent one by one at the installation's pace, whichever tenant they belong to."""

import threading
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from domain import jobs
from models import db
from models import mail as messages
from tests.support.databases import run_for_all_tenants
from tests.support.outside.post_office import list_jobs, list_waits_s, make_jobs_due, read_message, stage_messages


def test_emails_are_sent_one_by_one_at_the_pace(office, brand, drain):
    office.set(per_min=1)
    subjects = [str(number) for number in range(5)]
    stage_messages(brand, *subjects)

    jobs_run = drain()
    sent_first, waits = len(office.subjects), sorted(list_waits_s(brand))
    make_jobs_due()
    drain()

    assert jobs_run == 5
    assert sent_first == 1
    assert [next_wait - wait for wait, next_wait in pairwise(waits)] == pytest.approx([60, 60, 60])
    assert 0 < waits[0] <= 60
    assert sorted(office.subjects) == subjects


def test_later_email_waits_longer(office, brand, rival, drain):
    office.set(per_min=1)
    for sender in (brand, rival, brand, rival):
        stage_messages(sender)
        drain()

    (third,), (second, fourth) = list_waits_s(brand), list_waits_s(rival)

    assert [third - second, fourth - third] == pytest.approx([60, 60], abs=20)


def test_waiting_emails_run_once_for_their_slot_without_an_attempt(office, brand, drain):
    office.set(per_min=1)
    stage_messages(brand, *map(str, range(500)))

    jobs_run = drain()

    assert 500 <= jobs_run <= 505  # emails whose slot came up in the meantime ran a second time, to be sent
    assert set(list_jobs(brand)) == {(jobs.MAIL_SEND.max_attempts, False)}
    assert max(list_waits_s(brand)) == pytest.approx(499 * 60, abs=5 * 60)


def test_pace_is_shared_by_all_tenants(office, brand, rival, drain):
    office.set(per_min=1)
    stage_messages(brand, "first")
    stage_messages(rival, "second")

    drain()

    assert len(office.subjects) == 1
    assert list_waits_s(brand) + list_waits_s(rival) == pytest.approx([60], abs=30)


def test_missed_slots_cause_no_burst(office, brand, drain):
    office.set(per_min=1)
    run_for_all_tenants("update mail_pace set next_at = now() + interval '1 hour'")
    stage_messages(brand, "0", "1", "2")
    drain()
    run_for_all_tenants("update mail_pace set next_at = now() - interval '1 minute'")
    run_for_all_tenants(
        "update mail_message set slot_at = now() - interval '1 minute' where organization_id = %s", brand.id
    )

    make_jobs_due(slots=False)
    drain()

    assert len(office.subjects) == 1
    assert all(0 < wait_s <= 120 for wait_s in list_waits_s(brand))


def test_job_run_too_early_keeps_its_slot(office, brand, drain):
    run_for_all_tenants("update mail_pace set next_at = now() + interval '1 hour'")
    stage_messages(brand)
    drain()
    slot_at = read_message(brand, "slot_at")

    make_jobs_due(slots=False)
    drain()

    assert read_message(brand, "slot_at") == slot_at
    assert brand.rows("select run_at from job") == [slot_at]


def test_retry_waits_for_a_slot(office, brand, drain):
    office.sink.scripts = [{"RCPT": "451 greylisted"}, {}]
    stage_messages(brand)
    drain()
    run_for_all_tenants("update mail_pace set next_at = now() + interval '1 hour'")

    make_jobs_due()
    drain()

    assert read_message(brand)[:2] == ("Queued", 1)
    assert list_waits_s(brand) == pytest.approx([3600], abs=60)


def test_concurrent_workers_get_distinct_slots(office):
    gap, now, slots = timedelta(seconds=1), datetime.now(UTC) + timedelta(hours=1), []

    def take_slots():
        for _ in range(5):
            with db.any_org_work():
                slots.append(messages.take_slot(now=now, gap=gap))
        db.db.drop_connection()

    threads = [threading.Thread(target=take_slots) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(slots) == [now + number * gap for number in range(20)]
