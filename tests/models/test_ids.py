"""Ids sort by time and are unique."""

import os
import threading

from models.ids import new_id
from models.session.database_clock import database_clock


def test_id_is_a_version_7_uuid_of_the_current_time():
    before_ms = database_clock.now_ns() // 1_000_000

    created = new_id()

    assert (created.version, created.variant) == (7, "specified in RFC 4122")
    assert before_ms <= created.int >> 80 <= database_clock.now_ns() // 1_000_000


def test_ids_of_many_threads_are_all_different():
    created: list = []
    threads = [threading.Thread(target=lambda: created.extend(new_id() for _ in range(2_000))) for _ in range(8)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(created)) == 16_000


def test_forked_process_does_not_repeat_its_parents_random_bytes():
    new_id()
    read_fd, write_fd = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write_fd, b"".join(new_id().bytes[7:] for _ in range(50)))
        os._exit(0)
    os.waitpid(child, 0)
    child_bytes = os.read(read_fd, 9 * 50)

    parent_bytes = b"".join(new_id().bytes[7:] for _ in range(50))

    assert len(child_bytes) == 450
    assert not {child_bytes[i : i + 9] for i in range(0, 450, 9)} & {parent_bytes[i : i + 9] for i in range(0, 450, 9)}
