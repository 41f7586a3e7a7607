"""Actors that worker processes of a test load besides the usual ones.

`python -m workers tests.support.installation.actors -Q sales`. One does a job that only a newer release knows, one
kills its process, and one never ends.
"""

import os
import signal
import threading

import structlog

from domain.jobs import Job
from models.jobs.rows import ClaimedJob
from workers.actor import database_job

NEWER = Job("sale.newer", queue="sales")
POISON = Job("sale.poison", queue="sales")
ENDLESS = Job("sale.endless", queue="sales")


@database_job(NEWER)
def newer(job: ClaimedJob) -> None:
    """Do nothing: that the row of the job disappears shows that it ran."""


@database_job(POISON)
def poison(job: ClaimedJob) -> None:
    """Kill the worker process, as the kernel does when memory runs out."""
    os.kill(os.getpid(), signal.SIGKILL)


@database_job(ENDLESS)
def endless(job: ClaimedJob) -> None:
    """Log that the job begins, and never return."""
    structlog.get_logger(__name__).error("endless.begins")
    threading.Event().wait()
