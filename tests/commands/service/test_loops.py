"""Loops that share a process end together."""

import threading

import pytest

from commands.service import processes


def test_finished_loop_stops_the_others():
    is_stopping = threading.Event()

    processes._run_until_stopped(lambda should_stop: None, is_stopping)

    assert is_stopping.is_set()


def test_failed_loop_stops_the_others_and_the_process():
    is_stopping = threading.Event()

    def fail(should_stop):
        assert not should_stop()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        processes._run_until_stopped(fail, is_stopping)
    assert is_stopping.is_set()
