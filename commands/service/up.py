"""`flask up`: everything on this machine, under one supervisor.

`make run` calls this module itself: `flask` would load the application into the supervisor, which has no use for it.
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
from adapters.embedded import pair, places
from settings.concerns.web import Web
from workers.procfile.supervisor import Supervisor, parse

_ROOT = Path(__file__).resolve().parents[2]
# Where nobody says otherwise: each thread keeps a connection, and that is a process of the database. Three take in a
# twelfth less than four, and hold 20 MB less.
_ONE_MACHINE = {"WEB_THREADS": "3"}
_WATCH = {"code": "python -m commands.service.watch"}


@click.command("up")
@click.option("--procfile", default="Procfile.dev", show_default=True)
@click.option("--reload", "is_reloaded", is_flag=True, help="Start the processes again when the code changes.")
def up(procfile: str, is_reloaded: bool) -> None:
    """Run everything on this machine: servers, migrations, demo data on the first start, all processes."""
    try:
        chosen = settings.current()
    except settings.BadSetting as error:
        raise SystemExit(f"finderfee: {error}") from error
    for warning in settings.old_name_warnings(os.environ):
        click.echo(f"finderfee: {warning}", err=True)
    settings.replace_old_names(os.environ)  # or every program would repeat the warnings
    with _alone(chosen):
        raise SystemExit(_run(chosen, procfile, _WATCH if is_reloaded else {}))


def _run(chosen: settings.Settings, procfile: str, watch: Mapping[str, str]) -> int:
    own = servers.embedded_names(chosen.servers)
    try:
        servers.start()
        return _serve(chosen, (_ROOT / procfile).read_text(), lasting={**_keeper(own), **watch})
    except pair.StartFailed as failure:
        raise click.ClickException(str(failure)) from failure
    finally:
        if own:
            pair.stop(chosen.servers.data_dir)
            click.echo("Everything is stopped; the data stays in " + str(chosen.servers.data_dir))


def _serve(chosen: settings.Settings, procfile: str, *, lasting: Mapping[str, str]) -> int:
    prepared = _in_a_child(_prepare, chosen)
    os.environ.update(prepared.environment)
    settings.current.cache_clear()
    commands = {**lasting, **parse(procfile)}
    for name in _needless(settings.current()):
        commands.pop(name, None)
    threading.Thread(target=_greet_once_up, args=(chosen.web, prepared.greeting), daemon=True).start()
    return Supervisor(commands, env={**_ONE_MACHINE, **os.environ}, lasting=lasting).run()


def _needless(chosen: settings.Settings) -> Iterator[str]:
    """Yield the programs that have nothing to do: nobody's demo, nobody's model."""
    if chosen.servers.database_url is not None:
        yield "demo"
    if chosen.copilot.url is None:
        yield "copilot"


class _Prepared(NamedTuple):
    environment: Mapping[str, str]
    greeting: str


def _in_a_child(work: Callable[[settings.Settings], _Prepared], chosen: settings.Settings) -> _Prepared:
    """Return what a fork of this process returns; what it raises is raised here. This one stays as small as it is."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as child:
        return child.submit(work, chosen).result()


def _prepare(chosen: settings.Settings) -> _Prepared:
    """Bring the tables up to date and make the demo. What all of that needs is loaded here, in a process that ends."""
    from flask import Flask

    from adapters import clock, logs
    from commands.demo import demo, loopback
    from commands.service import database
    from models import db

    logs.configure(dataclasses.replace(chosen.monitoring, log_level="warning"))  # the processes speak for themselves
    db.connect_to(servers.urls().database_url, is_pooled=chosen.servers.is_pooled)
    clock.follow(db.database_clock)
    applied = database.bring_up_to_date()
    if applied:
        click.echo(f"Applied migrations: {', '.join(applied)}")
    told = _environment(chosen)
    if not loopback.is_wanted(chosen):
        return _Prepared(told, f"\n  Finderfee   {chosen.web.url}\n")
    told |= loopback.receiver_environment(chosen, os.environ) | loopback.gateway_environment(chosen)
    os.environ.update(told)
    settings.current.cache_clear()
    with Flask("finderfee", static_folder=None).app_context():
        shown = demo.ensure()
        return _Prepared(told, demo.greeting(shown, is_open=shown.may_be_shown))


def _keeper(names: Sequence[str]) -> dict[str, str]:
    """Return the program that starts again what dies of the embedded servers."""
    return {"servers": f"python -m adapters.embedded.keeper $DATA_DIR {' '.join(names)}"} if names else {}


def _greet_once_up(web: Web, greeting: str) -> None:
    """Print what to do next once there is somebody to answer it."""
    while not _answers(web):
        time.sleep(0.2)
    click.echo(greeting)
    sys.stdout.flush()


def _answers(web: Web) -> bool:
    """Say whether somebody listens where the web server is to."""
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
def _alone(chosen: settings.Settings) -> Iterator[None]:
    """Hold the data folder: a second `flask up` on it would stop the servers under the first."""
    places.close(chosen.servers.data_dir)
    with (chosen.servers.data_dir / "up.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise click.ClickException(
                f"Finderfee runs on {chosen.servers.data_dir} already. Stop it there, or set DATA_DIR and PORT"
                " for another one."
            ) from error
        yield


def _environment(chosen: settings.Settings) -> dict[str, str]:
    """Return what the processes need to be told: the same answers this process settled on."""
    numbers = chosen.servers.data_dir / "metrics"
    numbers.mkdir(parents=True, exist_ok=True)
    for stale in numbers.glob("*.db"):
        stale.unlink()
    return {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "PORT": str(chosen.web.port),
        "DATA_DIR": str(chosen.servers.data_dir),
        "PROMETHEUS_MULTIPROC_DIR": str(numbers),
        "FLASK_APP": "app:create_app",
    }


if __name__ == "__main__":
    up()
