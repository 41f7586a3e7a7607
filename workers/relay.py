"""Hands due jobs to the broker, never more than the live workers can take.

Any number of relays may run: rows are claimed with their locks skipped. A crash between the claim and the push costs
one lease; a push that fails gives the claim back at once. What silent workers hold is handed out again.
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
from workers import metrics, silence
from workers.carriers.ours import PointerCarrier

_log = structlog.get_logger(__name__)

# Without a wake-up the relay looks this often; it bounds what losing the broker's wake list can cost.
_IDLE_S = 0.25
# Work brings work (a sale its override, both their deliveries), so for a while after the last hand-out it looks
# again this soon.
_BUSY_S = 0.01
_STAYS_BUSY_S = 0.5
# While the database or the broker is away.
_AWAY_S = 1.0

#: How many jobs of one fair key (an endpoint, an organization) may be out at once, in any number of processes. An
#: endpoint that hangs holds that many worker threads for ten seconds each, a gateway's API or five platforms for
#: fifteen, a model for a minute. `domain.thread_slots` limits what one process works on. Database jobs are over in
#: milliseconds and need no such limit.
SHARE = {"webhooks": 4, "gateways": 6, "lookups": 2, "copilot": 2}
_NO_BOUND = 1_000_000


class Relay:
    """The loop of one relay process."""

    def __init__(self, *, redis_url: str, chosen: Jobs) -> None:
        self._client = broker.client(redis_url)
        self._broker = cast(PointerCarrier, dramatiq.get_broker())
        self._chosen = chosen
        self._busy_until = 0.0
        self._watch = silence.Watch(self._broker)

    def run(self, should_stop: Callable[[], bool]) -> None:
        """Hand out until told to stop."""
        while not should_stop():
            try:
                self._watch.look()
                if self.hand_out():
                    self._busy_until = time.monotonic() + _STAYS_BUSY_S
            except db.UNAVAILABLE as error:
                _log.warning("relay.database_unavailable", error=str(error).strip())
                time.sleep(_AWAY_S)
                continue
            except (redis.RedisError, BrokerConnectionError) as error:
                _log.warning("relay.broker_unavailable", error=str(error).strip())
                time.sleep(_AWAY_S)
                continue
            if time.monotonic() < self._busy_until:
                time.sleep(_BUSY_S)
            else:
                self._wait()

    def hand_out(self) -> int:
        """Claim what every queue has room for, then push it; returns how many were pushed.

        Budget: one round trip where nothing is staged; else one more per queue that has something, and the commit,
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
            per_thread=self._chosen.slots_per_thread(queue),
            share=SHARE.get(queue, _NO_BOUND),
            lease_s=self._chosen.lease_s,
            is_long=thread_slots.has_long_jobs(queue),
        )

    def _push(self, pointers: Sequence[rows.Pointer]) -> None:
        for pushed, pointer in enumerate(pointers):
            try:
                self._broker.enqueue(message(pointer))
            except (redis.RedisError, BrokerConnectionError):
                # This one may have arrived all the same; its attempt number then no longer matches and it is dropped.
                with db.any_org_work():
                    rows.any_org_stage_undo_dispatch(pointers[pushed:])
                raise
            metrics.count_handed_out(pointer.queue)

    def _wait(self) -> None:
        self._broker.keep_alive()
        try:
            self._client.blpop([broker.WAKE], timeout=_IDLE_S)
            self._client.delete(broker.WAKE)
        except redis.RedisError:
            time.sleep(_IDLE_S)


def message(pointer: rows.Pointer) -> dramatiq.Message[None]:
    """Return what goes to the broker for a pointer."""
    return dramatiq.Message(
        queue_name=pointer.queue,
        actor_name=pointer.name,
        args=(),
        kwargs={"job_id": pointer.job_id, "attempt": pointer.attempt, "key": pointer.fair_key}
        | ({"trace": pointer.trace} if pointer.trace else {}),
        options={},
    )
