"""DNS checks of host names and their effects.

A check is prepared (tx), run (no tx) and recorded (tx). Its result never counts for another name that its holder has
been given in the meantime, and of two holders of one name the first to prove it gets it.
"""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

import settings
from adapters import name_servers
from domain.host_proofs import records, validity
from domain.host_proofs.records import CheckOutcome, DnsCheckResult, DnsReading, ExpectedProof, ProofKind
from domain.host_proofs.validity import LOST_AFTER, ProofRecord
from domain.refusals import Refused, not_found
from models import advisory_locks
from models.host_proofs import holders, proof_records
from models.host_proofs.holders import HostHolder
from pipelines import mail
from pipelines.host_proofs.host_status import HostCheck, HostStatus


def find(*, organization_id: UUID, program_id: UUID | None) -> HostStatus:
    """Return the status of a program's custom domain, or (without `program_id`) of the tracking domain.

    Raises Refused 404 not_found. Budget: 1 statement.
    """
    row = proof_records.find_with_proof(organization_id=organization_id, program_id=program_id)
    if row is None:
        raise not_found("program" if program_id else "organization", program_id)
    return HostStatus(row.holder, _required_proof(row.holder), row.record)


def prepare(*, organization_id: UUID, program_id: UUID | None) -> HostStatus:
    """Return the host to check. Raises Refused: 404 not_found; 409 no_custom_domain, no_tracking_domain,
    invalid_status_transition for an archived program.
    """
    status = find(organization_id=organization_id, program_id=program_id)
    if status.holder.is_over:
        raise Refused(409, "invalid_status_transition", "This program is archived and cannot be changed.")
    if status.required is None and program_id is not None:
        raise Refused(409, "no_custom_domain", "This program has no custom domain; set customDomain first.")
    if status.required is None:
        raise Refused(409, "no_tracking_domain", "The organization has no tracking domain; set trackingDomain first.")
    return status


def read_dns(status: HostStatus) -> DnsReading:
    """Query DNS while a user waits. Takes at most three seconds, never inside a transaction.

    Raises Refused 503 domain_check_busy while too many other checks run.
    """
    assert status.required is not None  # `prepare` refuses a holder without a name
    try:
        with name_servers.reading_slot():
            return name_servers.read(status.required, limit_s=name_servers.REQUEST_LIMIT_S)
    except name_servers.TooManyReadings as error:
        message = "Other domains are being checked. Try again in a moment."
        raise Refused(503, "domain_check_busy", message) from error


def record(prepared: HostStatus, reading: DnsReading, *, now: datetime, is_requested: bool) -> HostCheck:
    """Record what DNS answered for a name, and return its status; `is_requested` if a user requested the check.

    Owners get an email when a proof is lost.
    Raises Refused 409: domain_changed if its holder has another name now; for a requested check also
    custom_domain_already_taken, tracking_domain_already_taken for a proved name that another holder has.
    """
    checked_holder, required = prepared.holder, prepared.required
    assert required is not None  # `prepare` refuses a holder without a name
    advisory_locks.stage_domain_lock(required.name)
    holder = holders.lock(organization_id=checked_holder.organization_id, program_id=checked_holder.program_id)
    if holder is None or holder.name != required.name or holder.is_over:
        raise Refused(409, "domain_changed", "The domain was changed while it was checked. Check it again.")
    sighting = records.check(reading, required)
    if sighting.outcome == CheckOutcome.Proved and not holder.is_verified:
        if sighting.proved_by == ProofKind.Txt and records.leads_elsewhere(reading, required):
            holders.stage_free_name(holder)
        if holders.is_held_elsewhere(holder):
            if is_requested:
                raise taken_refusal(holder)
            sighting = replace(sighting, outcome=CheckOutcome.Taken)
    return _store(holder, sighting, now=now, is_requested=is_requested)


def taken_refusal(holder: HostHolder) -> Refused:
    """Return the refusal for a name that belongs to another holder, without the holder's identity."""
    code = "tracking_domain_already_taken" if holder.program_id is None else "custom_domain_already_taken"
    message = (
        f"{holder.name} belongs to another program or organization, or did in the last 90 days. If it is yours now,"
        " remove its CNAME and address records that point to us, add your TXT record, and check again; then point it"
        " to us."
    )
    return Refused(409, code, message)


def _store(holder: HostHolder, sighting: DnsCheckResult, *, now: datetime, is_requested: bool) -> HostCheck:
    before = proof_records.find(holder) or ProofRecord(waiting_since=now)
    if is_requested and not holder.is_verified:
        before = replace(before, waiting_since=now)  # the user is setting it up, so it is checked often from now on
    after = validity.record_check(before, sighting, is_verified=holder.is_verified, now=now)
    proof_records.stage_record(holder, after)
    is_vouched_for = holder.is_verified and before.proved_by is None
    is_verified = is_vouched_for or after.proved_by is not None
    if is_verified != holder.is_verified:
        holders.stage_verified(holder, is_verified=is_verified, at=now)
    result = HostCheck(
        HostStatus(replace(holder, is_verified=is_verified), _required_proof(holder), after),
        was_verified=holder.is_verified,
    )
    if result.is_lost:
        _notify_lost(result.status, now=now)
    return result


def _required_proof(holder: HostHolder) -> ExpectedProof | None:
    if holder.name is None:
        return None
    text = records.text_for(organization_id=holder.organization_id, holder_id=holder.holder_id, name=holder.name)
    return ExpectedProof(holder.name, settings.current().web.brands_target, text)


def _page_path(status: HostStatus) -> str:
    """Return the dashboard's page on which a name is checked."""
    program_id = status.holder.program_id
    return f"/dashboard/programs/{program_id}/domain" if program_id else "/dashboard/settings/tracking-domain"


def _notify_lost(status: HostStatus, *, now: datetime) -> None:
    """Stage an email to every Owner: what is not used any more, what would prove it, and what was found instead."""
    use = "Your site loads the tag from it." if status.holder.program_id is None else "Your landing page is there."
    text = (
        f"We stopped using your domain {status.domain}, because its DNS record has been missing for"
        f" {LOST_AFTER.days} days. {use}\n\nTo use the domain again, add one of these DNS records:\n\n"
        + "\n\n".join(f"  {step.name}  {step.type}  {step.value}\n  found: {step.found}" for step in status.steps)
        + "\n\nWe check automatically and use the domain again as soon as the record is there. You can also check it"
        f" now in the dashboard:\n{settings.current().web.url}{_page_path(status)}\n"
    )
    mail.send_to_owners(
        organization_id=status.holder.organization_id,
        subject=f"Your domain {status.domain} is no longer in use",
        text=text,
        kind="domain.lost",
        at=now,
    )
