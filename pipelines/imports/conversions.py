"""Conversions from another service: up to a thousand at once, all of them or none, and no money moves.

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
from models import advisory_locks, ids
from models.gateways import payments
from models.imports import conversions, imports
from models.imports.conversions import ImportedConversion, RowAffiliate
from models.imports.imports import ImportJob
from models.programs import programs

_METHOD = "historical_import"
_PAYABLE = ConversionStatus.Approved


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
    """A row with its place, whose it is and what it is known by; `equals_index`: an earlier row that says the same."""

    index: int
    row: ConversionRow
    affiliate: RowAffiliate
    identity: str
    equals_index: int | None


def preview(asked: ConversionImporter, wanted: Mapping[str, Any], *, now: datetime) -> dict[str, Any]:
    """Return what an import of these rows would come to, as `ConversionImportPreview` shows it.

    Writes nothing. Raises Refused: 404 program_not_found. Budget: 3 round trips for any number of rows.
    """
    program = _program(asked, wanted)
    found, wrong = _read(wanted["conversions"], now)
    taken, skipped = _chosen(program, found, exclude_paid=wanted["exclude_paid"])
    warnings = _warnings(taken, wanted)
    return {
        "rows_total": len(wanted["conversions"]),
        "would_import": len(taken),
        "would_skip": len(skipped),
        "would_error": len(wrong),
        "skip_reasons": dict(Counter(skipped.values())),
        "paid_balance": balances(one.row for one in taken if one.row.is_paid),
        "unpaid_balance": balances(
            one.row for one in taken if not one.row.is_paid and _standing(one, is_confirmed=True).status == _PAYABLE
        ),
        "form": wanted["form"],
        "rows": verdicts.list_verdicts(
            len(wanted["conversions"]), lines=wanted["lines"], reasons=skipped | wrong, warnings=warnings
        ),
    }


def run(asked: ConversionImporter, wanted: Mapping[str, Any], *, now: datetime) -> ImportedConversions:
    """Import rows and return what came of them. `wanted` is `schemas.imports.conversions.ConversionImport` loaded.

    A row whose affiliate is unknown, or that is there already, is counted and skipped. A wrong one refuses all, or is
    left out and counted where that is wanted. No event, no mail, no override.
    Raises Refused: 404 program_not_found; 400 invalid_rows; 409 migration_already_in_progress.
    Budget: 5 round trips for any number of rows (program; lock; affiliates; known rows; writes and commit).
    """
    program = _program(asked, wanted)
    found, wrong = _read(wanted["conversions"], now)
    if wrong and not wanted["skip_invalid"]:
        raise _refused(wanted, wrong)
    if not advisory_locks.try_import_lock(asked.organization_id):
        raise Refused(409, "migration_already_in_progress", "Another import of this organization is still running.")
    taken, skipped = _chosen(program, found, exclude_paid=wanted["exclude_paid"])
    job = ImportJob(
        id=ids.new_id(),
        organization_id=asked.organization_id,
        kind="Conversions",
        total=len(wanted["conversions"]),
        imported=len(taken),
        skipped=len(skipped),
        errored=len(wrong),
        reasons=dict(Counter((skipped | wrong).values())),
        created_by=asked.member_id,
        created_at=now,
        warnings=verdicts.serialize_warnings(_warnings(taken, wanted), lines=wanted["lines"]),
        source=wanted["source"],
    )
    imports.stage(job)
    imported = [_imported(one, wanted, is_test=asked.is_test) for one in taken]
    method = f"{_METHOD}:{wanted['source']}"
    conversions.stage(job, imported, program_id=program.id, method=method, is_test=asked.is_test)
    payments.stage_reopening(
        [(_payer(one), one.occurred_at) for one in imported],
        organization_id=asked.organization_id,
        is_test=asked.is_test,
    )
    return ImportedConversions(job, imported)


def _payer(one: ImportedConversion) -> payments.Payer:
    return payments.Payer(one.processor_customer_id, one.processor_subscription_id, one.email_normalized)


def _refused(wanted: Mapping[str, Any], wrong: Mapping[int, str]) -> Refused:
    total = len(wanted["conversions"])
    row_verdicts = verdicts.list_verdicts(total, lines=wanted["lines"], reasons=wrong)
    named = [
        {"index": one.index, "error": one.reason} | ({} if one.line is None else {"line": one.line})
        for one in row_verdicts
        if one.reason
    ]
    message = f"{len(wrong)} of {total} rows cannot be imported; nothing was written."
    return Refused(400, "invalid_rows", message, rows=named)


def balances(found: Iterable[ConversionRow | ImportedConversion]) -> list[dict[str, Any]]:
    """Return the commission of rows, one sum per currency, by currency."""
    cents: Counter[str] = Counter()
    count: Counter[str] = Counter()
    for row in found:
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


def _read(sent: Sequence[object], now: datetime) -> tuple[dict[int, ConversionRow], dict[int, str]]:
    """Return the rows that can be read by their place, and why the others cannot."""
    found, wrong = {}, {}
    for index, one in enumerate(sent):
        try:
            found[index] = rows.parse(one, now=now)
        except rows.BadRow as bad:
            wrong[index] = bad.code
    return found, wrong


def _chosen(
    program: programs.Program, found: Mapping[int, ConversionRow], *, exclude_paid: bool
) -> tuple[list[_Taken], dict[int, str]]:
    """Return the rows to take, and what turned the others away by their place."""
    skipped: dict[int, str] = {}
    # All are numbered, so that a row has the same number whether or not paid ones are left out.
    numbered = _of_affiliates(program, found, skipped)
    skipped |= {index: "excluded_paid" for index, row in found.items() if exclude_paid and row.is_paid}
    candidates = [one for one in numbered if one.index not in skipped]
    known = conversions.known(
        organization_id=program.organization_id, external_event_ids=[one.identity for one in candidates]
    )
    taken: dict[str, _Taken] = {}
    for one in candidates:
        if one.identity in known:
            skipped[one.index] = "already_imported"
        elif one.identity in taken:
            skipped[one.index] = "duplicate_in_batch"
        else:
            taken[one.identity] = one
    return list(taken.values()), skipped


def _of_affiliates(
    program: programs.Program, found: Mapping[int, ConversionRow], skipped: dict[int, str]
) -> list[_Taken]:
    named = conversions.affiliates_named(
        organization_id=program.organization_id,
        program_id=program.id,
        emails=[row.affiliate_email for row in found.values() if row.affiliate_email],
        slugs=[row.affiliate_slug for row in found.values() if row.affiliate_slug],
    )
    known = []
    equal: dict[str, list[int]] = {}
    for index, row in found.items():
        affiliate = named.by_email.get(row.affiliate_email or "") or named.by_slug.get(row.affiliate_slug or "")
        if affiliate is None:
            skipped[index] = "affiliate_not_found"
            continue
        identity = rows.identity(row, program_id=program.id, affiliate_id=affiliate.id)
        earlier = equal.setdefault(identity, [])
        if row.external_id is None and earlier:
            occurrence = len(earlier) + 1
            identity = rows.identity(row, program_id=program.id, affiliate_id=affiliate.id, occurrence=occurrence)
        known.append(_Taken(index, row, affiliate, identity, earlier[0] if earlier and not row.external_id else None))
        earlier.append(index)
    return known


def _warnings(taken: Sequence[_Taken], wanted: Mapping[str, Any]) -> dict[int, Sequence[RowWarning]]:
    """Return what rows get otherwise than they say, by their place. A preview does not know what will be confirmed."""
    found: dict[int, Sequence[RowWarning]] = {}
    lines = wanted["lines"]
    for one in taken:
        warnings = []
        if one.equals_index is not None:
            warnings.append(RowWarning("equal_row", str(lines[one.equals_index] if lines else one.equals_index)))
        standing = _standing(one, is_confirmed=wanted.get("confirm_unpaid_payout", True))
        if standing.is_self_referral:
            warnings.append(RowWarning(_self_referral_code(standing)))
        if warnings:
            found[one.index] = warnings
    return found


def _self_referral_code(standing: InitialState) -> str:
    if standing.needs_approval:
        return "self_referral_held"
    return "self_referral_denied" if standing.status == ConversionStatus.Denied else "self_referral"


def _imported(one: _Taken, wanted: Mapping[str, Any], *, is_test: bool) -> ImportedConversion:
    row = one.row
    is_confirmed = not row.is_paid and wanted["confirm_unpaid_payout"]
    standing = _standing(one, is_confirmed=is_confirmed)
    customer = customers.names(customer_id=row.processor_customer_id, email=row.customer_email, is_test=is_test)
    return ImportedConversion(
        id=ids.new_id(),
        affiliate_id=one.affiliate.id,
        external_event_id=one.identity,
        amount_cents=row.amount_cents,
        currency=row.currency,
        commission_cents=row.commission_cents,
        status=standing.status.value,
        type=row.type,
        payout_locked=not is_confirmed,
        customer_email=row.customer_email,
        customer_name=row.customer_name,
        customer_avatar_url=avatars.url_from_email(row.customer_email),
        processor_customer_id=row.processor_customer_id,
        processor_subscription_id=row.processor_subscription_id,
        occurred_at=row.occurred_at,
        email_normalized=customer.inbox,
        self_referral=standing.is_self_referral,
        needs_approval=standing.needs_approval,
        customer=customer,
    )


def _standing(one: _Taken, *, is_confirmed: bool) -> InitialState:
    """Return how a row starts. The organization's policy applies to what would become payable, not to history."""
    status = _status(is_paid=one.row.is_paid, is_confirmed=is_confirmed)
    return self_referrals.initial_state(
        buyer_email=one.row.customer_email,
        affiliate_email=one.affiliate.email_normalized,
        policy=one.affiliate.self_referrals if status == _PAYABLE else SelfReferralPolicy.Earn,
        status=status,
    )


def _status(*, is_paid: bool, is_confirmed: bool) -> ConversionStatus:
    if is_paid:
        return ConversionStatus.Paid
    return ConversionStatus.Approved if is_confirmed else ConversionStatus.Pending
