"""Loops that share a process end together."""

import threading

import pytest

from commands.service import processes


def test_a_loop_that_ends_tells_the_others():
    told = threading.Event()

    processes._run_until_stopped(lambda should_stop: None, told)

    assert told.is_set()


def test_a_loop_that_breaks_tells_the_others_and_breaks_the_process():
    told = threading.Event()

    def breaks(should_stop):
        assert not should_stop()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        processes._run_until_stopped(breaks, told)
    assert told.is_set()
