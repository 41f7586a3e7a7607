"""Import of conversions from another service: up to a thousand at once, all or none; no money moves.

Source: core spec, "Conversions" (conversion import) and "Shared import safeguards"; section 3 (states on import).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from domain.attribution import self_referrals
from domain.attribution.self_referrals import InitialState, SelfReferralPolicy
from domain.conversions import avatars, customers
from domain.imports import rows, verdicts
from domain.imports.rows import ConversionRow
from domain.imports.warnings import RowWarning
from domain.refusals import Refused
from domain.statuses import ConversionStatus
from models import ids
from models.gateways import payments
from models.imports import conversions, imports
from models.imports.conversions import ImportedConversion, RowAffiliate
from models.imports.imports import ImportJob
from models.programs import programs
from pipelines.imports import exclusive

_METHOD = "historical_import"
_PAYABLE = ConversionStatus.Approved


@dataclass(frozen=True, slots=True)
class ConversionImporter:
    """The member who imports: `is_test` rows never reach a payout."""

    organization_id: UUID
    member_id: UUID
    is_test: bool


@dataclass(frozen=True, slots=True)
class ImportedConversions:
    """The result of an import, and its conversions."""

    job: ImportJob
    rows: Sequence[ImportedConversion]


@dataclass(frozen=True, slots=True)
class _AcceptedRow:
    """A row with its place, affiliate and identity; `equals_index` is an earlier row with the same content."""

    index: int
    row: ConversionRow
    affiliate: RowAffiliate
    identity: str
    equals_index: int | None


def preview(importer: ConversionImporter, body: Mapping[str, Any], *, now: datetime) -> dict[str, Any]:
    """Return the result that an import of these rows would have, for `ConversionImportPreview`.

    Writes nothing. Raises Refused: 404 program_not_found. Budget: 3 round trips for any number of rows.
    """
    program = _find_program(importer, body)
    readable, invalid = _read_rows(body["conversions"], now)
    accepted, skipped = _choose_rows(program, readable, exclude_paid=body["exclude_paid"])
    warnings = _list_warnings(accepted, body)
    return {
        "rows_total": len(body["conversions"]),
        "would_import": len(accepted),
        "would_skip": len(skipped),
        "would_error": len(invalid),
        "skip_reasons": dict(Counter(skipped.values())),
        "paid_balance": sum_commissions(accepted_row.row for accepted_row in accepted if accepted_row.row.is_paid),
        "unpaid_balance": sum_commissions(
            accepted_row.row
            for accepted_row in accepted
            if not accepted_row.row.is_paid and _initial_state(accepted_row, is_confirmed=True).status == _PAYABLE
        ),
        "form": body["form"],
        "rows": verdicts.list_verdicts(
            len(body["conversions"]), lines=body["lines"], reasons=skipped | invalid, warnings=warnings
        ),
    }


def run(importer: ConversionImporter, body: Mapping[str, Any], *, now: datetime) -> ImportedConversions:
    """Import rows and return the result. `body` is `schemas.imports.conversions.ConversionImport` loaded.

    Rows with an unknown affiliate, and rows that were imported before, are counted and skipped. An invalid row refuses
    the whole import, or is skipped and counted with `skip_invalid`. No events, no emails, no overrides.
    Raises Refused: 404 program_not_found; 400 invalid_rows; 409 migration_already_in_progress.
    Budget: 6 round trips for any number of rows (program; lock; switches; affiliates; known rows; writes and commit).
    """
    program = _find_program(importer, body)
    readable, invalid = _read_rows(body["conversions"], now)
    if invalid and not body["skip_invalid"]:
        raise _invalid_rows(body, invalid)
    exclusive.hold(importer.organization_id)
    accepted, skipped = _choose_rows(program, readable, exclude_paid=body["exclude_paid"])
    job = ImportJob(
        id=ids.new_id(),
        organization_id=importer.organization_id,
        kind="Conversions",
        total=len(body["conversions"]),
        imported=len(accepted),
        skipped=len(skipped),
        errored=len(invalid),
        reasons=dict(Counter((skipped | invalid).values())),
        created_by=importer.member_id,
        created_at=now,
        warnings=verdicts.serialize_warnings(_list_warnings(accepted, body), lines=body["lines"]),
        source=body["source"],
    )
    imports.stage(job)
    imported = [_conversion_from_row(accepted_row, body, is_test=importer.is_test) for accepted_row in accepted]
    method = f"{_METHOD}:{body['source']}"
    conversions.stage(job, imported, program_id=program.id, method=method, is_test=importer.is_test)
    payments.stage_reopening(
        [(_payer_from_row(accepted_row), accepted_row.occurred_at) for accepted_row in imported],
        organization_id=importer.organization_id,
        is_test=importer.is_test,
    )
    return ImportedConversions(job, imported)


def _payer_from_row(row: ImportedConversion) -> payments.Payer:
    return payments.Payer(row.processor_customer_id, row.processor_subscription_id, row.email_normalized)


def _invalid_rows(body: Mapping[str, Any], invalid: Mapping[int, str]) -> Refused:
    total = len(body["conversions"])
    row_verdicts = verdicts.list_verdicts(total, lines=body["lines"], reasons=invalid)
    listed = [
        {"index": verdict.index, "error": verdict.reason} | ({} if verdict.line is None else {"line": verdict.line})
        for verdict in row_verdicts
        if verdict.reason
    ]
    message = f"{len(invalid)} of {total} rows cannot be imported; nothing was written."
    return Refused(400, "invalid_rows", message, rows=listed)


def sum_commissions(payable: Iterable[ConversionRow | ImportedConversion]) -> list[dict[str, Any]]:
    """Return the commission of rows as one sum per currency, sorted by currency."""
    cents: Counter[str] = Counter()
    count: Counter[str] = Counter()
    for row in payable:
        cents[row.currency] += row.commission_cents
        count[row.currency] += 1
    return [
        {"currency": currency, "commission_cents": cents[currency], "count": count[currency]}
        for currency in sorted(count)
    ]


def _find_program(importer: ConversionImporter, body: Mapping[str, Any]) -> programs.Program:
    program = programs.find(organization_id=importer.organization_id, program_id=body["program_id"])
    if program is None:
        raise Refused(404, "program_not_found", "There is no such program in this organization.", field="programId")
    return program


def _read_rows(sent_rows: Sequence[object], now: datetime) -> tuple[dict[int, ConversionRow], dict[int, str]]:
    """Return the valid rows by their place, and why the others are invalid."""
    readable, invalid = {}, {}
    for index, sent_row in enumerate(sent_rows):
        try:
            readable[index] = rows.parse(sent_row, now=now)
        except rows.BadRow as bad:
            invalid[index] = bad.code
    return readable, invalid


def _choose_rows(
    program: programs.Program, readable: Mapping[int, ConversionRow], *, exclude_paid: bool
) -> tuple[list[_AcceptedRow], dict[int, str]]:
    """Return the rows to import, and why the others are skipped, by their place."""
    skipped: dict[int, str] = {}
    # All are numbered, so that a row has the same number whether or not paid ones are left out.
    numbered = _match_affiliates(program, readable, skipped)
    skipped |= {index: "excluded_paid" for index, row in readable.items() if exclude_paid and row.is_paid}
    candidates = [candidate for candidate in numbered if candidate.index not in skipped]
    imported = conversions.find_existing(
        organization_id=program.organization_id, external_event_ids=[candidate.identity for candidate in candidates]
    )
    accepted: dict[str, _AcceptedRow] = {}
    for candidate in candidates:
        if candidate.identity in imported:
            skipped[candidate.index] = "already_imported"
        elif candidate.identity in accepted:
            skipped[candidate.index] = "duplicate_in_batch"
        else:
            accepted[candidate.identity] = candidate
    return list(accepted.values()), skipped


def _match_affiliates(
    program: programs.Program, readable: Mapping[int, ConversionRow], skipped: dict[int, str]
) -> list[_AcceptedRow]:
    matches = conversions.find_affiliates(
        organization_id=program.organization_id,
        program_id=program.id,
        emails=[row.affiliate_email for row in readable.values() if row.affiliate_email],
        slugs=[row.affiliate_slug for row in readable.values() if row.affiliate_slug],
    )
    matched = []
    equal: dict[str, list[int]] = {}
    for index, row in readable.items():
        affiliate = matches.by_email.get(row.affiliate_email or "") or matches.by_slug.get(row.affiliate_slug or "")
        if affiliate is None:
            skipped[index] = "affiliate_not_found"
            continue
        identity = rows.identity(row, program_id=program.id, affiliate_id=affiliate.id)
        earlier = equal.setdefault(identity, [])
        if row.external_id is None and earlier:
            occurrence = len(earlier) + 1
            identity = rows.identity(row, program_id=program.id, affiliate_id=affiliate.id, occurrence=occurrence)
        matched.append(
            _AcceptedRow(index, row, affiliate, identity, earlier[0] if earlier and not row.external_id else None)
        )
        earlier.append(index)
    return matched


def _list_warnings(accepted: Sequence[_AcceptedRow], body: Mapping[str, Any]) -> dict[int, Sequence[RowWarning]]:
    """Return the warnings of rows by their place. A preview assumes that the payout of unpaid rows is confirmed."""
    by_place: dict[int, Sequence[RowWarning]] = {}
    lines = body["lines"]
    for accepted_row in accepted:
        warnings = []
        if accepted_row.equals_index is not None:
            warnings.append(
                RowWarning("equal_row", str(lines[accepted_row.equals_index] if lines else accepted_row.equals_index))
            )
        initial = _initial_state(accepted_row, is_confirmed=body.get("confirm_unpaid_payout", True))
        if initial.is_self_referral:
            warnings.append(RowWarning(_self_referral_code(initial)))
        if warnings:
            by_place[accepted_row.index] = warnings
    return by_place


def _self_referral_code(initial: InitialState) -> str:
    if initial.needs_approval:
        return "self_referral_held"
    return "self_referral_denied" if initial.status == ConversionStatus.Denied else "self_referral"


def _conversion_from_row(accepted_row: _AcceptedRow, body: Mapping[str, Any], *, is_test: bool) -> ImportedConversion:
    row = accepted_row.row
    is_confirmed = not row.is_paid and body["confirm_unpaid_payout"]
    initial = _initial_state(accepted_row, is_confirmed=is_confirmed)
    customer = customers.names(
        customer_id=row.processor_customer_id,
        email=row.customer_email,
        subscription_id=row.processor_subscription_id,
        is_test=is_test,
    )
    return ImportedConversion(
        id=ids.new_id(),
        affiliate_id=accepted_row.affiliate.id,
        external_event_id=accepted_row.identity,
        amount_cents=row.amount_cents,
        currency=row.currency,
        commission_cents=row.commission_cents,
        status=initial.status.value,
        type=row.type,
        payout_locked=not is_confirmed,
        customer_email=row.customer_email,
        customer_name=row.customer_name,
        customer_avatar_url=avatars.url_from_email(row.customer_email),
        processor_customer_id=row.processor_customer_id,
        processor_subscription_id=row.processor_subscription_id,
        occurred_at=row.occurred_at,
        email_normalized=customer.inbox,
        self_referral=initial.is_self_referral,
        needs_approval=initial.needs_approval,
        customer=customer,
    )


def _initial_state(accepted_row: _AcceptedRow, *, is_confirmed: bool) -> InitialState:
    """Return a row's initial state. The organization's self-referral policy applies to payable rows, not to history."""
    status = _status(is_paid=accepted_row.row.is_paid, is_confirmed=is_confirmed)
    return self_referrals.initial_state(
        buyer_email=accepted_row.row.customer_email,
        affiliate_email=accepted_row.affiliate.email_normalized,
        policy=accepted_row.affiliate.self_referrals if status == _PAYABLE else SelfReferralPolicy.Earn,
        status=status,
    )


def _status(*, is_paid: bool, is_confirmed: bool) -> ConversionStatus:
    if is_paid:
        return ConversionStatus.Paid
    return ConversionStatus.Approved if is_confirmed else ConversionStatus.Pending
