"""Calls to one server share a limited number of slots across all tenants; other servers are not affected."""

import threading

import pytest

from workers.batching.call_slots import CallSlots


@pytest.fixture
def slots():
    slots = CallSlots(waits_s=0.05)
    slots.limit_to(lambda: 2)
    return slots


def test_server_at_its_limit_gets_no_slot_and_other_servers_do(slots):
    with slots.hold("slow") as first, slots.hold("slow") as second, slots.hold("slow") as third, slots.hold("b") as b:
        assert (first, second, third, b) == (True, True, False, True)
    with slots.hold("slow") as is_held:
        assert is_held
    assert slots._calls == {}


def test_failed_call_releases_its_slot(slots):
    def call():
        with slots.hold("slow") as is_held:
            assert is_held
            raise ValueError("odd")

    for _ in range(5):
        with pytest.raises(ValueError, match="odd"):
            call()
    assert slots._calls == {}


def test_released_slot_goes_to_a_waiting_call():
    slots = CallSlots(waits_s=60)
    slots.limit_to(lambda: 1)
    results: list[bool] = []

    def call():
        with slots.hold("slow") as is_held:
            results.append(is_held)

    with slots.hold("slow"):
        threads = [threading.Thread(target=call) for _ in range(5)]
        for thread in threads:
            thread.start()
        assert results == []
    for thread in threads:
        thread.join(60)
    assert results == [True] * 5
