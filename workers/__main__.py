"""`python -m workers -Q QUEUE…`: a fleet, as the Procfile starts it, with Dramatiq's options.

Dramatiq's own command knows nothing of our log, and its first process, which only starts, watches and stops the others,
loads nothing of ours: what both say would be bare text among JSON lines. A fleet of one process has no such first one.
"""

import argparse
import functools
import gc
import importlib
import os
import sys
from collections.abc import Iterable

from dramatiq import cli

import settings
from adapters import logs
from domain.jobs import QUEUES
from workers import single

# The first process looks after this long whether the others are still there, whether or not they are up by then. They
# need not be: Dramatiq waits for them with a view to processes of another kind, of which we have none.
_FORK_TIMEOUT_MS = 1_000


def main() -> int:
    """Run a fleet until it is told to stop; returns its exit code. A setting that does not do ends it at once."""
    try:
        logs.configure(settings.current().monitoring)
    except settings.BadSetting as error:
        raise SystemExit(f"finderfee: {error}") from error
    logs.warn_of_old_settings(settings.old_name_warnings(os.environ))
    logs.catch_the_rest()
    ours = ["--skip-logging", "--worker-fork-timeout", str(_FORK_TIMEOUT_MS)]
    wanted = cli.make_argument_parser().parse_args([f"{__package__}.__main__:load", *sys.argv[1:], *ours])
    sys.argv = [sys.executable, "-m", __package__, *sys.argv[1:]]  # what a SIGHUP runs
    if _is_single(wanted):
        single.run(
            functools.partial(_load, wanted.queues, wanted.modules),
            queues=wanted.queues,
            threads=wanted.threads,
            stop_within_ms=wanted.worker_shutdown_timeout,
            command=sys.argv,
        )
    gc.collect()
    gc.freeze()  # else a look of the collector would give the forked process a copy of all that both have loaded
    return int(cli.main(wanted) or 0)


def _is_single(wanted: argparse.Namespace) -> bool:
    """Say whether one process is wanted, and nothing that Dramatiq's first one does besides watching it."""
    return wanted.processes == 1 and not (wanted.forks or wanted.watch or wanted.pid_file or wanted.log_file)


def load() -> None:
    """Load what the jobs of its queues need in a worker process that Dramatiq forked."""
    _load(cli.make_argument_parser().parse_args([__package__, *sys.argv[3:]]).queues)


def _load(queues: Iterable[str] | None, modules: Iterable[str] = ()) -> None:
    """Declare the actors of these queues, or of all, and what other modules declare. What it dies of is a log line."""
    try:
        importlib.import_module("workers.fleet").load(queues or QUEUES)
        for module in modules:
            importlib.import_module(module)
    except Exception as error:
        import structlog  # not at the top: `adapters.logs` loads it first, and less of it

        structlog.get_logger(__name__).critical("fleet.does_not_start", exc_info=error)
        raise SystemExit(1) from error
    gc.collect()
    gc.freeze()  # what is loaded stays, and no collection looks at it again


if __name__ == "__main__":
    sys.exit(main())
