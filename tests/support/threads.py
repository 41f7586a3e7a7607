"""Runs the same call in several threads at once."""

import threading
from collections.abc import Callable


def run_in_threads(count: int, call: Callable[[int], object]) -> None:
    """Call with 0, 1, … in `count` threads at the same time. Fails if any of them raised."""
    failures: list[BaseException] = []

    def run(number: int) -> None:
        try:
            call(number)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
