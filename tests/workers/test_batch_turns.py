"""Kinds of which one worker of an organization at a time takes any along, so that batches keep their order."""

from datetime import timedelta
from threading import Event

import dramatiq
import pytest

from adapters import clock
from domain.jobs import Job
from models import db
from models.jobs import rows
from pipelines import work
from tests.support.api.racing import begun
from tests.support.draining import run
from workers.actor import database_job

_JOB = Job("test.batch_turns", queue="upkeep", together=4, in_turn=True)


@pytest.fixture(autouse=True)
def forgets(app):
    """What one test declared is nothing to the next."""
    yield
    dramatiq.get_broker().actors.pop(_JOB.name, None)


def _asked_for(brand, *, jobs: int, out: int) -> list[rows.Pointer]:
    """Ask for so many jobs of a brand, one second after another, and return pointers to those that are handed out."""
    with db.unit_of_work(brand.id):
        for place in range(jobs):
            work.enqueue(
                _JOB, organization_id=brand.id, place=place, run_at=clock.now() - timedelta(seconds=jobs - place)
            )
    handed_out = brand.rows(
        "update job set attempt = 1, deadline = now() + interval '1 hour'"
        " where name = %s and (args ->> 'place')::int < %s returning id",
        _JOB.name,
        out,
    )
    return [rows.Pointer(job_id, 1, _JOB.queue, _JOB.name) for (job_id,) in sorted(handed_out)]


def test_a_second_worker_does_what_it_was_handed_alone_and_one_of_another_organization_takes_along(brand, rival):
    done, may_end = [], Event()

    def together(jobs):
        done.append([int(job.args["place"]) for job in jobs])
        assert len(done) > 1 or may_end.wait(120)

    database_job(_JOB, together=together)(lambda job: together([job]))
    first, second, third = _asked_for(brand, jobs=9, out=3)
    (other,) = _asked_for(rival, jobs=2, out=1)

    worker = begun(lambda: run(first), until=lambda: bool(done))
    run(second)
    run(other)
    may_end.set()
    worker()
    run(third)

    assert done == [[0, 3, 4, 5], [1], [0, 1], [2, 6, 7, 8]]
