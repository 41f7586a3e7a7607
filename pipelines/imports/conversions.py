"""Conversions from another service: up to a thousand at once, all of them or none, and no money moves.

Source: core spec, "Conversions" (conversion import) and "Shared import safeguards"; section 3 (states on import).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from domain import import_rows
from domain.conversions import avatars, customers
from domain.import_rows import ConversionRow
from domain.refused import Refused
from domain.statuses import ConversionStatus
from models import ids, turns
from models.imports import conversions, imports
from models.imports.conversions import ImportedConversion
from models.imports.imports import ImportJob
from models.programs import programs

METHOD = "historical_import:api"


@dataclass(frozen=True, slots=True)
class ConversionImporter:
    """Who imports: `is_test` rows never reach a payout."""

    organization_id: UUID
    member_id: UUID
    is_test: bool


@dataclass(frozen=True, slots=True)
class ImportedConversions:
    """What an import came to, and the rows that it brought."""

    job: ImportJob
    rows: Sequence[ImportedConversion]


@dataclass(frozen=True, slots=True)
class _Taken:
    """A row that is new, with whose it is and what it is known by."""

    row: ConversionRow
    affiliate_id: UUID
    identity: str


def preview(asked: ConversionImporter, wanted: Mapping[str, Any], *, now: datetime) -> dict[str, Any]:
    """Return what an import of these rows would come to, as `ConversionImportPreview` shows it.

    Writes nothing. Raises Refused: 404 program_not_found.
    """
    program = _program(asked, wanted)
    rows, errors = _read(wanted["conversions"], now)
    taken, reasons = _chosen(program, rows, exclude_paid=wanted["exclude_paid"])
    return {
        "rows_total": len(wanted["conversions"]),
        "would_import": len(taken),
        "would_skip": reasons.total(),
        "would_error": len(errors),
        "skip_reasons": dict(reasons),
        "paid_balance": balances(one.row for one in taken if one.row.is_paid),
        "unpaid_balance": balances(one.row for one in taken if not one.row.is_paid),
    }


def run(asked: ConversionImporter, wanted: Mapping[str, Any], *, now: datetime) -> ImportedConversions:
    """Import rows and return what came of them. `wanted` is `schemas.imports.conversions.ConversionImport` loaded.

    A row whose affiliate is unknown, or that is there already, is counted and skipped. No event, no mail, no override.
    Raises Refused: 404 program_not_found; 400 invalid_rows; 409 migration_already_in_progress.
    Budget: 5 round trips for any number of rows (program; turn; affiliates; known rows; writes and commit).
    """
    program = _program(asked, wanted)
    rows, errors = _read(wanted["conversions"], now)
    if errors:
        message = f"{len(errors)} of {len(wanted['conversions'])} rows cannot be imported; nothing was written."
        raise Refused(400, "invalid_rows", message, rows=errors)
    if not turns.try_import(asked.organization_id):
        raise Refused(409, "migration_already_in_progress", "Another import of this organization is still running.")
    taken, reasons = _chosen(program, rows, exclude_paid=wanted["exclude_paid"])
    job = ImportJob(
        id=ids.new_id(),
        organization_id=asked.organization_id,
        kind="Conversions",
        total=len(rows),
        imported=len(taken),
        skipped=reasons.total(),
        errored=0,
        reasons=dict(reasons),
        created_by=asked.member_id,
        created_at=now,
    )
    imports.stage(job)
    imported = [_imported(one, wanted, is_test=asked.is_test) for one in taken]
    conversions.stage(job, imported, program_id=program.id, method=METHOD, is_test=asked.is_test)
    return ImportedConversions(job, imported)


def balances(rows: Iterable[ConversionRow | ImportedConversion]) -> list[dict[str, Any]]:
    """Return the commission of rows, one sum per currency, by currency."""
    cents: Counter[str] = Counter()
    count: Counter[str] = Counter()
    for row in rows:
        cents[row.currency] += row.commission_cents
        count[row.currency] += 1
    return [
        {"currency": currency, "commission_cents": cents[currency], "count": count[currency]}
        for currency in sorted(count)
    ]


def _program(asked: ConversionImporter, wanted: Mapping[str, Any]) -> programs.Program:
    program = programs.find(organization_id=asked.organization_id, program_id=wanted["program_id"])
    if program is None:
        raise Refused(404, "program_not_found", "There is no such program in this organization.", field="programId")
    return program


def _read(sent: Sequence[object], now: datetime) -> tuple[list[ConversionRow], list[dict[str, Any]]]:
    rows, errors = [], []
    for index, one in enumerate(sent):
        try:
            rows.append(import_rows.read(one, now=now))
        except import_rows.BadRow as bad:
            errors.append({"index": index, "error": bad.code})
    return rows, errors


def _chosen(
    program: programs.Program, rows: Sequence[ConversionRow], *, exclude_paid: bool
) -> tuple[list[_Taken], Counter[str]]:
    """Return the rows to take, and how often each reason turned one away."""
    reasons: Counter[str] = Counter()
    candidates = _of_affiliates(program, [row for row in rows if not (exclude_paid and row.is_paid)], reasons)
    reasons["excluded_paid"] = sum(exclude_paid and row.is_paid for row in rows)
    known = conversions.known(
        organization_id=program.organization_id, external_event_ids=[one.identity for one in candidates]
    )
    taken: dict[str, _Taken] = {}
    for one in candidates:
        if one.identity in known:
            reasons["already_imported"] += 1
        elif one.identity in taken:
            reasons["duplicate_in_batch"] += 1
        else:
            taken[one.identity] = one
    return list(taken.values()), +reasons


def _of_affiliates(program: programs.Program, rows: Sequence[ConversionRow], reasons: Counter[str]) -> list[_Taken]:
    named = conversions.affiliates_named(
        organization_id=program.organization_id,
        program_id=program.id,
        emails=[row.affiliate_email for row in rows if row.affiliate_email],
        slugs=[row.affiliate_slug for row in rows if row.affiliate_slug],
    )
    found = []
    for row in rows:
        affiliate_id = named.by_email.get(row.affiliate_email or "") or named.by_slug.get(row.affiliate_slug or "")
        if affiliate_id is None:
            reasons["affiliate_not_found"] += 1
        else:
            identity = import_rows.identity(row, program_id=program.id, affiliate_id=affiliate_id)
            found.append(_Taken(row, affiliate_id, identity))
    return found


def _imported(one: _Taken, wanted: Mapping[str, Any], *, is_test: bool) -> ImportedConversion:
    row = one.row
    status = _status(is_paid=row.is_paid, is_confirmed=wanted["confirm_unpaid_payout"])
    return ImportedConversion(
        id=ids.new_id(),
        affiliate_id=one.affiliate_id,
        external_event_id=one.identity,
        amount_cents=row.amount_cents,
        currency=row.currency,
        commission_cents=row.commission_cents,
        status=status.value,
        type=row.type,
        payout_locked=status != ConversionStatus.Approved,
        customer_email=row.customer_email,
        customer_name=row.customer_name,
        customer_avatar_url=avatars.of(row.customer_email),
        processor_customer_id=row.processor_customer_id,
        processor_subscription_id=row.processor_subscription_id,
        occurred_at=row.occurred_at,
        customer_key=customers.key(customer_id=row.processor_customer_id, email=row.customer_email, is_test=is_test),
    )


def _status(*, is_paid: bool, is_confirmed: bool) -> ConversionStatus:
    if is_paid:
        return ConversionStatus.Paid
    return ConversionStatus.Approved if is_confirmed else ConversionStatus.Pending
