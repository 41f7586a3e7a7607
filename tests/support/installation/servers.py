"""Breaks the embedded servers of a data folder on purpose: crash, forget, come back.

Start them with durable=True where a test says that committed work survives: without it a crashing PostgreSQL may lose
the last moments by design.
"""

import shutil
import signal
from pathlib import Path

from adapters.embedded import data_folder, postgres_server, server_pair, valkey_server

_MODES = {"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT}


def restart_postgres(data_dir: Path, mode: str = "immediate", *, durable: bool = True) -> None:
    """Stop PostgreSQL as `pg_ctl -m MODE stop` would and start it again; 'immediate' is a crash with recovery."""
    place = data_folder.resolve(data_dir)
    with data_folder.exclusive_lock(place.lock):
        postgres_server.stop(place, signal_number=_MODES[mode])
    server_pair.start(data_dir, valkey=False, durable=durable)


def stop_valkey(data_dir: Path, save: bool) -> None:
    """Stop Valkey; with `save` False it forgets what its append-only file does not hold yet."""
    place = data_folder.resolve(data_dir)
    with data_folder.exclusive_lock(place.lock):
        if valkey_server.is_running(place):
            data_folder.query_listener(place.valkey_socket, b"SHUTDOWN SAVE\r\n" if save else b"SHUTDOWN NOSAVE\r\n")
            valkey_server.stop(place)


def kill_valkey(data_dir: Path) -> None:
    """Kill Valkey with SIGKILL and wait for its end."""
    place = data_folder.resolve(data_dir)
    with data_folder.exclusive_lock(place.lock):
        valkey_server.stop(place, signal_number=signal.SIGKILL)


def wipe_valkey(data_dir: Path) -> None:
    """Remove everything that Valkey would load at its next start; it must be stopped.

    Raises RuntimeError while it runs.
    """
    place = data_folder.resolve(data_dir)
    with data_folder.exclusive_lock(place.lock):
        if valkey_server.is_running(place):
            raise RuntimeError("stop Valkey before its files are removed")
        shutil.rmtree(place.valkey)
