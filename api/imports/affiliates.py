"""The import of affiliates from another service.

Source: core spec, "Affiliates" (import body) and "Shared import safeguards".
"""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import KIB, Guard
from api.edge import audit, body, idempotency
from api.edge.operations import object_of, operation
from domain.organization import plans
from domain.organization.access import Role
from pipelines.imports import affiliates
from pipelines.imports.affiliates import AffiliateImporter
from schemas.imports.affiliates import (
    AffiliateImport,
    AffiliateImportPreview,
    AffiliatePreview,
    ImportResultRecord,
    ImportTally,
)

blueprint = Blueprint("affiliate_import", __name__)

_IMPORT = Guard(
    audience="brand",
    scope="read_write",
    role=Role.Manager,
    plan=plans.Tier.Starter,
    bucket="import",
    max_body_bytes=4 * 1024 * KIB,
)
_PREVIEW = AffiliateImportPreview()
_RECORD = ImportResultRecord()
_TALLY = ImportTally()
_MAY_NOTIFY = (plans.Tier.Growth, plans.Tier.Pro)


@blueprint.post("/api/v1/affiliates/import/preview")
@operation(
    _IMPORT, object_of(_PREVIEW), takes=AffiliatePreview(), refuses=("400 row_cap_exceeded", "404 program_not_found")
)
def preview_affiliate_import() -> Response:
    """Show the effect of an import of these rows, row by row, and write nothing."""
    values = body.load()
    return idempotency.run_once(lambda: (200, _PREVIEW.dump(affiliates.preview(guards.organization_id(), values))))


@blueprint.post("/api/v1/affiliates/import")
@operation(
    _IMPORT,
    object_of(_RECORD),
    takes=AffiliateImport(),
    refuses=("400 row_cap_exceeded", "404 program_not_found", "409 migration_already_in_progress"),
)
def import_affiliates() -> Response:
    """Import up to 1,000 affiliates; known and invalid rows are skipped. 200 with the counts."""
    values = body.load()
    return idempotency.run_once(lambda: _import(values), wakes_relay=True)


def _import(values: Mapping[str, Any]) -> tuple[int, Mapping[str, object]]:
    now, caller = clock.now(), guards.caller()
    is_paying = plans.is_paying(plan_tier=caller.plan_tier, subscription_status=caller.subscription_status)
    importer = AffiliateImporter(
        organization_id=caller.organization_id,
        member_id=caller.member_id,
        is_test=caller.is_test,
        may_notify=is_paying and caller.plan_tier in _MAY_NOTIFY,
    )
    job = affiliates.run(importer, values, now=now)
    record: Mapping[str, object] = _RECORD.dump(job)
    audit.record("import_job.completed", job.id, after=_TALLY.dump(job), now=now)
    return 200, record
