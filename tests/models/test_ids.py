"""Ids sort by time and are never used twice."""

import os
import threading

from models.ids import new_id
from models.session.database_clock import database_clock


def test_id_is_a_version_7_uuid_of_the_current_time():
    before_ms = database_clock.now_ns() // 1_000_000

    made = new_id()

    assert (made.version, made.variant) == (7, "specified in RFC 4122")
    assert before_ms <= made.int >> 80 <= database_clock.now_ns() // 1_000_000


def test_ids_of_many_threads_are_all_different():
    made: list = []
    threads = [threading.Thread(target=lambda: made.extend(new_id() for _ in range(2_000))) for _ in range(8)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(made)) == 16_000


def test_forked_process_does_not_repeat_its_parents_random_bytes():
    new_id()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, b"".join(new_id().bytes[7:] for _ in range(50)))
        os._exit(0)
    os.waitpid(child, 0)
    theirs = os.read(reading, 9 * 50)

    ours = b"".join(new_id().bytes[7:] for _ in range(50))

    assert len(theirs) == 450
    assert not {theirs[i : i + 9] for i in range(0, 450, 9)} & {ours[i : i + 9] for i in range(0, 450, 9)}
