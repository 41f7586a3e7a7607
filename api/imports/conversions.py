"""The import of conversions from another service, and its preview.

Source: core spec, "Conversions" (conversion import) and "Shared import safeguards".
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
from domain.statuses import ConversionStatus
from pipelines.imports import conversions
from pipelines.imports.conversions import ConversionImporter, ImportedConversions
from schemas.imports.conversions import (
    ConversionImport,
    ConversionImportPreview,
    ConversionImportResultRecord,
    ConversionPreview,
)

blueprint = Blueprint("conversion_import", __name__)

_IMPORT = Guard(
    audience="brand",
    scope="read_write",
    role=Role.Manager,
    plan=plans.Tier.Starter,
    bucket="import",
    max_body_bytes=4 * 1024 * KIB,
)
_PREVIEW = ConversionImportPreview()
_RECORD = ConversionImportResultRecord()


@blueprint.post("/api/v1/conversions/import/preview")
@operation(
    _IMPORT, object_of(_PREVIEW), takes=ConversionPreview(), refuses=("400 row_cap_exceeded", "404 program_not_found")
)
def preview_conversion_import() -> Response:
    """Show the effect of an import of these rows, row by row, and write nothing."""
    values = body.load()
    return idempotency.run_once(lambda: (200, _PREVIEW.dump(conversions.preview(_importer(), values, now=clock.now()))))


@blueprint.post("/api/v1/conversions/import")
@operation(
    _IMPORT,
    object_of(_RECORD),
    takes=ConversionImport(),
    refuses=(
        "400 row_cap_exceeded",
        "400 invalid_rows",
        "404 program_not_found",
        "409 migration_already_in_progress",
    ),
)
def import_conversions() -> Response:
    """Import up to 1,000 past sales, all or none; rows that exist already are skipped. 200 with the counts.

    With skipInvalid, invalid rows are left out and counted as errored. Paid rows are stored as Paid, the others as
    locked history, or as Approved with confirmUnpaidPayout.
    """
    values = body.load()
    return idempotency.run_once(lambda: _import(values))


def _import(values: Mapping[str, Any]) -> tuple[int, Mapping[str, object]]:
    now = clock.now()
    outcome = conversions.run(_importer(), values, now=now)
    record = _serialize(outcome, values)
    # The warnings are stored with the import, not in the audit log.
    audited = {name: value for name, value in record.items() if name != "warnings"}
    audit.record("import_job.completed", outcome.job.id, after=audited, now=now)
    return 200, record


def _importer() -> ConversionImporter:
    caller = guards.caller()
    return ConversionImporter(
        organization_id=caller.organization_id, member_id=caller.member_id, is_test=caller.is_test
    )


def _serialize(outcome: ImportedConversions, values: Mapping[str, Any]) -> Mapping[str, object]:
    payable = conversions.sum_commissions(row for row in outcome.rows if row.status == ConversionStatus.Approved)
    record: Mapping[str, object] = _RECORD.dump(
        {
            **{name: getattr(outcome.job, name) for name in outcome.job.__dataclass_fields__},
            "warning_count": outcome.job.warning_count,
            "unpaid_confirmed": payable,
            "unpaid_confirmed_currency": payable[0]["currency"] if len(payable) == 1 else None,
            "unpaid_confirmed_cents": sum(balance["commission_cents"] for balance in payable),
            "confirm_unpaid_payout": values["confirm_unpaid_payout"],
            "exclude_paid": values["exclude_paid"],
        }
    )
    return record
