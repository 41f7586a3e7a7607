"""Detection of silent processes by a relay, and their messages in the broker."""

from uuid import UUID

import dramatiq
import pytest

import settings
from adapters import servers
from domain import jobs
from models import db
from models.jobs import processes
from pipelines import work
from workers import silence
from workers.carriers import fetched_messages
from workers.relay import Relay


class _Clock:
    """The monotonic clock of the watch, set by the test."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch):
    """Replace the watch's clock by one that the test sets."""
    fake_clock = _Clock()
    monkeypatch.setattr(silence, "time", fake_clock)
    return fake_clock


@pytest.fixture
def watch(app, clock):
    """A watch that starts now."""
    return silence.SilenceWatch(dramatiq.get_broker())


@pytest.fixture
def silent_process(brand, app):
    """A process that fetched a job's pointer and has been silent for a minute."""
    process_id = UUID(dramatiq.get_broker().broker_id)
    with db.any_org_work():
        processes.announce(process_id=process_id, queues=["sales"], threads=1)
    with db.unit_of_work(brand.id):
        work.enqueue(jobs.SALE_SETTLE, organization_id=brand.id, sale_id="x")
    Relay(redis_url=servers.urls().redis_url, config=settings.current().jobs).hand_out()
    assert next(dramatiq.get_broker().consume("sales")) is not None
    with db.any_org_work():
        db.db.stage("update worker_process set seen_at = now() - interval '1 minute'")
    yield process_id
    dramatiq.get_broker().unacknowledged.clear()


def _pass_seconds(clock: _Clock, watch: silence.SilenceWatch, seconds: int) -> None:
    for _ in range(seconds):
        clock.now += 1
        watch.look()


def _is_dispatched() -> bool:
    with db.any_org_work():
        return db.db.row("select deadline > now() from job") == (True,)


def _messages(process_id: UUID) -> dict[str, int]:
    client = dramatiq.get_broker().client
    fetched = fetched_messages.set_key(client, process_id, "sales")
    return {"in hand": client.scard(fetched), "kept": client.hlen("finderfee:sales.msgs")}


def test_fetched_jobs_of_dead_process_are_due_and_its_messages_deleted(silent_process, clock, watch):
    _pass_seconds(clock, watch, 12)

    assert not _is_dispatched()
    assert _messages(silent_process) == {"in hand": 0, "kept": 0}
    with db.any_org_work():
        assert db.db.run("select from worker_process") == []


def test_new_watch_declares_no_process_dead(silent_process, clock, watch):
    _pass_seconds(clock, watch, 11)

    assert _is_dispatched()


def test_interrupted_watch_gives_processes_time_to_announce(silent_process, clock, watch):
    # given: a long watch, then the database was unreachable or the machine slept
    with db.any_org_work():
        db.db.stage("update worker_process set seen_at = now()")
    _pass_seconds(clock, watch, 20)
    with db.any_org_work():
        db.db.stage("update worker_process set seen_at = now() - interval '1 minute'")
    clock.now += 60

    # then
    watch.look()
    _pass_seconds(clock, watch, 11)
    assert _is_dispatched()
    _pass_seconds(clock, watch, 1)
    assert not _is_dispatched()


def test_announcing_process_keeps_its_jobs(silent_process, clock, watch):
    with db.any_org_work():
        db.db.stage("update worker_process set seen_at = now()")

    _pass_seconds(clock, watch, 20)

    assert _is_dispatched()
    assert _messages(silent_process) == {"in hand": 1, "kept": 1}


def test_message_without_content_is_deleted(silent_process, clock, watch):
    client = dramatiq.get_broker().client
    client.sadd(fetched_messages.set_key(client, silent_process, "sales"), "nothing")

    _pass_seconds(clock, watch, 12)

    assert _messages(silent_process) == {"in hand": 0, "kept": 0}


def test_message_refetched_by_another_process_is_kept(silent_process):
    client = dramatiq.get_broker().client
    ((message, _),) = fetched_messages.read(client, silent_process)["sales"].items()
    client.srem(fetched_messages.set_key(client, silent_process, "sales"), message)

    fetched_messages.delete(client, silent_process, "sales", [message])

    assert client.hlen("finderfee:sales.msgs") == 1
