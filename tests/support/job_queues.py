"""Runs queued work in the test's own process, through the real job rows and the real actors."""

from collections.abc import Callable, Sequence

import dramatiq

from domain import jobs
from models import db
from models.jobs import processes, rows
from tests.support.running import row_ids
from workers import relay


def drain(*queues: str, deliveries: int = 1, max_jobs: int = 2_000) -> int:
    """Run due jobs (of these queues alone) until none is due, each `deliveries` times; returns how many jobs ran."""
    process_id, ran = row_ids.new_id(), 0
    while ran < max_jobs:
        with db.any_org_work():  # every time: on a busy machine a round takes longer than a process may be silent
            processes.announce(process_id=process_id, queues=jobs.QUEUES, threads=8)
        pointers = dispatch_pointers(queues or jobs.QUEUES)
        if not pointers:
            return ran
        for pointer in pointers:
            for _ in range(deliveries):
                run_pointer(pointer)
            ran += 1
    raise AssertionError(f"{max_jobs} jobs ran and there are still more")


def run_pointer(pointer: rows.Pointer) -> None:
    """Run one pointer as a worker thread would."""
    actor = dramatiq.get_broker().get_actor(pointer.name)
    actor.fn(**relay.message(pointer).kwargs)


def dispatch_pointers(queues: Sequence[str]) -> list[rows.Pointer]:
    """Hand out what is due of these queues, for `run`."""
    with db.any_org_work():
        return [
            pointer
            for queue in queues
            for pointer in rows.any_org_dispatch(queue=queue, per_thread=16, share=1_000, lease_s=30)
        ]


def measure_wait_s(act: Callable[[], object]) -> tuple[float, float]:
    """Act; return for how many seconds the only job waits at least and at most, as it was put off in between."""
    with db.any_org_work():
        ((before,),) = db.db.run("select clock_timestamp()")
    act()
    with db.any_org_work():
        ((after, run_at),) = db.db.run("select clock_timestamp(), run_at from job")
    return (run_at - after).total_seconds(), (run_at - before).total_seconds()
