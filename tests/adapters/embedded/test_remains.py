"""What a killed PostgreSQL leaves behind is no obstacle to the next start."""

import os
import signal
import threading
from contextlib import closing
from pathlib import Path

import psycopg2

from adapters.embedded import data_folder, server_pair
from tests.support import databases
from tests.support.installation import servers


def _postmaster(data_dir: Path) -> int:
    pid = data_folder.listener_pid(data_folder.resolve(data_dir).postgres_socket)
    assert pid is not None
    return pid


def test_killed_servers_are_started_again_with_what_was_committed(used_dir: Path) -> None:
    found = server_pair.start(used_dir)
    databases.run_as_owner(found.database_owner_url, "create table survivor as select 'row' as word")
    pid = _postmaster(used_dir)

    os.kill(pid, signal.SIGKILL)
    servers.kill_valkey(used_dir)
    server_pair.start(used_dir)

    assert databases.select_as_owner(found.database_owner_url, "select word from survivor") == [("row",)]


def test_a_start_waits_for_processes_of_a_killed_server_that_end_late(used_dir: Path) -> None:
    found = server_pair.start(used_dir, valkey=False, durable=False)
    postmaster = _postmaster(used_dir)
    with closing(psycopg2.connect(found.database_owner_url)) as connection:
        late = connection.info.backend_pid
        os.kill(late, signal.SIGSTOP)
        os.kill(postmaster, signal.SIGKILL)
        ends = threading.Timer(2, os.kill, (late, signal.SIGCONT))
        ends.start()
        try:
            server_pair.start(used_dir, valkey=False, durable=False)
        finally:
            ends.join()

    assert databases.select_as_owner(found.database_owner_url, "select 1") == [(1,)]


def test_stale_pid_that_now_belongs_to_another_program_is_no_obstacle(used_dir: Path) -> None:
    found = server_pair.start(used_dir, valkey=False, durable=False)
    pid_file = used_dir / "postgres" / "postmaster.pid"
    left_over = pid_file.read_text()
    server_pair.stop(used_dir)
    pid_file.write_text(f"{os.getppid()}\n{left_over.partition(chr(10))[2]}")
    (data_folder.resolve(used_dir).sockets / ".s.PGSQL.5432.lock").write_text(f"{os.getppid()}\n")

    server_pair.start(used_dir, valkey=False, durable=False)

    assert databases.select_as_owner(found.database_owner_url, "select 1") == [(1,)]
