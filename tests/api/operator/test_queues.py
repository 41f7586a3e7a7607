"""Queues and the schedule at the console."""

from datetime import datetime, timedelta

from domain import jobs
from models import db, ids
from models.jobs import processes, ticks
from pipelines import schedule
from tests.support.outside.console import list_audit_entries, stage_failed_job, stage_job
from workers import pace


def _get_queue(console, name):
    (queue,) = [item for item in console.get("queues") if item["queue"] == name]
    return queue


def test_every_queue_shows_its_threads_and_job_counts(console, brand):
    stage_job(brand)
    running_id, retrying_id = stage_job(brand), stage_job(brand)
    stage_failed_job(brand)
    with db.any_org_work():
        processes.announce(process_id=ids.new_id(), queues=["sales", "mail"], threads=4, done={"sales": 7})
        processes.announce(process_id=ids.new_id(), queues=["sales"], threads=2, done={"sales": 5})
        db.db.run("update job set attempt = 1, deadline = now() + interval '1 minute' where id = %s", (running_id,))
        db.db.run("update job set attempt = 1, run_at = now() + interval '1 minute' where id = %s", (retrying_id,))

    assert [entry["queue"] for entry in console.get("queues")] == sorted(jobs.QUEUES)
    assert _get_queue(console, "sales") | {"oldestS": 0} == {
        "queue": "sales",
        "threads": 6,
        "waiting": 1,
        "retrying": 1,
        "out": 1,
        "dead": 1,
        "oldestS": 0,
        "doneLastMinute": 12,
        "pausedAt": None,
        "pausedWhy": None,
        "heldUp": 0,
        "waitsFor": None,
        "waitsUntil": None,
    }
    assert _get_queue(console, "mail")["doneLastMinute"] == 0


def test_completed_jobs_are_counted_by_queue(brand, drain, monkeypatch):
    monkeypatch.setattr(pace, "completed", pace.CompletedJobs())  # ignore jobs completed before
    brand.program()
    brand.affiliate("ben")
    brand.sale()
    drain("sales")

    assert pace.completed.last_minute()["sales"] == 1


def test_paused_queue_dispatches_no_job_and_shows_the_reason(console, brand, drain):
    brand.program()
    brand.affiliate("ben")
    brand.sale()
    answer = console.post("queues/sales/pause", {"why": "the processor is being mended"})

    assert (answer.status_code, drain("sales")) == (204, 0)
    assert _get_queue(console, "sales")["pausedWhy"] == "the processor is being mended"
    assert list_audit_entries("queue.paused", "sales")[-1] == (
        "operator",
        "ops@example.com",
        None,
        {"queue": "sales", "why": "the processor is being mended"},
    )

    assert console.post("queues/sales/resume").status_code == 204
    assert drain("sales") == 1
    assert _get_queue(console, "sales")["pausedAt"] is None
    assert list_audit_entries("queue.resumed", "sales")[-1][:2] == ("operator", "ops@example.com")


def test_pause_without_a_reason_or_of_an_unknown_queue_is_refused(console):
    for body in ({}, {"why": ""}, {"why": "  "}, {"why": None}):
        answer = console.post("queues/sales/pause", body)

        assert answer.status_code == 400
        assert "why" in answer.json["errors"]
    assert console.post("queues/cellar/pause", {"why": "w"}).status_code == 404
    assert console.post("queues/cellar/resume").status_code == 404
    assert _get_queue(console, "sales")["pausedAt"] is None


def test_first_pause_keeps_its_reason(console):
    console.post("queues/mail/pause", {"why": "first"})
    console.post("queues/mail/pause", {"why": "second"})

    assert _get_queue(console, "mail")["pausedWhy"] == "first"


def _get_entry(console, job):
    (entry,) = [item for item in console.get("schedule") if item["name"] == job.name]
    return entry


def test_schedule_shows_last_and_next_run(console):
    assert [entry["name"] for entry in console.get("schedule")] == [entry.job.name for entry in schedule.SCHEDULE]
    assert _get_entry(console, jobs.FORGET)["cron"] == "*/10 * * * *"
    assert _get_entry(console, jobs.FORGET)["lastAt"] is None
    assert datetime.fromisoformat(_get_entry(console, jobs.FORGET)["nextAt"]).minute % 10 == 0


def test_entry_without_recent_runs_is_late(console):
    with db.any_org_work():
        (now,) = db.db.row("select date_trunc('minute', now())")
        for job, at in ((jobs.LEADS_EXPIRE, now), (jobs.FORGET, now - timedelta(days=365))):
            ticks.claim(name=job.name, scheduled_for=at)

    assert _get_entry(console, jobs.FORGET)["isLate"]
    assert _get_entry(console, jobs.INVITES_EXPIRE)["isLate"]
    assert not _get_entry(console, jobs.LEADS_EXPIRE)["isLate"]
