"""`flask up`: all servers and processes on this machine, under one supervisor.

`make run` calls this module itself: `flask` would load the application into the supervisor, which does not need it.
"""

import dataclasses
import fcntl
import multiprocessing
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import click

import settings
from adapters import servers
from adapters.embedded import data_folder, server_pair
from settings.concerns.web import Web
from workers.procfile.supervisor import Supervisor, parse

_ROOT = Path(__file__).resolve().parents[2]
# The default: each thread keeps a connection, which is a database process. Three threads accept a twelfth less than
# four, and use 20 MB less.
_ONE_MACHINE = {"WEB_THREADS": "3"}
_WATCH = {"code": "python -m commands.service.watch"}


@click.command("up")
@click.option("--procfile", default="Procfile.dev", show_default=True)
@click.option("--reload", "is_reloaded", is_flag=True, help="Restart the processes when the code changes.")
def up(procfile: str, is_reloaded: bool) -> None:
    """Run Finderfee on this machine: servers, migrations, demo data on the first start, all processes."""
    try:
        config = settings.current()
    except settings.BadSetting as error:
        raise SystemExit(f"finderfee: {error}") from error
    for warning in settings.old_name_warnings(os.environ):
        click.echo(f"finderfee: {warning}", err=True)
    settings.replace_old_names(os.environ)  # or every program would repeat the warnings
    with _data_folder_lock(config):
        raise SystemExit(_run(config, procfile, _WATCH if is_reloaded else {}))


def _run(config: settings.Settings, procfile: str, watch: Mapping[str, str]) -> int:
    own = servers.embedded_names(config.servers)
    try:
        servers.start()
        return _serve(config, (_ROOT / procfile).read_text(), lasting={**_watchdog_program(own), **watch})
    except server_pair.StartFailed as failure:
        raise click.ClickException(str(failure)) from failure
    finally:
        if own:
            server_pair.stop(config.servers.data_dir)
            click.echo("Stopped; the data stays in " + str(config.servers.data_dir))


def _serve(config: settings.Settings, procfile: str, *, lasting: Mapping[str, str]) -> int:
    prepared = _run_in_child(_prepare, config)
    os.environ.update(prepared.environment)
    settings.current.cache_clear()
    commands = {**lasting, **parse(procfile)}
    for name in _list_idle_programs(settings.current()):
        commands.pop(name, None)
    threading.Thread(target=_greet_when_listening, args=(config.web, prepared.greeting), daemon=True).start()
    return Supervisor(commands, env={**_ONE_MACHINE, **os.environ}, lasting=lasting).run()


def _list_idle_programs(config: settings.Settings) -> Iterator[str]:
    """Yield the programs that have nothing to do: the demo on a database of one's own, the copilot without a model."""
    if config.servers.database_url is not None:
        yield "demo"
    if config.copilot.url is None:
        yield "copilot"


class _Preparation(NamedTuple):
    environment: Mapping[str, str]
    greeting: str


def _run_in_child(work: Callable[[settings.Settings], _Preparation], config: settings.Settings) -> _Preparation:
    """Run a function in a fork, so that this process stays small; return its result or raise its exception."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as child:
        return child.submit(work, config).result()


def _prepare(config: settings.Settings) -> _Preparation:
    """Apply migrations and create the demo. Runs in a child process, which imports what only this needs."""
    from flask import Flask

    from adapters import clock, logs
    from commands.demo import demo, loopback
    from commands.service import database
    from models import db

    logs.configure(dataclasses.replace(config.monitoring, log_level="warning"))  # the processes log for themselves
    db.connect_to(servers.urls().database_url, is_pooled=config.servers.is_pooled)
    clock.use_database_clock(db.database_clock)
    applied = database.apply_migrations()
    if applied:
        click.echo(f"Applied migrations: {', '.join(applied)}")
    environment = _build_environment(config)
    if not loopback.is_demo_enabled(config):
        return _Preparation(environment, f"\n  Finderfee   {config.web.url}\n")
    environment |= loopback.receiver_environment(config, os.environ) | loopback.gateway_environment(config)
    os.environ.update(environment)
    settings.current.cache_clear()
    with Flask("finderfee", static_folder=None).app_context():
        created = demo.ensure()
        return _Preparation(environment, demo.greeting(created, is_open=created.may_be_shown))


def _watchdog_program(names: Sequence[str]) -> dict[str, str]:
    """Return the program that restarts embedded servers that die."""
    return {"servers": f"python -m adapters.embedded.watchdog $DATA_DIR {' '.join(names)}"} if names else {}


def _greet_when_listening(web: Web, greeting: str) -> None:
    """Print the greeting once the web server listens."""
    while not _is_listening(web):
        time.sleep(0.2)
    click.echo(greeting)
    sys.stdout.flush()


def _is_listening(web: Web) -> bool:
    """Return whether the web server's address accepts connections."""
    path = web.bind.removeprefix("unix:")
    try:
        if path == web.bind:
            socket.create_connection((web.bind, web.port), timeout=1).close()
        else:
            with socket.socket(socket.AF_UNIX) as probe:
                probe.settimeout(1)
                probe.connect(path)
    except OSError:
        return False
    return True


@contextmanager
def _data_folder_lock(config: settings.Settings) -> Iterator[None]:
    """Lock the data folder: a second `flask up` on it would stop the servers of the first."""
    data_folder.restrict_access(config.servers.data_dir)
    with (config.servers.data_dir / "up.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise click.ClickException(
                f"Finderfee runs on {config.servers.data_dir} already. Next: stop it, or set DATA_DIR and PORT"
                " for a second one."
            ) from error
        yield


def _build_environment(config: settings.Settings) -> dict[str, str]:
    """Return the environment of the processes: the settings that this process resolved."""
    metrics_folder = config.servers.data_dir / "metrics"
    metrics_folder.mkdir(parents=True, exist_ok=True)
    for stale in metrics_folder.glob("*.db"):
        stale.unlink()
    return {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "PORT": str(config.web.port),
        "DATA_DIR": str(config.servers.data_dir),
        "PROMETHEUS_MULTIPROC_DIR": str(metrics_folder),
        "FLASK_APP": "app:create_app",
    }


if __name__ == "__main__":
    up()
