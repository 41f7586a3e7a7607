"""Messages leave one by one, at the pace of the installation and whichever tenant they are of."""

import threading
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from domain import jobs
from models import db
from models import mail as messages
from tests.support.databases import alter_any
from tests.support.outside.post_office import list_jobs, list_waits_s, make_jobs_due, read_message, stage


def test_messages_leave_one_by_one_at_the_pace(office, brand, drain):
    office.set(per_min=1)
    subjects = [str(number) for number in range(5)]
    stage(brand, *subjects)

    ran = drain()
    at_once, waits = len(office.subjects), sorted(list_waits_s(brand))
    make_jobs_due()
    drain()

    assert ran == 5
    assert at_once == 1
    assert [later - sooner for sooner, later in pairwise(waits)] == pytest.approx([60, 60, 60])
    assert 0 < waits[0] <= 60
    assert sorted(office.subjects) == subjects


def test_who_comes_later_waits_longer(office, brand, rival, drain):
    office.set(per_min=1)
    for sender in (brand, rival, brand, rival):
        stage(sender)
        drain()

    (third,), (second, fourth) = list_waits_s(brand), list_waits_s(rival)

    assert [third - second, fourth - third] == pytest.approx([60, 60], abs=20)


def test_five_hundred_waiting_messages_run_once_for_their_slot_and_use_up_no_attempt(office, brand, drain):
    office.set(per_min=1)
    stage(brand, *map(str, range(500)))

    ran = drain()

    assert 500 <= ran <= 505  # those whose minute has come meanwhile ran again, to be sent
    assert set(list_jobs(brand)) == {(jobs.MAIL_SEND.max_attempts, False)}
    assert max(list_waits_s(brand)) == pytest.approx(499 * 60, abs=5 * 60)


def test_the_pace_is_one_for_all_tenants(office, brand, rival, drain):
    office.set(per_min=1)
    stage(brand, "first")
    stage(rival, "second")

    drain()

    assert len(office.subjects) == 1
    assert list_waits_s(brand) + list_waits_s(rival) == pytest.approx([60], abs=30)


def test_slots_that_were_missed_do_not_leave_in_a_burst(office, brand, drain):
    office.set(per_min=1)
    alter_any("update mail_pace set next_at = now() + interval '1 hour'")
    stage(brand, "0", "1", "2")
    drain()
    alter_any("update mail_pace set next_at = now() - interval '1 minute'")
    alter_any("update mail_message set slot_at = now() - interval '1 minute' where organization_id = %s", brand.id)

    make_jobs_due(slots=False)
    drain()

    assert len(office.subjects) == 1
    assert all(0 < wait_s <= 120 for wait_s in list_waits_s(brand))


def test_a_job_that_is_run_too_early_keeps_its_slot(office, brand, drain):
    alter_any("update mail_pace set next_at = now() + interval '1 hour'")
    stage(brand)
    drain()
    slot_at = read_message(brand, "slot_at")

    make_jobs_due(slots=False)
    drain()

    assert read_message(brand, "slot_at") == slot_at
    assert brand.rows("select run_at from job") == [slot_at]


def test_a_further_attempt_waits_for_a_slot_as_well(office, brand, drain):
    office.sink.scripts = [{"RCPT": "451 greylisted"}, {}]
    stage(brand)
    drain()
    alter_any("update mail_pace set next_at = now() + interval '1 hour'")

    make_jobs_due()
    drain()

    assert read_message(brand)[:2] == ("Queued", 1)
    assert list_waits_s(brand) == pytest.approx([3600], abs=60)


def test_workers_that_ask_at_the_same_time_get_slots_of_their_own(office):
    gap, now, slots = timedelta(seconds=1), datetime.now(UTC) + timedelta(hours=1), []

    def take():
        for _ in range(5):
            with db.any_org_work():
                slots.append(messages.take_slot(now=now, gap=gap))
        db.db.drop_connection()

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(slots) == [now + number * gap for number in range(20)]
