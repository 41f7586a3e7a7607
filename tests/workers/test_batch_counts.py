"""Metrics of a batch of calls whose answers cannot be recorded together."""

from datetime import timedelta

import dramatiq
import pytest
from prometheus_client import REGISTRY

from adapters import clock
from domain.jobs import Job
from models import db
from models.jobs import processes, rows
from pipelines import work
from tests.support.job_queues import run_pointer
from workers import process
from workers.actor import register_calling_job
from workers.batching.call_batches import CallBatch

_JOB = Job("test.batch_counts", queue="upkeep", max_attempts=3, batch_size=4, lease_s=90)


def _count_attempts(outcome: str) -> float:
    return REGISTRY.get_sample_value("finderfee_job_attempts_total", {"job": _JOB.name, "outcome": outcome}) or 0


@pytest.fixture
def declared_job(app):
    """Declare calls whose second answer cannot be recorded and whose fourth is no longer needed."""

    def record(pairs):
        if any(place == 1 for place, _ in pairs):
            raise LookupError("not this one")
        return [None] * len(pairs)

    def prepare(jobs):
        places = [int(job.args["place"]) for job in jobs]
        return [None if place == 3 else place for place in places]

    register_calling_job(
        _JOB,
        prepare=lambda job: prepare([job])[0],
        call=lambda place: place,
        record=lambda place, answer: record([(place, answer)])[0],
        together=CallBatch(prepare=prepare, may_continue=lambda *_: True, record=record, give_back=lambda _: None),
    )
    yield
    dramatiq.get_broker().actors.pop(_JOB.name)


def test_unrecordable_answer_counts_as_failed_and_not_as_done(brand, declared_job):
    with db.unit_of_work(brand.id):
        for place in range(4):
            due = clock.now() - timedelta(seconds=4 - place)
            work.enqueue(_JOB, organization_id=brand.id, place=place, run_at=due)
    with db.any_org_work():
        processes.announce(process_id=process.current_id(), queues=["upkeep"], threads=1)
        (pointer,) = rows.any_org_dispatch(queue="upkeep", per_thread=1, share=99, lease_s=30)

    run_pointer(pointer)

    assert (_count_attempts("done"), _count_attempts("failed")) == (3, 1)
    assert brand.rows("select (args ->> 'place')::int from job where name = %s", _JOB.name) == [(1,)]
