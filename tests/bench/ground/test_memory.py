"""The memory that the bench reports of processes."""

import os

from bench.ground import memory


def test_peak_of_this_process_is_some_megabytes():
    assert memory.find_peak_mb(os.getpid()) > 5


def test_process_that_does_not_exist_has_no_peak():
    assert memory.find_peak_mb(2**30) == 0
