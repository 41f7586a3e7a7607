"""The relay between real rows and a real broker: failed pushes, and how often a job is dispatched."""

import dramatiq
import pytest
from redis import RedisError

import settings
from adapters import servers
from domain import jobs
from models import db, ids
from models.jobs import processes, rows
from pipelines import work
from tests.support.api.concurrency import run_concurrently
from tests.support.job_queues import run_pointer
from workers import broker
from workers.relay import Relay

_UNREACHABLE = "unix:///nowhere/valkey.sock?db=0"


@pytest.fixture
def relay(app):
    """A relay that dispatches to the broker of this process."""
    return Relay(redis_url=servers.urls().redis_url, config=settings.current().jobs)


@pytest.fixture
def relay_without_redis(app):
    """A relay whose broker is unreachable."""
    own_broker = dramatiq.get_broker()
    broker.connect(_UNREACHABLE)
    yield Relay(redis_url=_UNREACHABLE, config=settings.current().jobs)
    dramatiq.set_broker(own_broker)


def _stage(brand, number: int, job=jobs.SALE_SETTLE, **options):
    with db.unit_of_work(brand.id):
        for _ in range(number):
            work.enqueue(job, organization_id=brand.id, sale_id="x", **options)


def _announce(threads: int = 8):
    with db.any_org_work():
        processes.announce(process_id=ids.new_id(), queues=jobs.QUEUES, threads=threads)


def _rows() -> list[tuple[int, bool]]:
    """Return (attempts used of twenty, is dispatched) of every job."""
    with db.any_org_work():
        return db.db.run("select 20 - (max_attempts - attempt), deadline is not null from job order by id")


def _messages(queue: str = "sales") -> list[tuple[int, int]]:
    """Return job id and attempt of every message of a queue in the broker."""
    client = dramatiq.get_broker().client
    messages = client.hvals(f"finderfee:{queue}.msgs")
    arguments = [dramatiq.Message.decode(message).kwargs for message in messages]
    return sorted((kwargs["job_id"], kwargs["attempt"]) for kwargs in arguments)


def test_due_jobs_are_pushed_as_pointers(relay, brand):
    _stage(brand, 3)
    _announce()

    dispatched = relay.hand_out()

    assert dispatched == 3
    assert [attempt for _, attempt in _messages()] == [1, 1, 1]
    assert _rows() == [(1, True)] * 3


def test_poll_without_due_jobs_is_one_round_trip(relay):
    _announce()
    relay.hand_out()
    trips: list[bytes] = []
    db.db.trip_hooks.append(trips.append)
    try:
        assert relay.hand_out() == 0
    finally:
        db.db.trip_hooks.remove(trips.append)

    assert len(trips) == 1


def test_queues_with_only_dead_letters_are_not_due(brand):
    _stage(brand, 2)
    _stage(brand, 1, jobs.WEBHOOK_DELIVER)
    with db.any_org_work():
        db.db.stage("update job set failed_at = now() where queue = 'webhooks'")
        assert rows.any_org_queues_with_jobs(jobs.QUEUES) == ["sales"]
        assert rows.any_org_queues_with_jobs(["webhooks", "mail"]) == []


def test_leased_job_is_not_dispatched_again(relay, brand):
    _stage(brand, 3)
    _announce()
    relay.hand_out()

    assert relay.hand_out() == 0
    assert len(_messages()) == 3


def test_failed_push_returns_every_claim_with_its_attempt(relay_without_redis, brand):
    _stage(brand, 3)
    _announce()

    for _ in range(5):
        with pytest.raises(RedisError):
            relay_without_redis.hand_out()

    assert _rows() == [(0, False)] * 3


def test_partly_failed_push_returns_only_the_rest(relay, brand, monkeypatch):
    _stage(brand, 3)
    _announce()
    enqueue_message, pushed = relay._broker.enqueue, []

    def enqueue(message):
        if len(pushed) == 1:
            raise RedisError("out of memory")
        pushed.append(enqueue_message(message))

    monkeypatch.setattr(relay._broker, "enqueue", enqueue)
    with pytest.raises(RedisError):
        relay.hand_out()

    assert sorted(_rows()) == [(0, False), (0, False), (1, True)]
    assert len(_messages()) == 1


def test_returned_claim_leaves_newer_attempt_unchanged(brand, app):
    _stage(brand, 1)
    _announce()
    with db.any_org_work():
        pointers = rows.any_org_dispatch(queue="sales", per_thread=1, share=9, lease_s=30)
        db.db.stage("update job set attempt = 2")
    with db.any_org_work():
        rows.any_org_stage_undo_dispatch(pointers)

    assert _rows() == [(2, True)]


def test_push_with_lost_response_has_one_effect(relay, brand, monkeypatch):
    brand.skip_first_sale()
    brand.program()
    brand.affiliate("ben")
    brand.sale()
    _announce()
    enqueue_message = relay._broker.enqueue

    def enqueue(message):
        enqueue_message(message)
        raise RedisError("no answer")

    with monkeypatch.context() as patched:
        patched.setattr(relay._broker, "enqueue", enqueue)
        with pytest.raises(RedisError):
            relay.hand_out()
    relay.hand_out()
    arrived = [rows.Pointer(job_id, attempt, "sales", "sale.settle") for job_id, attempt in _messages()]
    for pointer in arrived:
        run_pointer(pointer)

    assert len(arrived) == 2
    assert brand.rows("select count(*) from conversion") == [(1,)]
    assert _rows() == []


def test_job_is_dispatched_again_after_its_lease_if_the_broker_lost_it(relay, brand):
    _stage(brand, 1)
    _announce()
    relay.hand_out()
    dramatiq.get_broker().client.flushdb()
    with db.any_org_work():
        db.db.stage("update job set deadline = now()")

    relay.hand_out()

    assert [attempt for _, attempt in _messages()] == [2]


def test_concurrent_relays_dispatch_each_job_once(relay, brand):
    _stage(brand, 100)
    _announce(threads=64)  # room for 128

    dispatched = run_concurrently(*[relay.hand_out] * 8)

    assert sum(dispatched) == 100
    assert len({job_id for job_id, _ in _messages()}) == len(_messages()) == 100
    assert _rows() == [(1, True)] * 100


def test_hanging_endpoint_has_at_most_four_leased_deliveries(relay, brand):
    _stage(brand, 9, jobs.WEBHOOK_DELIVER, fair_key="slow", delivery_id="x")
    _stage(brand, 2, jobs.WEBHOOK_DELIVER, fair_key="quick", delivery_id="x")
    _announce()

    assert relay.hand_out() == 6
    assert relay.hand_out() == 0


def _announce_fleet(threads: int, *queues: str):
    with db.any_org_work():
        processes.announce(process_id=ids.new_id(), queues=queues, threads=threads)


def _count_dispatched_by_key() -> dict[str, int]:
    with db.any_org_work():
        return dict(db.db.run("select fair_key, count(*) from job where deadline is not null group by fair_key"))


def test_payouts_by_one_rail_hold_at_most_half_of_the_slots(relay, brand):
    for organization in ("one", "two", "three"):
        _stage(brand, 20, jobs.PAYOUT_TRANSFER, fair_key=f"{organization}@Wallet", payout_id="x")
    _announce_fleet(8, "payouts")
    assert relay.hand_out() == 8  # of 16

    _stage(brand, 3, jobs.PAYOUT_TRANSFER, fair_key="one@GlobalPayouts", payout_id="x")

    assert relay.hand_out() == 3
    assert relay.hand_out() == 0
    out = _count_dispatched_by_key()
    assert out.pop("one@GlobalPayouts") == 3
    assert sorted(out.values()) == [2, 3, 3]


def test_process_of_several_queues_counts_half_its_threads_for_long_jobs(relay, brand):
    for number in range(20):
        _stage(brand, 4, jobs.WEBHOOK_DELIVER, fair_key=f"{number}", delivery_id="x")
    _announce_fleet(4, "webhooks", "mail")

    assert relay.hand_out() == 8  # four for each of two threads


def test_process_of_several_queues_counts_all_threads_for_short_jobs(relay, brand):
    _stage(brand, 20)
    _announce_fleet(4, "sales", "upkeep")

    assert relay.hand_out() == 8  # two for each of four threads


def test_single_key_without_a_share_holds_half_of_all_threads(relay, brand):
    _stage(brand, 40, jobs.MAIL_SEND, message_id="x")
    _announce_fleet(4, "mail")

    assert relay.hand_out() == 8  # of 16


def _stop_after(rounds: int):
    left = iter(range(rounds))
    return lambda: next(left, None) is None


def test_relay_survives_unavailable_broker(relay_without_redis, brand, monkeypatch):
    monkeypatch.setattr("workers.relay._UNAVAILABLE_S", 0.01)
    _stage(brand, 1)
    _announce()

    relay_without_redis.run(_stop_after(3))

    assert _rows() == [(0, False)]


def test_relay_survives_unavailable_database(relay, brand, tmp_path, monkeypatch):
    monkeypatch.setattr("workers.relay._UNAVAILABLE_S", 0.01)
    _stage(brand, 1)
    _announce()
    url = servers.urls().database_url
    rounds = []

    def should_stop():
        rounds.append(1)
        db.db.drop_connection()
        db.connect_to(f"postgresql://finderfee@/finderfee?host={tmp_path}" if len(rounds) < 3 else url)
        return len(rounds) > 4

    relay.run(should_stop)

    assert [attempt for _, attempt in _messages()] == [1]
