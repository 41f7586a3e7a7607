"""Expired holds: Pending becomes Approved without an event. Source: core spec, section 3 "States"."""

from datetime import timedelta

import pytest

from adapters import clock
from domain import jobs
from models import db
from models.conversions import reviews
from pipelines import schedule, work
from pipelines.conversions import release
from tests.support.api.concurrency import run_concurrently, start_call
from tests.support.rows.program_rows import insert_conversion, time_ago
from tests.support.running.hours import start_of_test


@pytest.fixture
def ben(brand):
    """The affiliate of the brand's one campaign."""
    brand.program()
    return brand.affiliate("ben")


def _release():
    with db.any_org_work():
        release.any_org_release(now=clock.now())


def _release_batch():
    with db.any_org_work():
        return reviews.any_org_release(now=clock.now(), limit=5_000)


def _statuses(brand):
    return dict(brand.rows("select id, status from conversion"))


def test_conversion_past_its_hold_is_approved(brand, ben):
    past_hold = insert_conversion(brand, ben, hold_until=time_ago(seconds=1))
    within_hold = insert_conversion(brand, ben, hold_until=start_of_test() + timedelta(hours=1))

    _release()

    assert _statuses(brand) == {past_hold: "Approved", within_hold: "Pending"}


def test_release_sends_no_event(brand, ben):
    insert_conversion(brand, ben, hold_until=time_ago(days=1))

    _release()

    assert brand.rows("select count(*) from event") == [(0,)]
    assert brand.rows("select count(*) from ledger_entry") == [(0,)]


@pytest.mark.parametrize("status", ["Approved", "Paid", "Refunded", "Denied", "Invalidated"])
def test_only_pending_conversions_are_released(brand, ben, status):
    row = insert_conversion(brand, ben, status=status, hold_until=time_ago(days=1))

    _release()

    assert _statuses(brand) == {row: status}


def test_locked_history_is_not_released(brand, ben):
    row = insert_conversion(brand, ben, payout_locked=True, hold_until=time_ago(days=100))

    _release()

    assert _statuses(brand) == {row: "Pending"}


def test_every_tenant_is_processed(brand, rival, ben):
    rival.program()
    insert_conversion(brand, ben, hold_until=time_ago(days=1))
    insert_conversion(rival, rival.affiliate("ben"), hold_until=time_ago(days=1))

    _release()

    assert [*_statuses(brand).values(), *_statuses(rival).values()] == ["Approved", "Approved"]


def test_more_than_one_batch_is_released(brand, ben, drain, monkeypatch):
    while _release_batch():
        pass  # rows that other tests left due
    monkeypatch.setattr("pipelines.conversions.release._BATCH", 2)
    for _ in range(5):
        insert_conversion(brand, ben, hold_until=time_ago(days=1))
    with db.any_org_work():
        work.enqueue(jobs.HOLD_RELEASE, organization_id=None)

    jobs_run = drain()

    assert set(_statuses(brand).values()) == {"Approved"}
    assert jobs_run == 3


def test_concurrent_and_repeated_releases_change_nothing_more(brand, ben):
    for _ in range(20):
        insert_conversion(brand, ben, hold_until=time_ago(days=1))

    run_concurrently(_release, _release)
    _release()

    assert set(_statuses(brand).values()) == {"Approved"}


def test_locked_row_is_released_on_the_next_run(brand, ben):
    row = insert_conversion(brand, ben, hold_until=time_ago(days=1))
    other = insert_conversion(brand, ben, hold_until=time_ago(days=1))

    with db.unit_of_work(brand.id):
        db.db.run("select from conversion where id = %s for update", (row,))
        start_call(_release)()
    statuses_while_locked = _statuses(brand)
    _release()

    assert statuses_while_locked == {row: "Pending", other: "Approved"}
    assert _statuses(brand) == {row: "Approved", other: "Approved"}


def test_released_sale_can_still_be_denied(brand, ben):
    conversion_id = brand.sale().json["conversionId"]
    brand.get(f"/api/v1/conversions/{conversion_id}")
    brand.rows("update conversion set hold_until = now() - interval '1 hour' returning 1")

    _release()
    answer = brand.person("Manager").post(f"/api/conversions/{conversion_id}/deny")

    assert (answer.status_code, answer.json["status"]) == (200, "Denied")


def test_release_runs_every_hour():
    (cron,) = [entry.cron for entry in schedule.SCHEDULE if entry.job is jobs.HOLD_RELEASE]

    assert cron.split()[1:] == ["*"] * 4
    assert cron.split()[0].isdigit()
