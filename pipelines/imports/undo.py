"""Undo of an import: all of its conversions, or its affiliates without any activity.

Source: core spec, "Shared import safeguards" (an import can be undone from the dashboard); decision 11.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.refusals import Refused, not_found
from models import advisory_locks
from models.affiliates import bulk_actions, tracking_links
from models.imports import imports, undo
from models.imports.imports import ListedImport
from pipelines.imports import exclusive


@dataclass(frozen=True, slots=True)
class UndoResult:
    """An import before and after it was undone, and how many of its rows were removed and kept."""

    before: ListedImport
    after: ListedImport
    removed_count: int
    kept_count: int


@dataclass(frozen=True, slots=True)
class UndoPreview:
    """The result that an undo would have now: rows removed and kept, commission taken back, and what prevents it."""

    job: ListedImport
    would_remove: int
    would_keep: int
    taken_back: Sequence[undo.OwedCommission]
    held_back: Mapping[str, int]

    @property
    def is_possible(self) -> bool:
        """Whether the import is not undone yet, and nothing prevents it."""
        return self.job.status == imports.COMPLETED and not any(self.held_back.values())


def preview(*, organization_id: UUID, import_id: UUID) -> UndoPreview:
    """Return the result that `run` would have now. It locks nothing, so the result may change until then.

    Raises Refused 404 not_found. Budget: 3 round trips.
    """
    job = imports.find(organization_id=organization_id, job_id=import_id)
    if job is None:
        raise not_found("import", import_id)
    if job.switch_id is not None:
        return UndoPreview(job, 0, job.imported, (), {"switch": 1})
    if job.kind == "Conversions":
        blocking = undo.count_blocked(organization_id=organization_id, job_id=import_id)
        owed = undo.sum_owed(organization_id=organization_id, job_id=import_id)
        is_undone = job.status == imports.UNDONE
        return UndoPreview(job, 0 if is_undone else job.imported, 0, owed, blocking)
    total = undo.count_affiliates(organization_id=organization_id, job_id=import_id)
    unused = len(undo.list_unused_affiliates(organization_id=organization_id, job_id=import_id))
    return UndoPreview(job, unused, total - unused, (), dict.fromkeys(("refunded", "overridden", "paid"), 0))


def run(*, organization_id: UUID, import_id: UUID, now: datetime) -> UndoResult:
    """Undo an import and return the result.

    Conversions are removed all or none; the same rows can then be imported again. Affiliates who have a conversion, a
    click, a recruit or an account are kept, the others are deleted with their links.
    Raises Refused: 404 not_found; 409 migration_already_in_progress, import_already_undone, import_not_undoable (with
    `reasons`: how many conversions are refunded, overridden, paid; `switch`: 1 for rows of a switch).
    Budget: 6 round trips for any number of conversions, 8 for affiliates.
    """
    if not imports.find(organization_id=organization_id, job_id=import_id):
        raise not_found("import", import_id)
    exclusive.hold(organization_id)
    before = imports.find(organization_id=organization_id, job_id=import_id)
    assert before is not None
    if before.switch_id is not None:
        message = "A switch brought these rows. Undo the switch instead: see Switch."
        raise Refused(409, "import_not_undoable", message, reasons={"switch": 1})
    if before.status != imports.COMPLETED:
        raise Refused(409, "import_already_undone", "This import has been undone already.")
    if before.kind == "Conversions":
        _remove_conversions(organization_id, import_id, now)
        removed_count, kept_count = before.imported, 0
    else:
        removed_count, kept_count = _remove_affiliates(organization_id, import_id, now)
    imports.stage_undone(organization_id=organization_id, job_id=import_id, at=now)
    after = before._replace(status=imports.UNDONE, undone_at=now)
    return UndoResult(before, after, removed_count=removed_count, kept_count=kept_count)


def _remove_conversions(organization_id: UUID, import_id: UUID, now: datetime) -> None:
    advisory_locks.stage_shared_payout_run_lock(organization_id)
    locked = undo.lock_conversions(organization_id=organization_id, job_id=import_id)
    if locked.blocking:
        message = "Conversions of this import were refunded, paid or earned upon since; nothing was removed."
        raise Refused(409, "import_not_undoable", message, reasons=locked.blocking)
    undo.stage_removal(organization_id=organization_id, job_id=import_id, ids=locked.ids, at=now)


def _remove_affiliates(organization_id: UUID, import_id: UUID, now: datetime) -> tuple[int, int]:
    advisory_locks.stage_all_people_lock(organization_id)
    total = undo.count_affiliates(organization_id=organization_id, job_id=import_id)
    unused = undo.list_unused_affiliates(organization_id=organization_id, job_id=import_id)
    bulk_actions.delete(organization_id=organization_id, affiliate_ids=unused, at=now)
    tracking_links.stage_retire_all(organization_id=organization_id, affiliate_ids=unused, at=now)
    return len(unused), total - len(unused)
