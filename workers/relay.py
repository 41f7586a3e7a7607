"""Dispatches due jobs to the broker, never more than the live workers can take.

Any number of relays may run: rows are claimed with `skip locked`. A crash between the claim and the push costs
one lease; a push that fails returns the claim at once. The jobs of silent workers are dispatched again.
"""

import time
from collections.abc import Callable, Sequence
from typing import cast

import dramatiq
import redis
import structlog
from dramatiq.errors import BrokerConnectionError

from adapters import broker
from domain import jobs, thread_slots
from models import db
from models.jobs import rows
from settings.concerns.jobs import Jobs
from workers import dead_letters, metrics, silence
from workers.carriers.pointer_carrier import PointerCarrier

_log = structlog.get_logger(__name__)

# Without a wake-up the relay looks this often, which limits the cost of losing the broker's wake list.
_IDLE_S = 0.25
# Jobs create jobs (a sale its override, both their deliveries), so for a while after the last dispatch it looks
# again this soon.
_BUSY_S = 0.01
_BUSY_FOR_S = 0.5
# While the database or the broker is unavailable.
_UNAVAILABLE_S = 1.0

#: How many jobs of one fair key (an endpoint, an organization) may be leased at once, in any number of processes. An
#: endpoint that hangs holds that many worker threads for ten seconds each, a gateway's API or five platforms for
#: fifteen, a model for a minute. `domain.thread_slots` limits the work of one process. Database jobs take
#: milliseconds and need no such limit.
SHARE = {"webhooks": 4, "gateways": 6, "lookups": 2, "copilot": 2}
_UNLIMITED = 1_000_000


class Relay:
    """The loop of one relay process."""

    def __init__(self, *, redis_url: str, config: Jobs) -> None:
        self._client = broker.client(redis_url)
        self._broker = cast(PointerCarrier, dramatiq.get_broker())
        self._config = config
        self._busy_until = 0.0
        self._watch = silence.SilenceWatch(self._broker)

    def run(self, should_stop: Callable[[], bool]) -> None:
        """Dispatch jobs until `should_stop` returns True."""
        while not should_stop():
            try:
                self._watch.look()
                if self.hand_out():
                    self._busy_until = time.monotonic() + _BUSY_FOR_S
            except db.UNAVAILABLE as error:
                _log.warning("relay.database_unavailable", error=str(error).strip())
                time.sleep(_UNAVAILABLE_S)
                continue
            except (redis.RedisError, BrokerConnectionError) as error:
                _log.warning("relay.broker_unavailable", error=str(error).strip())
                time.sleep(_UNAVAILABLE_S)
                continue
            if time.monotonic() < self._busy_until:
                time.sleep(_BUSY_S)
            else:
                self._wait()

    def hand_out(self) -> int:
        """Claim as many jobs as every queue has room for, push them, and return how many were pushed.

        Budget: one round trip if nothing is due; else one more per queue with due jobs, and the commit,
        which waits for no disk.
        """
        with db.read_only(), db.any_org_work():
            queues = rows.any_org_queues_with_jobs(jobs.QUEUES)
        if not queues:
            return 0
        with db.any_org_work():
            pointers = [pointer for queue in queues for pointer in self._claim(queue)]
        self._push(pointers)
        return len(pointers)

    def _claim(self, queue: str) -> list[rows.Pointer]:
        return rows.any_org_dispatch(
            queue=queue,
            per_thread=self._config.slots_per_thread(queue),
            share=SHARE.get(queue, _UNLIMITED),
            lease_s=self._config.lease_s,
            is_long=thread_slots.has_long_jobs(queue),
            on_dead=dead_letters.any_org_react,
        )

    def _push(self, pointers: Sequence[rows.Pointer]) -> None:
        for pushed, pointer in enumerate(pointers):
            try:
                self._broker.enqueue(message(pointer))
            except (redis.RedisError, BrokerConnectionError):
                # This one may have arrived nevertheless; its attempt number then no longer matches and it is dropped.
                with db.any_org_work():
                    rows.any_org_stage_undo_dispatch(pointers[pushed:])
                raise
            metrics.count_handed_out(pointer.queue)

    def _wait(self) -> None:
        self._broker.keep_alive()
        try:
            self._client.blpop([broker.WAKE_LIST], timeout=_IDLE_S)
            self._client.delete(broker.WAKE_LIST)
        except redis.RedisError:
            time.sleep(_IDLE_S)


def message(pointer: rows.Pointer) -> dramatiq.Message[None]:
    """Return the broker's message for a pointer."""
    return dramatiq.Message(
        queue_name=pointer.queue,
        actor_name=pointer.name,
        args=(),
        kwargs={"job_id": pointer.job_id, "attempt": pointer.attempt, "key": pointer.fair_key}
        | ({"trace": pointer.trace} if pointer.trace else {}),
        options={},
    )
