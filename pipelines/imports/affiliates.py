"""Import of affiliates from another service: up to a thousand at once, in a fixed number of statements.

Source: core spec, "Affiliates" (import body) and "Shared import safeguards".
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from domain import emails
from domain.imports import verdicts
from domain.imports.warnings import RowWarning
from domain.refusals import Refused
from domain.statuses import AffiliateSource, AffiliateStatus
from models import advisory_locks, ids
from models.affiliates import affiliates, bulk_actions, tracking_links
from models.imports import imports
from models.imports.imports import ImportJob
from models.programs import programs
from pipelines.imports import exclusive, notification, slug_choice
from pipelines.imports.slug_choice import ChosenSlugs


@dataclass(frozen=True, slots=True)
class AffiliateImporter:
    """The member who imports: `is_test` rows never reach a payout; without `may_notify` no emails are sent."""

    organization_id: UUID
    member_id: UUID
    is_test: bool
    may_notify: bool


def preview(organization_id: UUID, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result that an import of these rows would have, for `AffiliateImportPreview`.

    Writes nothing. Raises Refused: 404 program_not_found. Budget: 4 to 6 round trips for any number of rows.
    """
    program = _find_program(organization_id, body)
    reasons = _find_rejected(program, body)
    total = len(body["affiliates"])
    accepted = _accepted_rows(body, reasons)
    warnings = _list_warnings(accepted, slug_choice.choose(organization_id, list(accepted.values())))
    return {
        "rows_total": total,
        "would_import": total - len(reasons),
        "would_skip": len(reasons),
        "skip_reasons": dict(Counter(reasons.values())),
        "form": body["form"],
        "rows": verdicts.list_verdicts(total, lines=body["lines"], reasons=reasons, warnings=warnings),
    }


def run(importer: AffiliateImporter, body: Mapping[str, Any], *, now: datetime) -> ImportJob:
    """Import rows and return the result. `body` is `schemas.imports.affiliates.AffiliateImport` loaded.

    Rows that cannot be imported are counted and skipped. No event is sent.
    Raises Refused: 404 program_not_found; 409 migration_already_in_progress.
    Budget: 7 round trips for any number of rows; one more where rows bring no slug, and one where a slug cannot be had.
    """
    organization_id = importer.organization_id
    program = _find_program(organization_id, body)
    exclusive.hold(organization_id)
    advisory_locks.stage_all_people_lock(organization_id)
    reasons = _find_rejected(program, body)
    accepted = _accepted_rows(body, reasons)
    rows = list(accepted.values())
    chosen = slug_choice.choose(organization_id, rows) if rows else []
    job = ImportJob(
        id=ids.new_id(),
        organization_id=organization_id,
        kind="Affiliates",
        total=len(body["affiliates"]),
        imported=len(rows),
        skipped=len(reasons),
        errored=0,
        reasons=dict(Counter(reasons.values())),
        created_by=importer.member_id,
        created_at=now,
        warnings=verdicts.serialize_warnings(_list_warnings(accepted, chosen), lines=body["lines"]),
    )
    imports.stage(job)
    _write(importer, job, program, list(zip(rows, chosen, strict=True)))
    if rows and body["notify_affiliates"] and importer.may_notify:
        notification.enqueue(job, program_id=program.id, message=body["notification_message_html"] or "")
    return job


def _find_program(organization_id: UUID, body: Mapping[str, Any]) -> programs.Program:
    program = programs.find(organization_id=organization_id, program_id=body["program_id"])
    if program is None:
        raise Refused(404, "program_not_found", "There is no such program in this organization.", field="programId")
    return program


def _find_rejected(program: programs.Program, body: Mapping[str, Any]) -> dict[int, str]:
    """Return why rows are rejected, by their place."""
    existing = bulk_actions.find_existing_emails(
        organization_id=program.organization_id,
        program_id=program.id,
        emails=[row["email"] for row in body["affiliates"] if row["email"]],
    )
    reasons, included = {}, body["include_statuses"]
    seen: set[str] = set()
    for place, row in enumerate(body["affiliates"]):
        reason = _rejection_reason(row, included, seen, existing)
        if reason:
            reasons[place] = reason
        if reason in (None, "already_exists"):
            seen.add(row["email"])
    return reasons


def _rejection_reason(
    row: Mapping[str, Any], included: set[str] | None, seen: set[str], existing: set[str]
) -> str | None:
    if row["problem"]:
        return str(row["problem"])
    if included is not None and row["status"] not in included:
        return "status_excluded"
    if row["email"] in seen:
        return "duplicate_in_batch"
    return "already_exists" if row["email"] in existing else None


def _accepted_rows(body: Mapping[str, Any], reasons: Mapping[int, str]) -> dict[int, Mapping[str, Any]]:
    return {place: row for place, row in enumerate(body["affiliates"]) if place not in reasons}


def _list_warnings(
    accepted: Mapping[int, Mapping[str, Any]], chosen: Sequence[ChosenSlugs]
) -> dict[int, Sequence[RowWarning]]:
    """Return the warnings of rows that are imported with changes, by their place."""
    by_place = {
        place: [*row["warnings"], *([slugs.warning] if slugs.warning else [])]
        for (place, row), slugs in zip(accepted.items(), chosen, strict=True)
    }
    return {place: warnings for place, warnings in by_place.items() if warnings}


def _write(
    importer: AffiliateImporter,
    job: ImportJob,
    program: programs.Program,
    rows: Sequence[tuple[Mapping[str, Any], ChosenSlugs]],
) -> None:
    if not rows:
        return
    shared = {
        "organization_id": importer.organization_id,
        "program_id": program.id,
        "source": AffiliateSource.Direct.value,
        "import_job_id": job.id,
        "is_test": importer.is_test,
        "applied_at": job.created_at,
        "created_at": job.created_at,
    }
    new_affiliates = [
        shared
        | {name: row[name] for name in ("email", "full_name", "status", "wallet_email")}
        | {
            "id": ids.new_id(),
            "email_normalized": emails.normalize(row["email"]),
            "approved_at": job.created_at if row["status"] == AffiliateStatus.Approved else None,
        }
        for row, _ in rows
    ]
    links = [
        _link(affiliate, slug, is_default=number == 0, is_alias=slug == row["slug"])
        for affiliate, (row, chosen) in zip(new_affiliates, rows, strict=True)
        for number, slug in enumerate(chosen.slugs)
    ]
    affiliates.stage_all(new_affiliates)
    tracking_links.stage_all(links)


def _link(affiliate: Mapping[str, Any], slug: str, *, is_default: bool, is_alias: bool) -> dict[str, Any]:
    return {
        "id": ids.new_id(),
        "organization_id": affiliate["organization_id"],
        "program_id": affiliate["program_id"],
        "affiliate_id": affiliate["id"],
        "slug": slug,
        "custom_alias": slug if is_alias else None,
        "is_default": is_default,
        "created_at": affiliate["created_at"],
    }
