"""Imports from another service: one row per run, one run at a time; and their history."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Literal, NamedTuple
from uuid import UUID

from models.db import Json, db
from models.listing import Listing, Position

COMPLETED = "Completed"
UNDONE = "Undone"


@dataclass(frozen=True, slots=True)
class ImportJob:
    """The result of an import: rows by outcome, and how often each reason rejected one.

    `warnings` as `domain.imports.verdicts.serialize_warnings` returns them; `source` is the service of origin.
    """

    id: UUID
    organization_id: UUID
    kind: Literal["Affiliates", "Conversions"]
    total: int
    imported: int
    skipped: int
    errored: int
    reasons: Mapping[str, int]
    created_by: UUID | None
    created_at: datetime
    status: str = COMPLETED
    warnings: Sequence[Mapping[str, object]] = ()
    source: str | None = None
    switch_id: UUID | None = None

    @property
    def warning_count(self) -> int:
        """How many warnings it has."""
        return len(self.warnings)


class ListedImport(NamedTuple):
    """An import in the history, with its id as text. Lists contain only the count of `warnings`."""

    id: str
    kind: str
    status: str
    total: int
    imported: int
    skipped: int
    errored: int
    reasons: Mapping[str, int]
    warnings: Sequence[Mapping[str, object]]
    warning_count: int
    source: str | None
    created_at: datetime
    undone_at: datetime | None
    switch_id: str | None


_COUNT = "jsonb_array_length(warnings)"
# The import of a switch exists from the start of its run, and is listed once the run is completed.
_IS_LISTED = "(switch_id is null or finished_at is not null)"
_HISTORY = Listing("import_job", ListedImport, condition=_IS_LISTED, warnings="'[]'::jsonb", warning_count=_COUNT)
_ONE = Listing("import_job", ListedImport, condition=_IS_LISTED, warning_count=_COUNT)


def page(
    *, organization_id: UUID, kind: str | None, status: str | None, limit: int, after: Position | None
) -> list[ListedImport]:
    """Return up to `limit` imports, newest first; `kind` and `status` None do not filter."""
    where = {"kind": kind, "status": status}
    return _HISTORY.page(organization_id=organization_id, where=where, limit=limit, after=after)


def find(*, organization_id: UUID, job_id: UUID) -> ListedImport | None:
    """Return one import with its warnings, or None."""
    rows = _ONE.page(organization_id=organization_id, where={"id": job_id}, limit=1)
    return rows[0] if rows else None


_UNDO = "update import_job set status = %s, undone_at = %s where organization_id = %s and id = %s"


def stage_undone(*, organization_id: UUID, job_id: UUID, at: datetime) -> None:
    """Mark an import as undone."""
    db.stage(_UNDO, (UNDONE, at, organization_id, job_id))


_INSERT = """
insert into import_job (id, organization_id, kind, status, total, imported, skipped, errored, reasons, created_by,
  created_at, warnings, source, switch_id, finished_at)
values (%(id)s, %(organization_id)s, %(kind)s, %(status)s, %(total)s, %(imported)s, %(skipped)s, %(errored)s,
  %(reasons)s, %(created_by)s, %(created_at)s, %(warnings)s, %(source)s, %(switch_id)s,
  case when %(switch_id)s::uuid is null then clock_timestamp() end)
"""


def stage(job: ImportJob) -> None:
    """Stage the row of a finished import, or of a switch whose run begins."""
    db.stage(_INSERT, asdict(job) | {"reasons": Json(dict(job.reasons)), "warnings": Json(list(job.warnings))})


_OF_SWITCH = "select kind, id from import_job where organization_id = %s and switch_id = %s"


def find_of_switch(*, organization_id: UUID, switch_id: UUID) -> dict[str, UUID]:
    """Return the ids of the two imports of a switch's run by their kind; {} before its run."""
    return dict(db.run(_OF_SWITCH, (organization_id, switch_id)))


_FINISH = """
update import_job set total = %s, imported = %s, skipped = %s, reasons = %s, finished_at = clock_timestamp()
where organization_id = %s and switch_id = %s and kind = %s
"""


def stage_finish(
    *, organization_id: UUID, switch_id: UUID, kind: str, imported: int, reasons: Mapping[str, int]
) -> None:
    """Stage the result of a switch's run: rows that came, and how many did not, by reason."""
    skipped = sum(reasons.values())
    db.stage(_FINISH, (imported + skipped, imported, skipped, Json(dict(reasons)), organization_id, switch_id, kind))


_UNDO_OF_SWITCH = """
update import_job set status = %s, undone_at = %s where organization_id = %s and switch_id = %s
"""


def stage_undone_of_switch(*, organization_id: UUID, switch_id: UUID, at: datetime) -> None:
    """Mark both imports of a switch as undone."""
    db.stage(_UNDO_OF_SWITCH, (UNDONE, at, organization_id, switch_id))
