"""Crashes, wipes and restarts the embedded servers of a data folder.

Start them with durable=True if a test asserts that committed transactions survive: otherwise PostgreSQL may lose the
last ones in a crash by design.
"""

import shutil
import signal
from pathlib import Path

from adapters.embedded import data_folder, postgres_server, server_pair, valkey_server

_MODES = {"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT}


def restart_postgres(data_dir: Path, mode: str = "immediate", *, durable: bool = True) -> None:
    """Stop PostgreSQL as `pg_ctl -m MODE stop` does and start it again; 'immediate' is a crash with recovery."""
    place = data_folder.resolve(data_dir)
    with data_folder.exclusive_lock(place.lock):
        postgres_server.stop(place, signal_number=_MODES[mode])
    server_pair.start(data_dir, valkey=False, durable=durable)


def stop_valkey(data_dir: Path, save: bool) -> None:
    """Stop Valkey; with `save` False it loses what is not in its append-only file yet."""
    place = data_folder.resolve(data_dir)
    with data_folder.exclusive_lock(place.lock):
        if valkey_server.is_running(place):
            data_folder.query_listener(place.valkey_socket, b"SHUTDOWN SAVE\r\n" if save else b"SHUTDOWN NOSAVE\r\n")
            valkey_server.stop(place)


def kill_valkey(data_dir: Path) -> None:
    """SIGKILL Valkey and wait until it has ended."""
    place = data_folder.resolve(data_dir)
    with data_folder.exclusive_lock(place.lock):
        valkey_server.stop(place, signal_number=signal.SIGKILL)


def wipe_valkey(data_dir: Path) -> None:
    """Remove the files that Valkey loads when it starts. Raises RuntimeError if it is running."""
    place = data_folder.resolve(data_dir)
    with data_folder.exclusive_lock(place.lock):
        if valkey_server.is_running(place):
            raise RuntimeError("stop Valkey before its files are removed")
        shutil.rmtree(place.valkey)
