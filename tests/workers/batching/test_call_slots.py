"""Calls to one gateway hold the share of one server, for whatever organizations; others are called meanwhile."""

import threading

import pytest

from workers.batching.call_slots import CallSlots


@pytest.fixture
def slots():
    slots = CallSlots(waits_s=0.05)
    slots.limit_to(lambda: 2)
    return slots


def test_server_at_its_limit_has_no_slot_and_others_have(slots):
    with slots.hold("slow") as first, slots.hold("slow") as second, slots.hold("slow") as third, slots.hold("b") as b:
        assert (first, second, third, b) == (True, True, False, True)
    with slots.hold("slow") as again:
        assert again
    assert slots._calls == {}


def test_call_that_raises_gives_its_slot_back(slots):
    def call():
        with slots.hold("slow") as is_held:
            assert is_held
            raise ValueError("odd")

    for _ in range(5):
        with pytest.raises(ValueError, match="odd"):
            call()
    assert slots._calls == {}


def test_slot_that_is_given_back_is_taken_by_who_waits():
    slots = CallSlots(waits_s=60)
    slots.limit_to(lambda: 1)
    held: list[bool] = []

    def call():
        with slots.hold("slow") as is_held:
            held.append(is_held)

    with slots.hold("slow"):
        threads = [threading.Thread(target=call) for _ in range(5)]
        for thread in threads:
            thread.start()
        assert held == []
    for thread in threads:
        thread.join(60)
    assert held == [True] * 5
