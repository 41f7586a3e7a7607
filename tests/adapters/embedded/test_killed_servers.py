"""The leftovers of a killed PostgreSQL do not prevent the next start."""

import os
import signal
import threading
from contextlib import closing
from pathlib import Path

import psycopg2

from adapters.embedded import data_folder, server_pair
from tests.support import databases
from tests.support.installation import servers


def _postmaster_pid(data_dir: Path) -> int:
    pid = data_folder.listener_pid(data_folder.resolve(data_dir).postgres_socket)
    assert pid is not None
    return pid


def test_killed_servers_restart_with_committed_data(used_dir: Path) -> None:
    servers_info = server_pair.start(used_dir)
    databases.run_as_owner(servers_info.database_owner_url, "create table survivor as select 'row' as word")
    pid = _postmaster_pid(used_dir)

    os.kill(pid, signal.SIGKILL)
    servers.kill_valkey(used_dir)
    server_pair.start(used_dir)

    assert databases.select_as_owner(servers_info.database_owner_url, "select word from survivor") == [("row",)]


def test_start_waits_for_surviving_backends_of_a_killed_server(used_dir: Path) -> None:
    servers_info = server_pair.start(used_dir, valkey=False, durable=False)
    postmaster = _postmaster_pid(used_dir)
    with closing(psycopg2.connect(servers_info.database_owner_url)) as connection:
        backend_pid = connection.info.backend_pid
        os.kill(backend_pid, signal.SIGSTOP)
        os.kill(postmaster, signal.SIGKILL)
        resume_timer = threading.Timer(2, os.kill, (backend_pid, signal.SIGCONT))
        resume_timer.start()
        try:
            server_pair.start(used_dir, valkey=False, durable=False)
        finally:
            resume_timer.join()

    assert databases.select_as_owner(servers_info.database_owner_url, "select 1") == [(1,)]


def test_stale_pid_of_another_program_does_not_block_the_start(used_dir: Path) -> None:
    servers_info = server_pair.start(used_dir, valkey=False, durable=False)
    pid_file = used_dir / "postgres" / "postmaster.pid"
    pid_text = pid_file.read_text()
    server_pair.stop(used_dir)
    pid_file.write_text(f"{os.getppid()}\n{pid_text.partition(chr(10))[2]}")
    (data_folder.resolve(used_dir).sockets / ".s.PGSQL.5432.lock").write_text(f"{os.getppid()}\n")

    server_pair.start(used_dir, valkey=False, durable=False)

    assert databases.select_as_owner(servers_info.database_owner_url, "select 1") == [(1,)]
