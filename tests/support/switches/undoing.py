"""Undoes a switch of a test, and reads what an undo would do."""

from datetime import UTC, datetime
from typing import Any

from models import db
from pipelines.switches import undoing
from tests.support.job_queues import drain
from tests.support.switches.judged_rows import JudgedSwitch


def preview(switch: JudgedSwitch, *, now: datetime | None = None) -> dict[str, Any]:
    """Return what an undo would remove and keep."""
    with db.unit_of_work(switch.brand.id):
        return undoing.preview(organization_id=switch.brand.id, switch_id=switch.id, now=now or datetime.now(UTC))


def start(switch: JudgedSwitch, *, now: datetime | None = None) -> None:
    """Begin the undo; its jobs are only staged."""
    with db.unit_of_work(switch.brand.id):
        undoing.start(
            organization_id=switch.brand.id,
            switch_id=switch.id,
            now=now or datetime.now(UTC),
        )


def undo(switch: JudgedSwitch) -> None:
    """Undo a switch to the end."""
    start(switch)
    drain()


def take_next_slice(switch: JudgedSwitch) -> None:
    """Do the job of the next slice, as a worker does it."""
    with db.unit_of_work(switch.brand.id):
        undoing.undo_next(organization_id=switch.brand.id, switch_id=switch.id, now=datetime.now(UTC))
