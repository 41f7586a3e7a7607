"""Affiliates from another service: up to a thousand at once, in statements that do not grow with their number.

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
from models.affiliates import affiliates, sets, tracking_links
from models.imports import imports
from models.imports.imports import ImportJob
from models.programs import programs
from pipelines.imports import choosing_slugs, letter
from pipelines.imports.choosing_slugs import ChosenSlugs


@dataclass(frozen=True, slots=True)
class AffiliateImporter:
    """Who imports: `is_test` rows never reach a payout; without `may_notify` nobody is written to."""

    organization_id: UUID
    member_id: UUID
    is_test: bool
    may_notify: bool


def preview(organization_id: UUID, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an import of these rows would come to, as `AffiliateImportPreview` shows it.

    Writes nothing. Raises Refused: 404 program_not_found. Budget: 4 to 6 round trips for any number of rows.
    """
    program = _program(organization_id, wanted)
    reasons = _turned_away(program, wanted)
    total = len(wanted["affiliates"])
    taken = _taken(wanted, reasons)
    warnings = _warnings(taken, choosing_slugs.choose(organization_id, list(taken.values())))
    return {
        "rows_total": total,
        "would_import": total - len(reasons),
        "would_skip": len(reasons),
        "skip_reasons": dict(Counter(reasons.values())),
        "form": wanted["form"],
        "rows": verdicts.list_verdicts(total, lines=wanted["lines"], reasons=reasons, warnings=warnings),
    }


def run(asked: AffiliateImporter, wanted: Mapping[str, Any], *, now: datetime) -> ImportJob:
    """Import rows and return what came of them. `wanted` is `schemas.imports.affiliates.AffiliateImport` loaded.

    A row that cannot be taken is counted and skipped. No event is sent.
    Raises Refused: 404 program_not_found; 409 migration_already_in_progress.
    Budget: 6 round trips for any number of rows; one more where rows bring no slug, and one where a slug cannot be had.
    """
    organization_id = asked.organization_id
    program = _program(organization_id, wanted)
    if not advisory_locks.try_import_lock(organization_id):
        raise Refused(409, "migration_already_in_progress", "Another import of this organization is still running.")
    advisory_locks.stage_all_people_lock(organization_id)
    reasons = _turned_away(program, wanted)
    taken = _taken(wanted, reasons)
    rows = list(taken.values())
    chosen = choosing_slugs.choose(organization_id, rows) if rows else []
    job = ImportJob(
        id=ids.new_id(),
        organization_id=organization_id,
        kind="Affiliates",
        total=len(wanted["affiliates"]),
        imported=len(rows),
        skipped=len(reasons),
        errored=0,
        reasons=dict(Counter(reasons.values())),
        created_by=asked.member_id,
        created_at=now,
        warnings=verdicts.serialize_warnings(_warnings(taken, chosen), lines=wanted["lines"]),
    )
    imports.stage(job)
    _write(asked, job, program, list(zip(rows, chosen, strict=True)))
    if rows and wanted["notify_affiliates"] and asked.may_notify:
        letter.ask(job, program_id=program.id, message=wanted["notification_message_html"] or "")
    return job


def _program(organization_id: UUID, wanted: Mapping[str, Any]) -> programs.Program:
    program = programs.find(organization_id=organization_id, program_id=wanted["program_id"])
    if program is None:
        raise Refused(404, "program_not_found", "There is no such program in this organization.", field="programId")
    return program


def _turned_away(program: programs.Program, wanted: Mapping[str, Any]) -> dict[int, str]:
    """Return why rows are not taken, by their place."""
    known = sets.emails_in(
        organization_id=program.organization_id,
        program_id=program.id,
        emails=[row["email"] for row in wanted["affiliates"] if row["email"]],
    )
    reasons, included = {}, wanted["include_statuses"]
    seen: set[str] = set()
    for place, row in enumerate(wanted["affiliates"]):
        reason = _why_not(row, included, seen, known)
        if reason:
            reasons[place] = reason
        if reason in (None, "already_exists"):
            seen.add(row["email"])
    return reasons


def _why_not(row: Mapping[str, Any], included: set[str] | None, seen: set[str], known: set[str]) -> str | None:
    if row["problem"]:
        return str(row["problem"])
    if included is not None and row["status"] not in included:
        return "status_excluded"
    if row["email"] in seen:
        return "duplicate_in_batch"
    return "already_exists" if row["email"] in known else None


def _taken(wanted: Mapping[str, Any], reasons: Mapping[int, str]) -> dict[int, Mapping[str, Any]]:
    return {place: row for place, row in enumerate(wanted["affiliates"]) if place not in reasons}


def _warnings(taken: Mapping[int, Mapping[str, Any]], chosen: Sequence[ChosenSlugs]) -> dict[int, Sequence[RowWarning]]:
    """Return what rows get otherwise than they say, by their place."""
    found = {
        place: [*row["warnings"], *([slugs.warning] if slugs.warning else [])]
        for (place, row), slugs in zip(taken.items(), chosen, strict=True)
    }
    return {place: warnings for place, warnings in found.items() if warnings}


def _write(
    asked: AffiliateImporter,
    job: ImportJob,
    program: programs.Program,
    rows: Sequence[tuple[Mapping[str, Any], ChosenSlugs]],
) -> None:
    if not rows:
        return
    shared = {
        "organization_id": asked.organization_id,
        "program_id": program.id,
        "source": AffiliateSource.Direct.value,
        "import_job_id": job.id,
        "is_test": asked.is_test,
        "applied_at": job.created_at,
        "created_at": job.created_at,
    }
    joined = [
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
        for affiliate, (row, chosen) in zip(joined, rows, strict=True)
        for number, slug in enumerate(chosen.slugs)
    ]
    affiliates.stage_all(joined)
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
