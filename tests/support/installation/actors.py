"""What a fleet may load beside its own actors: `python -m workers tests.support.installation.actors -Q sales`.

A kind of work that only a newer release knows, one that kills whoever does it, and one without an end.
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
    """Do what an older fleet cannot; that its row goes is all there is to see."""


@database_job(POISON)
def poison(job: ClaimedJob) -> None:
    """Take the whole process along, as running out of memory does."""
    os.kill(os.getpid(), signal.SIGKILL)


@database_job(ENDLESS)
def endless(job: ClaimedJob) -> None:
    """Say that it begins."""
    structlog.get_logger(__name__).error("endless.begins")
    threading.Event().wait()
