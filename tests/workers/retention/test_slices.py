"""Retention deletes in slices: bounded transactions that do not wait for other workers."""

from domain import jobs
from models import db
from models.upkeep import expiry
from pipelines import retention, schedule, upkeep, work
from tests.support.api.concurrency import run_concurrently, start_call
from tests.support.databases import run_as_brand
from tests.support.rows.program_rows import insert_click, time_ago
from tests.support.rows.retention_rows import count_brand_rows, end_due, insert_old_clicks
from tests.support.running.hours import start_of_test


def test_transaction_deletes_at_most_one_slice(brand, ben, small_slices):
    insert_old_clicks(brand, ben, 35)
    trips = []
    db.db.trip_hooks.append(trips.append)
    try:
        deleted = end_due("clicks")
    finally:
        db.db.trip_hooks.remove(trips.append)

    assert deleted["clicks"] >= 35
    assert sum(b"limit 10" in trip for trip in trips) == deleted["clicks"] // 10 + 1
    assert sum(trip.rstrip().endswith(b"commit") for trip in trips) == deleted["clicks"] // 10 + 1


def test_retention_run_continues_in_jobs_until_done(brand, ben, small_slices, drain):
    end_due(*retention.list_kinds())
    insert_old_clicks(brand, ben, 35)

    with db.any_org_work():
        retention.any_org_start(now=start_of_test())
    jobs_waiting = _jobs_waiting()
    jobs_run = drain("upkeep")

    assert jobs_waiting == len(retention.list_kinds())
    assert jobs_run == jobs_waiting + 3
    with db.any_org_work():
        run = expiry.list_runs()["clicks"]
    assert (run.ended, run.finished_at is not None) == (35, True)
    assert count_brand_rows(brand, "click") == 0


def test_running_retention_is_not_started_twice(brand, drain):
    for _ in range(2):
        with db.any_org_work():
            retention.any_org_start(now=start_of_test())

    assert _jobs_waiting() == len(retention.list_kinds())


def _jobs_waiting():
    with db.any_org_work():
        return db.db.row("select count(*) from job where name = %s", (jobs.RETENTION_SLICE.name,))[0]


def test_retention_is_scheduled(app):
    assert jobs.RETENTION in {entry.job for entry in schedule.SCHEDULE}


def test_locked_row_is_deleted_on_the_next_run(brand, ben):
    locked_id = insert_click(brand, ben, occurred_at=time_ago(days=100))
    insert_click(brand, ben, occurred_at=time_ago(days=101))

    with db.unit_of_work(brand.id):
        db.db.run("select from click where id = %s for update", (locked_id,))
        start_call(lambda: end_due("clicks"))()
        while_locked = db.db.row("select count(*) from click")
    end_due("clicks")

    assert while_locked == (1,)
    assert count_brand_rows(brand, "click") == 0


def test_slice_is_read_in_index_order(isolated_database):
    params = {"limit": 10, "before": start_of_test(), "queues": ["mail"]}
    plans = {}

    with db.any_org_work():
        expiry._stage_in_order()
        for name, kind in expiry.KINDS.items():
            lines = db.db.run(f"explain select from {expiry._rows(kind, only_due=True)} limit 10", params)
            plans[name] = "\n".join(line for (line,) in lines)

    assert {name: plan for name, plan in plans.items() if "Seq Scan" in plan or "Sort  (" in plan} == {}


def test_concurrent_runs_count_each_click_once(brand, ben, small_slices):
    insert_old_clicks(brand, ben, 60)

    run_concurrently(*[lambda: end_due("clicks")] * 3)
    end_due("clicks")

    assert count_brand_rows(brand, "click") == 0
    assert brand.rows("select sum(number)::int from click_hour") == [(60,)]


def test_clicks_are_written_during_a_slice(brand, ben):
    insert_old_clicks(brand, ben, 50)

    with db.any_org_work():
        retention.any_org_slice("clicks", now=start_of_test())
        start_call(lambda: insert_click(brand, ben))()

    assert count_brand_rows(brand, "click") == 1


def test_unlimited_retention_deletes_nothing(brand, ben, set_retention):
    set_retention(clicks=0)
    insert_old_clicks(brand, ben, 3, days=4000)

    end_due("clicks")
    with db.any_org_work():
        retention.any_org_start(now=start_of_test())

    assert count_brand_rows(brand, "click") == 3
    assert _jobs_waiting() == len(retention.list_kinds()) - 1


def test_stored_answers_are_deleted_in_batches_after_an_hour(brand, drain, monkeypatch):
    monkeypatch.setattr(upkeep, "_BATCH", 10)
    run_as_brand(
        brand,
        "insert into stored_answer (organization_id, scope, key, request_hash, created_at) select %s, 's', n::text,"
        " 'x', now() - interval '2 hours' from generate_series(1, 25) n",
        brand.id,
    )
    run_as_brand(brand, "update stored_answer set created_at = now() where key = '7'")

    with db.any_org_work():
        work.enqueue(jobs.FORGET, organization_id=None)
    jobs_run = drain("upkeep")

    assert jobs_run == 3
    assert brand.rows("select key from stored_answer") == [("7",)]
