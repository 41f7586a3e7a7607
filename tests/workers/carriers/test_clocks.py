"""Workers with wrong and right clocks do not take each other's fetched messages."""

import copy
from uuid import uuid4

import dramatiq
import pytest
from dramatiq.brokers import redis as dramatiqs
from dramatiq.common import current_millis

_HOUR_MS = 3_600_000


@pytest.mark.parametrize("ahead_ms", [_HOUR_MS, -_HOUR_MS])
@pytest.mark.parametrize("fetches_first", [True, False])
def test_worker_with_wrong_clock_neither_takes_nor_loses_messages(app, monkeypatch, ahead_ms, fetches_first):
    # given: a message that one of two workers fetched and is processing
    right, wrong = dramatiq.get_broker(), copy.copy(dramatiq.get_broker())
    wrong.broker_id = str(uuid4())
    queue = f"clocks-{uuid4()}"
    right.enqueue(dramatiq.Message(queue, "none", (), {}, {}))

    def fetch(worker):
        with monkeypatch.context() as patched:
            if worker is wrong:
                patched.setattr(dramatiqs, "current_millis", lambda: current_millis() + ahead_ms)
            return worker.do_fetch(queue, 1)

    first, other = (wrong, right) if fetches_first else (right, wrong)
    assert len(fetch(first)) == 1

    # when, then
    assert fetch(other) == []
