"""Runs requests at the same moment, each on a connection of its own."""

import threading
from collections.abc import Callable
from typing import Any

from models import db


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Return what the calls returned, in the order in which they ended."""
    answers: list[Any] = []
    start = threading.Barrier(len(calls))

    def run(call: Callable[[], Any]) -> None:
        start.wait()
        answers.append(call())
        db.db.drop_connection()

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers
