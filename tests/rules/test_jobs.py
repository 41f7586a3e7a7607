"""Rules that hold for every job and queue."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dramatiq
import pytest

from domain import jobs, thread_slots
from models import db, ids
from models.jobs import admin_queries, processes
from models.jobs import rows as job_rows
from pipelines import work
from tests.support.job_queues import run_pointer
from workers.procfile.supervisor import parse
from workers.relay import SHARE

_ROOT = Path(__file__).resolve().parents[2]


def test_every_job_has_an_actor_on_its_own_queue(app):
    actors = {name: actor.queue_name for name, actor in dramatiq.get_broker().actors.items()}

    assert actors == {job.name: job.queue for job in jobs.ALL} | {"job.unknown": "upkeep"}


def test_every_queue_has_a_module_of_its_name():
    names = [path.stem for path in (_ROOT / "workers" / "queues").glob("*.py") if path.stem != "__init__"]

    assert sorted(names) == sorted(jobs.QUEUES)


def test_every_queue_has_a_fleet_in_the_procfile():
    commands = parse((_ROOT / "Procfile").read_text())

    assert set(jobs.QUEUES) <= set(commands)
    for queue in jobs.QUEUES:
        assert f"-Q {queue} " in commands[queue]


def test_single_machine_procfile_serves_every_queue():
    commands = " ".join(parse((_ROOT / "Procfile.dev").read_text()).values()).split()

    assert set(jobs.QUEUES) <= set(commands)


def test_single_machine_sales_do_not_wait_for_external_calls():
    commands = parse((_ROOT / "Procfile.dev").read_text()).values()
    calling = {"webhooks", "payouts", "gateways", "lookups", "imports", "mail", "copilot"}
    fleets = [set(jobs.QUEUES) & set(command.split()) for command in commands]

    assert [fleet & calling for fleet in fleets if fleet & {"sales", "refunds"}] == [set()]


def test_job_with_external_calls_has_its_own_lease():
    calls = set()
    for path in (_ROOT / "workers" / "queues").glob("*.py"):
        calls |= set(re.findall(r"register_calling_job\(\s*jobs\.(\w+)", path.read_text()))

    assert len(calls) > 8
    assert [name for name in sorted(calls) if getattr(jobs, name).lease_s is None] == []


@pytest.mark.parametrize("procfile", ["Procfile", "Procfile.dev", "Procfile.small"])
def test_one_host_takes_at_most_half_of_a_fleet(procfile):
    for command in parse((_ROOT / procfile).read_text()).values():
        words = command.split()
        queues = [queue for queue in jobs.QUEUES if queue in words]
        threads = int(words[words.index("-t") + 1]) if queues else 0
        for queue in set(queues) - {"upkeep"}:
            assert thread_slots.server_limit(threads=threads, queues=len(queues)) <= threads / 2
            assert SHARE.get(queue, 0) <= threads / 2


def test_every_job_runs_on_a_declared_queue():
    assert {job.queue for job in jobs.ALL} <= set(jobs.QUEUES)


def test_rolled_back_transaction_enqueues_no_job(brand):
    def enqueue_and_fail():
        with db.unit_of_work(brand.id):
            work.enqueue(jobs.SALE_SETTLE, organization_id=brand.id, sale_id="x")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        enqueue_and_fail()

    assert brand.rows("select count(*) from job") == [(0,)]


@pytest.mark.parametrize(("attempt", "delay_s"), [(1, 1), (2, 2), (3, 5), (8, 300), (19, 300)])
def test_failed_job_backs_off(attempt, delay_s):
    assert jobs.SALE_SETTLE.delay_s(attempt) == delay_s


def _announce_worker(threads: int, queues=("sales",)):
    with db.any_org_work():
        processes.announce(process_id=ids.new_id(), queues=queues, threads=threads)


def _dispatch(**options):
    defaults = {"queue": "sales", "per_thread": 1, "share": 1_000, "lease_s": 30}
    with db.any_org_work():
        return job_rows.any_org_dispatch(**(defaults | options))


def _stage_jobs(brand, number: int, **options):
    with db.unit_of_work(brand.id):
        for _ in range(number):
            work.enqueue(jobs.SALE_SETTLE, organization_id=brand.id, sale_id="x", **options)


def test_no_job_is_dispatched_without_a_live_worker(brand):
    _stage_jobs(brand, 3)

    assert _dispatch() == []


def test_dispatch_is_limited_by_live_threads(brand):
    _stage_jobs(brand, 30)
    _announce_worker(4)

    first = _dispatch(per_thread=2)
    second = _dispatch(per_thread=2)

    assert len(first) == 8
    assert second == []


def test_long_backlog_of_one_key_does_not_starve_others(brand, rival):
    _stage_jobs(brand, 500)
    _stage_jobs(rival, 2)
    _announce_worker(4)

    dispatched = _dispatch(per_thread=2)
    with db.any_org_work():
        rows = db.db.run(
            "select organization_id from job where id = any(%s)", ([pointer.job_id for pointer in dispatched],)
        )

    assert [organization_id for (organization_id,) in rows].count(rival.id) == 2


def test_one_key_stays_within_its_share(brand):
    _stage_jobs(brand, 50)
    _announce_worker(8)

    assert len(_dispatch(per_thread=4, share=3)) == 3
    assert _dispatch(per_thread=4, share=3) == []


def test_paused_queue_dispatches_nothing(brand):
    _stage_jobs(brand, 3)
    _announce_worker(4)
    with db.any_org_work():
        admin_queries.pause_queue("sales", why="test")

    paused = _dispatch()
    with db.any_org_work():
        admin_queries.resume_queue("sales")
    resumed = _dispatch()

    assert paused == []
    assert len(resumed) == 3


def test_job_waits_until_due(brand):
    _stage_jobs(brand, 1, run_at=datetime.now(UTC) + timedelta(minutes=1))
    _announce_worker(4)

    assert _dispatch() == []


def test_expired_lease_requeues_the_job_and_counts_the_attempt(brand):
    _stage_jobs(brand, 1)
    _announce_worker(4)

    first = _dispatch(lease_s=0)
    second = _dispatch()

    assert [pointer.attempt for pointer in first + second] == [1, 2]


def test_job_with_only_expired_leases_becomes_a_dead_letter(brand):
    _stage_jobs(brand, 1)
    for _ in range(jobs.SALE_SETTLE.max_attempts):
        _announce_worker(4)
        assert len(_dispatch(lease_s=0)) == 1

    dispatched = _dispatch(lease_s=0)
    with db.any_org_work():
        dead = admin_queries.any_org_list_dead(queue="sales", organization_id=None, name=None, limit=10)

    assert dispatched == []
    assert [job.attempt for job in dead] == [20]
    assert "the worker died each time" in dead[0].last_error


def test_stale_pointer_does_nothing(brand, drain):
    brand.program()
    brand.affiliate("ben")
    brand.sale()
    _announce_worker(4)
    stale = _dispatch(lease_s=0)[0]
    current = _dispatch()[0]
    run_pointer(stale)
    before = brand.rows("select count(*) from conversion")
    run_pointer(current)

    assert before == [(0,)]
    assert brand.rows("select count(*) from conversion") == [(1,)]


def test_pointer_delivered_three_times_has_one_effect(brand, drain):
    brand.program(sub_affiliate_enabled=True, sub_affiliate_percent=10)
    recruiter = brand.affiliate("rita")
    brand.affiliate("ben", recruited_by_affiliate_id=recruiter)
    brand.sale()

    drain(deliveries=3)

    assert brand.rows("select amount_cents, commission_cents from conversion order by commission_cents") == [
        (0, 200),
        (10_000, 2_000),
    ]
    assert brand.rows("select type, count(*) from event group by type") == [("conversion.created", 2)]


def test_failing_job_becomes_a_replayable_dead_letter(brand):
    with db.unit_of_work(brand.id):
        work.enqueue(
            jobs.OVERRIDE_WRITE, organization_id=brand.id, conversion_id=brand.id, recruiter_id=brand.id, percent=10
        )
    for _ in range(jobs.OVERRIDE_WRITE.max_attempts):
        with db.any_org_work():
            db.db.stage("update job set run_at = now()")
        _announce_worker(4)
        run_pointer(_dispatch()[0])

    _announce_worker(4)
    with db.any_org_work():
        dead = admin_queries.any_org_list_dead(queue="sales", organization_id=brand.id, name=None, limit=10)
        replayed = admin_queries.any_org_replay([dead[0].id])
    again = _dispatch()

    assert "LookupError" in dead[0].last_error
    assert replayed == [dead[0].id]
    assert [pointer.attempt for pointer in again] == [21]
