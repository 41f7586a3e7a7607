"""The history of imports, of affiliates and of conversions from another service; and taking one back.

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
from schemas.imports.affiliates import DetailedImport, ImportsQuery, ImportUndoPreview, PastImport, UndoneImport

blueprint = Blueprint("imports", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_LOOK = Guard(audience="dashboard", role=Role.Admin)
_UNDO = Guard(audience="dashboard", scope="read_write", role=Role.Admin)
_RECORD = PastImport()
_DETAIL = DetailedImport()
_UNDONE = UndoneImport()
_UNDO_PREVIEW = ImportUndoPreview()


@blueprint.get("/api/v1/imports")
@operation(_READ, page(_RECORD), asks=ImportsQuery(), may_lag="answer")
def list_imports() -> Mapping[str, object]:
    """List the organization's imports, newest first; by kind and status if asked."""
    query = body.query()
    asked = paging.read_page_request(query)
    with db.unit_of_work(guards.organization_id()):
        rows = imports.page(
            organization_id=guards.organization_id(),
            kind=query["kind"],
            status=query["status"],
            limit=asked.limit,
            after=asked.after,
        )
    return paging.serialize_page(asked, rows, lambda shown: _RECORD.dump(shown, many=True))


@blueprint.get("/api/v1/imports/<import_id>")
@operation(_READ, object_of(_DETAIL), refuses=("404 not_found",))
def get_import(import_id: str) -> Mapping[str, object]:
    """Show one import."""
    wanted_id, organization_id = path.uuid(import_id, "import"), guards.organization_id()
    with db.unit_of_work(organization_id):
        found = imports.find(organization_id=organization_id, job_id=wanted_id)
    if found is None:
        raise not_found("import", wanted_id)
    shown: Mapping[str, object] = _DETAIL.dump(found)
    return shown


@blueprint.get("/api/imports/<import_id>/undo")
@operation(_LOOK, object_of(_UNDO_PREVIEW), refuses=("404 not_found",))
def preview_import_undo(import_id: str) -> Mapping[str, object]:
    """Show what taking an import back would do now, or what holds it back."""
    wanted_id, organization_id = path.uuid(import_id, "import"), guards.organization_id()
    with db.unit_of_work(organization_id):
        found = undo.preview(organization_id=organization_id, import_id=wanted_id)
    shown: Mapping[str, object] = _UNDO_PREVIEW.dump(
        {
            "job_id": found.job.id,
            "kind": found.job.kind,
            "status": found.job.status,
            "is_possible": found.is_possible,
            "would_remove": found.would_remove,
            "would_keep": found.would_keep,
            "taken_back": found.taken_back,
            "held_back": found.held_back,
        }
    )
    return shown


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
    """Take an import back: its conversions as a whole, or its affiliates who were never used."""
    wanted_id = path.uuid(import_id, "import")
    return idempotency.run_once(lambda: _undo(wanted_id))


def _undo(import_id: UUID) -> tuple[int, Mapping[str, object]]:
    now = clock.now()
    undone = undo.run(organization_id=guards.organization_id(), import_id=import_id, now=now)
    shown = _UNDONE.dump(undone.after) | {"removed": undone.removed_count, "kept": undone.kept_count}
    audit.record("import_job.undone", import_id, before=_RECORD.dump(undone.before), after=shown, now=now)
    return 200, shown
