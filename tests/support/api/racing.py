"""Runs requests at the same moment, each on a connection of its own."""

import threading
from collections.abc import Callable
from typing import Any

from models import db


def begun(call: Callable[[], Any], *, for_s: float = 0.3) -> Callable[[], Any]:
    """Start a call and give it time to come as far as it can; return what waits for its answer."""
    answers: list[Any] = []

    def run() -> None:
        answers.append(call())
        db.db.drop_connection()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(for_s)

    def answer() -> Any:
        thread.join()
        return answers[0]

    return answer


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
