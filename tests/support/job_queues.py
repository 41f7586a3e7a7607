"""Runs queued jobs in the process of the test, through the real job rows and actors."""

from collections.abc import Callable, Sequence

import dramatiq

from domain import jobs
from models import db
from models.jobs import processes, rows
from tests.support.running import row_ids
from workers import relay


def drain(*queues: str, deliveries: int = 1, max_jobs: int = 2_000) -> int:
    """Run due jobs (of these queues, or all) until none is due, each `deliveries` times; return how many jobs ran."""
    process_id, run_count = row_ids.new_id(), 0
    while run_count < max_jobs:
        with db.any_org_work():  # every time: on a busy machine a round takes longer than a process may be silent
            processes.announce(process_id=process_id, queues=jobs.QUEUES, threads=8)
        pointers = dispatch_pointers(queues or jobs.QUEUES)
        if not pointers:
            return run_count
        for pointer in pointers:
            for _ in range(deliveries):
                run_pointer(pointer)
            run_count += 1
    raise AssertionError(f"{max_jobs} jobs ran and there are still more")


def run_pointer(pointer: rows.Pointer) -> None:
    """Run one pointer as a worker thread would."""
    actor = dramatiq.get_broker().get_actor(pointer.name)
    actor.fn(**relay.message(pointer).kwargs)


def dispatch_pointers(queues: Sequence[str]) -> list[rows.Pointer]:
    """Dispatch the due jobs of these queues and return their pointers, for `run_pointer`."""
    with db.any_org_work():
        return [
            pointer
            for queue in queues
            for pointer in rows.any_org_dispatch(queue=queue, per_thread=16, share=1_000, lease_s=30)
        ]


def measure_wait_s(act: Callable[[], object]) -> tuple[float, float]:
    """Call `act`, which postpones the only job; return the least and the most seconds for which it may wait."""
    with db.any_org_work():
        ((before,),) = db.db.run("select clock_timestamp()")
    act()
    with db.any_org_work():
        ((after, run_at),) = db.db.run("select clock_timestamp(), run_at from job")
    return (run_at - after).total_seconds(), (run_at - before).total_seconds()
