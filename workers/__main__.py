"""`python -m workers -Q QUEUE…`: a fleet, as the Procfile starts it, with Dramatiq's options.

Dramatiq's own command does not use our logger, nor does its first process, which only starts, watches and stops the
others: both would write plain text among JSON lines. A fleet of one process has no such first process.
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
from workers import single_process

# After this long the first process starts to watch the others, whether or not they have started by then. Dramatiq would
# wait for them only because of processes of another kind, which do not exist here.
_FORK_TIMEOUT_MS = 1_000


def main() -> int:
    """Run a fleet until a signal to stop, and return its exit code. A bad setting ends it at once."""
    try:
        logs.configure(settings.current().monitoring)
    except settings.BadSetting as error:
        raise SystemExit(f"finderfee: {error}") from error
    logs.report_old_settings(settings.old_name_warnings(os.environ))
    logs.log_uncaught_errors()
    fixed = ["--skip-logging", "--worker-fork-timeout", str(_FORK_TIMEOUT_MS)]
    options = cli.make_argument_parser().parse_args([f"{__package__}.__main__:load", *sys.argv[1:], *fixed])
    sys.argv = [sys.executable, "-m", __package__, *sys.argv[1:]]  # the command that a SIGHUP runs
    if _is_single(options):
        single_process.run(
            functools.partial(_load, options.queues, options.modules),
            queues=options.queues,
            threads=options.threads,
            stop_within_ms=options.worker_shutdown_timeout,
            command=sys.argv,
        )
    gc.collect()
    gc.freeze()  # else a collection would give the forked process its own copy of every loaded module
    return int(cli.main(options) or 0)


def _is_single(options: argparse.Namespace) -> bool:
    """Return whether the options ask for one process, and for nothing that needs Dramatiq's first process."""
    return options.processes == 1 and not (options.forks or options.watch or options.pid_file or options.log_file)


def load() -> None:
    """Load the actors of its queues in a worker process that Dramatiq forked."""
    _load(cli.make_argument_parser().parse_args([__package__, *sys.argv[3:]]).queues)


def _load(queues: Iterable[str] | None, modules: Iterable[str] = ()) -> None:
    """Declare the actors of these queues, or of all, and those of other modules. An error is logged and ends it."""
    try:
        importlib.import_module("workers.fleet").load(queues or QUEUES)
        for module in modules:
            importlib.import_module(module)
    except Exception as error:
        import structlog  # not at the top: `adapters.logs` loads it first, and less of it

        structlog.get_logger(__name__).critical("fleet.does_not_start", exc_info=error)
        raise SystemExit(1) from error
    gc.collect()
    gc.freeze()  # loaded modules stay, so that no collection has to look at them again


if __name__ == "__main__":
    sys.exit(main())
