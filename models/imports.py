"""Imports from another service: one row per run, and one run at a time."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from models.db import Json, db

COMPLETED = "Completed"


@dataclass(frozen=True, slots=True)
class ImportJob:
    """What an import came to: rows by outcome, and how often each reason turned one away."""

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


def try_turn(organization_id: UUID) -> bool:
    """Take the organization's one turn to import until the transaction ends; False while another has it."""
    row = db.row("select pg_try_advisory_xact_lock(hashtextextended(%s, 0))", (f"import:{organization_id}",))
    return row is not None and bool(row[0])


def stage(job: ImportJob) -> None:
    """Stage the row of an import that is done."""
    db.stage(
        "insert into import_job (id, organization_id, kind, status, total, imported, skipped, errored, reasons,"
        " created_by, created_at, finished_at) values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, clock_timestamp())",
        (
            job.id,
            job.organization_id,
            job.kind,
            job.status,
            job.total,
            job.imported,
            job.skipped,
            job.errored,
            Json(dict(job.reasons)),
            job.created_by,
            job.created_at,
        ),
    )
