"""What grows with traffic ends slice by slice: never too much at once, beside whoever is at work on it."""

from domain import jobs
from models import db
from models.upkeep import expiry
from pipelines import retention, schedule, upkeep, work
from tests.support.api.concurrency import run_concurrently, start_call
from tests.support.databases import alter
from tests.support.rows.program_rows import insert_click, time_ago
from tests.support.rows.retention_rows import count_brand_rows, end_due, insert_old_clicks
from tests.support.running.hours import test_started_at


def test_no_transaction_ends_more_rows_than_a_slice(brand, ben, in_tens):
    insert_old_clicks(brand, ben, 35)
    trips = []
    db.db.trip_hooks.append(trips.append)
    try:
        ended = end_due("clicks")
    finally:
        db.db.trip_hooks.remove(trips.append)

    assert ended["clicks"] >= 35
    assert sum(b"limit 10" in trip for trip in trips) == ended["clicks"] // 10 + 1
    assert sum(trip.rstrip().endswith(b"commit") for trip in trips) == ended["clicks"] // 10 + 1


def test_a_run_goes_on_slice_by_slice_as_jobs_until_it_is_done(brand, ben, in_tens, drain):
    end_due(*retention.list_kinds())
    insert_old_clicks(brand, ben, 35)

    with db.any_org_work():
        retention.any_org_start(now=test_started_at())
    waiting = _jobs_waiting()
    ran = drain("upkeep")

    assert waiting == len(retention.list_kinds())
    assert ran == waiting + 3
    with db.any_org_work():
        run = expiry.list_runs()["clicks"]
    assert (run.ended, run.finished_at is not None) == (35, True)
    assert count_brand_rows(brand, "click") == 0


def test_a_run_is_not_begun_beside_itself(brand, drain):
    for _ in range(2):
        with db.any_org_work():
            retention.any_org_start(now=test_started_at())

    assert _jobs_waiting() == len(retention.list_kinds())


def _jobs_waiting():
    with db.any_org_work():
        return db.db.row("select count(*) from job where name = %s", (jobs.RETENTION_SLICE.name,))[0]


def test_the_schedule_begins_it(app):
    assert jobs.RETENTION in {entry.job for entry in schedule.SCHEDULE}


def test_what_somebody_is_at_work_on_is_passed_over_and_ends_the_next_time(brand, ben):
    held = insert_click(brand, ben, occurred_at=time_ago(days=100))
    insert_click(brand, ben, occurred_at=time_ago(days=101))

    with db.unit_of_work(brand.id):
        db.db.run("select from click where id = %s for update", (held,))
        start_call(lambda: end_due("clicks"))()
        while_held = db.db.row("select count(*) from click")
    end_due("clicks")

    assert while_held == (1,)
    assert count_brand_rows(brand, "click") == 0


def test_a_slice_is_read_off_an_index_in_its_order(isolated_database):
    params = {"limit": 10, "before": test_started_at(), "queues": ["mail"]}
    plans = {}

    with db.any_org_work():
        expiry._stage_in_order()
        for name, kind in expiry.KINDS.items():
            lines = db.db.run(f"explain select from {expiry._rows(kind, only_due=True)} limit 10", params)
            plans[name] = "\n".join(line for (line,) in lines)

    assert {name: plan for name, plan in plans.items() if "Seq Scan" in plan or "Sort  (" in plan} == {}


def test_several_who_end_the_same_clicks_count_each_once(brand, ben, in_tens):
    insert_old_clicks(brand, ben, 60)

    run_concurrently(*[lambda: end_due("clicks")] * 3)
    end_due("clicks")

    assert count_brand_rows(brand, "click") == 0
    assert brand.rows("select sum(number)::int from click_hour") == [(60,)]


def test_clicks_are_written_while_a_slice_is_open(brand, ben):
    insert_old_clicks(brand, ben, 50)

    with db.any_org_work():
        retention.any_org_slice("clicks", now=test_started_at())
        start_call(lambda: insert_click(brand, ben))()

    assert count_brand_rows(brand, "click") == 1


def test_what_is_kept_for_ever_never_ends(brand, ben, kept):
    kept(clicks=0)
    insert_old_clicks(brand, ben, 3, days=4000)

    end_due("clicks")
    with db.any_org_work():
        retention.any_org_start(now=test_started_at())

    assert count_brand_rows(brand, "click") == 3
    assert _jobs_waiting() == len(retention.list_kinds()) - 1


def test_answers_that_are_kept_for_an_hour_are_dropped_in_portions(brand, drain, monkeypatch):
    monkeypatch.setattr(upkeep, "_BATCH", 10)
    alter(
        brand,
        "insert into stored_answer (organization_id, scope, key, request_hash, created_at) select %s, 's', n::text,"
        " 'x', now() - interval '2 hours' from generate_series(1, 25) n",
        brand.id,
    )
    alter(brand, "update stored_answer set created_at = now() where key = '7'")

    with db.any_org_work():
        work.enqueue(jobs.FORGET, organization_id=None)
    ran = drain("upkeep")

    assert ran == 3
    assert brand.rows("select key from stored_answer") == [("7",)]
