"""The import of conversions from another service, and the look at what it would do.

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
    ConversionImportRecord,
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
_RECORD = ConversionImportRecord()


@blueprint.post("/api/v1/conversions/import/preview")
@operation(
    _IMPORT, object_of(_PREVIEW), takes=ConversionPreview(), refuses=("400 row_cap_exceeded", "404 program_not_found")
)
def preview_conversion_import() -> Response:
    """Show what an import of these rows would do, row by row, and write nothing."""
    wanted = body.load()
    return idempotency.run_once(lambda: (200, _PREVIEW.dump(conversions.preview(_asked(), wanted, now=clock.now()))))


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
    """Import up to 1,000 sales of the past, all or none; rows that are there are skipped. 200 with the tally.

    With skipInvalid, rows that are wrong are left out and counted as errored. Rows that were paid are kept as Paid, the
    others as locked history, or as Approved with confirmUnpaidPayout.
    """
    wanted = body.load()
    return idempotency.run_once(lambda: _import(wanted))


def _import(wanted: Mapping[str, Any]) -> tuple[int, Mapping[str, object]]:
    now = clock.now()
    outcome = conversions.run(_asked(), wanted, now=now)
    shown = _shown(outcome, wanted)
    # Who made it knows which rows had warnings: they are kept with the import.
    audited = {name: value for name, value in shown.items() if name != "warnings"}
    audit.record("import_job.completed", outcome.job.id, after=audited, now=now)
    return 200, shown


def _asked() -> ConversionImporter:
    caller = guards.caller()
    return ConversionImporter(
        organization_id=caller.organization_id, member_id=caller.member_id, is_test=caller.is_test
    )


def _shown(outcome: ImportedConversions, wanted: Mapping[str, Any]) -> Mapping[str, object]:
    payable = conversions.sum_commissions(row for row in outcome.rows if row.status == ConversionStatus.Approved)
    shown: Mapping[str, object] = _RECORD.dump(
        {
            **{name: getattr(outcome.job, name) for name in outcome.job.__dataclass_fields__},
            "warning_count": outcome.job.warning_count,
            "unpaid_confirmed": payable,
            "unpaid_confirmed_currency": payable[0]["currency"] if len(payable) == 1 else None,
            "unpaid_confirmed_cents": sum(balance["commission_cents"] for balance in payable),
            "confirm_unpaid_payout": wanted["confirm_unpaid_payout"],
            "exclude_paid": wanted["exclude_paid"],
        }
    )
    return shown
