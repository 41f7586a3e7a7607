"""The history of imports of affiliates and conversions from another service, and undoing an import.

Source: core spec, "Shared import safeguards" (import history).
"""

from collections.abc import Mapping
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import audit, body, idempotency, paging, path
from api.edge.operations import object_of, operation, page
from domain.organization import plans
from domain.organization.access import Role
from domain.refusals import not_found
from models import db
from models.imports import imports
from pipelines.imports import undo
from schemas.imports.affiliates import ImportDetail, ImportsQuery, ImportUndoPreview, PastImport, UndoneImport

blueprint = Blueprint("imports", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_LOOK = Guard(audience="dashboard", role=Role.Admin)
_UNDO = Guard(audience="dashboard", scope="read_write", role=Role.Admin)
_RECORD = PastImport()
_DETAIL = ImportDetail()
_UNDONE = UndoneImport()
_UNDO_PREVIEW = ImportUndoPreview()


@blueprint.get("/api/v1/imports")
@operation(_READ, page(_RECORD), asks=ImportsQuery(), may_lag="answer")
def list_imports() -> Mapping[str, object]:
    """List the organization's imports, newest first; filtered by kind and status."""
    query = body.query()
    page_request = paging.read_page_request(query)
    with db.unit_of_work(guards.organization_id()):
        rows = imports.page(
            organization_id=guards.organization_id(), kind=query["kind"], status=query["status"], **page_request.window
        )
    return paging.serialize_page(page_request, rows, lambda rows: _RECORD.dump(rows, many=True))


@blueprint.get("/api/v1/imports/<import_id>")
@operation(_READ, object_of(_DETAIL), refuses=("404 not_found",))
def get_import(import_id: str) -> Mapping[str, object]:
    """Show one import."""
    import_uuid, organization_id = path.uuid(import_id, "import"), guards.organization_id()
    with db.unit_of_work(organization_id):
        job = imports.find(organization_id=organization_id, job_id=import_uuid)
    if job is None:
        raise not_found("import", import_uuid)
    return _DETAIL.dump(job)


@blueprint.get("/api/imports/<import_id>/undo")
@operation(_LOOK, object_of(_UNDO_PREVIEW), refuses=("404 not_found",))
def preview_import_undo(import_id: str) -> Mapping[str, object]:
    """Show the effect of undoing an import now, or what prevents it."""
    import_uuid, organization_id = path.uuid(import_id, "import"), guards.organization_id()
    with db.unit_of_work(organization_id):
        preview = undo.preview(organization_id=organization_id, import_id=import_uuid)
    record: Mapping[str, object] = _UNDO_PREVIEW.dump(
        {
            "job_id": preview.job.id,
            "kind": preview.job.kind,
            "status": preview.job.status,
            "is_possible": preview.is_possible,
            "would_remove": preview.would_remove,
            "would_keep": preview.would_keep,
            "taken_back": preview.taken_back,
            "held_back": {"refunded": 0, "overridden": 0, "paid": 0, "switch": 0, **preview.held_back},
        }
    )
    return record


@blueprint.post("/api/imports/<import_id>/undo")
@operation(
    _UNDO,
    object_of(_UNDONE),
    refuses=(
        "404 not_found",
        "409 migration_already_in_progress",
        "409 import_already_undone",
        "409 import_not_undoable",
    ),
)
def undo_import(import_id: str) -> Response:
    """Undo an import: delete all its conversions, or its affiliates without any activity."""
    import_uuid = path.uuid(import_id, "import")
    return idempotency.run_once(lambda: _undo(import_uuid))


def _undo(import_id: UUID) -> tuple[int, Mapping[str, object]]:
    now = clock.now()
    undone = undo.run(organization_id=guards.organization_id(), import_id=import_id, now=now)
    record = _UNDONE.dump(undone.after) | {"removed": undone.removed_count, "kept": undone.kept_count}
    audit.record("import_job.undone", import_id, before=_RECORD.dump(undone.before), after=record, now=now)
    return 200, record
